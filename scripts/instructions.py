#!/usr/bin/env python3
"""Counts the instructions of a pair, an acquisition and its release, and compares them with
bench/instructions/table.txt.

usage: instructions.py PROGRAM SEED [--write]

PROGRAM is redlock_instructions and SEED the file of redlock_same_seed. scripts/instructions.sh
builds both. Prints what it found and exits with 1 if that differs from the table by more than the
table allows, in either direction: a table that is too high lets the next loss pass. With --write it
changes the table.

The client has three nodes, and one of these is counted too. Both run in callgrind. What would
make two runs differ is taken away:

  timing         redlock_instructions exchanges everything in lock step, on a clock of its own
  hash seed      redlock_same_seed
  serverCron     not counted; it is due by time
  malloc         keeps all small blocks at hand, so its own cost hardly depends on what came before
"""

import argparse
import collections
import contextlib
import os
import pathlib
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "bench/instructions/table.txt"
NODES = 3
START_SECONDS = 60
RUN_SECONDS = 240
MOST_PERCENT = 2  # Instructions.
MOST_ALLOCATIONS = 0.25  # Of a pair: these are the same in each run.
COLUMNS = ("client", "allocations", "server")
ALLOCATIONS = re.compile(r"(malloc|calloc|realloc)('\d+)?")

# What is started dies with this script.
OURS = ["setpriv", "--pdeathsig", "KILL"]
CALLGRIND = ["valgrind", "-q", "--tool=callgrind"]
SERVER = ["--port", "0", "--save", "", "--appendonly", "no", "--hz", "1", "--dynamic-hz", "no",
          "--activerehashing", "no", "--slowlog-log-slower-than", "-1"]

Row = collections.namedtuple("Row", ("mode", "tasks", "pairs"))


class Failure(Exception):
    """There is no count."""


def skip(needs):
    print(f"SKIPPED: bench.instructions needs {needs}")
    sys.exit(0)


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def section_of(program, server):
    """What the counts depend on: the processor, the build of the client, the server."""
    version = re.search(r"(\w+) server v=(\S+) .*malloc=(\S+)", output_of(server, "--version"))
    if not version:
        raise Failure(f"{server} does not tell its version")
    name, number, malloc = version.groups()
    build = f"{output_of(program, '--build')}, {' '.join(platform.libc_ver())}"
    return f"{platform.machine()}, {build}; {name} {number} {malloc}"


def read_table():
    """Section -> (mode, tasks) -> column -> number."""
    sections, rows = {}, {}
    for line in TABLE.read_text("utf-8").splitlines() if TABLE.exists() else []:
        if section := re.fullmatch(r"\[(.*)\]", line):
            rows = sections[section[1]] = {}
        elif row := re.fullmatch(r"(plain|guarded) +(\d+)((?: +[\d.]+){%d})" % len(COLUMNS), line):
            rows[row[1], row[2]] = dict(zip(COLUMNS, map(float, row[3].split())))
    return sections


def lines_of(rows):
    yield f"{'mode':8} {'tasks':>5} " + " ".join(f"{name:>12}" for name in COLUMNS)
    for (mode, tasks), found in rows.items():
        numbers = " ".join(shown(name, found[name]).rjust(12) for name in COLUMNS)
        yield f"{mode:8} {tasks:>5} {numbers}"


def shown(column, number):
    return f"{number:.2f}" if column == "allocations" else f"{number:.0f}"


def write_table(sections):
    kept = TABLE.read_text("utf-8").partition("\n[")[0].rstrip() + "\n"
    for name, rows in sorted(sections.items()):
        kept += f"\n[{name}]\n" + "\n".join(lines_of(rows)) + "\n"
    TABLE.write_text(kept, "utf-8")


def wait_for(node, path, log):
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and node.poll() is None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(path))
            caller.settimeout(START_SECONDS)
            caller.sendall(b"PING\r\n")
            if caller.recv(16).startswith(b"+PONG"):
                return
        time.sleep(0.02)
    raise Failure("a node does not start: " + log.read_text("utf-8", "replace"))


