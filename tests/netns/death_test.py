"""kill -9 of an island, a transit edge, a member's edge and the controller, each in the middle of a round.

Nobody hangs, errors name who is missing, the next epoch goes on without the lost one, and who comes back joins in a later
epoch. Arguments: the folder of the programs. Exit code 77, with a reason, where there are no namespaces.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402
import frames  # noqa: E402
import testbed  # noqa: E402

A, C, D = 0, 1, 2
ALL = [A, C, D]
# The errors tell whether a round ended by its deadline, or before that because somebody noticed.
DEADLINE_S = "50"
# 500 kB at 10 Mbit/s: 0.4 s on the wire.
SCALE = ("--bytes", "500M", "--scale", "0.001")


class Deaths(case.Case):
    def setUp(self):
        super().setUp()
        self.bring_up(case.RING, "--schedule", "full", "--deadline", DEADLINE_S, *SCALE)
        self.network.start_islands()
        self.next = self.network.wait_ready()
        self.rounds_are_exact(ALL)

    def rounds_are_exact(self, clique, rounds=2, **options):
        for _ in range(rounds):
            self.expect_exact(self.next, clique, **options)
            self.next += 1

    def begin_round(self):
        """Starts a round; returns when a part of its results is there, and most is not."""
        number, self.next = self.next, self.next + 1
        self.tell_all(f"start {number}")

        def under_way():
            rounds = self.network.status(self.network.edge("A"))["jobs"][0]["rounds"]
            return next((one for one in rounds if one["round"] == number and one["chunks_done"]), None)

        state = testbed.wait_for(under_way, f"round {number} to be under way")
        self.assertLess(state["chunks_done"], state["chunks_total"])
        return number

    def expect_failed(self, number, errors):
        """The round ends at each of these islands: as failed for one of the reasons, or as a result that is exact.

        `errors`: of an island, what its error must say, and who must be missing (None: any). At least one fails.
        """
        failed = 0
        for name, (words, missing) in errors.items():
            island = self.network.islands[name]
            event = island.event("ready", "failed", number=number)
            if event["event"] == "ready":
                self.assertIs(island.check(number)["exact"], True, event)
                continue
            failed += 1
            self.assertRegex(event["error"], words)
            if missing is not None:
                self.assertEqual(event["missing"], missing, event)
        self.assertGreater(failed, 0)

    def expect_ended_well(self, number):
        for name, island in self.network.islands.items():
            self.assertEqual(island.event("ready", "failed", number=number)["error"], "")
            self.assertIs(island.check(number)["exact"], True, name)

    def expect_session_later(self, edge, before):
        """The edge lives anew: its session is later, serially."""
        now = testbed.wait_for(lambda: self.network.status(edge), f"edge {edge['site']} to answer")["session"]
        self.assertTrue(0 < (now - before) % 2**32 < 2**31, (before, now))

    def wait_for_common_round(self, epoch, names=()):
        self.next = self.network.wait_ready(epoch, names)


class Islands(Deaths):
    def test_an_island(self):
        number = self.begin_round()
        self.network.islands["D"].kill()
        reason = ("out of reach; missing rank 2", [D])
        self.expect_failed(number, {"A": reason, "C": reason})
        status = self.wait_for_epoch(2, "without D", lambda status: status["lost_islands"] == ["D"])
        self.assertEqual((status["dead_sites"], status["lost_links"]), ([], []))
        self.wait_for_common_round(2, ("A", "C"))
        self.rounds_are_exact([A, C], epoch=status["epoch"], names=("A", "C"))

        self.network.restart_island("D")
        later = self.wait_for_epoch(3, "with D", lambda status: status["lost_islands"] == [])
        self.wait_for_common_round(later["epoch"])
        self.rounds_are_exact(ALL, epoch=later["epoch"])


class Edges(Deaths):
    def test_a_transit_edge(self):
        edge = self.network.edge("B")
        session = self.network.status(edge)["session"]
        number = self.begin_round()
        self.network.kill_program(edge)
        self.expect_failed(number, {"A": ("out of reach; missing rank 1", [C]),
                                    "C": ("out of reach; missing rank", None),
                                    "D": ("missing rank", None)})
        # There is a way round: nobody but B is lost.
        status = self.wait_for_epoch(2, "without B", lambda status: status["dead_sites"] == ["B"])
        self.assertEqual(status["lost_islands"], [])
        self.wait_for_common_round(2)
        self.rounds_are_exact(ALL, epoch=status["epoch"])

        self.network.start_program(edge)
        self.expect_session_later(edge, session)
        later = self.wait_for_epoch(3, "with B", lambda status: status["dead_sites"] == [])
        self.wait_for_common_round(later["epoch"])
        self.rounds_are_exact(ALL, epoch=later["epoch"])
        copies = self.network.status(edge)["jobs"][0]["replication"]["copies"]
        self.assertGreater(copies, 0)

    def test_a_members_edge_and_what_it_sent_before_it_died(self):
        network, edge, neighbour = self.network, self.network.edge("D"), self.network.edge("A")
        session = network.status(edge)["session"]
        there = self.wire(edge, "to-A")
        here = self.wire(neighbour, "to-D")
        # A whole round, so that there are frames of every kind to replay, however early in the next one the edge dies.
        self.rounds_are_exact(ALL, rounds=1)
        number = self.begin_round()
        network.kill_program(edge)
        reason = ("out of reach; missing rank 2", [D])
        self.expect_failed(number, {"A": reason, "C": reason, "D": ("no word from the edge at 10\\.2\\.", None)})
        status = self.wait_for_epoch(2, "without D", lambda status: status["dead_sites"] == ["D"])
        self.assertEqual(status["lost_islands"], ["D"])
        self.wait_for_common_round(2, ("A", "C"))
        self.rounds_are_exact([A, C], epoch=status["epoch"], names=("A", "C"))
        from_d, to_d = here.arrived(), there.arrived()

        network.start_program(edge)
        self.expect_session_later(edge, session)
        later = self.wait_for_epoch(3, "with D", lambda status: status["dead_sites"] == status["lost_islands"] == [])
        self.wait_for_common_round(later["epoch"])
        self.replay(there, neighbour, [frame for frame in from_d if self.is_of(frame, session)], "old_session")
        # What A sent to it then has A's session still, but numbers that are over.
        old = [frame for frame in to_d if self.is_of(frame, network.status(neighbour)["session"])]
        self.replay(here, edge, old, "duplicate_sequence")
        self.rounds_are_exact(ALL, epoch=later["epoch"])

    def wire(self, edge, port):
        config = pathlib.Path(edge["config"]).read_text()
        wire = frames.Wire(edge["namespace"], frames.interface_of(config, port))
        self.addCleanup(wire.close)
        return wire

    @staticmethod
    def is_of(frame, session):
        packet = frames.tombolo_packet(frame)
        return packet is not None and frames.kind_of(packet) in frames.SEQUENCED and frames.session_of(packet) == session

    def replay(self, wire, receiver, old, reason):
        """Sends them in the middle of a round that stays exact; the receiver counts every one."""
        self.assertGreater(len(old), 10)
        before = self.network.status(receiver)["drops"].get(reason, 0)
        number = self.begin_round()
        for frame in old:
            wire.send(frame)
        self.expect_ended_well(number)
        testbed.wait_for(lambda: self.network.status(receiver)["drops"].get(reason, 0) >= before + len(old),
                         f"{len(old)} drops as {reason}")


class InOrder(Deaths):
    def test_rounds_of_the_older_epoch_are_over_at_once(self):
        # D still hears A and C, who do not hear each other any more. All begin every round, as a training job does.
        number = self.begin_round()
        self.network.kill_program(self.network.edge("B"))
        epoch, failed = 1, 0
        while epoch == 1:
            events = [island.event("ready", "failed", number=number) for island in self.network.islands.values()]
            for event in events:
                self.assertNotIn("deadline", event["error"], event)
                failed += event["event"] == "failed"
            epoch = events[0]["epoch"]
            number += 1
            self.tell_all(f"start {number}")
        self.assertGreater(failed, 0)
        self.expect_ended_well(number)


class Controllers(Deaths):
    def test_the_controller(self):
        controller = self.network.info["controller"]
        before = self.network.status(controller)
        number = self.begin_round()
        self.network.kill_program(controller)
        self.expect_ended_well(number)
        # Nobody needs it for more of the same.
        self.rounds_are_exact(ALL, epoch=1)
        testbed.wait_for(lambda: not self.network.status(self.network.edge("A"))["jobs"][0]["controller"]["connected"],
                         "edge A to notice")
        self.network.start_program(controller)
        status = self.wait_for_epoch(1, "again", lambda status: all(edge["connected"] for edge in status["edges"]))
        self.assertEqual((status["epoch"], status["newest_epoch"], status["phase"]), (1, 1, "idle"))
        self.assertGreater(status["term"], before["term"])
        self.rounds_are_exact(ALL, epoch=1)
        # It is a controller still: it can change the epoch.
        result = self.network.install("full", "--aggregation", "none")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.wait_for_common_round(2)
        self.rounds_are_exact(ALL, epoch=2)


if __name__ == "__main__":
    case.main()
