"""What checking gives back: the findings of every kernel, those that were suppressed, and one verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from antiphase.checks._causes import causes
from antiphase.checks._finding import Finding, Severity, Verdict
from antiphase.checks._run import CheckedKernel, verdict

if TYPE_CHECKING:
    from antiphase.checks._suppress import Suppression


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """A finding where it is: `str()` is one line with file, line and what is wrong. alike: others its fix removes."""

    part: CheckedKernel
    finding: Finding
    alike: tuple[Finding, ...] = ()

    @property
    def check(self) -> str:
        """The check's name: 'wait', 'race', ..."""
        return self.finding.check

    @property
    def rule(self) -> str:
        """Which of the check's rules."""
        return self.finding.rule

    @property
    def severity(self) -> Severity:
        """'error', 'warning', or 'info' for a note."""
        return self.finding.severity

    @property
    def count(self) -> int:
        """How often it was seen, those alike included."""
        return self.finding.count

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.part.kernel.name

    @property
    def lines(self) -> tuple[int, ...]:
        """Lines of the assembly text, that of the cause (1) first; (2) is where it matters."""
        return tuple(self.part.kernel.instructions[site.instruction].line for site in self.finding.sites)

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        from antiphase.report.notebook import message

        return message(self.finding)

    def __str__(self) -> str:
        from antiphase.report.notebook import found_line

        return found_line(self)

    def __repr__(self) -> str:
        return f"<Found {self.check}/{self.rule} severity={self.severity!r} kernel={self.kernel!r} lines={self.lines}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CheckResult:
    """What `antiphase.check` found. Iteration gives `findings`; `print` shows what the command prints, a notebook too.

    It is neither true nor false, for there are three verdicts: ask `verdict`, or whether there are `findings`.

    kept: the results by kernel without the suppressed findings. left_out: those, each with its suppression.
    unused: suppressions that matched nothing although their check ran. unreasoned: comments without a reason, which
    suppress nothing, as 'file:line'.
    """

    kept: list[CheckedKernel]
    left_out: list[tuple[CheckedKernel, Finding, Suppression]] = field(default_factory=list)
    unused: list[Suppression] = field(default_factory=list)
    unreasoned: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """'findings', 'incomplete' (something could not be judged) or 'clean', of all kernels together."""
        return verdict(self.kept)

    @property
    def findings(self) -> tuple[Found, ...]:
        """Errors and warnings of all kernels; those that one fix removes are one."""
        return tuple(one for one in self._all() if one.severity != "info")

    @property
    def notes(self) -> tuple[Found, ...]:
        """What is worth knowing and is not wrong."""
        return tuple(one for one in self._all() if one.severity == "info")

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Why something could not be judged."""
        return tuple(dict.fromkeys(reason for part in self.kept for reason in part.checked.incomplete))

    def _all(self) -> Iterator[Found]:
        for part in self.kept:
            yield from (Found(part, cause.finding, cause.alike) for cause in causes(part))

    def __iter__(self) -> Iterator[Found]:
        return iter(self.findings)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a check has three verdicts: ask result.verdict == 'clean', or whether there are result.findings"
        )

    def __str__(self) -> str:
        from antiphase.report.notebook import result_text

        return result_text(self)

    def __repr__(self) -> str:
        kernels = ", ".join(part.kernel.name for part in self.kept)
        counts = f"findings={len(self.findings)} notes={len(self.notes)} incomplete={len(self.incomplete)}"
        return f"<CheckResult {self.verdict!r} kernels={kernels!r} {counts} suppressed={len(self.left_out)}>"

    def _repr_html_(self) -> str:
        from antiphase.report.notebook import result_html

        return result_html(self)
