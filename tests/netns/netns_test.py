"""The testbed of real processes as a user meets it: exact rounds, and that nothing is left of it, whatever happens.

Arguments: the folder of the programs, the folder configs/. Exit code 77, with a reason, where there are no namespaces.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testbed  # noqa: E402

PROGRAMS, CONFIGS = None, None

TOPOLOGY = """name: small
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, rtt_ms: 4}
  - {a: B, b: C, rtt_ms: 6}
profiles:
  p: {core_gbps: 10, egress_gbps: 10, ingress_gbps: 10}
"""
PAIRS = "name: pairs\nrounds:\n  - [[A, B, C]]\n  - [[A, C]]\n"
# 200 kB at 10 Mbit/s: 0.16 s per update on the wire.
SCALE = ("--profile", "p", "--bytes", "200M", "--scale", "0.001")


class Netns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.topology = self.write("topology.yaml", TOPOLOGY)
        self.schedule = self.write("pairs.yaml", PAIRS)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def expect_nothing_left(self, pid):
        """Of the run of that process; others may run meanwhile."""
        self.assertEqual(testbed.namespaces(f"tbl-{pid}-"), [])
        self.assertFalse(pathlib.Path(f"/run/tombolo/testbed-{pid}.json").exists())
        self.assertFalse(pathlib.Path(f"/run/tombolo/{pid}").exists())

    def run_to_its_end(self, command):
        """Runs it, looks that nothing is left of it; returns (exit code, standard output, standard error)."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            out, error = process.communicate(timeout=300)
        self.expect_nothing_left(process.pid)
        return process.returncode, out, error

    def command(self, *options, out="run"):
        # Whether links measure right is the machine's affair where tests run: unit tests hold the judgement itself.
        return [str(word) for word in (PROGRAMS / "tombolo", "testbed", "run", self.topology, "--backend", "netns", *SCALE,
                                       "--accept-links", "--out", self.folder / out, *options)]

    def run_netns(self, *options, out="run"):
        """Runs to the end; the report is that of --json."""
        code, text, error = self.run_to_its_end(self.command("--json", "-", *options, out=out))
        self.assertEqual(code, 0, error + text)
        return json.loads(text)


