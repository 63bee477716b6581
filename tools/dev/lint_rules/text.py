"""Rules that need only the text: lengths, folders' READMEs, leftovers, shell syntax."""

import ast
import re
import subprocess

from .functions import Unbalanced, cpp_functions
from .tree import Finding

MOST_FUNCTION_LINES = 70
MOST_FILE_LINES = 500
SOURCE_KINDS = ("cpp", "python", "shell")
# tests/README.md speaks for the folders of tests/unit, each of which mirrors a folder of sources.
FOLDERS_WITHOUT_README = re.compile(r"tests/unit(/.*)?|\.ci|")
# Written so that this file does not break its own rules.
MARKER = re.compile(r"\b(?:TO[D]O|FIXM[E]|XX[X])\b")
OUTSIDE_PATH = re.compile(r"(?<![\w.])/wor[k]/|\.\./share[d]\b")


def check_function_length(tree):
    """A function fits a screen."""
    for source in tree.of_kind("cpp", "python"):
        try:
            functions = list(cpp_functions(source.code) if source.kind == "cpp" else python_functions(source.text))
        except (Unbalanced, SyntaxError) as error:
            yield Finding(source.path, 0, "function-length", f"its functions cannot be told apart: {error}")
            continue
        for name, first, last in functions:
            length = last - first + 1
            if length > MOST_FUNCTION_LINES:
                yield Finding(source.path, first, "function-length",
                              f"{name} has {length} lines, more than {MOST_FUNCTION_LINES}")


def python_functions(text):
    """Yields (name, first line, last line) of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def check_file_length(tree):
    """A file has one subject."""
    for source in tree.of_kind(*SOURCE_KINDS):
        if len(source.lines) > MOST_FILE_LINES:
            yield Finding(source.path, 0, "file-length", f"{len(source.lines)} lines, more than {MOST_FILE_LINES}")


def check_pragma_once(tree):
    """A header may be included twice."""
    for source in tree.of_kind("cpp"):
        if source.is_header and not re.search(r"^#pragma once$", source.code, re.MULTILINE):
            yield Finding(source.path, 1, "pragma-once", "a header begins with #pragma once")


def check_readme(tree):
    """Every folder with sources says what lives there."""
    for folder in sorted({source.folder for source in tree.of_kind(*SOURCE_KINDS)}):
        if FOLDERS_WITHOUT_README.fullmatch(folder) is None and f"{folder}/README.md" not in tree.by_path:
            yield Finding(folder, 0, "readme", "a folder that holds sources has a README.md")


def check_markers(tree):
    """Unfinished work is an issue, not a comment."""
    yield from matches(tree, "marker", MARKER, "finish it or file it; the sources hold no reminders")


def check_outside_paths(tree):
    """The project stands alone: it names no place outside itself on somebody's machine."""
    yield from matches(tree, "outside-path", OUTSIDE_PATH, "a path outside the project")


def matches(tree, rule, pattern, message):
    for source in tree.files:
        for number, line in enumerate(source.lines, 1):
            match = pattern.search(line)
            if match:
                yield Finding(source.path, number, rule, f"'{match.group()}': {message}")


def check_shell(tree):
    """Every shell script parses."""
    for source in tree.of_kind("shell"):
        checked = subprocess.run(["bash", "-n", str(tree.root / source.path)], capture_output=True, text=True,
                                 check=False)
        if checked.returncode != 0:
            line = re.search(r"line (\d+): (.*)", checked.stderr)
            yield Finding(source.path, int(line.group(1)) if line else 0, "shell",
                          line.group(2) if line else checked.stderr.strip())
