#!/usr/bin/env python3
"""Counts what `meson test` ran: each GoogleTest case as one, each other test as one.

Reads the log that Meson writes (one JSON object per test) and the XML report that tools/dev/run_test had each
GoogleTest program write. Shows what failed and why, a reason for each skip, and ends with the line
`N passed, N failed` or `N passed, N failed, N skipped`. Exit code 0 only if all passed and at least one ran.
"""

import argparse
import fnmatch
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

OUTPUT_LINES = 60
WORDS = {"TIMEOUT": "ran out of time", "ERROR": "could not be run to its end", "INTERRUPT": "was interrupted",
         "UNEXPECTEDPASS": "passed, though it is marked as one that must fail"}


@dataclass
class Counts:
    """What the tests did; failures and skips as (name, why)."""
    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)


def exit_words(test):
    """How a test that did not pass ended."""
    result, code = test["result"], test.get("returncode", 0)
    if result in WORDS:
        return WORDS[result]
    if code < 0 or code > 128:
        return f"was ended by signal {-code if code < 0 else code - 128}"
    return f"ended with exit code {code}"


def last_output(test):
    """The end of what a test printed."""
    text = re.sub(r"\Areport: .*\n", "", test.get("stdout", "")) + test.get("stderr", "")
    lines = text.splitlines()
    left_out = [f"... ({len(lines) - OUTPUT_LINES} lines before)"] if len(lines) > OUTPUT_LINES else []
    return "\n".join(left_out + lines[-OUTPUT_LINES:])


def report_path(test):
    """Where the test's GoogleTest report is, or would be."""
    match = re.match(r"report: (.+)", test.get("stdout", ""))
    return pathlib.Path(match.group(1)) if match else None


def count_report(name, root, counts):
    """Adds the cases of one GoogleTest report; returns (cases, failures) seen in it."""
    cases = failures = 0
    for case in root.iter("testcase"):
        cases += 1
        label = f"{name}: {case.get('classname')}.{case.get('name')}"
        failure, skip = case.findall("failure"), case.find("skipped")
        if failure:
            failures += 1
            counts.failed.append((label, "\n".join(f.text or f.get("message", "") for f in failure)))
        elif skip is not None or case.get("result") == "skipped":
            reason = skip.get("message", "") if skip is not None else ""
            counts.skipped.append((label, reason.strip().splitlines()[-1] if reason.strip() else "no reason given"))
        elif case.get("status") == "notrun":
            counts.skipped.append((label, "disabled in the source"))
        else:
            counts.passed += 1
    # A failure outside every case (a suite's set-up, an environment) belongs to a suite or to the whole program.
    for parent in [root, *root.iter("testsuite")]:
        for loose in parent.findall("failure"):
            failures += 1
            counts.failed.append((f"{name}: {parent.get('name')}", loose.text or loose.get("message", "")))
    return cases, failures


def count_test(test, counts):
    """Adds one entry of Meson's log."""
    # "project:suite / name" in Meson's words; the last part is the name in the meson.build file.
    name, result = test["name"].split(" / ")[-1], test["result"]
    ended_well = result == "OK"
    path = report_path(test)
    if result == "EXPECTEDFAIL":
        counts.passed += 1
    elif path is not None and path.exists():
        try:
            cases, failures = count_report(name, ElementTree.parse(path).getroot(), counts)
        except ElementTree.ParseError as error:
            counts.failed.append((name, f"its report cannot be read: {error}\n{last_output(test)}"))
            return
        if not ended_well and failures == 0:
            counts.failed.append((name, f"no case failed, but the program {exit_words(test)}\n{last_output(test)}"))
        elif cases == 0 and failures == 0:
            counts.failed.append((name, "the program ran no test case"))
    elif result == "SKIP":
        lines = [line for line in test.get("stdout", "").splitlines() if line and not line.startswith("report: ")]
        counts.skipped.append((name, lines[-1] if lines else "no reason given"))
    elif not ended_well:
        counts.failed.append((name, f"the test {exit_words(test)}\n{last_output(test)}"))
    elif re.search(r"^\[=+\] Running \d+ test", test.get("stdout", ""), re.MULTILINE):
        counts.failed.append((name, f"the program ended before its last case\n{last_output(test)}"))
    else:
        counts.passed += 1


def refuse_skips(counts, allowed):
    """Turns the skips whose names match no allowed pattern into failures."""
    kept = [skip for skip in counts.skipped if any(fnmatch.fnmatchcase(skip[0], pattern) for pattern in allowed)]
    for name, why in counts.skipped:
        if (name, why) not in kept:
            counts.failed.append((name, f"skipped, and this skip is not allowed here: {why}"))
    counts.skipped = kept


def summary(counts):
    line = f"{counts.passed} passed, {len(counts.failed)} failed"
    return line + (f", {len(counts.skipped)} skipped" if counts.skipped else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=pathlib.Path, help="Meson's testlog.json")
    parser.add_argument("--skipped", action="append", default=[], metavar="NAME=REASON",
                        help="a skip that the caller knows of; may be repeated")
    parser.add_argument("--allow-skips", metavar="PATTERN,...",
                        help="names of the only skips that do not fail the run (shell patterns)")
    arguments = parser.parse_args()

    counts = Counts()
    if arguments.log.exists():
        for line in arguments.log.read_text(errors="replace").splitlines():
            count_test(json.loads(line), counts)
    counts.skipped += [tuple(skip.split("=", 1)) for skip in arguments.skipped]
    if arguments.allow_skips is not None:
        refuse_skips(counts, arguments.allow_skips.split(","))

    for name, why in counts.failed:
        print(f"\nFAILED {name}\n" + "\n".join("  " + line for line in why.strip().splitlines()))
    if counts.skipped:
        print()
    for name, why in counts.skipped:
        print(f"skipped {name}: {why}")
    if not counts.passed and not counts.failed:
        print("\nNo test ran.")
    print(f"\n{summary(counts)}")
    return 0 if counts.passed and not counts.failed else 1


if __name__ == "__main__":
    sys.exit(main())
