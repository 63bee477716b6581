"""Where C++ functions begin and end, by counting braces in code whose comments and literals are blanked."""

import re

from .tree import blank

CONTAINER = re.compile(r"(?:inline\s+)?namespace\b|extern\s*\"")
ATTRIBUTES = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\)", re.DOTALL)
ACCESS = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*")
INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*(?:\([^()]*\))?)?\s*:(?!:)")


class Unbalanced(ValueError):
    """Braces that do not pair up: the file cannot be read this way."""


def cpp_functions(code):
    """Yields (name, first line, last line) of each outermost function body; a lambda inside counts as its lines."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda match: blank(match.group()), code, flags=re.MULTILINE)
    containers = parentheses = depth = 0  # depth: braces open inside a body or an initialiser.
    head_start, is_function = 0, False
    for match in re.finditer(r"[{}();]", code):
        token, position = match.group(), match.start()
        if depth > 0:
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0 and is_function:
                first = head_start + ACCESS.match(code[head_start:]).end()
                yield name_of(code[first:position]), line_of(code, first), line_of(code, position)
                head_start = match.end()
        elif token == "(":
            parentheses += 1
        elif token == ")":
            parentheses -= 1
        elif token == ";":
            head_start = match.end() if parentheses == 0 else head_start
        elif token == "}":
            if containers == 0:
                raise Unbalanced(f"line {line_of(code, position)} closes a brace that is not open")
            containers, head_start = containers - 1, match.end()
        else:
            kind = "initialiser" if parentheses else kind_of(code[head_start:position])
            if kind == "container":
                containers, head_start = containers + 1, match.end()
            else:
                depth, is_function = 1, kind == "function"
    if containers or depth or parentheses:
        raise Unbalanced("a brace or parenthesis is still open at the end")


def kind_of(head):
    """What the brace behind this text opens: a container (namespace, class), a function or an initialiser."""
    head = without_template(ATTRIBUTES.sub(" ", head[ACCESS.match(head).end():])).strip()
    if CONTAINER.match(head):
        return "container"
    if "(" not in head:
        return "container" if re.search(r"\b(?:class|struct|union|enum)\b", head) else "initialiser"
    if head.endswith("="):
        return "initialiser"
    if INITIALISERS.search(head) and head[-1] not in ")}":
        return "initialiser"  # A member that is initialised with braces; the body comes later.
    return "function"


def without_template(head):
    """The text without its leading template<...> parts, whose `class` keywords mean nothing here."""
    while match := re.match(r"\s*template\s*<", head):
        end, depth = match.end(), 1
        while depth and end < len(head):
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[end:]
    return head


def name_of(text):
    match = re.search(r"\bTEST\w*\([^()]*\)|(?:~?\w[\w:]*|operator\s*\S+)(?=\s*\()", without_template(text))
    return match.group() if match else "a function"


def line_of(code, position):
    return code.count("\n", 0, position) + 1
