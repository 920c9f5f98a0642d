"""Facts: what is known of one subject on one target, with its evidence and its citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from antiphase.arch._check_specs import CheckSpec
from antiphase.arch._evidence import Citation, Evidence, Label, Source
from antiphase.arch._fact_files import Cell, FactFile, Row, TargetEntry
from antiphase.errors import UserError


class Fact(msgspec.Struct, frozen=True):
    """One subject on one target.

    subject, title, topic: "matrix.ab_fragment", "A/B fragment per lane", the id of its table.
    value: for programs, in `unit`; says: in words, empty where the value speaks for itself.
    config: what it is stated for: wave size, shape, formats, mode.
    shares: the targets whose record has this value; sharing it claims nothing else about them.
    labels: Derived, Unmeasured. limits: conditions, and what the evidence does not establish.
    checks: how a machine re-checks it; checked: the tools that did, and agreed.
    """

    subject: str
    title: str
    topic: str
    target: str
    value: Any
    says: str
    unit: str
    config: Mapping[str, str | int]
    evidence: Evidence
    labels: tuple[Label, ...]
    citations: tuple[Citation, ...]
    limits: str
    shares: tuple[str, ...]
    checks: tuple[CheckSpec, ...]
    checked: tuple[Source, ...]

    @property
    def id(self) -> str:
        """`subject@target`."""
        return f"{self.subject}@{self.target}"


def facts_of(
    files: Iterable[tuple[str, FactFile]],
    targets: Mapping[str, TargetEntry],
    sources: Mapping[str, Source],
    stamps: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> Iterator[Fact]:
    """Every fact of the files, a record a target. Raises UserError naming file and subject of a bad one."""
    seen: set[str] = set()
    for name, content in files:
        for row in content.row:
            where = f"{name}: {row.subject}"
            for fact in _row_facts(row, content.topic.id, targets, sources, stamps, where):
                if fact.id in seen:
                    raise UserError(f"{where}: two facts hold for {fact.target}")
                seen.add(fact.id)
                yield fact


def _row_facts(
    row: Row,
    topic: str,
    targets: Mapping[str, TargetEntry],
    sources: Mapping[str, Source],
    stamps: Mapping[str, Mapping[str, tuple[str, ...]]],
    where: str,
) -> Iterator[Fact]:
    for cell in row.cell:
        scope = _targets_named(cell.scope, targets, where)
        cited = {name: cite for key, cite in cell.cite_for.items() for name in _targets_named((key,), targets, where)}
        for target in scope:
            citations = tuple(_citation(text, sources, where) for text in (*cell.cite, *cited.get(target, ())))
            if not citations:
                raise UserError(f"{where}: no citation for {target}")
            tools = tuple(sources[tool] for tool, held in stamps.items() if target in held.get(row.subject, ()))
            yield Fact(
                subject=row.subject,
                title=row.title,
                topic=topic,
                target=target,
                value=cell.value,
                says=cell.says,
                unit=row.unit,
                config={**row.config, **cell.config},
                evidence=_evidence(cell, bool(tools)),
                labels=cell.labels,
                citations=citations,
                limits=cell.limits,
                shares=tuple(name for name in scope if name != target),
                checks=cell.check,
                checked=tools,
            )


def _evidence(cell: Cell, checked: bool) -> Evidence:
    """A check that ran and agreed shows on the validation axis, where nothing stronger stands."""
    if checked and cell.evidence.validation != "GPU tested":
        return msgspec.structs.replace(cell.evidence, validation="CPU checked")
    return cell.evidence


def _targets_named(scope: tuple[str, ...], targets: Mapping[str, TargetEntry], where: str) -> tuple[str, ...]:
    """Target names of a scope of targets and generations, in the order of the list of targets."""
    unknown = set(scope) - set(targets) - {entry.generation for entry in targets.values()}
    if unknown:
        raise UserError(f"{where}: scope names no target or generation: {', '.join(sorted(unknown))}")
    return tuple(name for name, entry in targets.items() if name in scope or entry.generation in scope)


def _citation(text: str, sources: Mapping[str, Source], where: str) -> Citation:
    key, separator, place = text.partition(": ")
    if not separator or key not in sources:
        raise UserError(f"{where}: citation is not 'source: place' with a known source: {text!r}")
    return Citation(key, sources[key], place)
