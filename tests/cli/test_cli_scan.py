#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""lastbit scan as a user meets it: text, JSON, exit codes, nothing printed where a file is wrong.

usage: test_cli_scan.py LASTBIT SOURCE_DIR
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LASTBIT, DATA = sys.argv[1], Path(sys.argv[2]) / "tests/data/scan"


class Scan(unittest.TestCase):
    def run_it(self, code, *args):
        done = subprocess.run([LASTBIT, "scan", *map(str, args)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_one_fp8_product_of_ptx_is_two_instructions_on_hopper(self):
        out = self.run_it(0, DATA / "fp8.ptx", DATA / "fp8.sm_90.cubin").stdout
        self.assertIn("\nfp8: 1 mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32  ->  sm_90: 2 HMMA.16816.F32\n", out)
        out = self.run_it(0, DATA / "fp8.ptx", DATA / "fp8.sm_89.cubin").stdout
        self.assertIn("  ->  sm_89: 1 QMMA.16832.F32.E4M3.E4M3\n", out)

    def test_json_is_an_array_of_kernels_whose_rows_other_commands_take(self):
        kernels = json.loads(self.run_it(0, "--json", DATA / "half.sm_80.cubin", DATA / "wgmma.ptx").stdout)
        self.assertEqual(len(kernels), 7)
        self.assertEqual({k["code"] for k in kernels}, {"sass", "ptx"})
        lines = [line for k in kernels for line in k["lines"]]
        self.assertEqual({line["evidence"] for line in lines}, {"recorded", "stated"})
        units = {u["name"] for u in json.loads(subprocess.run([LASTBIT, "units", "--json"], capture_output=True, text=True).stdout)}
        scalars = {s["ptx"].split()[0] for s in json.loads(subprocess.run([LASTBIT, "scalar", "--json"], capture_output=True, text=True).stdout)}
        for row in (row for line in lines for row in line["rows"]):
            if row.startswith("op:"):
                self.assertIn(row[3:], scalars)
            elif "wgmma" not in row:  # whose n is free
                self.assertIn(row, units)

    def test_what_is_no_kernel_is_exit_2_and_prints_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = Path(folder) / "cut.cubin"
            cut.write_bytes((DATA / "fp8.sm_89.cubin").read_bytes()[:3000])
            for args, part in (([cut], "byte "), ([DATA / "half.sm_80.cubin", cut], "behind the end of the file"), ([DATA / "none"], "none"),
                               ([DATA / "make"], "line 1: neither"), ([folder], "cannot be read"), ([], "no file given")):
                done = self.run_it(2, *args)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertIn(part, done.stderr)

    def test_nothing_found_is_unproven(self):
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty.ptx"
            empty.write_text(".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n")
            self.assertIn("nothing was found", self.run_it(3, empty).stderr)
            self.assertEqual(json.loads(self.run_it(3, "--json", empty).stdout)[0]["lines"], [])
            self.run_it(0, empty, DATA / "fp8.ptx")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
