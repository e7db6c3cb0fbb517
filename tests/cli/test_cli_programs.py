#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The command among other programs: pipes, records that a reader parses, raw files, and no folder left behind.

usage: test_cli_programs.py LASTBIT MY_KERNEL SOURCE_DIR
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

LASTBIT, MY_KERNEL, SOURCE_DIR = sys.argv[1:4]
UNIT = "sm_80/mma.m16n8k8.f32.f16.f16.f32"
K = 8
COMMANDS = ("check", "grade", "gemm", "mma", "explain", "replay", "gen", "judge", "units", "parameters", "formats", "contracts",
            "explain-contract", "backends")


class Programs(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.root = Path(self.work.name)
        self.cases = self.root / "cases"  # where case folders come and go
        self.cases.mkdir()
        self.addCleanup(self.work.cleanup)

    def run_it(self, code, *args, stdin=""):
        """Standard output, once the exit code is as wanted; an error is one line and nothing else."""
        words = [LASTBIT, *map(str, args)]
        done = subprocess.run(words, input=stdin, capture_output=True, text=True, cwd=self.root, timeout=120,
                              env={**os.environ, "TMPDIR": str(self.cases)})
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        if code == 2:
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"^lastbit[^\n]+\n$")
        else:
            self.assertEqual(done.stderr, "")
        return done.stderr if code == 2 else done.stdout

    def product(self, name, in_format="bf16", shape="20x12x50", seed=1):
        self.run_it(0, "gen", "matmul", "--in", in_format, "--shape", shape, "--seed", seed, "-o", name)
        return f"{name}/A.safetensors", f"{name}/B.safetensors"

    def answers(self, lines):
        """What a right emulator says: each line of hex through raw files and the model."""
        for line in lines:
            words = line.split()
            for name, part, width in (("a", words[:K], 2), ("b", words[K:2 * K], 2), ("c", words[2 * K:], 4)):
                raw = b"".join(int(word, 16).to_bytes(width, "little") for word in part)
                (self.root / name).write_bytes(raw)
            said = self.run_it(0, "gemm", UNIT, "a", "b", "c", "--shape", f"1x1x{K}")
            yield re.match(r"(?:0x)?([0-9a-f]{8})=", said.split()[-1]).group(1)

    # ---- lines of hex

    def test_a_right_emulator_passes_and_one_wrong_bit_in_one_answer_fails_with_its_line(self):
        options = ("--count", 12, "--seed", 7)
        lines = self.run_it(0, "gen", f"dot:{UNIT}", *options).splitlines()
        answers = list(self.answers(lines))
        judge = ("judge", f"dot:{UNIT}", *options)
        self.assertIn("exact=12", self.run_it(0, *judge, stdin="".join(f"{a}\n" for a in answers)))
        echoed = "".join(f"{line} {answer}\n" for line, answer in zip(lines, answers))
        self.run_it(0, *judge, "-", stdin="# an emulator\n\n" + echoed)
        answers[4] = f"{int(answers[4], 16) ^ 1:08x}"
        said = self.run_it(1, *judge, stdin="".join(f"{a}\n" for a in answers))
        self.assertIn("wrong=1", said)
        self.assertIn("at=0,4", said)

    def test_fewer_answers_fail_none_prove_nothing_and_malformed_ones_are_refused_with_their_line(self):
        options = ("--count", 4)
        lines = self.run_it(0, "gen", f"dot:{UNIT}", *options).splitlines()
        answers = list(self.answers(lines))
        judge = ("judge", f"dot:{UNIT}", *options)
        self.assertIn("3 of 4 lines", self.run_it(1, *judge, stdin="".join(f"{a}\n" for a in answers[:3])))
        self.run_it(3, *judge, stdin="")
        for bad in ("no hex", "123456789", "0000 " + answers[1]):
            with self.subTest(bad=bad):
                self.assertIn("line 2:", self.run_it(2, *judge, stdin=f"{answers[0]}\n{bad}\n"))
                self.assertIn("line 4:", self.run_it(2, *judge, stdin=f"# mine\n\n{answers[0]}\n{bad}\n"))

    def test_the_same_seed_draws_the_same_lines_and_another_seed_others(self):
        one, same, other = (self.run_it(0, "gen", f"dot:{UNIT}", "--count", 3, "--seed", seed) for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    # ---- records

    def test_json_records_have_every_key_of_the_schema_and_only_those(self):
        schema = json.loads((Path(SOURCE_DIR) / "docs/result-schema.json").read_text(encoding="utf-8"))
        a, b = self.product("case")
        judged = (("--", MY_KERNEL), ("--", MY_KERNEL, "--lose-tail"), ("--", MY_KERNEL, "--silent"))
        for code, command in zip((0, 1, 1), judged):
            out = self.run_it(code, "check", a, b, "--in", "bf16", "--contract", "m16-tc", "--json", *command)
            self.assertEqual(out.count("\n"), 1)
            record = json.loads(out, parse_constant=lambda word: self.fail(f"{word} is no JSON"))
            self.assertEqual(record["schema"], "lastbit.result/1")
            self.assertEqual(set(schema["required"]) - set(record), set())
            self.assertEqual(set(record) - set(schema["properties"]), set())
            self.assertEqual(record["verdict"], ("PASS", "FAIL")[code])
            counts = record["counts"]
            self.assertEqual(counts["exact"] + counts["legal"] + counts["wrong"], counts["compared"])

    def test_junit_is_xml_and_counts_what_failed(self):
        a, b = self.product("case")
        for code, fault in ((0, ()), (1, ("--lose-tail",))):
            self.run_it(code, "check", a, b, "--in", "bf16", "--contract", "m16-tc", "--junit", "j.xml", "--", MY_KERNEL, *fault)
            suite = xml.parse(self.root / "j.xml").getroot()
            suite = suite if suite.tag == "testsuite" else suite.find("testsuite")
            self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", str(code)))
            self.assertEqual(len(suite.findall("testcase/failure")), code)
        self.run_it(2, "check", a, b, "--in", "bf16", "--contract", "m16-tc", "--junit", "absent/j.xml", "--", MY_KERNEL)

    def test_the_rerun_line_gives_the_same_verdict_in_a_shell(self):
        a, b = self.product("it's a case")
        out = self.run_it(1, "check", a, b, "--in", "bf16", "--contract", "m16-tc", "--", MY_KERNEL, "--lose-tail")
        rerun = re.search(r"^  rerun +(lastbit .*)$", out, re.M).group(1)
        done = subprocess.run(["sh", "-c", f'lastbit() {{ "{LASTBIT}" "$@"; }}; {rerun}'], capture_output=True, text=True, cwd=self.root)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], out.splitlines()[0])

    # ---- files and folders

    def test_raw_files_are_read_by_their_shape_and_a_short_one_is_refused(self):
        ones = (0x3F80).to_bytes(2, "little")
        (self.root / "a").write_bytes(ones * 3 * 5)
        (self.root / "b").write_bytes(ones * 5 * 2)
        (self.root / "d").write_bytes((0x40A0).to_bytes(2, "little") * 6)  # 5.0
        raw = ("--in", "bf16", "--out", "bf16", "--shape", "3x2x5", "--contract", "m16-tc")
        self.assertIn("exact=6", self.run_it(0, "check", "a", "b", "--actual", "d", *raw))
        (self.root / "d").write_bytes((0x40A0).to_bytes(2, "little") * 5 + (0x7FC0).to_bytes(2, "little"))
        said = self.run_it(1, "check", "a", "b", "--actual", "d", *raw)
        self.assertIn("wrong=1", said)
        self.assertIn("at=2,1", said)
        (self.root / "d").write_bytes(ones * 5)
        self.assertIn("d: ", self.run_it(2, "check", "a", "b", "--actual", "d", *raw))

    def test_no_case_folder_is_left_whatever_the_program_does(self):
        a, b = self.product("case")
        litter = self.root / "litter"
        litter.write_text('#!/bin/sh\nmkdir "$LASTBIT_CASE/deep" && echo x >"$1/deep/file" && exit 3\n', encoding="utf-8")
        litter.chmod(0o755)
        rows = [(0, (MY_KERNEL,)), (1, ("/bin/true",)), (1, ("/bin/false",)), (1, (litter,)), (2, ("./absent",))]
        rows += [(1, (MY_KERNEL, fault)) for fault in ("--lose-tail", "--nan", "--hang", "--crash", "--silent", "--garbage")]
        for code, command in rows:
            with self.subTest(command=command):
                self.run_it(code, "check", a, b, "--in", "bf16", "--contract", "m16-tc", "--timeout", 1 if "--hang" in command else 60,
                            "--", *command)
                self.assertEqual(list(self.cases.iterdir()), [])

    # ---- rows of units

    def test_every_unit_row_names_sources_and_edges_that_the_documents_explain(self):
        explained = [(Path(SOURCE_DIR) / "docs" / page).read_text(encoding="utf-8") for page in ("sources.md", "open-edges.md")]
        keys, edges = set(re.findall(r"^\| `([^`]+)` \|", explained[0], re.M)), set(re.findall(r"^\| (D\d+) \|", explained[1], re.M))
        rows = json.loads(self.run_it(0, "units", "--json"))
        for row in rows:
            self.assertTrue(row["source"] and set(row["source"].split()) <= keys, row["name"])
            self.assertLessEqual(set(re.findall(r"\bD\d+", row["open"])), edges, row["name"])
            self.assertIn(row["evidence"], ("recorded", "stated", "inferred", "open"))
            self.assertEqual(row["evidence"] == "open", row["path"] == "none", row["name"])
        families = ("sm_70/", "sm_75/", "sm_80/", "sm_89/", "sm_90/mma", "sm_90/wgmma", "sm_100/mma", "sm_100/tcgen05", "sm_120/", "gfx908/", "gfx90a/", "gfx942/",
                    "x86/vdpbf16ps", "x86/tdpbf16ps", "x86/tdpfp16ps", "x86/vpdpbusd", "x86/vpdpbusds", "arm/bfdot.ebf0", "arm/bfdot.ebf1",
                    "arm/bfmmla.ebf0", "arm/bfmmla.ebf1", "arm/smmla")
        for family in families:
            self.assertTrue(any(row["name"].startswith(family) for row in rows), family)

    def test_an_integer_output_is_judged_word_for_word_by_its_unit(self):
        unit = "sm_80/mma.m16n8k32.i32.i8.i8.i32"
        a, b = self.product("ints", "i8", "20x12x70")
        self.run_it(0, "gemm", unit, a, b, "-o", "D.safetensors")
        self.assertIn("exact=240", self.run_it(0, "check", a, b, "--actual", "D.safetensors", "--unit", unit))
        self.assertIn("exact=240", self.run_it(0, "check", a, b, "--on", f"model:{unit}", "--unit", unit))
        self.run_it(0, "gemm", unit + ".satfinite", a, b, "-o", "S.safetensors")
        self.assertEqual((self.root / "S.safetensors").read_bytes(), (self.root / "D.safetensors").read_bytes())  # nothing overflows

    # ---- what ends before its time

    def end_it(self, how, *args):
        """Start a command, wait until its program hangs in its case folder, end the command; nothing may be left of either."""
        busy = subprocess.Popen([LASTBIT, *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.root,
                                env={**os.environ, "TMPDIR": str(self.cases)}, start_new_session=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell's background jobs ignore it
        until = time.monotonic() + 30
        while not (mine := list(self.cases.glob("*/log"))) and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(len(mine), 1, args)
        os.killpg(busy.pid, how)
        self.assertEqual(busy.wait(30), -how)
        while any(self.cases.iterdir()) and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(list(self.cases.iterdir()), [], (how, args))

    def test_a_command_that_is_interrupted_leaves_no_folder_behind(self):
        a, b = self.product("hangs")
        hang = (self.root / "hang.sh")
        hang.write_text("#!/bin/sh\nexec sleep 60\n")
        hang.chmod(0o755)
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            self.end_it(how, "check", a, b, "--contract", "m16-tc", "--", MY_KERNEL, "--hang")
            self.end_it(how, "replay", "--only", "add_s32", "--", hang)

    # ---- output files

    def test_a_report_that_cannot_be_written_is_said_before_the_work(self):
        a, b = self.product("reports")
        (self.root / "folder").mkdir()
        for option in (("--junit",), ("--junit=",)):
            for path, why in (("no/x.xml", "the folder no: No such file"), ("folder", "it is a folder"), (a + "/x", "that is a file"), ("folder/", "is a folder")):
                words = (option[0] + path,) if option[0][-1] == "=" else (*option, path)
                self.assertIn(why, self.run_it(2, "check", a, b, "--actual", "absent.npy", "--contract", "m16-tc", *words))
        self.assertIn("its value is missing", self.run_it(2, "check", a, b, "--junit"))
        self.assertIn("it cannot be written", self.run_it(2, "gemm", UNIT, a, b, "-o", "no/D.npy"))
        with open("/dev/full", "w") as full:
            done = subprocess.run([LASTBIT, "formats"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (2, "lastbit: standard output: cannot be written: No space left on device\n"))

    # ---- help

    def test_help_names_every_option_that_the_command_takes(self):
        for command in COMMANDS:
            out = self.run_it(0, command, "--help")
            self.assertRegex(out, rf"^usage: lastbit {command}")
            synopsis = set(re.findall(r"--[a-z][a-z-]+", out.split("\n\n")[0] + out.partition("\nexamples:\n")[2]))
            listed = set(re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]+)", out, re.M))
            self.assertEqual(synopsis - listed, set(), command)
            self.run_it(2, command, "--no-such-option")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
