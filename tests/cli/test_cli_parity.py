#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""lastbit parity as a user meets it: exit codes, lines, records, JUnit, cases that rerun.

usage: test_cli_parity.py LASTBIT WILD_PLUGIN
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

LASTBIT, WILD = sys.argv[1:3]
ON = ("--on", f"plugin:{WILD}")


class Parity(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.root = Path(self.work.name)
        self.addCleanup(self.work.cleanup)

    def run_it(self, code, *args):
        done = subprocess.run([LASTBIT, "parity", *map(str, args)], capture_output=True, text=True, cwd=self.root, timeout=120)
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}{done.stderr}")
        if code == 2:
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"^lastbit[^\n]+\n$")
            return done.stderr
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_a_run_ends_with_a_table_and_its_verdict(self):
        out = self.run_it(0, "--on", "cpu", "--op", "softmax", "--op", "gelu", "-p", "fmt=f32")
        self.assertRegex(out, r"(?m)^on cpu ")
        self.assertRegex(out, r"(?m)^softmax +cpu +\d+ +\d+ +0 +0 +0 +0 +\S+  \d+/\d+$")
        self.assertRegex(out.splitlines()[-1], r"^PASS parity: 2 operators on 1 devices, compared=\d+ pass=\d+ known=0 fail=0 unproven=0 skip=0 seed=1$")

    def test_a_failing_case_is_one_line_that_reruns(self):
        out = self.run_it(1, *ON, "--op", "gelu", "-p", "n=15360")
        line = next(line for line in out.splitlines() if line.startswith("FAIL op="))
        case = re.match(r"FAIL (op=\S+(?: \S+=\S+)*): ", line).group(1)
        self.assertIn(f"on=plugin:{WILD}", case)
        again = self.run_it(1, "--case", case)
        self.assertRegex(again, r"^FAIL op=gelu n=15360 .*: compared=15360 .*wrong=[1-9]")
        self.assertRegex(again, r"(?m)^  first .*nan|NaN")
        rerun = re.search(r"(?m)^  rerun +lastbit parity --on (\S+) --case '([^']+)'$", again)
        self.assertEqual(rerun.group(1), f"plugin:{WILD}")
        self.assertEqual(self.run_it(1, "--on", rerun.group(1), "--case", rerun.group(2)).splitlines()[0], again.splitlines()[0])

    def test_json_is_a_record_a_line(self):
        out = self.run_it(0, "--on", "cpu", "--on", "cpu:contracted", "--op", "matmul", "-p", "fmt=f32", "--json")
        records = [json.loads(line) for line in out.splitlines()]
        self.assertTrue(len(records) > 20)
        for r in records:
            self.assertEqual((r["schema"], r["op"], r["verdict"], r["known"]), ("lastbit.result/1", "matmul", "PASS", ""))
            self.assertEqual(r["counts"]["total"], r["counts"]["compared"])
            self.assertIn(r["on"].split(" ")[0], ("cpu", "cpu:contracted"))
        self.assertEqual(sum(r["power"] is not None for r in records), 2)  # once a device

    def test_junit_has_each_case_and_a_known_failure_is_skipped(self):
        (self.root / "known.json").write_text(json.dumps([{"device": "wild", "case": "op=add n=109", "bound": "Infinity", "cause": "its seventh"}]))
        cases = ("--case", "op=add n=100", "--case", "op=add n=109", "--case", "op=add n=111")
        out = self.run_it(0, *ON, *cases, "--known", "known.json", "--junit", "j.xml")
        self.assertRegex(out, r"(?m)^FAIL known op=add n=109 ")
        self.assertRegex(out, r"(?m)^  known +its seventh; of any size$")
        suite = xml.parse(self.root / "j.xml").getroot().find("testsuite")
        self.assertEqual({k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")},
                         {"tests": "3", "failures": "0", "errors": "0", "skipped": "2"})
        self.run_it(1, *ON, *cases, "--junit", "j.xml")
        self.assertEqual(xml.parse(self.root / "j.xml").getroot().find("testsuite").get("failures"), "1")

    def test_a_hang_ends_its_case(self):
        out = self.run_it(1, *ON, "--case", "op=add n=101", "--case", "op=add n=100", "--timeout", "2")
        self.assertRegex(out, r"(?m)^FAIL op=add n=101 ")
        self.assertRegex(out, r"(?m)^  reason +no answer in 2 s")
        self.assertRegex(out, r"(?m)^PASS op=add n=100 ")

    def test_pasted_cases_share_their_device(self):
        out = self.run_it(0, "--case", "op=add n=5 on=cpu", "--case", "op=add n=6 on=cpu", "--json")
        self.assertEqual(len(out.splitlines()), 2)

    def test_nothing_compared_is_unproven(self):
        self.run_it(3, *ON, "--case", "op=add n=111")

    def test_the_list_runs_nothing(self):
        cases = self.run_it(0, "--list").splitlines()
        quick = self.run_it(0, "--list", "--quick").splitlines()
        self.assertTrue(len(cases) > 1300 and 100 < len(quick) < 300)
        self.assertEqual(len(set(cases)), len(cases))
        self.assertTrue(set(quick) <= set(cases))
        self.assertTrue(all(re.match(r"op=\w+( [\w]+=\S+)+$", c) for c in cases))
        other = self.run_it(0, "--list", "--seed", "5").splitlines()
        self.assertIn("seed=5", " ".join(other))
        self.assertTrue(any("op=matmul m=32 k=64 n=48" in c and "seed=1" in c for c in other))  # the document's seeds are pinned

    def test_invariance_names_the_first_axis(self):
        out = self.run_it(0, *ON, "--op", "matmul", "--invariance")
        self.assertRegex(out, r"(?m)^differs +matmul .* row +\d+ of 120 elements differ, up to \d+ ULP")
        self.assertRegex(out, r"(?m)^first +matmul +\S+ row, \d+ ULP$")
        self.run_it(1, *ON, "--op", "matmul", "--invariance", "--require", "row")
        rows = [json.loads(line) for line in self.run_it(0, *ON, "--op", "matmul", "--invariance", "--json").splitlines()]
        self.assertEqual({r["axis"]: r["result"] for r in rows}, {"run": "PASS", "row": "differs", "padding": "PASS", "split": "differs"})

    def test_a_sweep_finds_the_magnitude(self):
        self.assertRegex(self.run_it(1, *ON, "--op", "gelu", "--sweep"), r"^leaves +gelu +\S+ +at magnitude 16: .*nan")
        row = json.loads(self.run_it(0, "--on", "cpu", "--op", "gelu", "--sweep", "--json"))
        self.assertIsNone(row["first_bad"])
        self.assertGreater(row["last_good"], 1e30)

    def test_the_table_of_the_seed_document(self):
        rows = json.loads(self.run_it(0, "--on", "cpu", "--on", "replay:device", "--table", "seed-002", "--json"))
        metal = {r["operator"]: r["observed"] for r in rows if r["on"] == "replay:device"}
        self.assertEqual(metal["MatMul (32×64×48)"], "1.431e-06")
        self.assertEqual(metal["LayerNorm (16×64)"], "2.384e-07")
        self.assertEqual(sum(r["verdict"] == "SKIP" for r in rows), 3)

    def test_wrong_calls_say_what_to_do(self):
        for args, says in ((("--op", "softmx"), "softmax"), (("--on", "nonesuch"), "nonesuch"), (("-p", "no such"), "--list"),
                           (("--table", "seed-2"), "seed-002"), (("x",), "no operands"), (("--require", "row"), "--invariance"),
                           (("--invariance", "--require", "rows"), "row"), (("--sweep", "--invariance"), "one of"),
                           (("--case", "op=gelu n=0"), "n"), (("--known", "absent.json", "--on", "cpu"), "absent.json"),
                           (("--case", "op=gelu m=3"), "m"), (("--functions", "vulcan", "--on", "cpu"), "vulkan")):
            with self.subTest(args=args):
                self.assertIn(says, self.run_it(2, *args))


unittest.main(argv=sys.argv[:1], verbosity=0)
