"""Who may include whom."""

import re

from .tree import Finding

# The nearest folder with an entry says what a file's quoted includes may begin with.
MAY_INCLUDE = {
    "base": ["base"],
    "protocol": ["protocol", "base"],
    "aggregation": ["aggregation", "protocol", "base"],
    "aggregation/fold": ["aggregation/fold", "protocol", "base"],
    "multicast": ["multicast", "protocol", "base"],
    "dataplane": ["dataplane", "aggregation", "multicast", "protocol", "base"],
    "schedule": ["schedule", "base"],
    "island": ["island", "aggregation", "protocol", "base"],
    "control": ["control", "schedule", "dataplane", "aggregation", "multicast", "protocol", "base"],
    "tools": [""],
    "tests": [""],
}
# Where DPDK's own names may appear.
DPDK_FOLDERS = ["dataplane/port/dpdk", "tests/unit/dataplane/port/dpdk", "tools/bench/dpdk", "tests/unit/tools/bench/dpdk"]


def inside(path, folder):
    return folder == "" or path == folder or path.startswith(folder + "/")


def layer_of(path):
    """The longest entry of MAY_INCLUDE that holds the path; None for a folder in no layer."""
    return max((layer for layer in MAY_INCLUDE if inside(path, layer)), key=len, default=None)


def check_layers(tree):
    """A file includes only from its own layer and those below it, by paths from the root."""
    for source in tree.of_kind("cpp"):
        layer = layer_of(source.path)
        if layer is None:
            yield Finding(source.path, 0, "layers", "this folder is in no layer; give it one in lint_rules/layers.py")
            continue
        for line, name, quoted in source.includes:
            if quoted and name not in tree.by_path:
                yield Finding(source.path, line, "layers", f'"{name}" is not a path from the repository\'s root')
            elif quoted and not any(inside(name, allowed) for allowed in MAY_INCLUDE[layer]):
                yield Finding(source.path, line, "layers",
                              f'{layer}/ may not include "{name}", only {", ".join(MAY_INCLUDE[layer])}')
            elif not quoted and name in tree.by_path:
                yield Finding(source.path, line, "layers", f'<{name}> is the project\'s own: include it with quotes')


def check_dpdk(tree):
    """DPDK is seen only by the port over it, by the benchmark's bare loops, and by their tests."""
    for source in tree.of_kind("cpp"):
        if any(inside(source.path, folder) for folder in DPDK_FOLDERS):
            continue
        for line, code in enumerate(source.code_lines, 1):
            match = re.search(r"\b(?:rte|RTE)_\w+", code)
            if match:
                yield Finding(source.path, line, "dpdk",
                              f"{match.group()} outside {' and '.join(DPDK_FOLDERS)}")
