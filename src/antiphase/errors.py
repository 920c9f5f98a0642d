"""Errors a user can act on. Everything here prints as one line: file, line, what is wrong, what to do."""

from __future__ import annotations


class AntiphaseError(Exception):
    """Base of every error antiphase raises on purpose."""


class UserError(AntiphaseError):
    """Bad input: a wrong name, a malformed file, an argument that does not fit. The command line exits with 2.

    what: what is wrong, without a final full stop.
    file, line: where, if the error is about a file (line counts from 1).
    remedy: what the user can do about it.
    """

    def __init__(
        self, what: str, *, file: str | None = None, line: int | None = None, remedy: str | None = None
    ) -> None:
        self.what, self.file, self.line, self.remedy = what, file, line, remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        where = "" if self.file is None else f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        remedy = "" if self.remedy is None else f"; {self.remedy}"
        return f"{where}{self.what}{remedy}"


class Unsupported(AntiphaseError):
    """The input is legal but antiphase does not model it yet; the verdict is 'incomplete', never 'clean'."""


class Incomplete(AntiphaseError):
    """Work was cut short by a limit; what was done so far proves nothing about the rest."""


class Deadlock(AntiphaseError):
    """The waves of a workgroup wait for each other at barriers that can never complete."""


class Trapped(AntiphaseError):
    """A wave ended its launch by a trap, as a failed assertion and abort() do. The command line exits with 1.

    file, line: where in the source, or in the assembly text if that names none. instruction: its index in the kernel,
    text: as written. workgroup (x, y, z), wave: who executed it.
    """

    def __init__(
        self,
        kernel: str,
        instruction: int,
        text: str,
        *,
        workgroup: tuple[int, int, int],
        wave: int,
        file: str,
        line: int,
    ) -> None:
        self.kernel, self.instruction, self.text = kernel, instruction, text
        self.workgroup, self.wave, self.file, self.line = workgroup, wave, file, line
        x, y, z = workgroup
        what = f"kernel {kernel} stopped at '{text}' (workgroup {x},{y},{z}, wave {wave})"
        why = "an assertion failed, or it called abort() or a trap; what it printed before may say why"
        super().__init__(f"{file}:{line}: {what}: {why}")


class AccessWarning(UserWarning):
    """A launch made accesses that had no effect: outside its arrays, its LDS or its private memory, or misaligned.

    `antiphase.launch` warns once a launch; `python -W error` makes an exception of it.
    """
