"""The spacing rules as data: data/spacing_*.toml, one row a rule, and the cost classes of matrix instructions."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files
from typing import Literal

import msgspec

from antiphase import arch
from antiphase.asm import Instruction
from antiphase.checks._finding import Severity
from antiphase.isa import Matrix


class Rule(msgspec.Struct, frozen=True, eq=False, dict=True, forbid_unknown_fields=True, rename={"alternatives": "or"}):
    """Separation that a consumer needs from a producer.

    targets: generations. producer, consumer: tags of `Kind`, all of them; `a|b` either, `!a` not. Rows without are
    those of patterns of three instructions, which have code of their own.
    overlap: any of these pairs of registers, "the producer's:the consumer's"; none for whatever the registers are.
    match: how the producer's D lies to the consumer's C: 'same' the same registers, 'exact' with the same passes too,
    'other_passes' without, 'partial' else. same_opcode: whether it must be.
    required: separation, as a number, by the producer's cost, or 'length' of it, or by that modifier of the consumer.
    counts: what it is counted in, a name of `SEPARATIONS`. alternatives: other separations that are enough as well.
    fix: the separation whose text removes the finding, if not `counts`.
    severity: 'warning' where authorities disagree, as the note says.
    """

    id: str
    targets: tuple[str, ...]
    required: int | str | dict[str, int]
    source: str
    producer: str = ""
    consumer: str = ""
    overlap: tuple[str, ...] = ()
    match: Literal["", "same", "exact", "other_passes", "partial"] = ""
    same_opcode: bool | None = None
    counts: str = "wait_states"
    alternatives: dict[str, int] = {}
    fix: str = ""
    severity: Severity = "error"
    note: str = ""

    @functools.cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The overlaps as (registers of the producer, registers of the consumer)."""
        return [(first, second) for first, _, second in (pair.partition(":") for pair in self.overlap)]


class Cost(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"cost": "is"}):
    """The cost class of the matrix instructions that have all that is said; k is at least."""

    targets: tuple[str, ...]
    cost: str
    a: tuple[str, ...] = ()
    m: int = 0
    k: int = 0
    sparse: bool = False
    narrow: bool = False
    fp4: bool = False


class _RuleFile(msgspec.Struct, forbid_unknown_fields=True):
    rule: tuple[Rule, ...]


class _CostFile(msgspec.Struct, forbid_unknown_fields=True):
    cost: tuple[Cost, ...]


_DATA = files("antiphase.checks.spacing") / "data"
_8_BIT = (0, 1, "MATRIX_FMT_FP8", "MATRIX_FMT_BF8")
_4_BIT = (4, "MATRIX_FMT_FP4")


def _text(name: str) -> dict[str, object]:
    return tomllib.loads((_DATA / name).read_text(encoding="utf-8"))


@functools.cache
def _all_rules() -> tuple[Rule, ...]:
    names = ("spacing_cdna.toml", "spacing_rdna.toml")
    return tuple(rule for name in names for rule in msgspec.convert(_text(name), _RuleFile).rule)


@functools.cache
def _costs() -> tuple[Cost, ...]:
    return msgspec.convert(_text("matrix_costs.toml"), _CostFile).cost


def spacing_rules() -> tuple[Rule, ...]:
    """Every rule of every generation, in the order of the files."""
    return _all_rules()


@functools.cache
def rules(target: str) -> tuple[Rule, ...]:
    """The rules of a target. UserError for an unknown one."""
    generation = arch.target(target).generation
    return tuple(rule for rule in _all_rules() if generation in rule.targets)


def rule(target: str, name: str) -> Rule:
    """One rule of a target by its id. KeyError if the target has none of that name."""
    return {one.id: one for one in rules(target)}[name]


def cost(instruction: Instruction, record: Matrix, target: str) -> str:
    """The cost class of a matrix instruction, '' for one that no rule by cost speaks of."""
    generation = arch.target(target).generation
    formats = [
        instruction.modifier(mfma, instruction.modifier(wmma, 0)) if record.a == "f8f6f4" else 4 * (record.a == "fp4")
        for mfma, wmma in (("cbsz", "matrix_a_fmt"), ("blgp", "matrix_b_fmt"))
    ]
    narrow, fp4 = not any(f in _8_BIT for f in formats), all(f in _4_BIT for f in formats)
    element = record.a.removesuffix("_fnuz")
    for row in _costs():
        if (
            generation in row.targets
            and row.m in (0, record.m)
            and row.k <= record.k
            and (not row.a or element in row.a)
            and (not row.sparse or record.sparse)
            and (not row.narrow or narrow)
            and (not row.fp4 or fp4)
        ):
            return row.cost
    return ""
