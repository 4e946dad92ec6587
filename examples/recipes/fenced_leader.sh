# snippet: recipe
redlock lead shop:scheduler -- sh -c '
    while sleep 1; do
        ./store --fence "$REDLOCK_FENCE" --write tick || exit
    done'
# end snippet
