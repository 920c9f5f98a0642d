"""`antiphase arch` in words: the list of targets, and one target with the source of every value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from antiphase.arch import Counter, Fact, Target
from antiphase.report.reference import citation_text

_LIST_COLUMNS = ("target", "generation", "wave", "VGPRs", "LDS KiB", "barrier", "products")


def targets_as_json(targets: Iterable[Target]) -> list[dict[str, Any]]:
    """The targets as plain data, facts left out."""
    return [{key: value for key, value in target_as_json(each).items() if key != "facts"} for each in targets]


def target_as_json(target: Target) -> dict[str, Any]:
    """One target as plain data: its fields, and under `facts` the evidence of each."""
    return msgspec.to_builtins(target)


def print_targets(targets: Iterable[Target], console: Console) -> None:
    """Print one row a target: VGPRs a SIMD has for each lane, LDS of a compute unit."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _LIST_COLUMNS:
        table.add_column(heading, no_wrap=heading != "products")
    for each in targets:
        table.add_row(
            each.name,
            each.generation,
            "/".join(map(str, each.wave_sizes)),
            str(each.vgprs_per_simd),
            str(each.lds_bytes_per_cu // 1024),
            each.barrier,
            escape(", ".join(each.products)) or "none listed",
        )
    console.print(table, highlight=False)


def print_target(target: Target, console: Console) -> None:
    """Print every fact about one target with its value, evidence status and citations."""
    console.print(f"[bold]{target.name}[/], {target.generation}", highlight=False)
    for about, fact in target.facts.items():
        value = escape(_value(target, about, fact))
        console.print(f"[bold]{about}[/] = {value}  [dim]{fact.evidence}[/]", highlight=False)
        for line in (*map(citation_text, fact.citations), *([fact.limits] if fact.limits else [])):
            console.print(f"    {escape(line)}", highlight=False, soft_wrap=True)


def _value(target: Target, about: str, fact: Fact) -> str:
    value = getattr(target, about, fact.value)
    if not isinstance(value, tuple):
        return str(value)
    return ", ".join(_counter(item) if isinstance(item, Counter) else str(item) for item in value) or "none"


def _counter(counter: Counter) -> str:
    return f"{counter.name} {counter.bits} bits"
