"""A testbed of real processes that a test keeps up, and whose single programs it kills and starts again."""

import json
import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

# Conditions are waited for; this only bounds how long a test hangs when one never comes.
PATIENCE_S = 60

# Before a namespace and a command: what a test starts dies with the test. Each word replaces the process.
_ENTER = ("setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec")


def why_not_possible():
    """Why namespaces cannot be made here; None where they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"tbl-{os.getpid()}-.try"
    try:
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "the command ip is not here (package iproute2)"
    if made.returncode:
        return f"no network namespaces here: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return None


def namespaces(prefix="tbl-"):
    """Names of the testbeds' namespaces that exist."""
    folder = pathlib.Path("/run/netns")
    return sorted(path.name for path in folder.glob(prefix + "*")) if folder.is_dir() else []


def wait_for(condition, what, patience_s=PATIENCE_S):
    """Returns the first true value of condition()."""
    until = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"waited {patience_s} s for {what}")
        time.sleep(0.02)


def _is_gone(pid):
    """Whether a process has ended, reaped or not. Its first thread may be the first to end: all must."""
    process = pathlib.Path(f"/proc/{pid}")
    try:
        ended = (process / "stat").read_text().rpartition(") ")[2].startswith("Z")
        return ended and len(list((process / "task").iterdir())) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


class Lines:
    """What a pipe brings, line by line, read by a thread so that a test can wait for it with a limit."""

    def __init__(self, stream):
        self._queue = queue.Queue()
        self.all = []
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def next(self, patience_s=PATIENCE_S):
        """The next line; None at the end. Fails when none comes in time."""
        try:
            line = self._queue.get(timeout=patience_s)
        except queue.Empty:
            raise AssertionError(f"no line in {patience_s} s; so far: {self.all[-5:]}") from None
        if line is not None:
            self.all.append(line)
        return line


class Island:
    """A `tombolo-island --commands` in its namespace."""

    def __init__(self, entry, extra=()):
        self.entry = entry
        self.name = entry["island"]
        self.rank = entry["rank"]
        self._log = open(entry["log"], "ab")
        self.process = subprocess.Popen([*_ENTER, entry["namespace"], *entry["command"], *extra],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True)
        self._lines = Lines(self.process.stdout)
        self._unread = []

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def event(self, *names, number=None, patience_s=PATIENCE_S):
        """The next event of one of these names (and of round `number`); others are kept for later calls."""
        def fits(event):
            return event["event"] in names and (number is None or event.get("round") == number)

        for event in self._unread:
            if fits(event):
                self._unread.remove(event)
                return event
        while True:
            line = self._lines.next(patience_s)
            if line is None:
                raise AssertionError(f"island {self.name} ended; {pathlib.Path(self.entry['log']).read_text()[-500:]}")
            event = json.loads(line)
            if fits(event):
                return event
            self._unread.append(event)

    def status(self):
        self.tell("status")
        return self.event("status")

    def check(self, number):
        self.tell(f"check {number}")
        return self.event("checked", number=number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Tells it to end, and does not wait for that."""
        self.process.stdin.close()

    def close(self):
        self.end()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process.stdout.close()
        self._log.close()


class Testbed:
    """`tombolo testbed up`, from `with` to its end."""

    def __init__(self, programs, topology, out, *options):
        self.programs = pathlib.Path(programs)
        self.out = pathlib.Path(out)
        self._command = [self.programs / "tombolo", "testbed", "up", topology, "--out", self.out, *options]
        self._more = []
        self.process = None
        self.info = None
        self.islands = {}

    def __enter__(self):
        self.process = subprocess.Popen(list(map(str, self._command)), stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.progress = Lines(self.process.stderr)
        path = self.out / "testbed.json"
        try:
            wait_for(lambda: path.exists() or self.process.poll() is not None, "the testbed")
            if not path.exists():
                words = []
                while (line := self.progress.next()) is not None:
                    words.append(line)
                raise AssertionError("the testbed did not come up:\n" + "\n".join(words))
            self.info = json.loads(path.read_text())
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        # All at once, because each takes a while.
        for island in self.islands.values():
            island.end()
        if self.process.poll() is None:
            self.process.stdin.close()
        for process in self._more:
            if process.poll() is None:
                process.kill()
            process.wait()
        for island in self.islands.values():
            island.close()
        if self.process.poll() is None:
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        self.process.wait()
        self.process.stderr.close()

    def edge(self, site):
        return next(edge for edge in self.info["edges"] if edge["site"] == site)

    def start_islands(self, *names, extra=()):
        """Starts these islands, or all; returns them by name."""
        for entry in self.info["islands"]:
            if not names or entry["island"] in names:
                self.islands[entry["island"]] = Island(entry, extra)
        return self.islands

    def restart_island(self, name, extra=()):
        self.islands[name].close()
        entry = next(entry for entry in self.info["islands"] if entry["island"] == name)
        self.islands[name] = Island(entry, extra)
        return self.islands[name]

    def start_program(self, entry):
        """Starts an edge or the controller again, from its entry in testbed.json; its process is returned."""
        with open(entry["log"], "ab") as log:
            process = subprocess.Popen([*_ENTER, entry["namespace"], *entry["command"]],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        self._more.append(process)
        entry["pid"] = process.pid
        return process

    def kill_program(self, entry):
        """kill -9 of an edge or the controller; returns when it holds nothing any more."""
        os.kill(entry["pid"], signal.SIGKILL)
        wait_for(lambda: _is_gone(entry["pid"]), f"the end of process {entry['pid']}")

    def tombolo(self, *arguments):
        return subprocess.run([self.programs / "tombolo", *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, check=False)

    def status(self, entry):
        """What an edge or the controller says of itself; None while it does not answer."""
        result = self.tombolo("status", entry["socket"], "--json", "-")
        return json.loads(result.stdout) if result.returncode == 0 else None

    def install(self, schedule, *options):
        return self.tombolo("install", schedule, "--controller", self.info["controller"]["socket"], *options)

    def wait_ready(self, least_epoch=1, names=()):
        """Waits until all of these islands (or all that run) can start one and the same round; returns its number."""
        islands = [island for name, island in self.islands.items() if not names or name in names]

        def common():
            states = [island.status() for island in islands]
            if not all(state["up"] and state["epoch"] >= least_epoch for state in states):
                return None
            rounds = set.intersection(*(set(state["can_start"]) for state in states))
            return [min(rounds)] if rounds else None

        return wait_for(common, f"islands to be ready in epoch {least_epoch} or later")[0]
