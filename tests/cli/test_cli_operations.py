#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scalar operations as a user meets them: eval, the list, lines of hex, a translator judged, its lists of what is known.

usage: test_cli_operations.py LASTBIT FAKE_CUDA SOURCE_DIR
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LASTBIT, FAKE_CUDA, SOURCE_DIR = sys.argv[1:4]
TRANSLATOR = f"{SOURCE_DIR}/examples/judge-a-translator/translator.py"
FAULTS = {"add_rz_f32", "neg_f32", "setp_ne_f32", "cvt_rn_bf16x2_f32", "shfl_down"}


class Operations(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.root = Path(self.work.name)

    def run_it(self, code, *args, stdin=""):
        done = subprocess.run([LASTBIT, *map(str, args)], input=stdin, capture_output=True, text=True, cwd=self.root, timeout=300,
                              env={**os.environ, "LASTBIT_CUDA_DRIVER": FAKE_CUDA, "TMPDIR": str(self.root)})
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}{done.stderr}")
        if code == 2:
            self.assertRegex(done.stderr, r"^lastbit[^\n]+\n$")
        return done.stderr if code == 2 else done.stdout

    def write_list(self, name, *entries):
        (self.root / name).write_text(json.dumps([{"op": op, "words": words, "reason": "issue 12"} for op, words in entries]))
        return name

    # ---- one operation

    def test_eval_takes_names_and_spellings(self):
        words = ["0x3f80000b", "0x3f80000b", "0xbf800000"]
        for name in ("fma.rz.f32", "fma_rz_f32", "op:fma_rz_f32"):
            self.assertEqual(self.run_it(0, "eval", name, *words), "0x36300007 (0x1.60000ep-19)\n")
        self.assertEqual(self.run_it(0, "eval", "fma.rn.f32", *words).split()[0], "0x36300008")
        self.assertEqual(len(self.run_it(0, "eval", "shfl_down", "1", "1", "0x1f").splitlines()), 32)
        self.assertEqual(json.loads(self.run_it(0, "eval", "popc.b32", "255", "--json")),
                         {"op": "popc_b32", "lane": 0, "out": 0, "word": "0x00000008"})

    def test_eval_refuses_what_it_cannot_take(self):
        self.assertIn("did you mean", self.run_it(2, "eval", "fma.rx.f32"))
        self.assertIn("takes 3", self.run_it(2, "eval", "fma_rz_f32", "1"))
        self.assertIn("does not fit in the 32 bits", self.run_it(2, "eval", "popc.b32", "0x100000000"))
        self.assertIn("is no word", self.run_it(2, "eval", "popc.b32", "one"))
        self.run_it(2, "eval")

    def test_the_list_has_every_operation_with_its_source(self):
        rows = json.loads(self.run_it(0, "scalar", "--json"))
        self.assertGreaterEqual(len(rows), 430)
        self.assertTrue(all(row["source"] and row["evidence"] and row["ptx"] for row in rows))
        self.assertTrue(all(row["bound"] for row in rows if row["class"] == "A"))
        self.assertEqual(len(self.run_it(0, "scalar", "shfl").splitlines()), 5)
        self.run_it(2, "scalar", "nothing_like_this")

    # ---- lines of hex

    def add(self, line, wrong=False):
        a, b = (struct.unpack("<f", struct.pack("<I", int(word, 16)))[0] for word in line.split())
        try:
            word = struct.unpack("<I", struct.pack("<f", a + b))[0]
        except OverflowError:
            word = 0x7F800000 if a + b > 0 else 0xFF800000
        return f"{word ^ wrong:08x}"

    def test_a_program_that_speaks_hex_is_judged(self):
        lines = self.run_it(0, "gen", "op:add.rn.f32").splitlines()
        self.assertEqual(len(lines), 1024)
        answers = [self.add(line) for line in lines]
        self.assertRegex(self.run_it(0, "judge", "op:add.rn.f32", stdin="\n".join(answers)), "^PASS .*compared=1024")
        whole = [f"{line} {answer}" for line, answer in zip(lines, answers)]
        self.run_it(0, "judge", "op:add.rn.f32", stdin="\n".join(whole))
        answers[500] = self.add(lines[500], wrong=True)
        said = self.run_it(1, "judge", "op:add.rn.f32", stdin="\n".join(answers))
        self.assertIn("1 of 1024 words differ; first: line 501", said)
        self.assertIn("lastbit eval add_rn_f32 0x", said)
        self.run_it(1, "judge", "op:add.rn.f32", stdin="\n".join(answers[:400]))  # too few
        self.run_it(3, "judge", "op:add.rn.f32", stdin="")  # none at all
        self.assertIn("line 1", self.run_it(2, "judge", "op:add.rn.f32", stdin=whole[1]))  # of other inputs
        self.assertIn("too many", self.run_it(2, "judge", "op:add.rn.f32", "--count", "2", stdin="0\n0\n0\n"))
        self.assertIn("32 at a time", self.run_it(2, "judge", "op:vote_all", "--count", "33", stdin="0\n"))

    # ---- a translator

    def replay(self, code, *args):
        """Exit code, and the names behind each verdict."""
        said = self.run_it(code, "replay", *args)
        return {verdict: set(re.findall(rf"^{verdict} (\w+):", said, re.M)) for verdict in ("FAIL", "FAIL known")}, said

    def test_five_faults_of_a_translator_are_found_and_nothing_else(self):
        verdicts, said = self.replay(1, "--", TRANSLATOR)
        self.assertEqual(verdicts["FAIL"], FAULTS)
        self.assertIn("without an answer", said)
        verdicts, said = self.replay(0, "--", TRANSLATOR, "--repaired")
        self.assertEqual(verdicts["FAIL"], set())

    def test_against_a_recording_and_what_is_known(self):
        self.run_it(0, "capture", "--ops", "all", "-o", "gpu")
        recording = "gpu/operations.safetensors"
        self.run_it(0, "replay", recording)
        verdicts, said = self.replay(1, recording, "--", TRANSLATOR)
        self.assertEqual(verdicts["FAIL"] - {"ex2_approx_f32"}, FAULTS)  # of a recording every bit counts
        differ = {name: int(n) for name, n in re.findall(r"^FAIL (\w+): (\d+) of", said, re.M)}
        known = self.write_list("known.json", *((name, differ[name]) for name in FAULTS))
        approx = self.write_list("approx.json", ("ex2_approx_f32", 1024))
        verdicts, said = self.replay(0, recording, "--known", known, "--approx", approx, "--", TRANSLATOR)
        self.assertEqual((verdicts["FAIL"], verdicts["FAIL known"]), (set(), FAULTS))
        verdicts, said = self.replay(1, recording, "--known", known, "--approx", approx, "--", TRANSLATOR, "--repaired")
        self.assertEqual(verdicts["FAIL"], FAULTS)  # they match: their entries must go
        self.assertIn("take its entry out", said)

    def test_records_for_machines(self):
        done = self.run_it(1, "replay", "--only", "f32", "--json", "--junit", "report.xml", "--", TRANSLATOR)
        records = [json.loads(line) for line in done.splitlines()]
        failed = {r["op"] for r in records if r["verdict"] == "FAIL"}
        self.assertEqual(failed, {name for name in FAULTS if "f32" in name})
        again = next(r["rerun"] for r in records if r["op"] == "neg_f32")
        self.assertEqual(again, f"lastbit replay --only neg_f32 -- {TRANSLATOR}")
        self.run_it(1, *again.split()[1:])
        self.assertIn("<testsuite", (self.root / "report.xml").read_text())

    def test_a_program_that_fails_is_a_failure_and_a_wrong_call_is_not(self):
        self.run_it(1, "replay", "--", "false")
        self.run_it(1, "replay", "--", "true")  # writes nothing
        self.assertIn("nobody to judge", self.run_it(2, "replay"))
        self.assertIn("exclude each other", self.run_it(2, "replay", "--on", "model", "--", "true"))
        self.run_it(2, "replay", "--on", "opencl")
        self.run_it(2, "replay", "--actual", "absent.safetensors")
        self.run_it(3, "replay", "--on", "model")  # against themselves
        self.assertEqual([p.name for p in self.root.glob("lastbit.*")], [])

    def test_a_request_is_answered(self):
        self.run_it(0, "gen", "ops", "-o", "request.safetensors")
        os.symlink(self.root / "request.safetensors", self.root / "in.safetensors")
        subprocess.run([TRANSLATOR, str(self.root)], check=True)
        verdicts, _ = self.replay(1, "request.safetensors", "--actual", "out.safetensors")
        self.assertEqual(verdicts["FAIL"], FAULTS)


unittest.main(argv=sys.argv[:1])
