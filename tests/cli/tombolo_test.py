"""The command `tombolo` as a user meets it: exit codes, messages, JSON. Arguments: the program, the folder configs/."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CONFIGS = None, None

# SCHEDULING.md: profile, multicast, aggregation, schedule, D in seconds as it is printed there.
REFERENCE_DISAGREEMENT = [
    ("access-limited", "off", "none", "full", "8.7560"),
    ("access-limited", "on", "edge", "full", "1.2893"),
    ("egress-scarce", "on", "none", "full", "8.756"),
    ("egress-scarce", "on", "edge", "full", "4.489"),
    ("testnet10", "off", "none", "full", "11.956"),
    ("testnet10", "on", "edge", "full", "8.756"),
    ("access-limited", "off", "none", "grid", "2.6745"),
    ("access-limited", "on", "edge", "grid", "1.4300"),
    ("testnet10", "off", "none", "grid", "3.253"),
]
# The round time of the full clique, likewise.
REFERENCE_TIME = [
    ("access-limited", "off", "none", "6.5670"),
    ("access-limited", "on", "edge", "0.9670"),
    ("egress-scarce", "on", "none", "6.567"),
    ("egress-scarce", "on", "edge", "3.367"),
    ("testnet10", "off", "none", "8.967"),
    ("testnet10", "on", "edge", "6.567"),
]

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

# What is changed in the sound file, into what, the line of the mistake, and the key that must be named.
BAD_TOPOLOGIES = {
    "unknown key": ("rtt_ms: 10", "rtt_ms: 10, colour: red", 7, "links[0].colour"),
    "unknown key at the top": ("name: small", "nom: small", 1, "nom"),
    "unit in a number": ("rtt_ms: 30", "rtt_ms: 30ms", 8, "links[1].rtt_ms"),
    "wrong unit": ("rtt_ms: 30", "rtt_us: 30000", 8, "links[1].rtt_us"),
    "missing site": ("b: C,", "b: D,", 8, "links[1].b"),
    "disconnected": ("  - {a: B, b: C, rtt_ms: 30}\n", "", 5, "sites[2]"),
    "site twice": ("{id: C}", "{id: B}", 5, "sites[2].id"),
    "link twice": ("a: B, b: C", "a: B, b: A", 8, "links[1]"),
    "link to itself": ("a: B, b: C", "a: B, b: B", 8, "links[1].b"),
    "rate 0": ("core_gbps: 10", "core_gbps: 0", 10, "profiles.p.core_gbps"),
    "negative rate": ("egress_gbps: 10", "egress_gbps: -1", 10, "profiles.p.egress_gbps"),
    "rate NaN": ("core_gbps: 10", "core_gbps: .nan", 10, "profiles.p.core_gbps"),
    "rate infinite": ("core_gbps: 10", "core_gbps: .inf", 10, "profiles.p.core_gbps"),
    "latency NaN": ("rtt_ms: 10", "rtt_ms: nan", 7, "links[0].rtt_ms"),
    "latency 0": ("rtt_ms: 10", "rtt_ms: 0", 7, "links[0].rtt_ms"),
    "no latency": (", rtt_ms: 10", "", 7, "links[0]"),
    "list for a number": ("rtt_ms: 10", "rtt_ms: [10]", 7, "links[0].rtt_ms"),
    "no capacity": ("core_gbps: 10, ", "", 10, "profiles.p"),
    "key twice": ("name: small", "name: small\nname: twice", 2, "name"),
    "not YAML": ("sites:", "sites: {", None, None),
}
BAD_SCHEDULES = {
    "unknown key": ("name: pairs", "title: pairs", 1, "title"),
    "unknown island": ("[[B, C]]", "[[B, D]]", 4, "rounds[1][0][1]"),
    "island twice in a clique": ("[[B, C]]", "[[B, B]]", 4, "rounds[1][0][1]"),
    "island twice in a round": ("[[A, B]]", "[[A, B], [C, A]]", 3, "rounds[0][1][1]"),
    "nobody meets": ("[[A, B]]", "[[A], [B]]", 3, "rounds[0]"),
    "no round": ("\n  - [[A, B]]\n  - [[B, C]]", " []", 2, "rounds"),
    "no rounds key": ("rounds:\n  - [[A, B]]\n  - [[B, C]]\n", "", 1, None),
    "a name for a list": ("[[A, B]]", "A", 3, "rounds[0]"),
    "a clique of 65": ("[[A, B]]", "[[" + ", ".join(f"I{i}" for i in range(65)) + "]]", 3, "rounds[0][0]"),
}
BAD_OPTIONS = {
    "no topology": ["testbed", "run"],
    "no profile": ["testbed", "run", "TOPOLOGY"],
    "no command": [],
    "unknown command": ["fly"],
    "half a command": ["testbed"],
    "unknown option": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--colour", "red"],
    "no such file": ["testbed", "run", "/nowhere/t.yaml", "--profile", "p"],
    "a folder for a file": ["testbed", "run", "/", "--profile", "p"],
    "unknown profile": ["testbed", "run", "TOPOLOGY", "--profile", "q"],
    "no such schedule": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--schedule", "/nowhere/s.yaml"],
    "grid without its cities": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--schedule", "grid"],
    "bytes without a number": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--bytes", "many"],
    "bytes of nothing": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--bytes", "0"],
    "bytes below an element": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--bytes", "1k", "--scale", "0.001"],
    "bytes beyond memory": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--bytes", "5G"],
    "scale 0": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--scale", "0"],
    "scale NaN": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--scale", "nan"],
    "multicast maybe": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--multicast", "maybe"],
    "aggregation unknown": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--aggregation", "root"],
    "operation unknown": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--operation", "median"],
    "chunk unknown": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--chunk", "giant"],
    "loss without a link": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--loss", "0.1"],
    "loss of an unknown site": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--loss", "A-X=0.1"],
    "loss where no link is": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--loss", "A-C=0.1"],
    "loss of more than all": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--loss", "A-B=1.5"],
    "loss NaN": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--loss", "A-B=nan"],
    "no lane": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--lanes", "0"],
    "no worker": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--workers", "0"],
    "workers that do not divide": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--workers", "3"],
    "a queue without a worker": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--receive-queues", "2"],
    "deadline below 0": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--deadline", "-1"],
    "deadline NaN": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--deadline", "nan"],
    "backend unknown": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--backend", "cloud"],
    "emulation unknown": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--emulation", "perfect"],
    "programs that are not there": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--backend", "netns", "--programs",
                                    "/nowhere"],
    "up without a topology": ["testbed", "up"],
    "up without programs": ["testbed", "up", "TOPOLOGY", "--profile", "p", "--programs", "/nowhere"],
    "seed of letters": ["testbed", "run", "TOPOLOGY", "--profile", "p", "--seed", "abc"],
    "evaluate without bytes": ["schedule", "evaluate", "TOPOLOGY", "--profile", "p", "--schedule", "full"],
    "evaluate bytes NaN": ["schedule", "evaluate", "TOPOLOGY", "--profile", "p", "--schedule", "full", "--bytes", "nan"],
}


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


class Basics(Command):
    def test_help_and_version(self):
        for command in ([], ["schedule"], ["schedule", "evaluate"], ["schedule", "compare"], ["schedule", "optimize"],
                        ["schedule", "simulate"],
                        ["testbed"], ["testbed", "run"], ["testbed", "up"],
                        ["check"], ["install"], ["status"], ["report"]):
            result = tombolo(*command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), command)
            self.assertIn("Usage", result.stdout)
        result = tombolo("--version")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^tombolo \d+\.\d+\.\d+\n$")

    def test_help_names_every_option_of_the_interface(self):
        text = tombolo("testbed", "run", "--help").stdout
        for option in ("--profile", "--scale", "--schedule", "--rounds", "--bytes", "--multicast", "--aggregation",
                       "--loss", "--seed", "--json", "--real-time", "--workers", "--backend", "--emulation", "--out",
                       "--accept-links"):
            self.assertIn(option, text)
        text = tombolo("schedule", "evaluate", "--help").stdout
        for option in ("--profile", "--schedule", "--bytes", "--multicast", "--aggregation", "--family", "--json"):
            self.assertIn(option, text)

    def test_bad_options(self):
        for case, arguments in BAD_OPTIONS.items():
            with self.subTest(case):
                result = tombolo(*[self.topology if word == "TOPOLOGY" else word for word in arguments])
                self.assertEqual(result.returncode, 2, result.stderr + result.stdout)
                self.assertNotEqual(result.stderr, "")
                self.assertEqual(result.stdout, "")

    def test_what_this_version_cannot_do(self):
        result = tombolo("testbed", "run", self.topology, "--profile", "p", "--aggregation", "tree")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("yet", result.stderr)
        self.assertEqual(result.stdout, "")


class Optimizable(Command):
    """What `schedule optimize` makes of networks that are odd rather than wrong."""

    def optimize(self, topology, *options):
        return tombolo("schedule", "optimize", topology, "--profile", "p", "--bytes", "1G", "--effort", "0.001",
                       "--out", self.folder / "out.yaml", *options)

    def crowd(self, islands):
        lines = "".join(f"  - {{id: I{i}, site: {'ABC'[i % 3]}}}\n" for i in range(islands))
        return self.write(f"crowd-{islands}.yaml", TOPOLOGY.replace("profiles:", "islands:\n" + lines + "profiles:"))

    def test_one_island(self):
        self.assertIn("two islands", self.expect_one_error(self.optimize(self.crowd(1)), "one island"))

    def test_nothing_to_send(self):
        result = tombolo("schedule", "optimize", self.topology, "--profile", "p", "--bytes", "0", "--out", "x.yaml")
        self.assertIn("0 bytes", self.expect_one_error(result, "M = 0"))

    def test_a_site_without_access(self):
        text = TOPOLOGY.replace("egress_gbps: 10, ingress_gbps: 10", "access_gbps_by_site: {A: 10, B: 10}")
        self.assertIn("profiles.p", self.expect_one_error(self.optimize(self.write("access.yaml", text)), "access"))

    def test_many_islands(self):
        result = self.optimize(self.crowd(100), "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertGreaterEqual(report["disagreement_s"], report["bound_s"])
        self.assertIsNone(report["r_iid_per_s"])

    def test_too_many_islands(self):
        self.assertIn("at most 1024", self.expect_one_error(self.optimize(self.crowd(1025)), "too many"))


class BadFiles(Command):
    def expect_named(self, case, path, line, key, result):
        error = self.expect_one_error(result, case)
        place = f"{path}:{line}: " if line is not None else f"{path}:"
        self.assertIn(place, error, case)
        if key is not None:
            self.assertIn(f": {key}: ", error, case)

    def test_topologies(self):
        for number, (case, (old, new, line, key)) in enumerate(BAD_TOPOLOGIES.items()):
            with self.subTest(case):
                self.assertIn(old, TOPOLOGY)
                path = self.write(f"bad-{number}.yaml", TOPOLOGY.replace(old, new, 1))
                for command in (["testbed", "run", path, "--profile", "p"],
                                ["schedule", "evaluate", path, "--profile", "p", "--schedule", "full", "--bytes", "1M"],
                                ["schedule", "optimize", path, "--profile", "p", "--bytes", "1M",
                                 "--out", self.folder / "none.yaml"]):
                    self.expect_named(case, path, line, key, tombolo(*command))

    def test_schedules(self):
        # 65 islands, so that a clique of 65 is wrong for its size only.
        islands = "".join(f"  - {{id: I{i}, site: A}}\n" for i in range(65))
        crowd = self.write("crowd.yaml", TOPOLOGY.replace("profiles:", "islands:\n" + islands + "profiles:"))
        for number, (case, (old, new, line, key)) in enumerate(BAD_SCHEDULES.items()):
            with self.subTest(case):
                self.assertIn(old, SCHEDULE)
                path = self.write(f"bad-{number}.yaml", SCHEDULE.replace(old, new, 1))
                topology = crowd if "65" in case else self.topology
                for command in (["testbed", "run", topology, "--profile", "p", "--schedule", path],
                                ["schedule", "evaluate", topology, "--profile", "p", "--schedule", path,
                                 "--bytes", "1M"]):
                    self.expect_named(case, path, line, key, tombolo(*command))

    def test_the_sound_files_are_sound(self):
        # Else every case above could fail for another reason.
        schedule = self.write("schedule.yaml", SCHEDULE)
        self.assertEqual(self.run_small("--schedule", schedule).returncode, 0)


class Evaluate(Command):
    def evaluate(self, profile, multicast, aggregation, schedule):
        result = tombolo("schedule", "evaluate", CONFIGS / "topologies/nine-city.yaml", "--profile", profile,
                         "--schedule", schedule, "--bytes", "1G", "--multicast", multicast,
                         "--aggregation", aggregation, "--json", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def test_reference_values(self):
        for profile, multicast, aggregation, schedule, printed in REFERENCE_DISAGREEMENT:
            with self.subTest((profile, multicast, aggregation, schedule)):
                report = self.evaluate(profile, multicast, aggregation, schedule)
                digits = len(printed.split(".")[1])
                self.assertEqual(f"{report['disagreement_s']:.{digits}f}", printed)
        for profile, multicast, aggregation, printed in REFERENCE_TIME:
            with self.subTest((profile, multicast, aggregation)):
                report = self.evaluate(profile, multicast, aggregation, "full")
                digits = len(printed.split(".")[1])
                self.assertEqual(f"{report['rounds'][0]['time_s']:.{digits}f}", printed)
                # One full clique of time T: D = 1.5 T (n - 1) / n.
                self.assertAlmostEqual(report["disagreement_s"], 1.5 * report["cycle_s"] * 8 / 9, places=9)

    def test_schema(self):
        report = self.evaluate("access-limited", "on", "edge", "grid")
        self.assertEqual((report["schema"], report["command"]), (1, "schedule evaluate"))
        self.assertAlmostEqual(report["cycle_s"], sum(r["time_s"] for r in report["rounds"]), places=12)
        self.assertEqual([len(r["cliques"]) for r in report["rounds"]], [3, 3])
        self.assertEqual(report["rounds"][0]["cliques"][0], ["AMS", "FRA", "LON"])
        for entry in report["rounds"]:
            self.assertEqual(set(entry["bottleneck"]), {"resource", "load"})
            self.assertIsInstance(entry["bottleneck"]["resource"], str)
            self.assertGreaterEqual(entry["bottleneck"]["load"], 1)

    def test_table_and_json_file(self):
        path = self.folder / "report.json"
        result = tombolo("schedule", "evaluate", self.topology, "--profile", "p", "--schedule", "full", "--bytes", "1M",
                         "--json", path)
        self.assertEqual(result.returncode, 0)
        self.assertIn("disagreement", result.stdout)
        self.assertEqual(len(json.loads(path.read_text())["rounds"]), 1)


class OptimizeReport(Command):
    def optimize(self, report, *options):
        return tombolo("schedule", "optimize", self.topology, "--profile", "p", "--bytes", "1G", "--max-rounds", "2",
                       "--time-limit", "0.2", "--out", self.folder / "out.yaml", "--report", report,
                       "--json", self.folder / "out.json", *options)

    def test_the_page_has_what_the_json_has_and_loads_nothing(self):
        page = self.folder / "page.html"
        result = self.optimize(page, "--seed", "7")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads((self.folder / "out.json").read_text())
        text = page.read_text()
        # Not assertIn: a failure would print the whole page.
        for words in (f"{report['disagreement_s']:.6f} s", "--max-rounds 2 ", " --seed 7 ",
                      f" --out {self.folder}/out.yaml --report {page}<"):
            self.assertTrue(words in text, words)
        for section in ("map", "cycle", "loads", "by-rounds", "compare", "variants", "facts"):
            self.assertTrue(f'<section id="{section}">' in text, section)
        for outside in ("src=", "url(http", "@import", 'href="http'):
            self.assertFalse(outside in text, outside)

    def test_a_page_that_cannot_be_written(self):
        result = self.optimize(self.folder / "nowhere" / "page.html")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("nowhere", result.stderr.splitlines()[-1])


class Compare(Command):
    def test_every_row_is_there(self):
        result = tombolo("schedule", "compare", self.topology, "--profile", "p", "--bytes", "10M", "--time-limit", "0.5",
                         "--local-steps", "5", "--json", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = json.loads(result.stdout)
        self.assertEqual((report["schema"], report["command"]), (1, "schedule compare"))
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(len(rows), len(report["rows"]))
        self.assertEqual(report["rows"][0]["name"], "optimum")
        for name, row in rows.items():
            with self.subTest(name):
                self.assertLessEqual({"name", "disagreement_s", "r_per_s", "cycle_s", "ratio"}, set(row))
                if "undefined" in row:
                    self.assertIn("not defined for n = 3", row["undefined"])
                    self.assertIsNone(row["disagreement_s"])
                else:
                    self.assertAlmostEqual(row["ratio"], row["disagreement_s"] / rows["optimum"]["disagreement_s"])
        # Two constructions need four islands.
        self.assertEqual([name for name in rows if "undefined" in rows[name]], ["D-Cliques", "factored gossip"])
        # A full clique as evaluate sees it.
        full = json.loads(tombolo("schedule", "evaluate", self.topology, "--profile", "p", "--schedule", "full", "--bytes",
                                  "10M", "--json", "-").stdout)
        self.assertAlmostEqual(rows["full clique, direct"]["disagreement_s"], full["disagreement_s"], places=9)


class Optimize(Command):
    def optimize(self, topology, *options):
        return tombolo("schedule", "optimize", topology, *options)

    def test_what_it_writes_runs(self):
        out = self.folder / "optimized.yaml"
        result = self.optimize(self.topology, "--profile", "p", "--bytes", "1G", "--effort", "0.1", "--out", out,
                               "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        best = json.loads(result.stdout)
        self.assertAlmostEqual(best["gap"], 1 - best["bound_s"] / best["disagreement_s"], places=12)
        self.assertIn("mode: direct", out.read_text())
        run = self.run_small("--schedule", out, "--rounds", len(best["rounds"]), "--json", "-")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        report = json.loads(run.stdout)
        self.assertIs(report["exact"], True)
        self.assertEqual([entry["cliques"] for entry in report["rounds"]],
                         [entry["cliques"] for entry in best["rounds"]])
        for entry, planned in zip(report["rounds"], best["rounds"]):
            # The testbed's model counts headers, too: a few per cent of bytes.
            self.assertGreater(entry["predicted_s"], planned["time_s"])
            self.assertLess(entry["predicted_s"], 1.2 * planned["time_s"])

    def nine_cities(self, *options):
        out = self.folder / "nine.yaml"
        result = self.optimize(CONFIGS / "topologies/nine-city.yaml", "--profile", "testnet10", "--bytes", "1G",
                               "--out", out, "--json", "-", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), out

    def test_after_a_loss(self):
        for option, gone in ((("--lost-site", "BAR"), ["BAR"]), (("--lost-link", "LON-NYC"), [])):
            with self.subTest(option):
                report, out = self.nine_cities("--from", CONFIGS / "schedules/nine-city-grid.yaml", *option)
                loss = report["after_loss"]
                self.assertEqual(loss["lost_islands"], gone)
                self.assertLessEqual(report["disagreement_s"], loss["unchanged_disagreement_s"] * (1 + 1e-9))
                self.assertLessEqual(report["disagreement_s"], 1.05 * loss["fresh_disagreement_s"])
                # Six cliques ran: no more than those can have gone, nor more have come than there are.
                self.assertLessEqual(loss["changed_cliques"], max(6, loss["cliques"]))
                text = out.read_text()
                self.assertEqual("BAR" in text.split("rounds:")[1], not gone)
                members = {name for entry in report["rounds"] for clique in entry["cliques"] for name in clique}
                self.assertEqual(len(members), 9 - len(gone))

    def test_uncertainty(self):
        grid = ("--from", CONFIGS / "schedules/nine-city-grid.yaml", "--effort", "0.001", "--max-rounds", "2")
        report, _ = self.nine_cities(*grid, "--uncertainty", "20%")
        spread = report["uncertainty"]
        self.assertEqual((spread["share"], spread["robust"]), (0.2, False))
        self.assertLess(spread["p10_s"], spread["p50_s"])
        self.assertLess(spread["p50_s"], spread["p90_s"])
        self.assertLess(spread["p90_s"], spread["worst_decile_s"])
        robust, _ = self.nine_cities(*grid, "--uncertainty", "0.2", "--robust")
        self.assertIs(robust["uncertainty"]["robust"], True)
        self.assertLessEqual(robust["uncertainty"]["worst_decile_s"], spread["worst_decile_s"])
        # Nothing uncertain: every draw is the network itself.
        certain, _ = self.nine_cities(*grid, "--uncertainty", "0%")
        for name in ("p10_s", "p50_s", "p90_s", "worst_decile_s"):
            self.assertAlmostEqual(certain["uncertainty"][name], certain["disagreement_s"], places=9)

    def test_bad_wishes_are_named(self):
        out = self.folder / "none.yaml"
        running = ("--from", self.write("schedule.yaml", SCHEDULE))
        for options, name in ((("--uncertainty", "120%"), "--uncertainty"), (("--uncertainty", "nan"), "--uncertainty"),
                              (("--uncertainty", "-1%"), "--uncertainty"), (("--robust",), "--robust"),
                              (("--lost-site", "B"), "--lost-site"), (("--lost-site", "X", *running), "--lost-site"),
                              (("--lost-link", "A-C", *running), "--lost-link"),
                              (("--lost-link", "A", *running), "--lost-link"),
                              (("--from", self.folder / "missing.yaml"), "--from")):
            with self.subTest(options):
                result = self.optimize(self.topology, "--profile", "p", "--bytes", "1G", "--out", out, *options)
                self.assertIn(name, self.expect_one_error(result, options))
                self.assertFalse(out.exists())

    def test_modes_that_edges_cannot_run_are_named(self):
        # A tree is against the options already (sites aggregate nowhere but at edges), a shard only beyond the edges.
        for mode, exit_code in (("sharded", 3), ("tree", 2)):
            with self.subTest(mode):
                text = SCHEDULE.replace("[[A, B]]", "[{members: [A, B], mode: " + mode + "}]")
                result = self.run_small("--schedule", self.write("mode.yaml", text))
                self.assertEqual(result.returncode, exit_code, result.stderr)
                self.assertIn("mode " + mode, result.stderr)
                self.assertEqual(result.stdout, "")


class TestbedRun(Command):
    def test_schema(self):
        schedule = self.write("schedule.yaml", SCHEDULE)
        result = self.run_small("--schedule", schedule, "--rounds", "4", "--seed", "9", "--loss", "A-B=0.05",
                                "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)  # Nothing but JSON on standard output.
        self.assertEqual((report["schema"], report["command"]), (1, "testbed run"))
        self.assertIs(report["exact"], True)
        self.assertEqual((report["backend"], report["links"], report["cpu_bound"]), ("inproc", [], False))
        self.assertEqual(report["seed"], 9)
        self.assertEqual(len(report["rounds"]), 4)
        first = report["rounds"][0]["round"]
        for i, entry in enumerate(report["rounds"]):
            self.assertEqual(entry["round"], first + i)
            self.assertEqual(entry["cliques"], [["A", "B"]] if i % 2 == 0 else [["B", "C"]])
            self.assertGreater(entry["predicted_s"], entry["model_s"])
            self.assertGreater(entry["measured_s"], 0.5 * entry["predicted_s"])
            self.assertIs(entry["exact"], True)
        self.assertEqual([island["site"] for island in report["islands"]], ["A", "B", "C"])
        self.assertEqual([island["update_bytes"] for island in report["islands"]], [200000, 400000, 200000])
        for island in report["islands"]:
            self.assertGreater(island["tx_bytes"], island["update_bytes"])
            self.assertGreater(island["rx_bytes"], island["update_bytes"])
        self.assertGreater(report["drops"]["wire_loss"], 0)
        self.assertTrue(all(isinstance(count, int) and count > 0 for count in report["drops"].values()))

    def test_same_seed_same_bytes(self):
        options = ("--rounds", "2", "--loss", "A-B=0.05", "--json", "-")
        first, second = self.run_small(*options), self.run_small(*options)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        other = self.run_small(*options, "--seed", "2")
        self.assertNotEqual(json.loads(first.stdout)["drops"], json.loads(other.stdout)["drops"])

    def test_table(self):
        path = self.folder / "report.json"
        result = self.run_small("--rounds", "2", "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.endswith("exact: yes\n"), result.stdout)
        for word in ("predicted", "measured", "ratio", "contributors", "cliques", "bytes out", "bytes in"):
            self.assertIn(word, result.stdout)
        self.assertIs(json.loads(path.read_text())["exact"], True)

    def test_a_round_that_fails(self):
        # An update needs about a second at this rate.
        result = self.run_small("--deadline", "0.2", "--json", "-")
        self.assertEqual(result.returncode, 1, result.stderr)
        report = json.loads(result.stdout)
        self.assertIs(report["exact"], False)
        self.assertIs(report["rounds"][0]["exact"], False)
        self.assertTrue(any("deadline" in error for error in report["rounds"][0]["errors"]), report["rounds"][0])

    def test_a_report_that_cannot_be_written(self):
        result = self.run_small("--json", "/nowhere/report.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nowhere/report.json", result.stderr)

    def test_shipped_schedules(self):
        for path in sorted((CONFIGS / "schedules").glob("*.yaml")):
            with self.subTest(path.name):
                result = tombolo("testbed", "run", CONFIGS / "topologies/nine-city.yaml", "--profile", "access-limited",
                                 "--schedule", path, "--scale", "0.0001")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


EDGE = """site: A
topology: topology.yaml
state: state
memory: {hugepages: off, buffers: 4096, buffer_bytes: 8256, limit: 1Gi}
controller: {address: "127.0.0.1:4600"}
ports:
  - {name: to-B, device: net_null0, address: 10.1.0.1/30, mtu: 9000}
  - {name: access, device: net_null1, address: 10.2.0.1/30, mtu: 9000}