@contextlib.contextmanager
def nodes(server, seed, folder):
    """Three of them. The first one is counted: each ECHO ends a part."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    counted = CALLGRIND + [f"--callgrind-out-file={folder}/server", "--dump-before=echoCommand",
                           "--toggle-collect=serverCron", "--collect-atstart=yes"]
    started = []
    try:
        for index in range(NODES):
            first = index == 0
            path, log = folder / f"node{index}", folder / f"log{index}"
            command = OURS + (counted if first else []) + [server, *SERVER]
            command += ["--unixsocket", str(path), "--dir", str(folder)]
            with log.open("w") as output:
                started.append((path, log, subprocess.Popen(
                    command, env=environment | ({"LD_PRELOAD": seed} if first else {}),
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output)))
        for path, log, process in started:
            wait_for(process, path, log)
        yield [str(path) for path, log, process in started]
    finally:
        for path, log, process in started:
            process.kill()
            process.wait()


def run_client(program, paths, folder):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C",
                   "GLIBC_TUNABLES": "glibc.malloc.tcache_count=4096"}
    counted = CALLGRIND + [f"--callgrind-out-file={folder}/client",
                           "--dump-before=redlock_instructions_mark"]
    done = subprocess.run(OURS + counted + [program, *paths], env=environment,
                          timeout=RUN_SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure("the client failed: " + done.stdout)


def read_part(path):
    """The instructions of a part, and the calls of functions that allocate."""
    names, called, instructions, allocations = {}, "", 0, 0
    for line in path.read_text("utf-8", "replace").splitlines():
        if line.startswith(("fn=", "cfn=")):
            number, _, name = line.partition("=")[2].partition(" ")
            name = names.setdefault(number, name)
            if line.startswith("cfn="):
                called = name
        elif line.startswith("calls=") and ALLOCATIONS.fullmatch(called):
            allocations += int(line[len("calls=") :].split()[0])
        elif line.startswith("totals:"):
            instructions = int(line.split()[1])
    return instructions, allocations


def count(program, seed, server):
    """The rows of this build on this server, as in the table."""
    rows = [Row(*line.split()) for line in output_of(program, "--rows").splitlines()]
    with tempfile.TemporaryDirectory(prefix="redlock-instructions-") as name:
        folder = pathlib.Path(name)
        with nodes(server, seed, folder) as paths:
            run_client(program, paths, folder)
        found = {}
        for index, row in enumerate(rows):
            part = 2 * index + 2  # The odd ones lie between two rows.
            client, server_part = folder / f"client.{part}", folder / f"server.{part}"
            if not client.exists() or not server_part.exists():
                raise Failure("valgrind has not seen all marks: a program has lost its symbols")
            instructions, allocations = read_part(client)
            values = (instructions, allocations, read_part(server_part)[0])
            found[row.mode, row.tasks] = {
                column: value / int(row.pairs) for column, value in zip(COLUMNS, values)}
    return found


def differences(expected, found):
    """What differs by more than is allowed, in words."""
    for row in expected.keys() | found.keys():
        if row not in expected or row not in found:
            yield f"{' '.join(row)}: is only in {'the table' if row in expected else 'the program'}"
            continue
        for column in COLUMNS:
            old, new = expected[row][column], found[row][column]
            percent = 100 * (new - old) / old
            if column == "allocations":
                fits = abs(new - old) <= MOST_ALLOCATIONS
            else:
                fits = abs(percent) <= MOST_PERCENT
            if not fits:
                yield (f"{row[0]}, tasks {row[1]}, {column}: expected {shown(column, old)}, "
                       f"found {shown(column, new)}, {percent:+.1f} %")


def compare(section, expected, found):
    bad = sorted(differences(expected, found))
    print(f"[{section}]", *lines_of(found), sep="\n")
    if not bad:
        return 0
    print("\nA pair costs more or less than bench/instructions/table.txt says:", *bad, sep="\n")
    print("\nIf that is meant, run scripts/instructions.sh --write and commit the table with its "
          "cause.\nThat holds for less too: a table that is too high lets the next loss pass.")
    return 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("seed")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    os.environ["PATH"] = f"{ROOT}/.deps/bin:{os.environ['PATH']}"
    if not shutil.which("valgrind"):
        skip("valgrind")
    server = shutil.which("redis-server")
    if not server:
        skip("redis-server")
    section = section_of(chosen.program, server)
    sections = read_table()
    if not chosen.write and section not in sections:
        skip(f"a section [{section}] in {TABLE.relative_to(ROOT)}")
    found = count(chosen.program, chosen.seed, server)
    if chosen.write:
        write_table(sections | {section: found})
        print(f"[{section}]", *lines_of(found), sep="\n")
        return 0
    return compare(section, sections[section], found)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError, subprocess.SubprocessError) as failure:
        sys.exit(f"instructions.py: {failure}")
