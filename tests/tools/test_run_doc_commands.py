#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/run_doc_commands finds what a page promises and does not keep."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/run_doc_commands"

# what is tried, page, exit code of the tool, words that it prints
ROWS = [
    ("a command that works", "```sh\ntrue\n```\n", 0, "1 blocks run, 0 failed, 0 skipped"),
    ("a command that fails", "```sh\nfalse\n```\n", 1, "exit 1, want 0"),
    ("a failure before a success", "```sh\nfalse\ntrue\n```\n", 1, "exit 1, want 0"),
    ("a stated exit code", "```sh\n(exit 3)   # exit 3\n```\n", 0, "1 blocks run"),
    ("another exit code than stated", "```sh\n(exit 2)   # exit 3\n```\n", 1, "exit 2, want 3"),
    ("a stated failure that succeeds", "```console\n$ true # exit 1\n```\n", 1, "exit 0, want 1"),
    ("output as printed", "```console\n$ echo a; echo b\na\nb\n```\n", 0, "1 blocks run"),
    ("other output", "```console\n$ echo a; echo b\na\nc\n```\n", 1, "the page says"),
    ("output that lacks a line", "```console\n$ echo a; echo b\na\n```\n", 1, "the page says"),
    ("any text", "```console\n$ echo took 17 s\ntook … s\n```\n", 0, "1 blocks run"),
    ("any lines", "```console\n$ seq 9\n1\n…\n9\n```\n", 0, "1 blocks run"),
    ("any lines, wrong end", "```console\n$ seq 9\n1\n…\n8\n```\n", 1, "the page says"),
    ("output not shown", "```console\n$ echo a\n```\n", 0, "1 blocks run"),
    ("the exit code shown", "```console\n$ (exit 3)\n$ echo $?\n3\n```\n", 0, "1 blocks run"),
    ("the exit code shown wrong", "```console\n$ (exit 3)\n$ echo $?\n1\n```\n", 1, "the page says"),
    ("a command over lines", "```console\n$ echo a \\\n> b\na b\n```\n", 0, "1 blocks run"),
    ("a here-document", "```sh\ncat <<END >made\nfalse\nEND\ngrep false made\n```\n", 0, "1 blocks run"),
    ("a loop", "```sh\nfor i in 1 2; do\n  test $i -lt 2\ndone   # exit 1\n```\n", 0, "1 blocks run"),
    ("files of an earlier block", "```sh\necho x >made\n```\n\n```sh\ngrep x made\n```\n", 0, "2 blocks run"),
    ("a shell that ends", "```sh\nexit 0\ntrue\n```\n", 1, "the shell ended here"),
    ("a block not run", "```sh\ntrue\n```\n<!-- not run: too slow -->\n```sh\nfalse\n```\n", 0, "SKIP page.md:6: too slow"),
    ("only blocks not run", "<!-- not run: too slow -->\n```sh\nfalse\n```\n", 1, "0 blocks run, 0 failed, 1 skipped"),
    ("a reason that is far away", "<!-- not run: too slow -->\nText.\n```sh\nfalse\n```\n", 1, "1 failed, 0 skipped"),
    ("other languages", "```c\nfalse\n```\n```sh\ntrue\n```\n", 0, "1 blocks run"),
    ("a block without an end", "```sh\ntrue\n", 1, "has no end"),
    ("a block in a list", "- so:\n\n  ```sh\n  true\n  ```\n", 0, "1 blocks run"),
]


class RunDocCommands(unittest.TestCase):
    def test_each_page_passes_or_fails_as_its_row_says(self):
        for what, page, code, words in ROWS:
            with self.subTest(what), tempfile.TemporaryDirectory() as root:
                (Path(root) / "tools").mkdir()
                tool = shutil.copy(TOOL, Path(root) / "tools")
                path = Path(root) / "page.md"
                path.write_text(page, encoding="utf-8")
                result = subprocess.run([tool, path], capture_output=True, text=True)
                self.assertEqual(result.returncode, code, result.stdout + result.stderr)
                self.assertIn(words, result.stdout + result.stderr)

    def test_a_page_cannot_change_the_tree_that_it_describes(self):
        with tempfile.TemporaryDirectory() as root:
            (Path(root) / "tools").mkdir()
            tool = shutil.copy(TOOL, Path(root) / "tools")
            path = Path(root) / "page.md"
            path.write_text("```sh\nrm page.md\n```\n", encoding="utf-8")
            self.assertEqual(subprocess.run([tool, path], capture_output=True).returncode, 0)
            self.assertTrue(path.exists())


if __name__ == "__main__":
    sys.exit(unittest.main())
