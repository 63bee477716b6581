"""The command `tombolo` for tests: the program, small files that are sound, and what every test asks of it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CONFIGS = None, None

TOPOLOGY = """name: small
sites:
  - {id: A}
  - {id: B}
  - {id: C}
links:
  - {a: A, b: B, rtt_ms: 10}
  - {a: B, b: C, rtt_ms: 30}
profiles:
  p: {core_gbps: 10, egress_gbps: 10, ingress_gbps: 10}
"""
SCHEDULE = """name: pairs
rounds:
  - [[A, B]]
  - [[B, C]]
"""


def tombolo(*arguments):
    """Runs the program; returns its CompletedProcess with text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.topology = self.write("topology.yaml", TOPOLOGY)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def run_small(self, *options):
        """A short run of the small topology: 100 kB at 1 Mbit/s."""
        return tombolo("testbed", "run", self.topology, "--profile", "p", "--bytes", "1G", "--scale", "0.0001", *options)

    def expect_one_error(self, result, case):
        self.assertEqual(result.returncode, 2, (case, result.stderr))
        self.assertEqual(result.stdout, "", case)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, (case, result.stderr))
        self.assertTrue(lines[0].startswith("tombolo: "), (case, lines))
        return lines[0]


def main():
    """Arguments: the program, the folder configs/, then unittest's."""
    global PROGRAM, CONFIGS
    PROGRAM, CONFIGS = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
