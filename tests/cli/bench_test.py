"""The verbs of `tombolo-bench`, at their tiny sizes. Arguments: the program, the folder configs/."""

import json

import command
from command import Command, tombolo

KEYS = ["bench", "impl", "format", "k", "copies", "chunk_bytes", "resident", "isa", "gbytes_per_s", "gbit_per_s", "mpps",
        "spread"]


class Bench(Command):
    def rows(self, verb, *options):
        """The rows of a tiny run; what every report must have is looked at here."""
        result = tombolo(verb, "--tiny", "--json", "-", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["schema"], report["command"], report["tiny"]), (1, f"bench {verb}", True))
        for key in ["cpu", "kernel", "compiler", "load"]:
            self.assertTrue(report["machine"][key], key)
        for row in report["rows"]:
            self.assertEqual(list(row)[:2], ["bench", "impl"])
            self.assertLessEqual(set(KEYS), set(row), row)
            self.assertEqual(row["bench"], verb)
            self.assertGreater(row["gbit_per_s"], 0, row)
        return report["rows"]

    def test_fold(self):
        rows = self.rows("fold", "--k", "2")
        self.assertEqual({row["format"] for row in rows if row["impl"] == "tombolo"},
                         {"fp32", "bf16", "fp16", "int32", "mxint8", "mxfp8-e4m3", "mxfp8-e5m2"})
        self.assertTrue(all(row["exact"] for row in rows if row["impl"] == "tombolo"))
        self.assertEqual({row["resident"] for row in rows}, {"cache", "memory"})
        for row in rows:
            self.assertIn("limit", {other["impl"] for other in rows if other["format"] == row["format"]})

    def test_aggregate(self):
        rows = self.rows("aggregate", "--k", "3", "--format", "fp32")
        cases = [["tombolo", "limit"], ["tombolo", "tombolo_held", "limit"]] * 2
        self.assertEqual([row["impl"] for row in rows], sum(cases, []))
        for row in rows:
            self.assertEqual(row["k"], 3)
            self.assertGreater(row["mpps"], 0)
            if row["resident"] == "cache":
                self.assertEqual(row["distance_bytes"], 2 * row["chunk_bytes"])
            else:
                self.assertGreater(row["distance_bytes"], 100_000)
            if row["impl"] != "tombolo":
                continue
            stages = sum(row[f"cycles_{stage}"] for stage in ["receive", "check", "slot", "fold", "link_emit"])
            self.assertAlmostEqual(stages / row["cycles"], 1)

    def test_replicate(self):
        rows = self.rows("replicate", "--copies", "2,8")
        self.assertEqual({row["impl"] for row in rows},
                         {"tombolo", "ipv4_multicast", "ipv4_multicast_clone", "limit"})
        self.assertEqual({row["copies"] for row in rows}, {2, 8})
        for row in rows:
            self.assertAlmostEqual(row["gbit_per_s"], row["mpps"] * row["chunk_bytes"] * 8e-3, delta=row["gbit_per_s"] / 1e6)

    def test_latency(self):
        rows = self.rows("latency", "--load", "0.1,0.9")
        self.assertEqual([row["load"] for row in rows], [0.1, 0.9])
        for row in rows:
            self.assertGreater(row["p50_us"], 0)
            self.assertLessEqual(row["p50_us"], row["p99_us"])
            self.assertLessEqual(row["p99_us"], row["p999_us"])

    def test_numerics(self):
        result = tombolo("numerics", "--tiny", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        fp32 = [row for row in rows if row["what"] == "error" and row["format"] == "fp32"]
        self.assertEqual([row["k"] for row in fp32], [2, 4, 8, 16, 32, 64])
        for row in fp32:
            self.assertEqual(row["rounded_inputs"], 0)
            self.assertLess(row["fold"], row["k"] * 2.0 ** -24)
        self.assertTrue(any(row["what"] == "ring" and row["ring"] > row["once"] for row in rows))

    def test_table_and_file(self):
        path = self.folder / "rows.json"
        result = tombolo("fold", "--tiny", "--format", "fp32", "--k", "2", "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("load", result.stdout)
        self.assertIn("gbytes_per_s", result.stdout)
        self.assertEqual(json.loads(path.read_text())["command"], "bench fold")

    def test_bad_options(self):
        for arguments in (["fold", "--format", "fp64"], ["fold", "--k", "65"], ["fold", "--chunk-bytes", "8"],
                          ["fold", "--memory", "much"], ["fold", "--isa", "abacus"], ["aggregate", "--k", "1"],
                          ["aggregate", "--chunk-bytes", "9000"], ["aggregate", "--distance", "far"],
                          ["replicate", "--copies", "9"], ["latency", "--isa", "abacus"]):
            result = tombolo(*arguments, "--tiny")
            last = result.stderr.splitlines()[-1]
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertTrue(last.startswith("tombolo: "), (arguments, last))
        for arguments in ([], ["fold", "--resident", "disk"], ["latency", "--load", "2"], ["nonsense"]):
            self.assertEqual(tombolo(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    command.main()
