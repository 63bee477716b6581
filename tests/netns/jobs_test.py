"""Two training runs over the same edges, as processes: both exact, and what befalls one is nothing to the other.

Arguments: the folder of the programs. Exit code 77, with a reason, where there are no namespaces.
"""

import copy
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402
import testbed  # noqa: E402

# 100 kB at 10 Mbit/s; a job has half of every link between sites.
SCALE = ("--bytes", "100M", "--scale", "0.001")
SECOND = 2


def with_port(address, by):
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) + by}"


def second_job(text):
    """An edge's file with a second job behind its first, whose island and controller are at other ports."""
    job = text[text.index("  - job: 1"):]
    job = job.replace("- job: 1", f"- job: {SECOND}")
    job = re.sub(r'(controller: \{address: ")([^"]+)', lambda found: found[1] + with_port(found[2], 100), job)
    job = re.sub(r'(island: .*address: ")([^"]+)', lambda found: found[1] + with_port(found[2], 1000), job)
    return text + job


class Jobs(case.Case):
    def bring_up_two(self, quota=None):
        """A line of three sites whose edges serve two jobs; returns the second one's islands by name."""
        network = self.bring_up(case.LINE, "--schedule", "full", *SCALE, "--deadline", "4")
        for edge in network.info["edges"]:
            network.kill_program(edge)
            config = pathlib.Path(edge["config"])
            text = second_job(config.read_text())
            if quota is not None:
                first, arena, rest = text.rpartition("arena: ")
                text = first + arena + str(quota) + rest[re.match(r"\d+", rest).end():]
            config.write_text(text)
            network.start_program(edge)
        self.second_controller = self.start_second_controller()
        network.start_islands()
        self.others = {}
        for entry in network.info["islands"]:
            entry = copy.deepcopy(entry)
            command = entry["command"]
            for option, value in (("--job", str(SECOND)), ("--seed", "77"), ("--listen", None), ("--metrics", None)):
                at = command.index(option) + 1
                command[at] = value or with_port(command[at], 1000)
            entry["log"] += "-2"
            self.others[entry["island"]] = testbed.Island(entry)
            self.addCleanup(self.others[entry["island"]].close)

    def start_second_controller(self):
        entry = copy.deepcopy(self.network.info["controller"])
        config = pathlib.Path(entry["config"])
        text = config.read_text()
        for key in ("listen", "metrics"):
            text = re.sub(rf"^({key}: )(\S+)$", lambda found: found[1] + with_port(found[2], 100), text, flags=re.M)
        for key in ("state", "local_socket"):
            text = re.sub(rf"^({key}: \S+)$", r"\1-2", text, flags=re.M)
        text = text.replace("job: 1\n", f"job: {SECOND}\nshare: 0.5\n")
        second = config.with_name("second-controller.yaml")
        second.write_text(text)
        entry["command"] = [word.replace(entry["config"], str(second)) for word in entry["command"]]
        entry["socket"] += "-2"
        entry["log"] += "-2"
        self.network.start_program(entry)
        return entry

    def wait_for_both(self):
        """Both jobs run an epoch at all edges, with everything up."""
        for controller in (self.network.info["controller"], self.second_controller):
            testbed.wait_for(lambda: (status := self.network.status(controller)) and status["epoch"] and self.is_steady(status),
                             f"a steady epoch of {controller['socket']}")

    def ready_round(self, islands):
        def common():
            states = [island.status() for island in islands.values()]
            rounds = set.intersection(*(set(state["can_start"]) if state["up"] else set() for state in states))
            return [min(rounds)] if rounds else None

        return testbed.wait_for(common, "islands to be ready")[0]

    def run_both(self):
        self.wait_for_both()
        self.runners = [case.Runner(islands, self.ready_round(islands)) for islands in (self.network.islands, self.others)]
        for runner in self.runners:
            self.addCleanup(runner.stop)

    def expect_all(self, runner):
        runner.stop()
        case.expect_whole(self, runner,
                          lambda number, epoch, of_round: self.assertEqual({tuple(event["clique"]) for event in of_round.values()},
                                                                           {(0, 1, 2)}, number))

    def jobs_at(self, site):
        return {job["job"]: job for job in self.network.status(self.network.edge(site))["jobs"]}

    def test_both_are_exact_and_one_that_dies_is_nothing_to_the_other(self):
        self.bring_up_two()
        self.run_both()
        for runner in self.runners:
            runner.wait_for(4)
        before = self.jobs_at("A")
        self.assertEqual(set(before), {1, SECOND})
        # The second job loses an island in the middle of a round, and later its controller; the first goes on.
        second = self.runners[1]
        self.others["C"].kill()
        self.runners[0].wait_for(6)
        testbed.wait_for(lambda: any(event["event"] == "failed" for _, event, _ in second.events["A"]), "a failed round")
        self.network.kill_program(self.second_controller)
        self.runners[0].wait_for(4)
        jobs = self.jobs_at("A")
        self.assertTrue(jobs[1]["controller"]["connected"])
        self.assertFalse(jobs[SECOND]["controller"]["connected"])
        was, now = (job[1]["aggregation"]["rounds_ended"] for job in (before, jobs))
        self.assertEqual({outcome: count - was[outcome] for outcome, count in now.items() if outcome != "complete"},
                         {"deadline": 0, "abandoned": 0, "superseded": 0, "lost": 0})
        failed = next(event for _, event, _ in second.events["A"] if event["event"] == "failed")
        self.assertEqual(failed["missing"], [self.others["C"].rank], failed)
        self.expect_all(self.runners[0])

    def test_a_job_with_a_small_quota_gets_smaller_grants_and_is_exact(self):
        # Half of what windows of 16 chunks hold: three members, two rounds, two epochs, 8192 bytes each.
        self.bring_up_two(quota=3 * 16 * 4 * 8192 // 2)
        self.run_both()
        for runner in self.runners:
            runner.wait_for(3)
        jobs = self.jobs_at("B")
        windows = {number: (job["aggregation"]["window_chunks"], job["aggregation"]["planned_window_chunks"])
                   for number, job in jobs.items()}
        self.assertEqual(windows, {1: (16, 16), SECOND: (8, 16)})
        self.assertLessEqual(jobs[SECOND]["aggregation"]["arena_bytes"], 3 * 16 * 4 * 8192 // 2)
        self.assertIn("QUOTA", self.network.tombolo("status", self.network.edge("B")["socket"]).stdout)
        for runner in self.runners:
            self.expect_all(runner)


if __name__ == "__main__":
    case.main()
