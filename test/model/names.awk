# Makes a trace readable: nodes and members count from 1, and each keeps its name although the model
# sorts its nodes.
BEGIN { for (i = 0; i < 4; i++) name[i] = i + 1 }
{ sub(/^ */, "") }
/^$|^spin:|^#|^-+$/ { next }
/^[0-9]+ process/ { next }
/^swap / { other = name[$2]; name[$2] = name[$3]; name[$3] = other; next }
/^violated: / { print; exit }
{
    line = ""
    while (match($0, /(node|member) [0-3]/)) {
        at = RSTART + RLENGTH - 1
        line = line substr($0, 1, at - 1) name[substr($0, at, 1)]
        $0 = substr($0, at + 1)
    }
    print line $0
}
