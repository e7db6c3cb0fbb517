# SPDX-License-Identifier: MIT OR Apache-2.0
"""The C library, and its errors as exceptions. ctypes gives the GIL back for the duration of every call."""
from __future__ import annotations

import ctypes
import os
import re
from ctypes import byref
from pathlib import Path
from typing import Any

from . import _abi
from ._abi import lb_error, lb_status


class Error(Exception):
    """What the library says of a bad call. ``status`` is its name in the C library, ``place`` the operand, option or file."""

    def __init__(self, message: str, status: lb_status = lb_status.E_ARG, place: str = ""):
        super().__init__(message)
        self.status = status.name
        self.place = place


class ArgumentError(Error, ValueError):
    """An argument is out of range."""


class ShapeError(Error, ValueError):
    """Operand shapes do not agree."""


class FormatError(Error, TypeError):
    """A dtype or number format that cannot serve here."""


class UnknownNameError(Error, KeyError):
    """No unit, format, contract … has that name; the message says which is nearest."""

    __str__ = Exception.__str__  # KeyError would put quotes around it


class FileError(Error, OSError):
    """A file is unreadable, unwritable or malformed."""


class UnavailableError(Error, RuntimeError):
    """Not on this machine, or nobody knows (a unit whose row is open)."""


class DeviceError(Error, RuntimeError):
    """A device failed, did not answer in time, or holds a tensor that this process cannot read."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory."""


EXCEPTIONS: dict[lb_status, type[Error]] = {
    lb_status.E_ARG: ArgumentError,
    lb_status.E_SHAPE: ShapeError,
    lb_status.E_FORMAT: FormatError,
    lb_status.E_NAME: UnknownNameError,
    lb_status.E_FILE: FileError,
    lb_status.E_UNAVAILABLE: UnavailableError,
    lb_status.E_DEVICE: DeviceError,
    lb_status.E_TIMEOUT: DeviceError,
    lb_status.E_MEMORY: OutOfMemoryError,
}


def error(status: lb_status, message: str, place: str = "") -> Error:
    """The exception of a status, with the place in front of the message."""
    return EXCEPTIONS[status](f"{place}: {message}" if place else message, status, place)


def _path() -> str:
    """LASTBIT_LIBRARY, or the library that was installed with the package."""
    return os.environ.get("LASTBIT_LIBRARY") or str(Path(__file__).with_name("liblastbit.so"))


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"lastbit's C library does not load: {e}; install the package again (pip install .), "
                          "or name a build of it in LASTBIT_LIBRARY") from None
    try:
        _abi.declare(library)
    except AttributeError as e:
        raise ImportError(f"{path} is of another version: {e}") from None
    version: bytes = library.lb_version()
    if version.decode() != _abi.VERSION:
        raise ImportError(f"{path} is lastbit {version.decode()}, this package is {_abi.VERSION}")
    return library


library = _load()
_libc = ctypes.CDLL(None)
_libc.free.argtypes = [ctypes.c_void_p]
_libc.free.restype = None


def call(name: str, *arguments: Any) -> None:
    """Call a function that returns a status and takes an lb_error last; raise what it says."""
    err = lb_error()
    status = lb_status(getattr(library, name)(*arguments, byref(err)))
    if status is not lb_status.OK:
        message = err.message.decode("utf-8", "replace") or library.lb_status_text(status).decode()
        raise error(status, message, err.place.decode("utf-8", "replace"))


def take_text(pointer: ctypes.c_void_p) -> str:
    """A string that the library allocated, freed here."""
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        _libc.free(pointer)


def encode(text: str | os.PathLike[str], what: str) -> bytes:
    """Text for the library; it takes no NUL."""
    try:
        data = os.fsencode(text)
    except TypeError:
        raise error(lb_status.E_ARG, f"{what} is a {type(text).__name__}; it takes a string") from None
    if b"\0" in data:
        raise error(lb_status.E_ARG, f"{what} has a NUL in it: {text!r}")
    return data


_WORD = re.compile(r"\s+")


def words(text: bytes | None) -> str:
    return _WORD.sub(" ", text.decode("utf-8", "replace")).strip() if text else ""
