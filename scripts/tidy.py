#!/usr/bin/env python3
"""The rules of style that a machine can hold.

Prints `file:line: message` for each breach and exits with 1 if there is one. It looks at the files
that git knows and at new ones that git does not ignore. Before you trust a check that you add,
plant a breach and see it named.
"""

import json
import pathlib
import re
import subprocess
import sys

import mutants
from outline import DIRECTIVE, SCOPE, bare, blank

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".c", ".cpp", ".hpp", ".lua", ".py", ".sh", ".cmake", ".js", ".css"}
MAX_COLUMNS = 100
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_FUNCTIONS = 25

# Boost.Redis and Boost.MySQL are slow to compile and not ours: examples depend on them, a file of
# each, and the library never does.
BOOST_REDIS = [
    "examples/chat_room/boost_redis.cpp",
    "examples/chat_room/store_link.cpp",
    "examples/fencing/boost_redis.cpp",
    "examples/fencing/redis_stock.cpp",
]
BOOST_MYSQL = ["examples/fencing/mariadb_stock.cpp"]

# Arrows run one way: what a file in such a folder may include of the folders of src. What defines
# the public interface is in src itself.
ARROWS = {
    "include/redlock": [],
    "src": ["core", "loop"],
    "src/core": ["core"],
    "src/loop": ["core", "loop"],
    "src/wire": ["core", "loop", "wire"],
    "src/node": ["core", "loop", "node", "wire"],
    "src/node/vetting": ["core", "loop", "node", "wire"],
    "src/client": ["client", "core", "loop", "node"],
    "src/testing": ["client", "core", "loop", "node", "testing"],
    "src/tool": ["core", "loop", "node", "tool", "wire"],
}

# Inside src/client: a file includes its own header and those of the rows above.
CLIENT_ROWS = [
    {"bodies", "carry_out", "client_loop", "roster", "validate", "watchers", "window"},
    {"lines", "round"},
    {"hold", "life", "stamps"},
    {"events", "rounds"},
    {"holds", "queue_wait"},
    {"client_impl", "extensions"},
    {"observation", "operations", "spawn_op", "watchdog"},
    {"inquiry"},
    {"acquire", "client", "close", "extend", "free_kept", "initialize", "inspect", "lead", "lease",
     "release", "revoke", "run", "wait_lost", "wait_ready", "with_lock"},
]

# Where a mention of an option of CMake has to fit.
RECIPES = {("packaging", "vcpkg"), ("packaging", "conan")}

SUITE = re.compile(r"^BOOST_(AUTO|FIXTURE)_TEST_SUITE\(", re.M)

# What the client offers. The floors below it know the values of the interface only.
OPERATIONS = {"blocking", "client", "initialize", "lead", "lease", "testing", "with_lock"}
BELOW_THE_CLIENT = {"src/core", "src/loop", "src/wire", "src/node", "src/node/vetting"}

# Names by which code could ask for the system it is compiled for. One header has to.
EXPORTS = "include/redlock/detail/export.hpp"
PLATFORM = re.compile(
    r"\b(_WIN(32|64)|WIN32|__MINGW\w*|__CYGWIN__|__APPLE__|__MACH__|__linux(__)?|__unix(__)?|"
    r"__ANDROID__|__FreeBSD__|_MSC_VER|CLOCK_BOOTTIME|BOOST_OS_\w+|BOOST_ASIO_WINDOWS\w*|"
    r"BOOST_ASIO_HAS_LOCAL_SOCKETS)\b"
)

# What is compiled for Windows too, besides src and include.
TESTED_ON_WINDOWS = {"unit", "thread", "sim", "support"}

