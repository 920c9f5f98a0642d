"""How the command ends: its exit statuses, errors in one line, and output that cannot be written."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import traceback
from typing import IO

import click

from antiphase.errors import AntiphaseError, Deadlock, Incomplete, Trapped, UserError

STOPPED = 1
"""A kernel ended its launch by a trap, or its waves wait for each other for ever."""
USER_ERROR = 2
WRITE_FAILED = 74
"""EX_IOERR of sysexits.h."""
# As a shell reports death by SIGINT and by SIGPIPE.
INTERRUPTED = 130
READER_GONE = 141

ENDINGS = (AntiphaseError, click.ClickException, KeyboardInterrupt, MemoryError, OSError)
"""What may end the command; everything else is a defect of ours and keeps its traceback."""

_STDOUT = 1
_OF_WRITES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_KINDS = (
    (UserError, "error", USER_ERROR),
    (Incomplete, "incomplete", USER_ERROR),
    (Trapped, "trap", STOPPED),
    (Deadlock, "deadlock", STOPPED),
    (AntiphaseError, "unsupported", USER_ERROR),
)


def open_standard_streams() -> None:
    """Make up for standard streams that the caller closed: the next file opened would get their numbers.

    Writing to such a standard output fails, as gnulib's stdopen arranges it; standard error is for the taking.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def ended_by(error: BaseException) -> int:
    """Say in a line why the command ends, one of ENDINGS, and return its exit status."""
    if isinstance(error, BrokenPipeError):
        drop_output()
        return READER_GONE
    if isinstance(error, OSError):
        drop_output()
        return complain("error", _failed_call(error), WRITE_FAILED)
    if isinstance(error, KeyboardInterrupt):
        return complain("", "interrupted", INTERRUPTED)
    if isinstance(error, MemoryError):
        return complain("incomplete", "there is not enough memory")
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return USER_ERROR
    if isinstance(error, click.ClickException):
        return complain("error", _usage(error))
    kind, status = next((kind, status) for known, kind, status in _KINDS if isinstance(error, known))
    return complain(kind, str(error), status)


def complain(kind: str, message: str, status: int = USER_ERROR) -> int:
    """One line on standard error, if there is any way to write it."""
    try:
        print("antiphase:", *([f"{kind}:"] if kind else []), *message.split(), file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)
    return status


def print_script_error(error: Exception) -> None:
    """As Python does, by the script's own hook if it has one; raises what is an error of the command as well."""
    if _is_about_output(error) or _is_about_triton_cache(error):
        raise error
    sys.excepthook(type(error), error, error.__traceback__)


def _is_about_output(error: Exception) -> bool:
    """Whether an error of a script, which may write to many files, is that standard output cannot be written."""
    if not isinstance(error, OSError) or error.filename is not None:
        return False
    try:
        flush_output()
        os.write(_STDOUT, b"")  # which a device may refuse
        if error.errno == errno.EPIPE:
            return _reader_is_gone()
        return error.errno == errno.ENOSPC and _is_full()
    except OSError:
        return True


def _reader_is_gone() -> bool:
    poll = select.poll()
    poll.register(_STDOUT, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _is_full() -> bool:
    return stat.S_ISREG(os.fstat(_STDOUT).st_mode) and not os.statvfs(_STDOUT).f_bavail


def _is_about_triton_cache(error: Exception) -> bool:
    """Whether Triton met an error while it wrote its cache, which had room when the command began."""
    frames = traceback.walk_tb(error.__traceback__)
    return isinstance(error, OSError) and any(f.f_globals.get("__name__") == "triton.runtime.cache" for f, _ in frames)


def flush_output() -> None:
    """Write what standard output holds back, unless a script has closed it or put something of its own there."""
    if not getattr(sys.stdout, "closed", True):
        sys.stdout.flush()


def drop_output() -> None:
    """Forget what standard output holds back and cannot write."""
    try:
        flush_output()
    except OSError:
        _silence(sys.stdout)


def _silence(stream: IO[str]) -> None:
    """Let a stream that fails lead nowhere: Python writes what it holds back at its exit, and has a status for that."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _failed_call(error: OSError) -> str:
    why = error.strerror or str(error)
    if _is_about_triton_cache(error):
        return f"Triton cannot write its cache: {why}; let TRITON_CACHE_DIR name a directory with room"
    if error.filename is not None:
        return f"{error.filename}: {why}"
    return f"cannot write the output: {why}; send it elsewhere" if error.errno in _OF_WRITES else why


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".?")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message}; try {context.command_path} --help" if context else message
