"""Schedule changes while rounds run: none is lost, none is mixed, and what one edge refuses nobody gets.

Arguments: the folder of the programs. Exit code 77, with a reason, where there are no namespaces.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402
import testbed  # noqa: E402

# 100 kB at 10 Mbit/s.
SCALE = ("--bytes", "100M", "--scale", "0.001")
FULL = "name: all\nrounds:\n  - [[A, B, C]]\n"
PAIRS = "name: pairs\nrounds:\n  - [[A, B]]\n  - [[B, C]]\n  - [[A, C]]\n"


class Changes(case.Case):
    def run_rounds(self):
        self.runner = case.Runner(self.network.islands, self.network.wait_ready())
        self.addCleanup(self.runner.stop)
        self.runner.wait_for(2)

    def install(self, schedule, *options):
        """Installs it; returns what the controller says of its running epoch."""
        result = self.network.install(schedule, *options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return self.network.status(self.network.info["controller"])

    def run_only(self, epoch):
        states = [self.network.status(edge)["jobs"][0]["epochs"] for edge in self.network.info["edges"]]
        return all((state["newest"], state["older"]) == (epoch, 0) for state in states)

    def test_ten_changes_one_after_another(self):
        self.bring_up(case.LINE, "--schedule", "full", *SCALE, "--deadline", "20")
        full, pairs = self.write("all.yaml", FULL), self.write("pairs.yaml", PAIRS)
        self.network.start_islands()
        self.run_rounds()
        # Schedule and first round of each epoch.
        epochs = {1: ("full", 0)}
        for i in range(10):
            options = ("--multicast", "off" if i % 4 >= 2 else "on", "--aggregation", "none" if i % 8 >= 4 else "edge")
            status = self.install(full if i % 2 else pairs, *options)
            self.assertNotIn(status["epoch"], epochs)
            self.assertGreater(status["activating_round"], max(first for _, first in epochs.values()))
            epochs[status["epoch"]] = (status["schedule"], status["activating_round"])
            # Two epochs at a time: the next change must wait until the rounds of the one before have passed.
            testbed.wait_for(lambda: self.runner.troubles or self.run_only(status["epoch"]), "the older epoch to end")
        self.runner.wait_for(4)
        events = self.runner.stop()
        self.assertEqual([name for name, _ in epochs.values()], ["full", *["pairs", "all"] * 5])

        def as_the_schedule_says(number, epoch, of_round):
            # The epoch of a round is the newest that begins with it or before.
            self.assertEqual(epoch, max(e for e, (_, first) in epochs.items() if first <= number), number)
            name, first = epochs[epoch]
            entry = (number - first) % 3
            pair = ([0, 1], [1, 2], [0, 2])[entry]
            for event in of_round.values():
                rank = self.network.islands[event["island"]].rank
                expected = [0, 1, 2] if name != "pairs" else pair if rank in pair else [rank]
                self.assertEqual(event["clique"], expected, (number, event))

        case.expect_whole(self, self.runner, as_the_schedule_says)
        self.assertEqual({event["epoch"] for _, event, _ in events["A"]}, set(epochs))

    def test_what_one_edge_refuses_nobody_gets(self):
        # C rests in the schedule that all are sized for; A and B then get room for more.
        pair = self.write("pair.yaml", "name: pair\nrounds:\n  - [[A, B]]\n")
        network = self.bring_up(case.LINE, "--schedule", pair, *SCALE, "--deadline", "4")
        controller = network.info["controller"]
        for edge in network.info["edges"][:2]:
            network.kill_program(edge)
            config = pathlib.Path(edge["config"])
            config.write_text(re.sub(r"(buffers|arena): (\d+)", lambda found: f"{found[1]}: {8 * int(found[2])}", config.read_text()))
            network.start_program(edge)
        network.start_islands()
        before = self.wait_for_epoch(1, "with everything up", self.is_steady)
        self.run_rounds()

        result = network.install(self.write("all.yaml", FULL), "--json", self.folder / "report.json")
        self.assertEqual(result.returncode, 1, result)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual((report["outcome"], [problem["edge"] for problem in report["problems"]]), ("aborted", ["C"]))
        for words in (report["problems"][0]["reason"], result.stdout):
            self.assertRegex(words, r"the plan needs at least \d+ packet buffers, the job's quota is \d+")
        self.assertRegex(result.stdout, "C: the plan")
        self.runner.wait_for(4)
        self.runner.stop()
        after = network.status(controller)
        self.assertEqual((after["epoch"], after["schedule"]), (before["epoch"], "pair"))
        self.assertEqual({edge["running_epoch"] for edge in after["edges"]}, {after["epoch"]})

        def pair_or_rest(number, epoch, of_round):
            self.assertEqual(epoch, after["epoch"])
            self.assertEqual([event["clique"] for event in of_round.values()], [[0, 1], [0, 1], [2]], number)

        case.expect_whole(self, self.runner, pair_or_rest)


if __name__ == "__main__":
    case.main()
