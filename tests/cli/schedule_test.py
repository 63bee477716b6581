"""The verbs of `tombolo schedule` likewise. Arguments: the program, the folder configs/."""

import json

import command
from command import SCHEDULE, TOPOLOGY, Command, tombolo

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


class Evaluate(Command):
    def evaluate(self, profile, multicast, aggregation, schedule):
        result = tombolo("schedule", "evaluate", command.CONFIGS / "topologies/nine-city.yaml", "--profile", profile,
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

    def test_without_barriers(self):
        # One clique of all nine, 1 GB at 10 Gbit/s in two parts: each takes 0.4 s and 0.166992 s of latency, and
        # begins when the one before has been sent, so every 0.8 s. D of a full clique of time t every P: t + P / 2.
        names = "AMS, BAR, FRA, LAX, LON, NYC, SEO, SIN, TYO"
        for fragments, seconds in ((1, 0.8 + 0.166992), (2, 0.4 + 0.166992)):
            with self.subTest(fragments):
                path = self.write("event.yaml", f"form: event\nfragments: {fragments}\nrounds:\n  - [[{names}]]\n")
                report = self.evaluate("access-limited", "on", "edge", path)
                cycle = max(0.8, seconds)
                self.assertEqual((report["form"], report["fragments"]), ("event", fragments))
                self.assertAlmostEqual(report["cycle_s"], cycle, places=6)
                self.assertAlmostEqual(report["disagreement_s"], (seconds + cycle / 2) * 8 / 9, places=6)
                self.assertAlmostEqual(report["gap"], 1 - report["bound_s"] / report["disagreement_s"], places=12)
                self.assertAlmostEqual(report["rounds"][0]["exchanges"][0]["end_s"], seconds, places=6)
                self.assertAlmostEqual(report["resources"][0]["share"], 0.8 / cycle, places=6)
                self.assertIsNone(report["r_iid_per_s"])

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
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("comparing: MATCHA", result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["schema"], report["command"]), (1, "schedule compare"))
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(len(rows), len(report["rows"]))
        first = report["rows"][0]
        self.assertEqual(first["ratio"], 1)
        self.assertTrue(first["name"].startswith("no barrier (event)"), first)
        self.assertIn("optimum with barriers", rows)
        self.assertEqual(report["best_runnable"]["name"], first["name"])
        for name, row in rows.items():
            with self.subTest(name):
                self.assertLessEqual({"name", "disagreement_s", "r_per_s", "cycle_s", "ratio"}, set(row))
                if "undefined" in row:
                    self.assertIn("not defined for n = 3", row["undefined"])
                    self.assertIsNone(row["disagreement_s"])
                else:
                    self.assertAlmostEqual(row["ratio"], row["disagreement_s"] / first["disagreement_s"])
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

    def test_what_it_writes_runs_without_barriers(self):
        out = self.folder / "event.yaml"
        result = self.optimize(self.topology, "--profile", "p", "--bytes", "1G", "--effort", "0.01", "--form", "best",
                               "--fragments", "2", "--out", out, "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        best = json.loads(result.stdout)
        self.assertEqual(best["form"], "event")
        self.assertGreater(best["forms"]["ratio"], 1)
        self.assertIn("form: event", out.read_text())
        run = self.run_small("--schedule", out, "--json", "-")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual((report["exact"], report["form"]), (True, "event"))

    def nine_cities(self, *options):
        out = self.folder / "nine.yaml"
        result = self.optimize(command.CONFIGS / "topologies/nine-city.yaml", "--profile", "testnet10", "--bytes", "1G",
                               "--out", out, "--json", "-", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), out

    def test_after_a_loss(self):
        for option, gone in ((("--lost-site", "BAR"), ["BAR"]), (("--lost-link", "LON-NYC"), [])):
            with self.subTest(option):
                report, out = self.nine_cities("--from", command.CONFIGS / "schedules/nine-city-grid.yaml", *option)
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
        grid = ("--from", command.CONFIGS / "schedules/nine-city-grid.yaml", "--effort", "0.001", "--max-rounds", "2")
        report, _ = self.nine_cities(*grid, "--uncertainty", "20%")
        spread = report["uncertainty"]
        self.assertEqual((spread["share"], spread["robust"]), (0.2, False))
        self.assertLess(spread["p10_s"], spread["p50_s"])
        self.assertLess(spread["p50_s"], spread["p90_s"])
        self.assertLess(spread["p90_s"], spread["worst_decile_s"])
        robust, _ = self.nine_cities(*grid, "--uncertainty", "0.2", "--robust")
        self.assertIs(robust["uncertainty"]["robust"], True)
        # Beside the best for the network as planned, on the same draws.
        self.assertEqual(robust["uncertainty"]["planned_worst_decile_s"], spread["worst_decile_s"])
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


if __name__ == "__main__":
    command.main()