class Exact(Netns):
    def test_full_and_the_run_folder(self):
        report = self.run_netns("--schedule", "full", "--rounds", "2")
        self.assertEqual((report["schema"], report["command"], report["backend"]), (1, "testbed run", "netns"))
        self.assertIs(report["exact"], True)
        self.assertEqual([entry["cliques"] for entry in report["rounds"]], [[["A", "B", "C"]]] * 2)
        for entry in report["rounds"]:
            self.assertEqual((entry["errors"], entry["exact"]), ([], True))
            self.assertGreater(entry["measured_s"], 0.5 * entry["predicted_s"])
        # Three links of the chain's ends and accesses, each as asked for.
        self.assertEqual([link["name"] for link in report["links"]],
                         ["A-B", "B-C", "access of A", "access of B", "access of C"])
        for link, rtt_ms in zip(report["links"], (4, 6, 0, 0, 0)):
            self.assertEqual((link["target_rtt_ms"], link["target_bps"]), (rtt_ms, 10e6))
            self.assertGreaterEqual(link["measured_rtt_ms"], rtt_ms)
            self.assertGreater(link["measured_bps"], 0)
        self.assertIsInstance(report["cpu_bound"], bool)
        self.assertEqual({worker["site"] for worker in report["worker_times"]}, {"A", "B", "C"})
        # Once out, once in: 200 kB with 106 bytes round each of 25 packets, and control.
        for island in report["islands"]:
            self.assertEqual(island["update_bytes"], 400000)
            for key in ("tx_bytes", "rx_bytes"):
                self.assertGreaterEqual(island[key], 2 * (200000 + 25 * 106))
                self.assertLess(island[key], 1.25 * 400000)
        out = self.folder / "run"
        names = ("command.txt", "topology.yaml", "schedule.yaml", "controller.yaml", "edges/A.yaml", "rounds.csv",
                 "links.csv", "summary.json", "report.html", "events.jsonl", "logs/A.log", "logs/A-island.log",
                 "logs/the-controller.log")
        for name in names:
            self.assertTrue((out / name).is_file(), name)
        self.assertEqual(json.loads((out / "summary.json").read_text()), report)
        self.assertEqual((out / "topology.yaml").read_text(), TOPOLOGY)
        self.assertEqual(len((out / "rounds.csv").read_text().splitlines()), 1 + 2)
        self.assertEqual(len((out / "links.csv").read_text().splitlines()), 1 + 5)

    def test_a_file_with_every_capability(self):
        for multicast in ("on", "off"):
            for aggregation in ("edge", "none"):
                with self.subTest(multicast=multicast, aggregation=aggregation):
                    report = self.run_netns("--schedule", self.schedule, "--multicast", multicast, "--aggregation",
                                            aggregation, out=f"{multicast}-{aggregation}")
                    self.assertIs(report["exact"], True)
                    self.assertEqual([entry["cliques"] for entry in report["rounds"]], [[["A", "B", "C"]], [["A", "C"]]])
                    # Of A, over a round of three and one of two: with the network's help two updates each way, else three.
                    island = report["islands"][0]
                    self.assertEqual(island["update_bytes"], 400000)
                    for key, updates in (("tx_bytes", 2 if multicast == "on" else 3),
                                         ("rx_bytes", 2 if aggregation == "edge" else 3)):
                        self.assertGreaterEqual(island[key], updates * 200000)
                        self.assertLess(island[key], (updates + 0.5) * 200000)

    def test_standard_packets(self):
        report = self.run_netns("--schedule", "full", "--chunk", "standard")
        self.assertEqual((report["exact"], report["chunk_elements"]), (True, 320))


    def test_sites_fold_on_the_way(self):
        for partials, number_format in (("fp32", "fp32"), ("update", "bf16")):
            with self.subTest(partials=partials):
                report = self.run_netns("--schedule", "full", "--aggregation", "tree", "--partials", partials, "--format",
                                        number_format, out=f"tree-{partials}")
                self.assertEqual((report["exact"], report["partials"]), (True, number_format))
                # Up once and down once for every island; partials are between sites.
                for island in report["islands"]:
                    for key in ("tx_bytes", "rx_bytes"):
                        self.assertGreaterEqual(island[key], 200000)
                        self.assertLess(island[key], 1.25 * 200000)


