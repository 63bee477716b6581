"""Every rule of tools/dev/lint must report a small bad sample and keep quiet about a good one."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
LINT = REPOSITORY / "tools/dev/lint"

GOOD = {
    ".clang-format": "BasedOnStyle: Google\n",
    "README.md": "A sample.\n",
    "base/README.md": "The lowest layer.\n",
    "base/thing.h": "#pragma once\n\ninline int thing() { return 1; }\n",
    "base/thing.cc": '#include "base/thing.h"\n\nint other() { return thing(); }\n',
    "protocol/README.md": "Above base.\n",
    "protocol/use.h": '#pragma once\n\n#include "base/thing.h"\n\ninline int use() { return thing(); }\n',
    "multicast/README.md": "A hot folder.\n",
    "aggregation/README.md": "Above protocol.\n",
    "aggregation/window.h": "#pragma once\n",
    "tools/README.md": "The top.\n",
    "tools/report.h": "#pragma once\n",
}


def run_lint(files, rules):
    """Writes the good sample with `files` over it, runs the rules on it; returns (exit code, output)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in {**GOOD, **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (root / "runs").mkdir()  # A run's configuration names paths of its machine.
        (root / "runs/edge.yaml").write_text("state: /" + "root/state\n")
        (root / "build").mkdir()
        (root / "build/compile_commands.json").write_text(json.dumps([{
            "directory": str(root / "build"), "file": "../base/thing.cc",
            "command": "c++ -I.. -std=c++20 -Wall -Werror -MD -MQ x -MF x -o x.o -c ../base/thing.cc"}]))
        command = [LINT, "--root", root] + (["--rules", rules] if rules else [])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def function_of(lines):
    """A C++ function of that many lines."""
    return "int long_one() {\n" + "  // A line.\n" * (lines - 2) + "}\n"


HOT_CALLS = [
    "int* p = new int;", "void* p = malloc(8);", "auto p = std::make_unique<int>(1);", "v.push_back(1);",
    "v->emplace_back(1);", "v.resize(9);", "v.reserve(9);", "std::function<void()> f;", "throw 1;", "std::mutex m;",
    "std::shared_mutex m;", "std::lock_guard guard(m);", 'printf("x");', 'std::snprintf(b, 1, "x");', 'fmt::format("x");',
    "std::cout << 1;", 'getenv("X");', "std::this_thread::sleep_for(t);", "usleep(1);",
    "std::chrono::steady_clock::now();"]

# rule: [(name of the bad file, its text, the line that must be reported)]
BAD = {
    "layers": [
        ("base/bad.h", '#pragma once\n#include "protocol/use.h"\n', 2),
        ("protocol/bad.cc", 'int x;\n#include "tools/report.h"\n', 2),
        ("tests/bad.cc", '#include "report.h"\n', 1),
        ("base/bad.cc", "#include <base/thing.h>\n", 1),
        ("aggregation/fold/bad.h", '#include "aggregation/window.h"\n', 1),
        ("elsewhere/bad.cc", "int x;\n", 0)],
    "dpdk": [
        ("dataplane/edge/bad.cc", "int x = 0;\nvoid f() { rte_free(nullptr); }\n", 2),
        ("dataplane/port/bad.cc", "int x = RTE_MAX_LCORE;\n", 1),
        ("dataplane/worker/bad.cc", "#include <rte_lcore.h>\n", 1),
        ("base/bad.cc", "#include <rte_mbuf.h>\n", 1)],
    "hot-path": [(f"multicast/bad{number}.cc", f"void f() {{\n  {call}\n}}\n", 2)
                 for number, call in enumerate(HOT_CALLS)] + [
        ("multicast/bad.cc", "int x = 1;  // lint: nothing is excepted on this line\n", 1),
        ("multicast/bad.cc", "void f() {\n  throw 1;  // lint:\n}\n", 2),
        ("multicast/bad.cc", "// lint: set-up, runs before the first packet\nvoid f() { throw 1; }\nvoid g() { throw 2; }\n", 3),
        ("dataplane/port/memory.cc", "void f() { throw 1; }\n", 1)],
    "function-length": [
        ("base/bad.cc", "int x;\n\n" + function_of(71), 3),
        ("base/bad.cc", "class A {\n public:\n  A() : a_{1} {\n" + "    ++a_;\n" * 70 + "  }\n  int a_;\n};\n", 3),
        ("base/bad.cc", "}\n", 0),
        ("base/bad.py", "x = 1\n\n\ndef f():\n" + "    print(x)\n" * 70, 4)],
    "file-length": [
        ("base/bad.cc", "// A line.\n" * 501, 0),
        ("base/bad.py", "# A line.\n" * 501, 0)],
    "pragma-once": [("base/bad.h", "// #pragma once\nint x();\n", 1)],
    "readme": [("schedule/bad.cc", "int x;\n", 0)],
    "marker": [
        ("base/bad.cc", "int x;\n// TO" + "DO: more\n", 2),
        ("base/bad.py", "# XX" + "X\n", 1),
        ("base/notes.md", "FIX" + "ME\n", 1)],
    "outside-path": [
        ("base/bad.py", "x = '/wor" + "k/main'\n", 1),
        ("base/notes.md", "\nSee ../sha" + "red.\n", 2)],
    "shell": [("base/bad.sh", "#!/bin/bash\nif true; then\n", 3)],
    "format": [("base/bad.cc", "int x;\nint   y;\n", 2)],
    "header": [
        ("base/bad.h", "#pragma once\n\ninline std::string s;\n", 3),
        ("protocol/bad.h", "#pragma once\n\ninline int f(int unused) { return missing; }\n", 3)],
}


class Samples(unittest.TestCase):
    def test_every_rule_reports_its_bad_samples(self):
        for rule, samples in BAD.items():
            for name, text, line in samples:
                with self.subTest(rule=rule, name=name, text=text[:80]):
                    code, output = run_lint({name: text}, rule)
                    self.assertEqual(code, 1, output)
                    place = f"{name}:{line}" if line else name
                    if rule == "readme":
                        place = place.rpartition("/")[0]
                    self.assertRegex(output, rf"(?m)^{re.escape(place)}: {rule}: ")

    def test_every_rule_has_a_bad_sample(self):
        done = subprocess.run([LINT, "--rules", "no-such-rule"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        rules = re.search(r"the rules are (.*)", done.stderr).group(1).split(", ")
        self.assertEqual(sorted(rules), sorted(BAD))

    def test_a_good_tree_is_clean(self):
        code, output = run_lint({}, None)
        self.assertEqual((code, output), (0, "lint: 11 files, 12 rules, 0 findings\n"))

    def test_what_is_allowed_is_not_reported(self):
        allowed = {
            # Comments, strings and raw strings are not code; placement new does not allocate.
            "multicast/ok1.cc": 'const char* f() { return "new int; throw 1;"; }  // std::mutex, printf(\n',
            "multicast/ok2.cc": 'const char* f() { return R"(throw "1)"; }\nint g() { return 1\'000\'000; }\n',
            "multicast/ok3.cc": "void f(void* p) { new (p) int; }\n",
            # Exceptions: a line, a statement, a function whose initialisers have braces, a file.
            "multicast/ok4.cc": "void f() { throw 1; }  // lint: a sample of an exception\n",
            "multicast/ok5.cc": "// lint: set-up, runs before the first packet\n"
                                "A::A(int n) : a_{n}, b_{new int} {\n  v.resize(n);\n  throw 1;\n}\n",
            "multicast/ok6.cc": "// lint-file: set-up, runs before the first packet\nvoid f() { throw 1; }\n"
                                "void g() { throw 2; }\n",
            "dataplane/port/inproc_x.cc": "std::mutex cable;\n",
            "base/cold.cc": "void f() { throw 1; }\n",
            "dataplane/port/dpdk/x.cc": "#include <rte_ethdev.h>\nint x = rte_errno;\n",
            "base/long_enough.cc": function_of(70),
            "base/table.cc": "const int kTable[] = {\n" + "    1,\n" * 100 + "};\n",
            "base/names.cc": "namespace a {\nstruct B {\n" + "  int f() { return 1; }\n" * 100 + "};\n}\n",
        }
        for rules in ("hot-path", "dpdk", "function-length"):
            code, output = run_lint(allowed, rules)
            self.assertEqual(code, 0, output)

    def test_what_was_good_is_checked_again_when_it_changes(self):
        """The cache must not hide a header that breaks because one that it includes changed."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in {**GOOD, "base/top.h": '#pragma once\n#include "base/thing.h"\nextern T t;\n',
                               "base/thing.h": "#pragma once\nusing T = int;\n"}.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            (root / "compile_commands.json").write_text(json.dumps([{
                "directory": folder, "file": "base/thing.cc", "command": "c++ -std=c++20 -c base/thing.cc"}]))
            command = [LINT, "--root", root, "--build", root, "--rules", "header"]
            (root / "protocol/use.h").unlink()
            first = subprocess.run(command, capture_output=True, text=True, check=False)
            (root / "base/thing.h").write_text("#pragma once\n")
            second = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(first.returncode, 0, first.stdout)
        self.assertEqual(second.returncode, 1, second.stdout)
        self.assertIn("base/top.h:3: header: ", second.stdout)

    def test_flags_of_sources_that_are_compiled_as_one(self):
        """A header beside them needs what they are compiled with."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in {**GOOD, "base/needs.h": "#pragma once\ninline int needs() { return NEEDED; }\n",
                               "build/all-unity0.cpp": f"#include<{root}/base/thing.cc>\n"}.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            (root / "build/compile_commands.json").write_text(json.dumps([
                {"directory": str(root / "build"), "file": file, "command": f"c++ -I.. -std=c++20 {more} -c {file}"}
                for file, more in [("../another/place.cc", ""), ("all-unity0.cpp", "-DNEEDED=1")]]))
            done = subprocess.run([LINT, "--root", root, "--rules", "header"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
