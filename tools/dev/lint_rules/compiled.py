"""Rules that run a program on each file: clang-format, and the compiler on each header alone.

Both remember what they found good, by the hash of everything that the answer depends on, in lint-cache/ in the build
folder; so a second run costs next to nothing.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from .tree import Finding

CLANG_FORMAT = "clang-format-14"


class CannotRun(Exception):
    """Something that the check itself needs is missing."""


class Cache:
    """The keys of what was found good. Keys that a run did not ask for are forgotten, so that it does not grow; a
    rule that does not run keeps its keys."""

    def __init__(self, build, rules):
        self.build = pathlib.Path(build).resolve()
        if not (self.build / "compile_commands.json").exists():
            raise CannotRun(f"{self.build} is not a configured build folder; run: meson setup build")
        self.folder = self.build / "lint-cache"
        self.folder.mkdir(exist_ok=True)
        self.known = {rule: self._load(rule) for rule in rules}
        self.good = {rule: set() for rule in rules}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for rule, keys in self.good.items():
            (self.folder / rule).write_text("\n".join(sorted(keys)))

    def _load(self, rule):
        path = self.folder / rule
        return set(path.read_text().split()) if path.exists() else set()

    def check(self, rule, jobs):
        """Runs check() of each (key, check) that is not known to be good, on all cores; yields what it returns, and
        remembers the key when that is None."""
        unknown = [(key, check) for key, check in jobs if key not in self.known[rule]]
        self.good[rule] |= {key for key, _ in jobs} - {key for key, _ in unknown}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (key, _), finding in zip(unknown, pool.map(lambda job: job[1](), unknown)):
                if finding is None:
                    self.good[rule].add(key)
                else:
                    yield finding


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def check_format(tree, cache):
    """The layout is clang-format's; the fix is `clang-format-14 -i FILE`."""
    if shutil.which(CLANG_FORMAT) is None:
        raise CannotRun(f"{CLANG_FORMAT} is not installed; run: apt-get install {CLANG_FORMAT}")
    style = (tree.root / ".clang-format").read_text()
    version = run([CLANG_FORMAT, "--version"]).stdout

    def job(source):
        def check():
            checked = run([CLANG_FORMAT, "--dry-run", "-Werror", str(tree.root / source.path)])
            if checked.returncode == 0:
                return None
            line = first_line_number(checked.stderr, source.path)
            return Finding(source.path, line, "format", f"run {CLANG_FORMAT} -i {source.path}")
        return digest(version, style, source.path, source.text), check

    yield from cache.check("format", [job(source) for source in tree.of_kind("cpp")])


def check_headers(tree, cache):
    """Each header compiles alone, with the flags of the nearest compiled source. One that a compiled source of its name
    includes before anything else has done so in the build."""
    commands = Commands(tree, cache.build)
    if commands.is_empty():
        raise CannotRun(f"{cache.build}/compile_commands.json lists no source of {tree.root}")
    version = run([commands.compiler, "--version"]).stdout

    def job(source):
        flags, folder = commands.nearest(source)

        def check():
            checked = run([commands.compiler, *flags, "-fsyntax-only", "-I", str(tree.root), "-x", "c++", "-"],
                          cwd=folder, input=f'#include "{source.path}"\n')
            if checked.returncode == 0:
                return None
            errors = [line for line in checked.stderr.splitlines() if "error" in line]
            line = first_line_number(checked.stderr, source.path)
            return Finding(source.path, line, "header", "does not compile alone: " + (errors or ["?"])[0])
        return digest(version, *flags, *closure(tree, source)), check

    yield from cache.check("header", [job(source) for source in tree.of_kind("cpp")
                                      if source.is_header and not is_proven(source, tree, commands)])


def is_proven(header, tree, commands):
    """Whether the build compiles a source that begins with this header."""
    own = tree.by_path.get(header.path.removesuffix(".h") + ".cc")
    return (own is not None and own.path in commands.sources and own.includes != []
            and own.includes[0][1] == header.path)


def first_line_number(output, path):
    """The first line of `path` that a compiler-like output names; 0 if none."""
    for line in output.splitlines():
        place = line.split(f"{path}:", 1)[1:] if f"{path}:" in line else []
        number = place[0].split(":", 1)[0].rstrip(",") if place else ""
        if number.isdigit():
            return int(number)
    return 0


def closure(tree, source):
    """Path and text of a header and of all of the project's headers that it includes, in a fixed order."""
    seen, waiting = {}, [source]
    while waiting:
        current = waiting.pop()
        if current.path not in seen:
            seen[current.path] = current.text
            waiting += [tree.by_path[name] for _, name, _ in current.includes if name in tree.by_path]
    return [part for item in sorted(seen.items()) for part in item]


class Commands:
    """The compiler's flags by folder, from Meson's compile_commands.json."""

    def __init__(self, tree, build):
        self.flags = {}  # Folder relative to the root: (flags, working folder).
        self.sources = set()  # Paths of all that is compiled.
        self.compiler = "c++"
        for entry in json.loads((build / "compile_commands.json").read_text()):
            source = pathlib.Path(entry["directory"], entry["file"]).resolve()
            if tree.root in source.parents:
                words = shlex.split(entry["command"])
                # The compiler is the word before the first option: a compiler cache may stand before it.
                first = next(place for place, word in enumerate(words) if word.startswith("-"))
                self.compiler = words[first - 1]
                self.sources.add(source.relative_to(tree.root).as_posix())
                for part in parts(source):
                    if tree.root in part.parents:
                        folder = part.parent.relative_to(tree.root).as_posix()
                        self.flags.setdefault(folder, (syntax_flags(words[first:]), entry["directory"]))

    def is_empty(self):
        return not self.flags

    def nearest(self, source):
        """The flags of the header's own folder, else of the nearest folder above, else of any."""
        folder = source.folder
        while folder:
            if folder in self.flags:
                return self.flags[folder]
            folder = folder.rpartition("/")[0]
        return self.flags[min(self.flags)]


def parts(source):
    """The files that are compiled with this one: those that Meson has put together as one source, or just itself."""
    if not re.fullmatch(r".*-unity\d+\.cpp", source.name) or not source.is_file():
        return [source]
    names = re.findall(r"#include\s*[<\"]([^>\"]+)[>\"]", source.read_text())
    return [pathlib.Path(source.parent, name).resolve() for name in names]


def syntax_flags(words):
    """The flags that matter to a header: language, warnings, include paths and definitions."""
    kept, words = [], iter(words)
    for word in words:
        if word in ("-o", "-MF", "-MQ", "-MT"):
            next(words)
        elif word in ("-I", "-isystem", "-D"):
            kept += [word, next(words)]
        elif word.startswith(("-I", "-isystem", "-D", "-std", "-W", "-m", "-pthread")):
            kept.append(word)
    return kept