TEMPLATE = re.compile(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>")
CLASS = re.compile(r"(?<!enum )\b(class|struct)\b[^;{}()]*{")
NO_FUNCTION = re.compile(r"\s*(friend\b|using\b|static_assert\b|:|,)")


def line(text, offset):
    return text.count("\n", 0, offset) + 1


def is_code(path):
    return path.suffix in CODE or path.name == "CMakeLists.txt" or path.parts[0] == ".ci"


def check_lines(path, text):
    if not is_code(path) and path.suffix != ".md":
        return
    for number, content in enumerate(text.split("\n"), 1):
        if "\t" in content:
            yield path, number, "tab"
        if content != content.rstrip():
            yield path, number, "trailing blank"
        if is_code(path) and len(content) > MAX_COLUMNS:  # Tables of a page may be wider.
            yield path, number, f"{len(content)} columns, the limit is {MAX_COLUMNS}"


def check_tables(path, text):
    """A table that is torn or wrapped like text: the rest of it is shown as text, bars and all."""
    if path.suffix != ".md":
        return
    prose = re.sub(r"^( *)```.*?^\1```", blank, text, flags=re.M | re.S).split("\n")
    for number, (before, content, after) in enumerate(zip(prose, prose[1:], prose[2:] + [""]), 2):
        is_row, was_row = content.startswith("|"), before.startswith("|")
        if is_row and not content.endswith("|"):
            yield path, number, "a row of a table ends with a bar"
        if is_row != was_row and content and before:
            yield path, number, "an empty line parts a table from text"
        if is_row and not was_row and not re.fullmatch(r"[-:| ]+", after):
            yield path, number, "a table begins with a head and a line of dashes"


def check_function_length(path, text):
    """Measures outermost bodies, from brace to brace.

    The words before a brace tell what it opens: a scope (namespace or type), a function, or an
    initializer. Constructors with brace initializers have one "function" for each, which is right
    for the last one, the body.
    """
    if path.suffix not in {".cpp", ".hpp"}:
        return
    code = DIRECTIVE.sub(blank, bare(text))
    depth = head = start = 0  # Depth counts braces from the outermost function or initializer.
    measured = False
    for brace in re.finditer(r"[{};]", code):
        if brace[0] == "{":
            words = code[head : brace.start()].strip()
            if depth == 0 and SCOPE.search(words):
                head = brace.end()
                continue
            if depth == 0:
                start, measured = brace.start(), words[:1] in ("", ",") or ")" in words
            depth += 1
        elif brace[0] == "}" and depth > 0:
            depth -= 1
            length = code.count("\n", start, brace.start()) + 1
            if depth == 0 and measured and length > MAX_FUNCTION_LINES:
                message = f"function of {length} lines, the limit is {MAX_FUNCTION_LINES}"
                yield path, line(code, start), message
        if depth == 0:
            head = brace.end()


def without(pattern, code, instead=""):
    """Code without what matches, also where one match is inside another."""
    while (shorter := re.sub(pattern, instead, code)) != code:
        code = shorter
    return code


def body_at(code, start):
    """What is between the brace before `start` and the one that closes it."""
    depth = 1
    for brace in re.finditer(r"[{}]", code[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return code[start : start + brace.start()]
    return code[start:]


def count_public_functions(access, body):
    body = without(r"{[^{}]*}", body, ";")
    # Parentheses between angle brackets belong to types.
    body = without(r"<(?:[^<>()]|\([^<>()]*\))*>", body)
    first, *sections = re.split(r"\b(public|protected|private)\s*:", body)
    parts = zip([access, *sections[::2]], [first, *sections[1::2]])
    declared = ";".join(part for label, part in parts if label == "public").split(";")
    # What begins with a colon or a comma initializes members of the constructor before it.
    return sum("(" in each and not NO_FUNCTION.match(each) for each in declared)


def check_public_functions(path, text):
    """Counts what a class of the library declares itself. Friends do not count."""
    if path.suffix not in {".cpp", ".hpp"} or path.parts[0] not in {"include", "src"}:
        return
    code = TEMPLATE.sub(blank, DIRECTIVE.sub(blank, bare(text)))
    for found in CLASS.finditer(code):
        access = "public" if found[1] == "struct" else "private"
        count = count_public_functions(access, body_at(code, found.end()))
        if count > MAX_PUBLIC_FUNCTIONS:
            message = f"{count} public functions, the limit is {MAX_PUBLIC_FUNCTIONS}"
            yield path, line(code, found.start()), message


def check_header_guard(path, text):
    if path.suffix != ".hpp":
        return
    short = re.sub(r"^(include/redlock/|include/redlock(?=\.hpp))", "", path.as_posix())
    guard = "REDLOCK_" + re.sub(r"\W", "_", short.lstrip(".")).upper()
    if not re.search(rf"^#ifndef {guard}\n#define {guard}\n", text, re.M):
        yield path, 1, f"header guard is not {guard}"


def check_examples_libraries(path, text):
    if path.suffix not in {".cpp", ".hpp"}:
        return
    for name, users in (("redis", BOOST_REDIS), ("mysql", BOOST_MYSQL)):
        for found in re.finditer(rf"^ *# *include *[<\"](boost/{name}\b[^>\"]*)", text, re.M):
            if path.as_posix() not in users:
                message = f"<{found[1]}> belongs in {' or '.join(users)} only"
                yield path, line(text, found.start()), message


def check_arrows(path, text):
    folder = path.parent.as_posix()
    if folder == "include/redlock/detail" or path.as_posix() == "include/redlock.hpp":
        folder = "include/redlock"
    if folder not in ARROWS or path.suffix not in {".cpp", ".hpp"}:
        return
    for found in re.finditer(r'^ *# *include *"(\w+)/[^"]*"', text, re.M):
        if found[1] not in ARROWS[folder]:
            yield path, line(text, found.start()), f"{folder} includes nothing of {found[1]}/"
    for found in re.finditer(r"^ *# *include *<redlock/(\w+)\.hpp>", text, re.M):
        if folder in BELOW_THE_CLIENT and found[1] in OPERATIONS:
            yield path, line(text, found.start()), f"{folder} knows nothing of {found[1]}.hpp"


def row_in_client(name):
    return next((row for row, names in enumerate(CLIENT_ROWS) if name in names), None)


def check_order_in_client(path, text):
    if path.parent.as_posix() != "src/client":
        return
    own = row_in_client(path.stem)
    if own is None:
        yield path, 1, f"{path.stem} is in no row of CLIENT_ROWS"
        return
    for found in re.finditer(r'^ *# *include *"client/(\w+)\.hpp"', text, re.M):
        other = row_in_client(found[1])
        if found[1] != path.stem and (other is None or other >= own):
            yield path, line(text, found.start()), f"{path.stem} knows nothing of {found[1]}.hpp"


def check_core_is_pure(path, text):
    if not path.as_posix().startswith("src/core/"):
        return
    code = bare(text)
    for found in re.finditer(r"\bnow\s*\(\s*\)|::now\b", code):
        yield path, line(code, found.start()), "core reads no clock: pass the time in"
    for found in re.finditer(r'^ *# *include *(<boost/(?!assert\.hpp)|"(?!core/))', text, re.M):
        yield path, line(text, found.start()), "core includes only std, Boost.Assert and itself"


def check_openssl(path, text):
    """Without TLS the library needs no OpenSSL."""
    if path.parts[0] not in {"include", "src"} or path.name.startswith("tls_"):
        return
    for found in re.finditer(r"#include <(openssl|boost/asio/ssl)\b", text):
        yield path, line(text, found.start()), "OpenSSL is for src/wire/tls_* alone"


def check_suite_comes_first(path, text):
    """Test files are compiled together: a suite or a namespace keeps their names apart."""
    suite = SUITE.search(text)
    if path.parts[0] != "test" or not suite:
        return
    opened = text.rfind("#include", 0, suite.start())
    between = bare(text[text.index("\n", opened) : suite.start()])
    first = re.search(r"^[^#\s].*$", between, re.M)
    if first and not re.match(r"namespace \w+_tests \{", first[0]):
        yield path, line(text, suite.start()), "what comes between includes and suite is inside it"


def check_platform(path, text):
    """What differs from system to system is in one place. Other code does not ask for the system,
    and has no names that <windows.h> takes away."""
    if path.suffix not in {".cpp", ".hpp"} or path.parts[0] == "bench":
        return
    for directive in DIRECTIVE.finditer(text):
        found = PLATFORM.search(directive[0])
        if found and path.as_posix() != EXPORTS:
            where = "src/loop/platform.hpp and its files"
            yield path, line(text, directive.start()), f"{found[0]}: what differs goes into {where}"
    code = DIRECTIVE.sub(blank, bare(text))
    if path.parts[0] != "test" or path.parts[1] in TESTED_ON_WINDOWS:
        for found in re.finditer(r"\b(near|far)\b", code):
            yield path, line(code, found.start()), f"'{found[1]}' is a macro of <windows.h>"
    if path.parts[0] == "include":
        for found in re.finditer(r"(?<!\))\b(min|max)\(", code):
            message = f"({found[1]})(: <windows.h> may have a macro of that name"
            yield path, line(code, found.start()), message


def check_comments(path, text):
    """A comment begins with what it is about."""
    if not is_code(path) or path.parts[:2] == ("test", "fixtures"):
        return
    begins = r"(?://[/<]*|/\*\*|^ *(?:--|#)) (Who|Whoever|Somebody|Nobody)\b(?!\?)"
    before = ""
    for number, content in enumerate(text.split("\n"), 1):
        found = re.search(begins, content)
        if found and not before.strip().startswith(("//", "--", "#")):
            yield path, number, f"a comment that begins with {found[1]}: name the subject first"
        before = content


def check_words(files):
    """The glossary has one word for each concept, and a column of words that are not used."""
    page = pathlib.Path("docs/design/architecture.md")
    table = re.search(r"^\| Word \| Concept \| Not \|\n(.*?)\n\n", files[page], re.M | re.S)
    if not table:
        yield page, 1, "no table of words"
        return
    cells = [row.strip("| ").split("|")[2:] for row in table[1].split("\n")[1:]]
    words = [word.strip() for cell in cells if cell for word in cell[0].split(",") if word.strip()]
    unused = re.compile(rf"\b((?:{'|'.join(map(re.escape, words))})(?:s|ed|ing)?)\b", re.I)
    for path, text in files.items():
        if path.parts[0] in {"src", "include"}:
            for found in unused.finditer(text):
                yield path, line(text, found.start()), f"'{found[1]}' is not a word of {page}"


def joined(files, folder):
    return "\n".join(text for path, text in files.items() if path.parts[0] == folder)


def check_public_headers(files):
    # Programs include it in their tests only, and link another target for it.
    apart = "testing.hpp"
    umbrella = files.get(pathlib.Path("include/redlock.hpp"), "")
    docs = joined(files, "docs")
    for path in files:
        if path.parent.as_posix() == "include/redlock":
            if path.name != apart and f"#include <redlock/{path.name}>" not in umbrella:
                yield path, 1, "include/redlock.hpp does not include it"
            if f"redlock/{path.name}" not in docs:
                yield path, 1, "no page in docs/ mentions it"


def check_errors(files):
    header, page = pathlib.Path("include/redlock/error.hpp"), pathlib.Path("docs/trouble.md")
    code = bare(files.get(header, ""))
    body = re.search(r"enum class error\b[^{]*{(.*?)}", code, re.S)
    if not body:
        yield header, 1, "no enum class error"
        return
    tests = joined(files, "test")
    for found in re.finditer(r"(\w+)(?:\s*=[^,]*)?(?:,|\s*$)", body[1]):
        name, where = found[1], line(code, body.start(1) + found.start())
        if not re.search(rf"(`|\berror::){name}\b", files.get(page, "")):
            yield header, where, f"{page} does not explain {name}"
        if not re.search(rf"\berror::{name}\b", tests):
            yield header, where, f"no test names error::{name}"


def check_lock_files(files):
    del files  # Only code and pages are among them.
    for path in sorted(ROOT.glob("test/*/package-lock.json")):
        text = path.read_text("utf-8")
        for found in re.finditer(r'"resolved"|\w+://', text):
            message = "records where packages come from, see .npmrc beside it"
            yield path.relative_to(ROOT), line(text, found.start()), message


def check_packaging(files):
    cmake = files[pathlib.Path("CMakeLists.txt")]
    version = re.search(r"^project\(redlock\s+VERSION (\S+)", cmake, re.M)[1]
    port = pathlib.Path("packaging/vcpkg/redlock/vcpkg.json")
    if json.loads((ROOT / port).read_text("utf-8"))["version"] != version:
        yield port, 1, f"CMakeLists.txt has the version {version}"
    for path, text in files.items():
        for found in re.finditer(r"\bREDLOCK_\w+", text if path.parts[:2] in RECIPES else ""):
            if found[0] not in cmake:
                yield path, line(text, found.start()), f"CMakeLists.txt has no {found[0]}"


def check_by(script):
    """The findings of another script, which finds its files itself."""
    command = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    outcome = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for finding in outcome.stdout.splitlines() if outcome.returncode else []:
        where, number, message = (finding.split(":", 2) + ["", ""])[:3]
        yield where, int(number) if number.isdigit() else 1, message.strip() or finding


def check_mutants(files):
    """A bug that fits no more is one that nobody plants any more: see scripts/mutants.sh."""
    del files
    table = mutants.TABLE.read_text("utf-8")
    for name, problem in mutants.problems():
        yield "test/mutants.toml", line(table, table.index(f"[{name}]")), f"{name}: {problem}"


def check_snippets(files):
    del files
    yield from check_by("docs_snippets.py")


def check_pictures(files):
    del files
    yield from check_by("pictures.py")


EACH_FILE = [
    check_lines,
    check_tables,
    check_function_length,
    check_public_functions,
    check_header_guard,
    check_examples_libraries,
    check_arrows,
    check_order_in_client,
    check_core_is_pure,
    check_openssl,
    check_suite_comes_first,
    check_platform,
    check_comments,
]
ALL_FILES = [
    check_public_headers,
    check_words,
    check_errors,
    check_lock_files,
    check_packaging,
    check_mutants,
    check_snippets,
    check_pictures,
]


def read_files():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    paths = sorted({pathlib.Path(name) for name in names.decode().split("\0") if name})
    wanted = [path for path in paths if is_code(path) or path.suffix == ".md"]
    return {path: (ROOT / path).read_text("utf-8") for path in wanted if (ROOT / path).is_file()}


def main():
    files = read_files()
    findings = [found for path, text in files.items() for c in EACH_FILE for found in c(path, text)]
    findings += [found for check in ALL_FILES for found in check(files)]
    for path, number, message in findings:
        print(f"{path}:{number}: {message}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
