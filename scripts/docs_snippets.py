#!/usr/bin/env python3
"""Copies code from compiled files into the pages in Markdown, so that it cannot rot there.

A line `<!-- snippet: path#name -->` asks for the lines between `// snippet: name` and
`// end snippet` of the file `path`, or what is a comment there. `<!-- snippet: path -->` asks for
the whole file without such lines. They go into the code block right after that line, which is made
if it is missing.

usage: scripts/docs_snippets.py [--check]

With --check nothing is written: it names what differs and exits with 1.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKER = re.compile(
    r"^<!-- snippet: (?P<path>[^\s#]+)(?:#(?P<name>\S+))? -->\n"
    r"(?P<block>```\w*\n.*?^```(?:\n|\Z))?",
    re.M | re.S,
)
COMMENT = {".lua": "--", ".txt": "#", ".cmake": "#", ".py": "#", ".sh": "#"}
LANGUAGE = {".lua": "lua", ".txt": "cmake", ".cmake": "cmake", ".py": "python", ".sh": "sh"}


def region(path, name):
    """The text of one region, dedented, or of a file. Raises ValueError naming what is missing."""
    source = ROOT / path
    if not source.is_file():
        raise ValueError(f"there is no file {path}")
    comment = COMMENT.get(source.suffix, "//")
    text = source.read_text("utf-8")
    if name is None:
        return re.sub(rf"^[ ]*{comment} (snippet: .*|end snippet)\n", "", text, flags=re.M)
    found = re.findall(
        rf"^[ ]*{comment} snippet: {re.escape(name)}\n(.*?)^[ ]*{comment} end snippet$",
        text,
        re.M | re.S,
    )
    if len(found) != 1:
        raise ValueError(f"{path} has {len(found)} snippets named {name}")
    return textwrap.dedent(found[0]).strip("\n") + "\n"


def refill(page, findings):
    """The text of a page with every block copied anew. Adds a line to findings for each change."""
    text = page.read_text("utf-8")

    def replace(match):
        path, name = match["path"], match["name"]
        asked = f"{path}#{name}" if name else path
        where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        try:
            code = region(path, name)
        except ValueError as missing:
            findings.append(f"{where}: {missing}")
            return match[0]
        language = LANGUAGE.get(pathlib.Path(path).suffix, "cpp")
        block = f"```{language}\n{code}```\n"
        if block != match["block"]:
            findings.append(f"{where}: differs from {asked}")
        return f"<!-- snippet: {asked} -->\n{block}"

    return text, MARKER.sub(replace, text)


def pages():
    return [
        ROOT / "README.md",
        ROOT / "bench/README.md",
        ROOT / "test/README.md",
        *sorted(ROOT.glob("docs/**/*.md")),
        *sorted(ROOT.glob("examples/*/README.md")),
    ]


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    check = bool(arguments)
    failed = False
    for page in pages():
        if not page.is_file():
            continue
        findings = []
        old, new = refill(page, findings)
        if new != old and not check:
            page.write_text(new, "utf-8")
            print(f"{page.relative_to(ROOT)}: refilled")
            findings = [line for line in findings if ": differs from " not in line]
        for line in findings:
            print(line)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
