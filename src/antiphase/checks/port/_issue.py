"""`port`: an instruction on its way to another target, and what is wrong with it there."""

from __future__ import annotations

from dataclasses import dataclass, field

from antiphase.asm import Instruction
from antiphase.checks._finding import Severity
from antiphase.isa import Record, generation


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing about an instruction. Those with the same rule and key are told together.

    old: the part of the text that it is about; new: what takes its place, None where that is the author's to decide.
    """

    rule: str
    severity: Severity
    old: str
    new: tuple[str, ...] | None
    key: str = ""
    facts: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Port:
    """An instruction on its way to a target. now: as it is by then, None once no one line takes its place.
    goes: it is left out there."""

    instruction: Instruction
    record: Record | None
    old: str
    new: str
    now: Instruction | None
    goes: bool = False

    @property
    def generation(self) -> str:
        return generation(self.new)


def unsolved(port: Port, rule: str, old: str, key: str, advice: str, **facts: object) -> Issue:
    """An issue that no one line settles. advice: what does."""
    port.now = None
    return Issue(rule, "error", old, None, key, {"advice": advice, **facts} if advice else facts)