links:
  - {to: B, port: to-B, address: "10.1.0.2:4700", window: 4096}
  - {island: A, port: access, address: "10.2.0.2:4700", window: 4096}
"""
CONTROLLER = """listen: 127.0.0.1:4600
topology: topology.yaml
profile: p
scale: 0.0001
bytes: 1G
schedule: full
chunk: jumbo
state: controller
"""


class Check(Command):
    def check(self, text, *options):
        return tombolo("check", self.write("edge.yaml", text), *options)

    def test_what_fits(self):
        controller = self.write("controller.yaml", CONTROLLER)
        edge = EDGE.replace("buffers: 4096", "buffers: 60000")
        result = self.check(edge, "--controller", controller)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("packet and header buffers", result.stdout)
        report = json.loads(self.check(edge, "--json", "-").stdout)
        self.assertEqual(report["command"], "check")
        self.assertGreaterEqual(report["memory_bytes"], 60000 * 9216)  # A buffer holds a jumbo frame.
        self.assertEqual(report["memory_bytes"], sum(row["bytes"] for row in report["rows"]))

    def test_what_does_not_fit_is_refused_by_name(self):
        cases = {
            "limit": (EDGE.replace("limit: 1Gi", "limit: 1Mi"), [], "memory"),
            "machine": (EDGE.replace("buffers: 4096", "buffers: 16000000").replace(", limit: 1Gi", ""), [], "memory"),
            "huge pages": (EDGE.replace("hugepages: off, buffers: 4096", "hugepages: required, buffers: 16000000")
                           .replace(", limit: 1Gi", ""), [], "/proc/sys/vm/nr_hugepages"),
            "schedule": (EDGE, ["--controller", self.write("controller.yaml", CONTROLLER)], "memory.buffers"),
            "window": (EDGE.replace("window: 4096}\n  - {i", "window: 64}\n  - {i"),
                       ["--controller", self.write("controller.yaml", CONTROLLER)], "links[0].window"),
        }
        for case, (text, options, names) in cases.items():
            with self.subTest(case):
                result = self.check(text, *options)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(names, result.stderr)

    def test_what_is_wrong_is_named_with_its_place(self):
        for change, place in ((("site: A", "site: Z"), "edge.yaml:1: site"),
                              (("window: 4096", "window: 5"), "edge.yaml:10: links[0].window"),
                              (("port: to-B", "port: nowhere"), "edge.yaml:10: links[0].port")):
            with self.subTest(place):
                self.assertIn(place, self.expect_one_error(self.check(EDGE.replace(*change, 1)), place))

    def test_a_device_that_is_not_there(self):
        result = self.check(EDGE.replace("net_null0", '"net_af_packet0,iface=nowhere0"'))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("port to-B", result.stderr)
        self.assertIn("nowhere0", result.stderr)


class Install(Command):
    def test_nobody_listens(self):
        for command in (["install", "full", "--controller", self.folder / "none.sock"],
                        ["status", self.folder / "none.sock"]):
            with self.subTest(command[0]):
                result = tombolo(*command)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn("none.sock", result.stderr)

    def test_a_schedule_that_is_not_there(self):
        error = self.expect_one_error(tombolo("install", self.folder / "none.yaml", "--controller", "x.sock"), "file")
        self.assertIn("none.yaml", error)


if __name__ == "__main__":
    PROGRAM, CONFIGS = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
