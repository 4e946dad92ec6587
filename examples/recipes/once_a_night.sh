# snippet: recipe
redlock run report -n -E 0 --at-least 1h --free-on-failure -- ./write_report
# end snippet
