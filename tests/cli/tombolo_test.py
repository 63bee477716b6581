"""The command `tombolo` as a user meets it: exit codes, messages, JSON. Arguments: the program, the folder configs/."""

import json

import command
from command import SCHEDULE, TOPOLOGY, Command, tombolo

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


class Basics(Command):
    def test_help_and_version(self):
        for verb in ([], ["schedule"], ["schedule", "evaluate"], ["schedule", "compare"], ["schedule", "optimize"],
                        ["schedule", "simulate"],
                        ["testbed"], ["testbed", "run"], ["testbed", "up"],
                        ["check"], ["install"], ["status"], ["report"]):
            result = tombolo(*verb, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), verb)
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
        result = tombolo("testbed", "run", self.topology, "--profile", "p", "--aggregation", "tree",
                         "--multicast", "off", "--scale", "0.001")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("multicast", result.stderr)
        self.assertEqual(result.stdout, "")


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
                for verb in (["testbed", "run", path, "--profile", "p"],
                                ["schedule", "evaluate", path, "--profile", "p", "--schedule", "full", "--bytes", "1M"],
                                ["schedule", "optimize", path, "--profile", "p", "--bytes", "1M",
                                 "--out", self.folder / "none.yaml"]):
                    self.expect_named(case, path, line, key, tombolo(*verb))

    def test_schedules(self):
        # 65 islands, so that a clique of 65 is wrong for its size only.
        islands = "".join(f"  - {{id: I{i}, site: A}}\n" for i in range(65))
        crowd = self.write("crowd.yaml", TOPOLOGY.replace("profiles:", "islands:\n" + islands + "profiles:"))
        for number, (case, (old, new, line, key)) in enumerate(BAD_SCHEDULES.items()):
            with self.subTest(case):
                self.assertIn(old, SCHEDULE)
                path = self.write(f"bad-{number}.yaml", SCHEDULE.replace(old, new, 1))
                topology = crowd if "65" in case else self.topology
                for verb in (["testbed", "run", topology, "--profile", "p", "--schedule", path],
                                ["schedule", "evaluate", topology, "--profile", "p", "--schedule", path,
                                 "--bytes", "1M"]):
                    self.expect_named(case, path, line, key, tombolo(*verb))

    def test_the_sound_files_are_sound(self):
        # Else every case above could fail for another reason.
        schedule = self.write("schedule.yaml", SCHEDULE)
        self.assertEqual(self.run_small("--schedule", schedule).returncode, 0)


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
        for path in sorted((command.CONFIGS / "schedules").glob("*.yaml")):
            with self.subTest(path.name):
                result = tombolo("testbed", "run", command.CONFIGS / "topologies/nine-city.yaml", "--profile", "access-limited",
                                 "--schedule", path, "--scale", "0.0001")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


EDGE = """site: A
state: state
memory: {hugepages: off, buffer_bytes: 8256, limit: 1Gi}
ports:
  - {name: to-B, device: net_null0, address: 10.1.0.1/30, mtu: 9000}
  - {name: access, device: net_null1, address: 10.2.0.1/30, mtu: 9000}
links:
  - {to: B, port: to-B, address: "10.1.0.2:4700", window: 4096}
jobs:
  - job: 1
    topology: topology.yaml
    controller: {address: "127.0.0.1:4600"}
    buffers: 4096
    islands: [{island: A, port: access, address: "10.2.0.2:4700", window: 4096}]
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
            "huge pages": (EDGE.replace("hugepages: off", "hugepages: required").replace("buffers: 4096", "buffers: 16000000")
                           .replace(", limit: 1Gi", ""), [], "/proc/sys/vm/nr_hugepages"),
            "schedule": (EDGE, ["--controller", self.write("controller.yaml", CONTROLLER)], "jobs[0]: the plan needs at least"),
            "window": (EDGE.replace("window: 4096}\njobs", "window: 64}\njobs"),
                       ["--controller", self.write("controller.yaml", CONTROLLER)], "jobs[0]: the window of the link to B: 64 packets"),
        }
        for case, (text, options, names) in cases.items():
            with self.subTest(case):
                result = self.check(text, *options)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(names, result.stderr)

    def test_what_is_wrong_is_named_with_its_place(self):
        for change, place in ((("site: A", "site: Z"), "edge.yaml:1: site"),
                              (("window: 4096", "window: 5"), "edge.yaml:8: links[0].window"),
                              (("port: to-B", "port: nowhere"), "edge.yaml:8: links[0].port")):
            with self.subTest(place):
                self.assertIn(place, self.expect_one_error(self.check(EDGE.replace(*change, 1)), place))

    def test_a_device_that_is_not_there(self):
        result = self.check(EDGE.replace("net_null0", '"net_af_packet0,iface=nowhere0"'))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("port to-B", result.stderr)
        self.assertIn("nowhere0", result.stderr)


class Install(Command):
    def test_nobody_listens(self):
        for verb in (["install", "full", "--controller", self.folder / "none.sock"],
                        ["status", self.folder / "none.sock"]):
            with self.subTest(verb[0]):
                result = tombolo(*verb)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn("none.sock", result.stderr)

    def test_a_schedule_that_is_not_there(self):
        error = self.expect_one_error(tombolo("install", self.folder / "none.yaml", "--controller", "x.sock"), "file")
        self.assertIn("none.yaml", error)


if __name__ == "__main__":
    command.main()
