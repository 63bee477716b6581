"""What code that handles packets may not call.

An exception is made in the source and gives its reason: `// lint: REASON` behind a line excepts that line; on a line
of its own, the statement or the whole function that follows; `// lint-file: REASON` excepts the file. An exception
that excepts nothing, or has no reason, is itself a finding.
"""

import re

from .layers import inside
from .tree import Finding

HOT_FOLDERS = ["dataplane/worker", "dataplane/edge", "dataplane/port", "protocol/link", "multicast", "aggregation"]
# The emulated wires stand for cables: what they do happens outside a node.
EMULATION = ["dataplane/port/inproc_", "dataplane/port/link_model", "dataplane/port/arrival_queue",
             "dataplane/port/frame_store"]
FORBIDDEN = [
    (r"\bnew\b(?!\s*\()", "allocates"),
    (r"\b(?:malloc|calloc|realloc|aligned_alloc)\s*\(", "allocates"),
    (r"\bmake_(?:unique|shared)\b", "allocates"),
    (r"(?:\.|->)(?:push_back|emplace_back|resize|reserve)\s*\(", "may allocate"),
    (r"\bstd::function\b", "may allocate"),
    (r"\bthrow\b", "throws"),
    (r"\bstd::(?:\w+_)?mutex\b|\b(?:lock_guard|unique_lock|scoped_lock|condition_variable)\b", "locks"),
    (r"\b(?:f|s|sn|v|vsn)?printf\s*\(", "formats"),
    (r"\bfmt::|\bstd::(?:to_string|(?:o|i)?stringstream)\b", "formats"),
    (r"\bstd::(?:cout|cerr|clog)\b", "prints"),
    (r"\bgetenv\b", "reads the environment"),
    (r"\b(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(", "sleeps"),
    (r"\b\w*clock::now\b|\bclock_gettime\b", "reads a clock; the time comes as now_ns"),
]
PATTERNS = [(re.compile(pattern), why) for pattern, why in FORBIDDEN]
EXCEPTION = re.compile(r"//\s*lint(-file)?:\s*(.*)")
LEAST_REASON = 10  # Characters.


def is_hot(path):
    return any(inside(path, folder) for folder in HOT_FOLDERS) and not path.startswith(tuple(EMULATION))


def check_hot_path(tree):
    """No allocation, lock, exception, system call or formatting where packets are handled."""
    for source in tree.of_kind("cpp"):
        found = list(forbidden_calls(source)) if is_hot(source.path) else []
        used = set()
        exceptions = list(exceptions_of(source))
        for number, reason, covered in exceptions:
            if len(reason) < LEAST_REASON:
                yield Finding(source.path, number, "hot-path", "an exception gives its reason: // lint: REASON")
            hits = {line for line, _, _ in found if line in covered}
            if not hits:
                yield Finding(source.path, number, "hot-path", "this exception excepts nothing")
            used |= hits
        for line, call, why in found:
            if line not in used:
                yield Finding(source.path, line, "hot-path", f"'{call}' {why}")


def forbidden_calls(source):
    """Yields (line, call, why)."""
    for number, code in enumerate(source.code_lines, 1):
        if code.lstrip().startswith("#"):
            continue
        for pattern, why in PATTERNS:
            match = pattern.search(code)
            if match:
                yield number, match.group().strip(" .->("), why


def exceptions_of(source):
    """Yields (line, reason, covered lines) of each exception in the file."""
    for number, comment in source.comments:
        match = EXCEPTION.match(comment)
        if not match:
            continue
        if match.group(1):
            covered = range(1, len(source.code_lines) + 1)
        elif source.code_lines[number - 1].strip():
            covered = range(number, number + 1)
        else:
            covered = range(number, end_of_statement(source.code_lines, number + 1) + 1)
        yield number, match.group(2).strip(), covered


def end_of_statement(code_lines, first):
    """The line on which the statement or function definition that begins at line `first` ends."""
    depth = 0
    for number in range(first, len(code_lines) + 1):
        for character in code_lines[number - 1]:
            if character in "({[":
                depth += 1
            elif character in ")}]":
                depth -= 1
                if depth < 0 or (depth == 0 and character == "}" and is_body_end(code_lines, number)):
                    return number
            elif character == ";" and depth == 0:
                return number
    return len(code_lines)


def is_body_end(code_lines, last):
    """Whether a closing brace at depth 0 ends a function and not a braced initialiser: what follows decides."""
    rest = "".join(code_lines[last - 1:last]).rpartition("}")[2] + " ".join(code_lines[last:last + 3])
    return not rest.lstrip().startswith((",", "{", ";", ")", "."))
