#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/check_layers refuses each kind of planted include, and only those."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/check_layers"

# file, include line, words of the complaint; None: allowed
ROWS = [
    ("src/base/base.c", '#include "units/step.h"', "base comes before units"),
    ("src/base/base.c", "#include <lastbit/run.h>", "base comes before run"),
    ("src/base/base.c", '#include "lastbit/run.h"', "base comes before run"),
    ("src/formats/format.c", '  #  include "lastbit/units.h"', "formats comes before units"),
    ("src/formats/deep/er.h", '#include "units/step.h"', "formats comes before units"),
    ("src/formats/rows.def", '#include "units/step.h"', "formats comes before units"),
    ("src/formats/format.c", '#include "../units/step.h"', "name the layer"),
    ("src/formats/format.c", '#include "elsewhere/x.h"', "not a layer"),
    ("src/units/step.c", '#include "lastbit/io.h"', "units may never include io"),
    ("src/units/step.c", '#include "io/npy.h"', "units may never include io"),
    ("src/run/check.c", "#include <lastbit/lastbit.h>", "lastbit.h is for users"),
    ("src/stray/x.c", "#include <stdio.h>", "not in src/LAYERS"),
    ("include/lastbit/base.h", '#include "lastbit/run.h"', "base comes before run"),
    ("include/lastbit/run.h", '#include "run/check.h"', "only public headers"),
    ("cli/main.c", '#include "run/check.h"', "only public headers and cli.h"),
    ("cli/main.c", '#include "try.h"', "only public headers and cli.h"),
    ("tests/oracle/mpfr.c", '#include "lastbit/formats.h"', "nothing of ours"),
    ("tests/oracle/mpfr.c", '#include "formats/format.h"', "nothing of ours"),
    ("src/units/step.c", '#include "formats/format.h"', None),
    ("src/units/step.c", '#include "step.h"', None),
    ("src/run/check.c", '#include "lastbit/io.h"', None),
    ("src/run/check.c", "#include <sys/mman.h>", None),
    ("include/lastbit/lastbit.h", '#include "lastbit/run.h"', None),
    ("cli/main.c", '#include "cli.h"', None),
    ("cli/main.c", "#include <lastbit/lastbit.h>", None),
    ("tests/oracle/mpfr.c", "#include <mpfr.h>", None),
    ("tests/oracle/mpfr.c", '#include "oracle/mpfr.h"', None),
    ("tests/oracle/mpfr.c", '#include "mpfr_rows.h"', None),
]


def check(root, file, line):
    for folder in ("src/base", "include/lastbit"):
        (root / folder).mkdir(parents=True)
    (root / "src/LAYERS").write_text("# order\nbase\nformats\nio\nunits\nrun\n", encoding="utf-8")
    (root / "src/base/text.c").write_text('#include "lastbit/base.h"\n', encoding="utf-8")
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(f"/* one */\n{line}\n", encoding="utf-8")
    return subprocess.run([TOOL, root], capture_output=True, text=True)


class CheckLayers(unittest.TestCase):
    def test_each_row_is_refused_or_allowed_as_it_says(self):
        for file, line, complaint in ROWS:
            with self.subTest(file=file, line=line), tempfile.TemporaryDirectory() as root:
                result = check(Path(root), file, line)
                self.assertEqual(result.returncode, 1 if complaint else 0, result.stdout + result.stderr)
                if complaint:
                    self.assertIn(complaint, result.stdout)

    def test_a_refusal_names_the_file_and_the_line(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertIn("src/base/base.c:2: units/step.h:", check(Path(root), *ROWS[0][:2]).stdout)

    def test_a_tree_without_includes_does_not_pass(self):
        with tempfile.TemporaryDirectory() as root:
            (Path(root) / "src").mkdir()
            (Path(root) / "src/LAYERS").write_text("base\n", encoding="utf-8")
            self.assertEqual(subprocess.run([TOOL, root], capture_output=True).returncode, 1)


if __name__ == "__main__":
    sys.exit(unittest.main())
