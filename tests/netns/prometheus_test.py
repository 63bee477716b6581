"""A real Prometheus scrapes every process of a running network with the shipped rules, and answers queries.

Arguments: the folder of the programs, the folder configs/. The program `prometheus` is looked for in the folder that
TOMBOLO_PROMETHEUS names, then in PATH. Exit code 77, with a reason, where it or namespaces are missing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import case  # noqa: E402
import testbed  # noqa: E402

CONFIGS, PROMETHEUS = None, None
ADDRESS = "10.99.0.1:9090"
# 200 kB at 10 Mbit/s.
SCALE = ("--bytes", "200M", "--scale", "0.001")
# In the namespace of the controller, as Prometheus is.
FETCH = "import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], timeout=10).read())"


def find_prometheus():
    folder = os.environ.get("TOMBOLO_PROMETHEUS")
    if folder:
        for place in (folder, f"{folder}/bin", f"{folder}/usr/bin"):
            if os.access(f"{place}/prometheus", os.X_OK):
                return f"{place}/prometheus"
    return shutil.which("prometheus")


class Scrapes(case.Case):
    def test_every_process_answers_and_the_rules_hold(self):
        network = self.bring_up(case.LINE, "--schedule", "full", *SCALE)
        network.start_islands()
        self.targets = {"tombolo-edge": [edge["metrics"] for edge in network.info["edges"]],
                        "tombolo-controller": [network.info["controller"]["metrics"]],
                        "tombolo-island": [island["metrics"] for island in network.info["islands"]]}
        self.start_prometheus()
        runner = case.Runner(network.islands, network.wait_ready())
        self.addCleanup(runner.stop)

        # All of them, by address and by job.
        expected = {(job, address) for job, addresses in self.targets.items() for address in addresses}
        testbed.wait_for(lambda: {(one["metric"]["job"], one["metric"]["instance"]) for one in self.query("up == 1")}
                         == expected, "every process to be up")
        complete = 'sum by (site) (tombolo_edge_rounds_total{outcome="complete"}) / on (site) tombolo_edge_lanes'
        before = self.by_site(complete, "every edge to have rounds")
        runner.wait_for(3)
        testbed.wait_for(lambda: all(count >= before[site] + 3 for site, count in self.by_site(complete).items()),
                         "three rounds more at every edge")
        # What the edges say of themselves is what Prometheus got.
        for edge in network.info["edges"]:
            status = network.status(edge)
            name = edge["site"]
            self.assertEqual(self.value(f'tombolo_edge_lanes{{site="{name}"}}'), status["lanes"])
            self.assertEqual(self.value(f'tombolo_edge_epoch{{site="{name}"}}'), status["jobs"][0]["epochs"]["newest"])
        testbed.wait_for(lambda: len(self.query("tombolo_edge_peer_up == 1")) == 2 * 2 + 3, "every neighbour to be up")
        self.assertEqual(self.query("tombolo_edge_peer_up == 0"), [])

        # The rules of the shipped files: all are there, all were computed, and what they record has values.
        rules = testbed.wait_for(self.evaluated_rules, "the rules to be evaluated")
        files = [(CONFIGS / "prometheus" / name).read_text() for name in ("rules.yaml", "alerts.yaml")]
        names = {name for text in files for name in re.findall(r"- (?:record|alert): (\S+)", text)}
        self.assertEqual({rule["name"] for rule in rules}, names)
        for rule in rules:
            self.assertEqual((rule["health"], rule.get("lastError", "")), ("ok", ""), rule["name"])
        busy = testbed.wait_for(lambda: self.query("site_worker:tombolo_edge_busy:ratio1m"), "a recorded series")
        self.assertTrue(all(0 <= float(one["value"][1]) <= 1 for one in busy), busy)
        self.assertEqual([rule["name"] for rule in rules if rule["type"] == "alerting" and rule["state"] == "firing"], [])

        # One that dies is seen.
        runner.stop()
        self.assertEqual(runner.troubles, [])
        network.islands["C"].kill()
        gone = testbed.wait_for(lambda: self.query("up == 0"), "the killed island to be missed")
        self.assertEqual([one["metric"]["instance"] for one in gone], [self.targets["tombolo-island"][2]])

    def start_prometheus(self):
        """With the shipped scrape configuration, but this network's addresses and a quicker pace."""
        shipped = CONFIGS / "prometheus"
        text = (shipped / "prometheus.yaml").read_text()
        for job, addresses in self.targets.items():
            text, count = re.subn(rf"(job_name: {job}\n.*?targets: )\[[^]]*\]", rf"\1{json.dumps(addresses)}", text,
                                  flags=re.DOTALL)
            self.assertEqual(count, 1, job)
        for setting in ("scrape_interval", "scrape_timeout", "evaluation_interval"):
            text, count = re.subn(rf"{setting}: \w+", f"{setting}: 500ms", text)
            self.assertEqual(count, 1, setting)
        for name in ("rules.yaml", "alerts.yaml"):
            shutil.copy(shipped / name, self.folder)
        config = self.write("prometheus.yaml", text)
        log = self.folder / "prometheus.log"
        controller = self.network.info["controller"]
        process = self.network.start_program(
            {"namespace": controller["namespace"], "log": str(log),
             "command": [PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                         f"--web.listen-address={ADDRESS}"]})
        testbed.wait_for(lambda: process.poll() is not None or self.fetch("/-/ready"), "Prometheus")
        self.assertIsNone(process.poll(), log.read_text()[-2000:])

    def fetch(self, path):
        """The answer's bytes; None when there is none."""
        result = subprocess.run(["ip", "netns", "exec", self.network.info["controller"]["namespace"], sys.executable, "-c",
                                 FETCH, f"http://{ADDRESS}{path}"], capture_output=True, timeout=60, check=False)
        return result.stdout if result.returncode == 0 else None

    def ask(self, path):
        answer = self.fetch("/api/v1/" + path)
        self.assertIsNotNone(answer, path)
        answer = json.loads(answer)
        self.assertEqual(answer["status"], "success", answer)
        return answer["data"]

    def query(self, expression):
        return self.ask("query?" + urllib.parse.urlencode({"query": expression}))["result"]

    def value(self, expression):
        result = self.query(expression)
        self.assertEqual(len(result), 1, (expression, result))
        return float(result[0]["value"][1])

    def by_site(self, expression, what="every site"):
        def look():
            found = {one["metric"]["site"]: float(one["value"][1]) for one in self.query(expression)}
            return found if len(found) == 3 else None

        return testbed.wait_for(look, what)

    def evaluated_rules(self):
        rules = [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None


if __name__ == "__main__":
    CONFIGS, PROMETHEUS = pathlib.Path(sys.argv.pop(2)), find_prometheus()
    if not PROMETHEUS:
        print("no prometheus in PATH or TOMBOLO_PROMETHEUS (Debian package prometheus)")
        sys.exit(77)
    case.main()