class Endings(Netns):
    def start(self, *options, out="run"):
        process = subprocess.Popen(self.command(*options, out=out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.stderr.close)
        return process, testbed.Lines(process.stderr)

    def wait_for_line(self, lines, what):
        while what not in (line := lines.next()):
            self.assertIsNotNone(line, lines.all)

    def test_a_signal_in_the_middle_of_a_round_tears_down(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                process, lines = self.start("--rounds", "1000", out=number.name)
                self.wait_for_line(lines, "round 1 of 1000 done")
                process.send_signal(number)
                self.assertEqual(process.wait(60), 1)
                self.expect_nothing_left(process.pid)

    def test_what_a_killed_run_left_is_removed_by_the_next(self):
        process, lines = self.start("--rounds", "1000")
        self.wait_for_line(lines, "round 1 of 1000 done")
        events = self.folder / "run" / "events.jsonl"
        process.kill()
        process.wait()
        left = testbed.namespaces(f"tbl-{process.pid}-")
        self.assertEqual(len(left), 1 + 3 + 3)
        # Its children died with it: nobody writes any more.
        def quiet():
            size = events.stat().st_size
            time.sleep(0.3)
            return events.stat().st_size == size
        testbed.wait_for(quiet, "the islands to be gone")
        code, _, error = self.run_to_its_end(self.command(out="next"))
        self.assertEqual(code, 0, error)
        # Unless another run of this machine was quicker.
        if f"run {process.pid} had been killed" in error:
            self.assertIn(f"run {process.pid} had been killed: 7 namespaces", error)
        self.expect_nothing_left(process.pid)

    def test_a_program_that_ends_is_named_with_its_last_words(self):
        # An edge that cannot start: its program is a script that complains.
        programs = self.folder / "programs"
        programs.mkdir()
        for name in ("tombolo-controller", "tombolo-island"):
            (programs / name).symlink_to(PROGRAMS / name)
        edge = programs / "tombolo-edge"
        edge.write_text("#!/bin/sh\necho no such interface >&2\nexit 3\n")
        edge.chmod(0o755)
        code, _, error = self.run_to_its_end(self.command("--programs", programs))
        self.assertEqual(code, 1, error)
        self.assertIn("ended with exit code 3", error)
        self.assertIn("no such interface", error)

    def test_mistakes_cost_nothing(self):
        (self.folder / "full").mkdir()
        self.write("full/file", "x")
        for options, what in ((("--programs", "/nowhere"), "/nowhere/tombolo-edge"),
                              (("--schedule", "/nowhere.yaml"), "/nowhere.yaml"),
                              (("--emulation", "perfect"), "--emulation")):
            code, _, error = self.run_to_its_end(self.command(*options))
            self.assertEqual(code, 2, error)
            self.assertIn(what, error)
            self.assertFalse((self.folder / "run").exists())
        code, _, error = self.run_to_its_end(self.command(out="full"))
        self.assertEqual(code, 2)
        self.assertIn("not an empty folder", error)


class Up(Netns):
    def test_what_runs_where_is_told_and_a_test_can_drive_islands(self):
        with testbed.Testbed(PROGRAMS, self.topology, self.folder / "up", *SCALE, "--schedule", self.schedule) as network:
            self.assertEqual([edge["site"] for edge in network.info["edges"]], ["A", "B", "C"])
            for entry in (network.info["controller"], *network.info["edges"]):
                self.assertTrue(pathlib.Path(f"/run/netns/{entry['namespace']}").exists())
                os.kill(entry["pid"], 0)
                self.assertIsNotNone(network.status(entry))
            islands = network.start_islands()
            number = network.wait_ready()
            for _ in range(2):
                for island in islands.values():
                    island.tell(f"start {number}")
                for island in islands.values():
                    self.assertEqual(island.event("ready", "failed", number=number)["error"], "")
                    self.assertIs(island.check(number)["exact"], True)
                number += 1
        self.expect_nothing_left(network.process.pid)

    def test_two_workers_share_lanes_and_ports(self):
        with testbed.Testbed(PROGRAMS, self.topology, self.folder / "up", *SCALE, "--schedule", "full",
                             "--workers", "2", "--hello-ms", "1000", "--deadline", "60") as network:
            islands = network.start_islands()
            number = network.wait_ready()
            for _ in range(2):
                for island in islands.values():
                    island.tell(f"start {number}")
                for island in islands.values():
                    self.assertEqual(island.event("ready", "failed", number=number)["error"], "")
                    self.assertIs(island.check(number)["exact"], True)
                number += 1
            states = [network.status(edge) for edge in network.info["edges"]]
        for status in states:
            self.assertEqual(len(status["workers"]), 2)
            pools = {pool["name"]: pool for pool in status["pools"]}
            self.assertGreater(pools["headers"]["high_water"], 0)
        # The kernel spreads flows over a port's two queues without knowing of lanes: of the 28 flows that arrive at the
        # edges (7 neighbours, 4 lanes), some do at the worker that does not have their lane.
        for worker in range(2):
            self.assertGreater(sum(status["workers"][worker]["handed_over"] for status in states), 0)


if __name__ == "__main__":
    PROGRAMS, CONFIGS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    reason = testbed.why_not_possible()
    if reason:
        print(reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
