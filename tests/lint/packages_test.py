"""What tools/quickstart and tools/test say and do about packages, with a made-up dpkg-query, apt-get and id."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# Every command that tools/dev/install itself runs; the made-up ones come on top.
COMMANDS = ["bash", "dirname", "cat", "grep", "mktemp", "tee", "tail", "rm", "env"]
ALL_INSTALLED = 'shift 3; for name in "$@"; do echo "installed $name"; done'


def group(name):
    """The packages of a group of packages.txt, read independently of the scripts."""
    text = (REPOSITORY / "tools/dev/packages.txt").read_text()
    body = re.search(rf"^\[{name}\]\n(.*?)(?=^\[|\Z)", text, re.DOTALL | re.MULTILINE).group(1)
    return [line for line in body.splitlines() if line and not line.startswith("#")]


class Packages(unittest.TestCase):
    def run_install(self, groups, **fakes):
        """Runs tools/dev/install with only COMMANDS and the given made-up commands; each of these, named with _ for
        -, also logs its call. Returns (exit code, output, calls)."""
        with tempfile.TemporaryDirectory() as folder:
            for command in COMMANDS:
                os.symlink(subprocess.check_output(["which", command], text=True).strip(), f"{folder}/{command}")
            for name, body in fakes.items():
                script = pathlib.Path(folder, name.replace("_", "-"))
                script.write_text(f'#!/bin/bash\necho "{script.name} $*" >> {folder}/calls\n{body}\n')
                script.chmod(0o755)
            done = subprocess.run([f"{folder}/bash", REPOSITORY / "tools/dev/install", *groups], text=True, check=False,
                                  env={"PATH": folder, "TMPDIR": folder}, capture_output=True, timeout=60)
            calls = pathlib.Path(folder, "calls")
            return done.returncode, done.stdout + done.stderr, calls.read_text() if calls.exists() else ""

    def test_nothing_missing_needs_neither_root_nor_apt(self):
        code, output, calls = self.run_install(["build", "tests", "lint"], dpkg_query=ALL_INSTALLED, id="echo 1000",
                                               apt_get="exit 1")
        self.assertEqual((code, output), (0, ""))
        self.assertNotIn("apt-get", calls)
        for name in group("build") + group("tests") + group("lint"):
            self.assertIn(f" {name}", calls)

    def test_only_what_is_missing_is_installed(self):
        dpkg = ALL_INSTALLED.replace("echo", '[ "$name" = meson ] || echo')
        code, _, calls = self.run_install(["build"], dpkg_query=dpkg + "; exit 1", id="echo 0", apt_get="")
        self.assertEqual(code, 0)
        update, install = [line for line in calls.splitlines() if line.startswith("apt-get")]
        self.assertTrue(update.endswith(" update"))
        self.assertTrue(install.endswith(" install --no-install-recommends meson"), install)

    def test_a_removed_package_with_settings_left_is_missing(self):
        dpkg = ALL_INSTALLED.replace('"installed $name"', '"config-files $name"')
        code, output, _ = self.run_install(["lint"], dpkg_query=dpkg, id="echo 1000", apt_get="")
        self.assertEqual(code, 2)
        self.assertIn(group("lint")[0], output)

    def test_without_root_it_names_the_command(self):
        code, output, calls = self.run_install(["build"], dpkg_query="exit 1", id="echo 1000", apt_get="")
        self.assertEqual(code, 2)
        self.assertIn("sudo sh -c 'apt-get update && apt-get install --no-install-recommends "
                      + " ".join(group("build")) + "'", output)
        self.assertNotIn("apt-get", calls)

    def test_when_apt_fails_it_shows_why_and_the_command(self):
        code, output, _ = self.run_install(["lint"], dpkg_query="exit 1", id="echo 0",
                                           apt_get="echo E: no network; exit 100")
        self.assertEqual(code, 2)
        self.assertIn("E: no network", output)
        self.assertIn(f"apt-get install --no-install-recommends {group('lint')[0]}", output)

    def test_elsewhere_than_on_debian_it_lists_the_packages(self):
        code, output, _ = self.run_install(["build"])
        self.assertEqual(code, 2)
        self.assertIn("not a Debian system", output)
        for name in group("build"):
            self.assertIn(name, output)

    def test_an_unknown_group_is_refused(self):
        code, output, _ = self.run_install(["nonsense"], dpkg_query=ALL_INSTALLED)
        self.assertEqual(code, 2, output)
        self.assertIn("no group 'nonsense'", output)


class Usage(unittest.TestCase):
    def test_help_and_unknown_options(self):
        for script in ("tools/quickstart", "tools/test"):
            for argument, code in (("--help", 0), ("--nonsense", 2)):
                done = subprocess.run([REPOSITORY / script, argument], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code)
                self.assertIn(f"Usage: {script}", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
