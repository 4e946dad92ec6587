#!/usr/bin/env python3
"""Plants the bugs of test/mutants.toml one by one, and tells which test notices each."""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from mutants import ROOT, Unfit, problems, read_table
from mutants_build import Build, Mutant

TARGETS = {
    "unit": "redlock_unit_tests",
    "integration": "redlock_integration_tests",
    "sim": "redlock_sim",
}
# In seconds. What takes longer stands still.
LONGEST_CASE = {"unit": 20, "integration": 60}
LONGEST_SEARCH = 1800
TRIES = 3
DESCRIPTION = """
Plants each bug of test/mutants.toml in a build of its own, and runs the test that killed it last
time, the suite that the table names, and all unit tests, until one fails. A test kills a mutant if
it fails again and passes without the mutant. It is an error if a mutant survives, cannot be planted
or does not compile. The tree itself is not touched.
"""


def say(text):
    print(f"mutants.sh: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def lines_of(command, limit):
    """The lines that a program prints, and a function that gives it its time once more. In the end
    it is killed, with what it has started."""
    process = subprocess.Popen(
        command,
        cwd=pathlib.Path(command[0]).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    timers = []

    def kill():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def give_time():
        for timer in timers:
            timer.cancel()
        timers[:] = [threading.Timer(limit, kill)]
        timers[0].start()

    give_time()
    try:
        yield process.stdout, give_time
    finally:
        timers[0].cancel()
        kill()
        process.stdout.close()
        process.wait()


def first_failed_test(program, only, longest_case):
    """Runs tests until one fails, and returns its name. None if all pass.

    @param only A suite, or suite and case. All if it is empty.
    """
    command = [program, "--log_level=test_suite", "--color_output=no"]
    command += [f"--run_test={only}"] if only else []
    inside = []
    with lines_of(command, longest_case) as (lines, give_time):
        for line in lines:
            if entered := re.search(r'Entering test (?:suite|case) "([^"]+)"', line):
                inside.append(entered[1])
                give_time()
            elif failed := re.search(r'error: in "([^"]+)"', line):
                return failed[1]
            elif re.search(r'Leaving test (?:suite|case) "', line):
                inside.pop()
            elif "No errors detected" in line:
                return None
    # A test that says nothing has brought the program to an end, or to a stand.
    return "/".join(inside) or None


def first_broken_schedule(program, only, schedules):
    """Profile, seed and rule of the first schedule that goes wrong. None if none does."""
    command = [program, "--schedules", str(schedules)]
    if only:
        command = [program, "--schedules", "1", "--seed", only.split()[2].rstrip(",")]
    with lines_of(command, LONGEST_SEARCH) as (lines, _):
        for line in lines:
            if found := re.match(r"seed (\d+) of (\w+): (\S+)", line):
                return f"{found[2]}, seed {found[1]}, {found[3]}"
    return None


class Run:
    def __init__(self, options):
        self.options = options
        self.work = pathlib.Path(options.copy).resolve()
        self.build = Build(self.work, options.jobs)
        self.table = read_table()
        self.memory = self.work / "killers.json"
        self.last_killers = json.loads(self.memory.read_text()) if self.memory.exists() else {}
        self.passing = set()  # Kind and name of tests that were seen passing without a mutant.
        self.lock = threading.Lock()
        self.one_with_servers = threading.Lock()

    def first_failure(self, kind, program, only):
        if kind == "sim":
            return first_broken_schedule(program, only, self.options.schedules)
        # Tests with servers measure times, and get no other such test beside them.
        with self.one_with_servers if kind == "integration" else contextlib.nullcontext():
            return first_failed_test(program, only, LONGEST_CASE[kind])

    def passes_without(self, kind, only):
        if (kind, only) not in self.passing:
            program = str(self.build.program(TARGETS[kind]))
            if failed := self.first_failure(kind, program, only):
                say(f"fails without a mutant: {kind}: {failed}")
                return False
            self.passing.add((kind, only))
        return True

    def killed_by(self, kind, program, only):
        """The test that kills a mutant: by itself, or after those that ran before it. One that does
        not fail again may hide another, so they are tried anew."""
        seen = set()
        for _ in range(TRIES):
            failed = self.first_failure(kind, program, only)
            if not failed:
                return None
            for tests, fails in (
                (failed, self.first_failure(kind, program, failed) == failed),
                (only, failed in seen),
            ):
                if fails and self.passes_without(kind, tests):
                    return failed
            seen.add(failed)
        return None

    def tests_for(self, name):
        """Kind and name of the tests for a mutant, in their order."""
        kind, _, suite = self.table[name]["killed_by"].partition(" ")
        last_kind, _, last = self.last_killers.get(name, "").partition(" ")
        tests = [(last_kind, last)] if last else []
        return dict.fromkeys([*tests, (kind, suite), ("unit", "")])

    def try_mutant(self, name):
        """What became of it: kind and name of the test that killed it, or why none did."""
        folder = self.work / "mutants" / name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            mutant = Mutant(self.build, self.table[name]["changes"], folder)
            for kind, only in self.tests_for(name):
                if killer := self.killed_by(kind, mutant.program(TARGETS[kind]), only):
                    self.remember(name, f"{kind} {killer}")
                    return f"{kind}: {killer}"
            return "survived"
        except Unfit as problem:
            return str(problem)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remember(self, name, killer):
        with self.lock:
            self.last_killers[name] = killer
            self.memory.write_text(json.dumps(self.last_killers, indent=1, sort_keys=True))

    def targets(self, names):
        kinds = {self.table[name]["killed_by"].partition(" ")[0] for name in names}
        return [TARGETS[kind] for kind in TARGETS if kind in kinds | {"unit"}]

    def __call__(self, names):
        say("building without a mutant")
        self.build.make(self.targets(names))
        results = {}
        pool = concurrent.futures.ThreadPoolExecutor(self.options.jobs)
        try:
            runs = {pool.submit(self.try_mutant, name): name for name in names}
            for done in concurrent.futures.as_completed(runs):
                name = runs[done]
                results[name] = done.result()
                say(f"{name}: {results[name]}")
        finally:
            pool.shutdown(cancel_futures=True)
        return results


def print_table(table, results):
    print("| Mutant | Rule that it breaks | Killed by |\n|---|---|---|")
    for name, result in sorted(results.items()):
        killer = re.sub(r"^(\w+): (.*)", r"\1: `\2`", result)
        print(f"| `{name}` | {table[name]['rule']} | {killer} |")


def read_options():
    parser = argparse.ArgumentParser(prog="scripts/mutants.sh", description=DESCRIPTION)
    parser.add_argument("--mutant", action="append", help="only this one; may be repeated")
    parser.add_argument("--list", action="store_true", help="only tell which ones there are")
    parser.add_argument("--table", action="store_true", help="print the results as a table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--schedules", type=int, default=20000, help="of the simulator")
    parser.add_argument("--copy", default=ROOT / "build/mutants", help="folder to work in")
    return parser.parse_args()


def main():
    options = read_options()
    table = read_table()
    names = options.mutant or list(table)
    for name in names:
        if name not in table:
            sys.exit(f"mutants.sh: there is no mutant '{name}', see --list")
    if options.list:
        for name in names:
            print(f"{name:40} {table[name]['rule']}")
        return
    for name, problem in problems():
        if name in names:
            sys.exit(f"mutants.sh: {name}: {problem}")
    begun = time.monotonic()
    results = Run(options)(names)
    if options.table:
        print_table(table, results)
    else:
        for name, result in sorted(results.items()):
            print(f"{name:40} {result}")
    killers = tuple(f"{kind}: " for kind in TARGETS)
    killed = sum(result.startswith(killers) for result in results.values())
    say(f"{len(names)} mutants in {time.monotonic() - begun:.0f} s, {killed} killed")
    sys.exit(killed != len(names))


if __name__ == "__main__":
    try:
        main()
    except Unfit as problem:
        sys.exit(f"mutants.sh: {problem}")
