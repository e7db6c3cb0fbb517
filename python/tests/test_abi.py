# SPDX-License-Identifier: MIT OR Apache-2.0
"""The generated ctypes form against the compiler's own: every size and offset, every enum."""
import ctypes
import enum
import shutil
import subprocess
import sys
from pathlib import Path

import lastbit as lb
import pytest
from lastbit import _abi, _library

ROOT = Path(__file__).resolve().parents[2]
STRUCTS = [s for s in vars(_abi).values() if isinstance(s, type) and issubclass(s, ctypes.Structure) and s is not ctypes.Structure]
ENUMS = [e for e in vars(_abi).values() if isinstance(e, type) and issubclass(e, enum.IntEnum) and e is not enum.IntEnum]


def test_every_struct_lies_in_memory_as_the_compiler_lays_it(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    lines = [f'printf("{s.__name__} %zu\\n", sizeof({s.__name__}));' for s in STRUCTS]
    lines += [f'printf("{s.__name__}.{field} %zu\\n", offsetof({s.__name__}, {field}));' for s in STRUCTS for field, *_ in s._fields_]
    (tmp_path / "layout.c").write_text("#include <lastbit/lastbit.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
    subprocess.run(["cc", "-std=c11", f"-I{ROOT / 'include'}", tmp_path / "layout.c", "-o", tmp_path / "layout"], check=True)
    want = dict(line.split() for line in subprocess.run([tmp_path / "layout"], capture_output=True, text=True).stdout.splitlines())
    got = {s.__name__: ctypes.sizeof(s) for s in STRUCTS}
    got |= {f"{s.__name__}.{field}": getattr(s, field).offset for s in STRUCTS for field, *_ in s._fields_}
    assert len(got) > 200 and {name: str(value) for name, value in got.items()} == want


def test_the_generated_files_are_what_headers_and_rows_say():
    run = subprocess.run([sys.executable, ROOT / "tools/gen_python", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_status_has_an_exception_of_its_own_kind():
    assert set(_library.EXCEPTIONS) == set(_abi.lb_status) - {_abi.lb_status.OK}
    kinds = {"E_ARG": ValueError, "E_SHAPE": ValueError, "E_FORMAT": TypeError, "E_NAME": LookupError, "E_FILE": OSError,
             "E_UNAVAILABLE": RuntimeError, "E_DEVICE": RuntimeError, "E_TIMEOUT": RuntimeError, "E_MEMORY": MemoryError}
    for status, exception in _library.EXCEPTIONS.items():
        assert issubclass(exception, (lb.Error, kinds[status.name])) and issubclass(exception, kinds[status.name])
        e = _library.error(status, "what happened", "where")
        assert str(e) == "where: what happened" and e.status == status.name and e.place == "where"


def in_a_new_python(code, **variables):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**__import__("os").environ, **variables})


def test_a_library_that_is_missing_or_foreign_is_said_in_one_line(tmp_path):
    run = in_a_new_python("import lastbit", LASTBIT_LIBRARY=str(tmp_path / "none.so"))
    assert run.returncode == 1 and "ImportError: lastbit's C library does not load" in run.stderr.splitlines()[-1]
    (tmp_path / "no.so").write_bytes(b"\x7fELF")
    assert "does not load" in in_a_new_python("import lastbit", LASTBIT_LIBRARY=str(tmp_path / "no.so")).stderr.splitlines()[-1]
    libm = __import__("ctypes.util").util.find_library("m")
    assert "is of another version" in in_a_new_python("import lastbit", LASTBIT_LIBRARY=libm).stderr.splitlines()[-1]


def test_every_enum_member_is_a_name():
    assert len(ENUMS) > 10 and all(m.name.isidentifier() and not m.name.endswith("COUNT") for e in ENUMS for m in e)


def test_the_package_is_typed():
    pytest.importorskip("mypy", reason="no mypy: pip install -r python/requirements-test.txt")
    run = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", ROOT / "build/mypy", "--config-file", ROOT / "pyproject.toml"],
                         cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
