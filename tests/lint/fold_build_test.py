"""How aggregation/fold is compiled.

    fold_build_test.py aarch64 SOURCES          all of it for another machine, none of whose instructions it names
    fold_build_test.py own_flags LIBRARY...     what has compiler flags of its own keeps everything to itself

Exit code 77, with a reason, where there is no cross compiler.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

CROSS_COMPILER = "aarch64-linux-gnu-g++"
# As the project has them; the notes about argument passing mean vectors, which never leave a file.
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-ffp-contract=off", "-fno-math-errno"]


def compile_for_aarch64(root):
    if shutil.which(CROSS_COMPILER) is None:
        print(f"no {CROSS_COMPILER}")
        return 77
    sources = [path for path in sorted(pathlib.Path(root, "aggregation/fold").glob("*.cc"))
               if "immintrin.h" not in path.read_text()]
    assert len(sources) > 4, "where are the sources?"
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            done = subprocess.run([CROSS_COMPILER, *FLAGS, "-I", root, "-c", source, "-o", f"{folder}/object"],
                                  check=False)
            failed += done.returncode != 0
    return 1 if failed else 0


def keep_to_themselves(libraries):
    """A weak definition in a library may be the one that the linker keeps for the whole program, and then it runs on
    machines that lack its instructions."""
    failed = 0
    for library in libraries:
        symbols = subprocess.check_output(["nm", "--demangle", "--defined-only", library], text=True).splitlines()
        assert any(" T " in line or " R " in line or " D " in line for line in symbols), f"{library} defines nothing"
        for line in symbols:
            kind = line.split()[1] if len(line.split()) > 2 else ""
            if kind in ("W", "V", "u"):
                print(f"{library}: not its own: {line}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "aarch64":
        sys.exit(compile_for_aarch64(sys.argv[2]))
    sys.exit(keep_to_themselves(sys.argv[2:]))
