# snippet: recipe
redlock run report --wait 3s -E 0 --at-least 50s -- ./write_report
# end snippet
