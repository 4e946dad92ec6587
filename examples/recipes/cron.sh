# snippet: recipe
redlock run backup -n -E 0 -- /usr/local/bin/backup --full
# end snippet
