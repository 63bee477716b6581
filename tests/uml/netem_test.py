"""The testbed with the kernel's netem as its WAN, in a kernel that has netem: user-mode Linux.

Arguments: the folder of the programs, the library that user-mode Linux is started with. Exit code 77, with a reason, where it
is not installed or does not start.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, REGISTERS = None, None
INIT = pathlib.Path(__file__).resolve().parent / "init"
MEMORY = 2 << 30
# Only bounds how long a kernel that hangs is waited for.
PATIENCE_S = 240

# With one slow processor and a clock of 100 Hz: long ways, a low rate (5 Mbit/s), small updates (10 kB).
TOPOLOGY = """name: small
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, rtt_ms: 200}
  - {a: B, b: C, rtt_ms: 300}
profiles:
  p: {core_gbps: 10, egress_gbps: 10, ingress_gbps: 10}
"""
RATE_BPS = 5e6
# Who has no processor for a second is not dead, nor is the round.
SLOW = ("--hello-ms", "4000", "--deadline", "60")
SCALE = ("--profile", "p", "--bytes", "20M", "--scale", "0.0005")


def why_not_possible():
    """What is missing for a start; None if nothing is."""
    for program in ("linux.uml", "modprobe", "ip", "tc"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            package = {"linux.uml": "user-mode-linux", "modprobe": "kmod"}.get(program, "iproute2")
            return f"no {program} (Debian package {package})"
    return None


def run_inside(folder, command):
    """Runs a command in a kernel of its own; returns what its console showed, and the exit code (None: it did not end)."""
    (folder / "command").write_text(command)
    environment = dict(os.environ, LD_PRELOAD=str(REGISTERS))
    # Its memory is a file: by default in /dev/shm, which containers make small.
    if shutil.disk_usage("/dev/shm").free < MEMORY:
        environment["TMPDIR"] = str(folder)
    kernel = subprocess.Popen(
        ["linux.uml", f"mem={MEMORY >> 20}M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "quiet",
         f"init={INIT}", f"TOMBOLO_FOLDER={folder}", "con=null", "con0=fd:0,fd:1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        console = kernel.communicate(timeout=PATIENCE_S)[0]
    except subprocess.TimeoutExpired:
        # Its processes are the host's, all of its own session.
        os.killpg(kernel.pid, signal.SIGKILL)
        console = kernel.communicate()[0]
    code = folder / "exit-code"
    return console.decode(errors="replace").replace("\r", ""), int(code.read_text()) if code.exists() else None


class Netem(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "topology.yaml").write_text(TOPOLOGY)
        # Whether links measure right within percents is the machine's affair; what netem itself holds is judged below.
        command = [PROGRAMS / "tombolo", "testbed", "run", cls.folder / "topology.yaml", "--backend", "netns", "--emulation",
                   "netem", *SLOW, *SCALE, "--schedule", "full", "--rounds", "2", "--accept-links",
                   "--out", cls.folder / "run", "--json", cls.folder / "report.json"]
        console, code = run_inside(cls.folder, " ".join(map(str, command)))
        print(console)
        if "user-mode Linux is up" not in console:
            lines = console.strip().splitlines() or ["no word"]
            print("user-mode Linux does not start here:", next((line for line in lines if "errno" in line), lines[-1]))
            sys.stdout.flush()
            os._exit(77)
        assert code == 0, f"exit code {code}"
        cls.report = json.loads((cls.folder / "report.json").read_text())

    def test_rounds_are_exact(self):
        self.assertIs(self.report["exact"], True)
        self.assertEqual([entry["cliques"] for entry in self.report["rounds"]], [[["A", "B", "C"]]] * 2)
        for entry in self.report["rounds"]:
            self.assertEqual((entry["errors"], entry["exact"]), ([], True))

    def test_what_an_edge_sends_does_not_come_back_to_it(self):
        # As the kernel would have it: behind netem it no longer knows which socket a frame is from.
        self.assertEqual(self.report["drops"].get("port_other_address", 0), 0)

    def test_the_wan_is_the_kernels(self):
        for site in "ABC":
            self.assertNotIn("emulate", (self.folder / "run" / "edges" / f"{site}.yaml").read_text())
        links = {link["name"]: link for link in self.report["links"]}
        self.assertEqual({name: (link["target_rtt_ms"], link["target_bps"]) for name, link in links.items()},
                         {"A-B": (200, RATE_BPS), "B-C": (300, RATE_BPS), "access of A": (0, RATE_BPS),
                          "access of B": (0, RATE_BPS), "access of C": (0, RATE_BPS)})
        for name, link in links.items():
            # A slow processor only makes a way longer. Without netem these would be a few milliseconds and a
            # rate of tens of Mbit/s.
            self.assertGreaterEqual(link["measured_rtt_ms"], link["target_rtt_ms"], name)
            self.assertGreater(link["measured_bps"], 0, name)
            self.assertLess(link["measured_bps"], 2 * RATE_BPS, name)


if __name__ == "__main__":
    PROGRAMS, REGISTERS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    reason = why_not_possible()
    if reason:
        print(reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
