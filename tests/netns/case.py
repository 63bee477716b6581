"""What the tests with a kept testbed have in common: small networks, rounds of all or some islands, a clean end."""

import pathlib
import sys
import tempfile
import threading
import unittest

import testbed

PROGRAMS = None

# B forwards only: between A and C it is the short way, D the long one. Ranks: A 0, C 1, D 2.
RING = """name: ring
sites: [{id: A}, {id: B}, {id: C}, {id: D}]
links:
  - {a: A, b: B, rtt_ms: 4}
  - {a: B, b: C, rtt_ms: 4}
  - {a: C, b: D, rtt_ms: 20}
  - {a: D, b: A, rtt_ms: 20}
islands: [{id: A, site: A}, {id: C, site: C}, {id: D, site: D}]
profiles:
  p: {core_gbps: 10, egress_gbps: 10, ingress_gbps: 10}
"""
LINE = """name: line
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, rtt_ms: 4}
  - {a: B, b: C, rtt_ms: 6}
profiles:
  p: {core_gbps: 10, egress_gbps: 10, ingress_gbps: 10}
"""


class Case(unittest.TestCase):
    """A folder for one test, and at most one testbed, of which nothing is left after it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.network = None

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def bring_up(self, topology, *options):
        """A testbed until the end of the test; self.network is it."""
        network = testbed.Testbed(PROGRAMS, self.write("topology.yaml", topology), self.folder / "up", "--profile", "p",
                                  *options)
        self.network = network.__enter__()
        prefix = f"tbl-{network.info['run_id']}-"
        self.addCleanup(lambda: self.assertEqual(testbed.namespaces(prefix), []))
        self.addCleanup(network.close)
        return network

    def tell_all(self, line, names=None):
        """One line to each of these islands, or to all."""
        for name, island in self.network.islands.items():
            if names is None or name in names:
                island.tell(line)

    def expect_exact(self, number, clique, epoch=None, names=None):
        """Runs a round with these islands and demands that all have the clique's result, to the bit."""
        self.tell_all(f"start {number}", names)
        for name, island in self.network.islands.items():
            if names is None or name in names:
                event = island.event("ready", "failed", number=number)
                self.assertEqual((event["error"], event["clique"], event["contributors"]), ("", clique, clique), event)
                if epoch is not None:
                    self.assertEqual(event["epoch"], epoch, event)
                self.assertEqual(island.check(number)["exact"], True, name)

    @staticmethod
    def is_steady(status):
        """Everything is up, and the controller wants nothing else than what runs."""
        return (status["phase"] == "idle" and status["trouble"] == "" and
                status["dead_sites"] == status["lost_islands"] == status["lost_links"] == [] and
                all(edge["connected"] and edge["links_down"] == [] and edge["running_epoch"] == status["epoch"]
                    for edge in status["edges"]))

    def wait_for_epoch(self, least, what, condition=lambda status: True):
        """Waits until the controller runs an epoch that late and its status fits; returns the status."""
        controller = self.network.info["controller"]

        def look():
            status = self.network.status(controller)
            return status if status and status["epoch"] >= least and condition(status) else None

        return testbed.wait_for(look, f"epoch {least} or later, {what}")


class Runner:
    """Rounds back to back, every island on its own: it starts the next when it has the result of the last."""

    def __init__(self, islands, first):
        self._stop = threading.Event()
        self._next = first
        self._lock = threading.Lock()
        self.events = {name: [] for name in islands}  # (round, event, checked), in order.
        self.troubles = []
        self._threads = [threading.Thread(target=self._run, args=(island, first), daemon=True)
                         for island in islands.values()]
        for thread in self._threads:
            thread.start()

    def _more(self, number):
        """Whether this round is to be run. All islands end with the same one."""
        with self._lock:
            if self._stop.is_set() and number >= self._next:
                return False
            self._next = max(self._next, number + 1)
            return True

    def _run(self, island, number):
        try:
            while self._more(number):
                island.tell(f"start {number}")
                event = island.event("ready", "failed", number=number)
                checked = island.check(number) if event["event"] == "ready" else None
                self.events[island.name].append((number, event, checked))
                number += 1
        except BaseException as error:  # Told by stop(), in the test's own thread.
            self.troubles.append(f"island {island.name}: {error!r}")

    def done(self):
        """Rounds that every island has behind it."""
        return min(map(len, self.events.values()))

    def wait_for(self, more):
        """Waits until every island has run so many more rounds."""
        goal = self.done() + more
        testbed.wait_for(lambda: self.troubles or self.done() >= goal, f"{more} more rounds")

    def stop(self):
        """Ends after the round under way."""
        self._stop.set()
        for thread in self._threads:
            thread.join(testbed.PATIENCE_S + 10)
            if thread.is_alive():
                self.troubles.append("an island's thread does not end")
        return self.events


def expect_whole(test, runner, cliques):
    """Every round that was run is exact at every island, in one epoch, and its members agree. `cliques` gives a clique for
    an island's rank, epoch and round; None: any."""
    test.assertEqual(runner.troubles, [])
    rounds = {}
    for name, events in runner.events.items():
        numbers = [number for number, _, _ in events]
        test.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))), name)
        for number, event, checked in events:
            test.assertEqual((event["event"], event["error"]), ("ready", ""), event)
            test.assertIs(checked["exact"], True, (event, checked))
            test.assertEqual(event["contributors"], event["clique"], event)
            rounds.setdefault(number, {})[name] = event
    for number, events in rounds.items():
        test.assertEqual(set(events), set(runner.events), f"round {number} was not run by all")
        epochs = {event["epoch"] for event in events.values()}
        test.assertEqual(len(epochs), 1, f"round {number} in epochs {epochs}")
        cliques(number, epochs.pop(), events)


def main():
    """Arguments: the folder of the programs, then unittest's. Exit code 77, with a reason, where there are no namespaces."""
    global PROGRAMS
    PROGRAMS = pathlib.Path(sys.argv[1])
    reason = testbed.why_not_possible()
    if reason:
        print(reason)
        sys.exit(77)
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
