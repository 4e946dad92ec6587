#!/usr/bin/env python3
"""The bugs of test/mutants.toml, and how one is planted in a tree. See scripts/mutants.sh.

usage: mutants.py plant NAME TREE  changes the files of TREE, and prints which

What a bug replaces is found in its function by words and signs. So it may be wrapped and indented
in any way, and has to occur there once.
"""

import pathlib
import re
import sys
import tomllib

from outline import outline

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "test/mutants.toml"
KILLERS = re.compile(r"unit|sim|(unit|integration) test_[a-z0-9_]+")
WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")


class Unfit(Exception):
    """A mutant that cannot be planted, or that does not say what is to be said."""


def read_table():
    """Name -> rule, killed_by and changes, each of which has file, function, old and new."""
    with TABLE.open("rb") as file:
        table = tomllib.load(file)
    for entry in table.values():
        entry.setdefault("changes", [entry])
    return table


def pattern_of(text):
    parts = WORD_OR_SIGN.findall(text)
    regex = re.escape(parts[0])
    for before, part in zip(parts, parts[1:]):
        words = before[-1].isidentifier() or before[-1].isdigit()
        words = words and (part[0].isidentifier() or part[0].isdigit())
        regex += (r"\s+" if words else r"\s*") + re.escape(part)
    return re.compile(regex)


def planted(text, change):
    """`text` with a change made."""
    file, function = change["file"], change["function"]
    spans = [span for name, *span in outline(file, text) if name == function]
    if not spans:
        raise Unfit(f"there is no {function} in {file}")
    pattern = pattern_of(change["old"])
    found = [match for span in spans for match in pattern.finditer(text, *span)]
    if len(found) != 1:
        raise Unfit(f"what it replaces in {function} of {file} occurs {len(found)} times")
    return text[: found[0].start()] + change["new"] + text[found[0].end() :]


def changed_files(changes, tree):
    """Path in the tree -> text, with all changes made."""
    texts = {}
    for change in changes:
        file = change["file"]
        text = texts.get(file) or (pathlib.Path(tree) / file).read_text("utf-8")
        texts[file] = planted(text, change)
    return texts


def plant(name, tree):
    """Makes the changes of a mutant. Returns the files."""
    texts = changed_files(read_table()[name]["changes"], tree)
    for file, text in texts.items():
        (pathlib.Path(tree) / file).write_text(text, "utf-8")
    return list(texts)


def problems():
    """Name and problem of each mutant that cannot be planted in this tree."""
    for name, entry in read_table().items():
        try:
            if not re.fullmatch(r"[A-Z].*\.", entry["rule"]):
                raise Unfit("its rule is not a sentence")
            if not KILLERS.fullmatch(entry["killed_by"]):
                raise Unfit("killed_by must be unit [SUITE], sim or integration SUITE")
            changed_files(entry["changes"], ROOT)
        except KeyError as missing:
            yield name, f"it has no {missing.args[0]}"
        except (Unfit, OSError) as problem:
            yield name, str(problem)


def main(arguments):
    if len(arguments) != 3 or arguments[0] != "plant":
        sys.exit(__doc__)
    _, name, tree = arguments
    if name not in read_table():
        raise Unfit(f"there is no mutant '{name}'")
    print("\n".join(plant(name, tree)))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Unfit as problem:
        sys.exit(f"mutants.py: {problem}")
