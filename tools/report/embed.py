"""Writes a C++ source that holds text files: `embed.py OUTPUT FILE...`; assets.h declares what it defines."""

import json
import pathlib
import sys


def main():
    output, files = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    lines = ['#include "tools/report/assets.h"', "", "namespace tombolo::report::assets {"]
    for file in files:
        # A JSON string of ASCII characters is a C++ string literal too; each line is one, and the compiler joins them.
        text = "\n".join(f"      {json.dumps(line)}" for line in file.read_text(encoding="ascii").splitlines(keepends=True))
        lines += ["", f"std::string_view {file.stem}_{file.suffix[1:]}() {{", "  return", text + ";", "}"]
    output.write_text("\n".join([*lines, "", "}  // namespace tombolo::report::assets", ""]), encoding="ascii")


if __name__ == "__main__":
    main()
