# snippet: write
redlock run "file:$file" -- sh -c '
    name=$1.$(printf %020d "$REDLOCK_FENCE")
    cat > "$name.tmp" && mv "$name.tmp" "$name"' sh "$file"
# end snippet
# snippet: read
cat "$(ls "$file".* | grep -v '\.tmp$' | tail -n 1)"
# end snippet
