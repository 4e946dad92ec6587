"""A build without a mutant, and mutants that share what they do not change with it.

A mutant is compiled beside the build, file by file, and its objects come first on the line of the
linker: what they define is then not taken from the library, and of the functions that many objects
have, as those of headers, the linker takes the first. This holds without optimization only, as
nothing is inlined then.
"""

import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from mutants import ROOT, Unfit, changed_files

# Started by the tests, which look for them beside themselves.
HELPERS = {"redlock_integration_tests": ["redlock_lead_candidate", "redlock_lead_watcher"]}
SCRIPTS = "src/node/scripts"
INCLUDED_SCRIPT = re.compile(r"--include ([a-z_]+\.lua)\n")
INCLUDED_SOURCE = re.compile(r'^#include "(.*)"', re.M)
OBJECT_AND_FILES = re.compile(r"^(\S+): #deps.*\n((?: +.*\n)*)", re.M)
SHARED_SYMBOLS = "uVW"  # For nm: the linker takes the first one.


def run(command, folder):
    """What a command printed. Unfit if it failed."""
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise Unfit(f"{shlex.join(command)[:200]}:\n{done.stdout}")
    return done.stdout


def copy_tree(tree):
    """Writes only what differs, so that only that is compiled."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = {name for name in run(command, ROOT).split("\0") if name and (ROOT / name).is_file()}
    for name in files:
        copy = tree / name
        if not copy.is_file() or copy.read_bytes() != (ROOT / name).read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)
    for copy in tree.rglob("*"):
        if copy.is_file() and copy.relative_to(tree).as_posix() not in files:
            copy.unlink()


def expanded(name, read):
    """A script as cmake/EmbedScripts.cmake embeds it. @param read Path in the tree -> text."""
    text = read(f"{SCRIPTS}/{name}.lua")
    return INCLUDED_SCRIPT.sub(lambda part: read(f"{SCRIPTS}/{part[1]}"), text)


class Build:
    """A copy of the tree, and a build of it."""

    def __init__(self, work, jobs):
        self.tree = work / "tree"
        self.folder = work / "build"
        self.jobs = jobs

    def make(self, targets):
        copy_tree(self.tree)
        if not (self.folder / "build.ninja").exists():
            self.configure()
        parallel = ["--parallel", str(self.jobs)]
        run(["cmake", "--build", ".", *parallel, "--target", *targets], self.folder)
        self.read_build()

    def read_build(self):
        self.commands = {}  # Object -> words of the command that compiles it
        for entry in json.loads((self.folder / "compile_commands.json").read_text("utf-8")):
            words = shlex.split(entry["command"])
            self.commands[words[words.index("-o") + 1]] = words
        in_tree = re.compile(rf"^ +{re.escape(str(self.tree))}/(.*)$", re.M)
        self.files = {}  # Object -> files of the tree that it is made of
        for object_, paths in OBJECT_AND_FILES.findall(self.ninja("deps")):
            self.files[object_] = set(in_tree.findall(paths))

    def configure(self):
        options = [f"-DREDLOCK_BOOST_INCLUDE_DIR={os.environ.get('REDLOCK_BOOST_INCLUDE_DIR', '')}"]
        # The stock service takes long to compile, and no mutant needs it.
        options.append("-DREDLOCK_BOOST_MYSQL=OFF")
        if shutil.which("ld.lld"):  # Each mutant is linked, which takes it a seventh of the time.
            options.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
        run(["cmake", "--preset", "mutants", "-B", str(self.folder), *options], self.tree)

    @functools.cache
    def ninja(self, *query):
        return run(["ninja", "-t", *query], self.folder)

    def read(self, file):
        return (self.tree / file).read_text("utf-8")

    def program(self, target):
        return self.folder / self.link_command(target)[-1]

    def link_command(self, target):
        """Its words, and the program as the last one."""
        words = shlex.split(self.ninja("commands", target).splitlines()[-1])
        words = [word for word in words if word not in (":", "&&")]
        at = words.index("-o")
        return words[:at] + words[at + 2 :] + words[at : at + 2]

    def objects_with(self, target, file):
        """The objects of a program that are made of a file."""
        objects = self.ninja("inputs", target).split()
        return [each for each in objects if file in self.files.get(each, ())]

    def embedded_scripts(self):
        header = (self.folder / "generated/scripts.hpp").read_text("utf-8")
        names = re.findall(r"^inline constexpr char (\w+)_text\[\]", header, re.M)
        for name in names:
            if f'R"lua({expanded(name, self.read)})lua"' not in header:
                raise Unfit(f"{name}.lua is not embedded as is expected here")
        return names

    def symbols(self, object_, names):
        """What an object defines of these mangled names. A symbol of its own is told with it."""
        for line in run(["nm", "--defined-only", "--no-sort", object_], self.folder).splitlines():
            if any(name in line for name in names):
                _, kind, symbol = line.split(maxsplit=2)
                yield symbol if kind in SHARED_SYMBOLS else (symbol, object_)

    def mangled(self, change):
        """The names of a function, or of its class if it is an operator or a destructor."""
        namespaces = re.findall(r"^namespace ([\w:]+)", self.read(change["file"]), re.M)
        words = re.findall(r"(?<![~\w])(?!operator)\w+", change["function"])
        paths = [namespace.split("::") + words for namespace in namespaces]
        return {"".join(f"{len(word)}{word}" for word in path) for path in paths}

    def least_objects(self, target, change):
        """Few of the objects that a header is compiled into: all that the change is about is in
        them. All of them if no object has a symbol of that name."""
        objects = self.objects_with(target, change["file"])
        names = self.mangled(change)
        has = {each: set(self.symbols(each, names)) for each in objects}
        missing = set().union(*has.values())
        if not missing:
            return objects
        least = []
        while missing:
            size = {each: (self.folder / each).stat().st_size for each in objects}
            best = max(objects, key=lambda each: (len(has[each] & missing), -size[each]))
            missing -= has[best]
            least.append(best)
        return least


class Mutant:
    """What differs from the build, in a folder of its own, compiled and linked when needed."""

    def __init__(self, build, changes, folder):
        self.build = build
        self.changes = changes
        self.folder = folder
        self.texts = changed_files(changes, build.tree)
        self.made = {}  # Object or target -> path
        for file, text in self.texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, "utf-8")

    def program(self, target):
        """The mutant of a program, and beside it those of the programs that it starts."""
        if target not in self.made:
            for each in [target, *HELPERS.get(target, [])]:
                self.made[each] = self.link(each)
        return self.made[target]

    def link(self, target):
        objects = {}
        for change in self.changes:
            if change["file"].endswith(".hpp"):
                found = self.build.least_objects(target, change)
            else:
                found = self.build.objects_with(target, change["file"])
            objects.update({each: self.compile(each) for each in found})
        compiler, *words, program = self.build.link_command(target)
        first = list(objects.values()) + self.compile_scripts(compiler)
        program = str(self.folder / pathlib.Path(program).name)
        words = [word for word in words if word not in objects]
        run([compiler, *first, *words, program], self.build.folder)
        return program

    def compile(self, object_):
        if object_ not in self.made:
            words = list(self.build.commands[object_])
            source = pathlib.Path(words[-1])
            sources = [source]
            if source.is_relative_to(self.build.folder):  # Made by CMake of one file or several.
                sources = INCLUDED_SOURCE.findall(source.read_text("utf-8"))
            includes = "".join(f'#include "{self.in_place_of(each)}"\n' for each in sources)
            here = [f"-I{self.folder / each}" for each in ("src", "include")]
            self.made[object_] = self.compile_text(words[:1] + here + words[1:-1], includes)
        return self.made[object_]

    def in_place_of(self, source):
        changed = self.folder / os.path.relpath(source, self.build.tree)
        return changed if changed.exists() else source

    def compile_scripts(self, compiler):
        """The embedded scripts, as variables that the linker takes for those of the build."""
        if not any(file.endswith(".lua") for file in self.texts):
            return []
        if SCRIPTS not in self.made:
            text = "namespace redlock::detail {\n"
            for name in self.build.embedded_scripts():
                script = expanded(name, lambda file: self.texts.get(file) or self.build.read(file))
                text += f"[[gnu::used]] inline constexpr char {name}_text[] = "
                text += f'R"lua({script})lua";\n'
            words = [compiler, "-std=c++20", "-fPIC", "-o", "", "-c"]
            self.made[SCRIPTS] = self.compile_text(words, text + "}\n")
        return [self.made[SCRIPTS]]

    def compile_text(self, words, text):
        source = self.folder / f"{len(self.made)}.cpp"
        source.write_text(text, "utf-8")
        words[words.index("-o") + 1] = f"{source}.o"
        run([*words, str(source)], self.build.folder)
        return f"{source}.o"
