"""The files that are checked, each with its text and, for C++, the text without comments and literals."""

import functools
import os
import pathlib
import re
from dataclasses import dataclass

SUFFIXES = {".h": "cpp", ".cc": "cpp", ".py": "python", ".sh": "shell", ".md": "text", ".txt": "text",
            ".yaml": "text", ".yml": "text", ".json": "text", ".build": "text", ".options": "text", ".proto": "text"}
INTERPRETERS = {"python3": "python", "python": "python", "bash": "shell", "sh": "shell"}

# What must not be read as code: comments, raw strings, strings, characters. A quote behind a digit separates digits.
TOKEN = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)
                     | (?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
                     | (?P<string>"(?:\\.|[^"\\\n])*")
                     | (?P<character>(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+')""", re.DOTALL | re.VERBOSE)


@dataclass(frozen=True, order=True)
class Finding:
    """One broken rule at one place; line 0 stands for the whole file or folder."""
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.rule}: {self.message}"


def blank(text):
    """The same text with every visible character replaced by a space; lines stay where they are."""
    return re.sub(r"[^\n]", " ", text)


class Source:
    """One file; `path` is relative to the root, with slashes."""

    def __init__(self, path, kind, content):
        self.path = path
        self.kind = kind
        self.text = content
        self.lines = content.splitlines()

    @property
    def folder(self):
        return self.path.rpartition("/")[0]

    @property
    def is_header(self):
        return self.path.endswith(".h")

    @functools.cached_property
    def code(self):
        """C++ only: the text with comments blanked and literals emptied, position by position the same."""
        def replace(match):
            token = match.group()
            return blank(token) if match.lastgroup == "comment" else token[0] + blank(token[1:-1]) + token[-1]
        return TOKEN.sub(replace, self.text)

    @functools.cached_property
    def code_lines(self):
        return self.code.split("\n")

    @functools.cached_property
    def comments(self):
        """C++ only: (line, text) of each comment."""
        return [(self.line_of(match.start()), match.group()) for match in TOKEN.finditer(self.text)
                if match.lastgroup == "comment"]

    @functools.cached_property
    def includes(self):
        """C++ only: (line, name, quoted) of each #include."""
        found = []
        for number, (line, code) in enumerate(zip(self.text.split("\n"), self.code_lines), 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if match and code.lstrip().startswith("#"):
                found.append((number, match.group(2), match.group(1) == '"'))
        return found

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1


class Tree:
    """Every checked file under the root, whether or not it is under version control. Build folders (build*/ in the
    root), what runs have left (runs/ in the root) and hidden folders other than .ci are not part of it."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = sorted(self._read(), key=lambda source: source.path)
        self.by_path = {source.path: source for source in self.files}

    def of_kind(self, *kinds):
        return [source for source in self.files if source.kind in kinds]

    def _read(self):
        for folder, folders, names in os.walk(self.root):
            at_root = pathlib.Path(folder) == self.root
            folders[:] = [name for name in folders if name != "__pycache__" and
                          (name == ".ci" or not name.startswith(".")) and
                          not (at_root and (name.startswith("build") or name == "runs"))]
            for name in names:
                full = pathlib.Path(folder, name)
                if full.is_symlink():
                    continue
                kind = SUFFIXES.get(full.suffix) or (kind_by_first_line(full) if not full.suffix else None)
                if kind:
                    content = full.read_text(encoding="utf-8", errors="replace")
                    yield Source(full.relative_to(self.root).as_posix(), kind, content)


def kind_by_first_line(path):
    """The kind of a script without a suffix, from its #! line; None if it has none."""
    with path.open("rb") as file:
        first = file.readline(100).decode("utf-8", "replace")
    words = re.split(r"[\s/]+", first[2:].strip()) if first.startswith("#!") else []
    return next((INTERPRETERS[word] for word in words if word in INTERPRETERS), None)
