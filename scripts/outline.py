"""Where the functions and types of a file are, in C++ and Lua. No parser: it trusts our style."""

import re

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.[^']*|[^'\\\n])'", re.S
)
DIRECTIVE = re.compile(r"^ *#(?:[^\n]*\\\n)*[^\n]*", re.M)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")
NAMESPACE = re.compile(r"\s*(inline\s+)?namespace\b")
ANGLES = re.compile(r"<[^<>]*>")
NO_NAME = re.compile(r"\[\[.*?\]\]|\b(public|protected|private)\s*:(?!:)|\bfinal\b", re.S)
CALLED = re.compile(r"((?:\w+::)*(?:operator\s*(?:\(\)|[^\s\w(]+)|~?\w+))\s*\(")
NOT_CALLED = {"alignas", "decltype", "explicit", "noexcept", "requires"}
LAST_WORD = re.compile(r"([\w:]+)\s*(?:\[[^\]]*\])?\s*$")
LUA_FUNCTION = re.compile(r"^( *)local function (\w+)\b", re.M)
LUA_MAIN = "main chunk"


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def bare(text):
    """C++ without comments and literals. Every line stays where it is."""
    return NOT_CODE.sub(blank, text)


def declared_by(head):
    """The name in the words before a body, or in a whole declaration. Namespaces have none."""
    head = NO_NAME.sub("", head)
    while (shorter := ANGLES.sub("", head)) != head:
        head = shorter
    if NAMESPACE.match(head):
        return ""
    before = re.split(r"[{=]|(?<!:):(?!:)", head, maxsplit=1)[0]
    for called in CALLED.finditer(head if "operator" in before else before):
        if called[1] not in NOT_CALLED:
            return called[1]
    word = LAST_WORD.search(before)
    return word[1] if word else ""


def of_cpp(text):
    """What belongs to a class has its name too, as in `hold_state::finish`. What is declared in a
    function is a part of that."""
    code = DIRECTIVE.sub(blank, bare(text))
    scopes = []  # Name and begin of the namespaces and classes around.
    begin = nested = 0  # Parentheses and braces that open no scope.

    def part(name, start, end):
        return "::".join([scope for scope, _ in scopes if scope] + [name]), start, end

    for sign in re.finditer(r"[{}();]", code):
        head = code[begin : sign.start()]
        if sign[0] == "{" and not nested and SCOPE.search(head):
            scopes.append((declared_by(head), begin))
            begin = sign.end()
        elif sign[0] in "({":
            nested += 1
        elif sign[0] == "}" and not nested:
            name, start = scopes.pop()
            if name:
                yield part(name, start, sign.end())
            begin = sign.end()
        elif sign[0] in ")}":
            nested -= 1
            # A brace may also end an initializer, before the next one, the body or the semicolon.
            goes_on = sign[0] == ")" or re.match(r"\s*[,{;]", code[sign.end() :])
            if not nested and not goes_on:
                yield part(declared_by(head), begin, sign.end())
                begin = sign.end()
        elif not nested:
            if head.strip():
                yield part(declared_by(head), begin, sign.end())
            begin = sign.end()


def of_lua(text):
    yield LUA_MAIN, 0, len(text)
    for head in LUA_FUNCTION.finditer(text):
        end = re.compile(rf"^{head[1]}end$", re.M).search(text, head.end())
        yield head[2], head.start(), end.end()


def outline(file, text):
    """Name, begin and end of each function, type and constant of a file."""
    return of_lua(text) if file.endswith(".lua") else of_cpp(text)
