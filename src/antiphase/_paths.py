"""Where antiphase keeps files of its own, and Triton its compiled kernels; files that are read back only if whole."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from antiphase.errors import UserError

_CHECKSUM_BYTES = 32
# A file of no bytes can be made on a full disk.
_PROBE = bytes(4096)


class Place(NamedTuple):
    """A directory for kept files. named_by: the variable that names it, empty if it is the usual one.

    problem: why it cannot be written, empty if it can.
    """

    path: Path
    named_by: str
    problem: str


def cache_directory() -> Path:
    """Where compiled objects are kept: ANTIPHASE_CACHE, else `antiphase` in the user's cache directory."""
    chosen = os.environ.get("ANTIPHASE_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "antiphase"
    try:
        return Path.home() / ".cache" / "antiphase"
    except RuntimeError:  # a user without HOME and without an entry in the password file
        return temporary_directory() / "antiphase"


def triton_cache() -> Place:
    """Where Triton keeps compiled kernels. Source: triton/knobs.py of 3.9, `cache_knobs`."""
    if chosen := os.environ.get("TRITON_CACHE_DIR"):
        return Place(Path(chosen), "TRITON_CACHE_DIR", write_problem(Path(chosen)))
    if home := os.environ.get("TRITON_HOME"):
        path = Path(home) / ".triton" / "cache"
        return Place(path, "TRITON_HOME", write_problem(path))
    usual = Path(os.path.expanduser("~/")) / ".triton" / "cache"
    return Place(usual, "", write_problem(usual) if usual.is_absolute() else "there is no home directory")


def settle_triton_cache() -> Place | None:
    """See to it that Triton has a cache that it can write: it cannot compile without one.

    Where the usual place cannot be written, a temporary directory takes its place for this process and its children,
    and the usual place is returned. UserError if the environment names a place that cannot be written.
    """
    place = triton_cache()
    if not place.problem:
        return None
    if place.named_by:
        raise UserError(
            f"{place.named_by}: Triton cannot write its cache in {place.path} ({place.problem})",
            remedy=f"let {place.named_by} name a directory that can be written, or unset it",
        )
    try:
        os.environ["TRITON_CACHE_DIR"] = str(temporary_directory() / "triton")
    except OSError as error:
        raise UserError(
            f"Triton can write its cache neither in {place.path} ({place.problem}) nor in a temporary directory",
            remedy="let TRITON_CACHE_DIR name a directory that can be written",
        ) from error
    return place


def write_problem(directory: Path) -> str:
    """Why files cannot be kept in a directory, empty if they can; makes it if need be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=directory, buffering=0) as file:
            file.write(_PROBE)
    except OSError as error:
        return error.strerror or str(error)
    return ""


@functools.cache
def temporary_directory() -> Path:
    """A directory of this process alone, removed at its end."""
    path, owner = tempfile.mkdtemp(prefix="antiphase-"), os.getpid()

    def remove() -> None:
        # a fork inherits the handler, and not the right to remove
        if os.getpid() == owner:
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return Path(path)


def keep(path: Path, content: bytes) -> None:
    """Write a file for `read_kept`, at once or not at all; one that cannot be written costs time, not results."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(path, content))
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def read_kept(path: Path) -> bytes | None:
    """What `keep` wrote under this name; None if there is no such file, or it is not as it was written."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content = whole[_CHECKSUM_BYTES:]
    return content if whole[:_CHECKSUM_BYTES] == _checksum(path, content) else None


def _checksum(path: Path, content: bytes) -> bytes:
    # of the name as well: a file under another's name is damage too
    checksum = hashlib.sha256(path.name.encode())
    checksum.update(content)
    return checksum.digest()
