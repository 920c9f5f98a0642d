"""`port`: what is wrong with one instruction on another target, and what it becomes there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from antiphase import arch
from antiphase.asm import Call, Instruction, parse_instruction
from antiphase.checks._finding import Severity
from antiphase.checks.port._data import port_data
from antiphase.checks.port._issue import Issue, Port, unsolved
from antiphase.checks.port._names import exists, matrices_alike, new_name, parts
from antiphase.checks.port._operands import names_wide_mask, operand_issues
from antiphase.checks.port._waits import Conditions, conditions, is_packed, survives, texts, translated, unpacked
from antiphase.isa import Control, Matrix, Memory, find, generation


def port_instruction(
    instruction: Instruction, old: str, new: arch.Target, counts: Conditions | None
) -> tuple[list[Issue], tuple[str, ...] | None]:
    """The issues of an instruction, and the lines that take its place: those of all its issues together, or None.

    counts: of a wait, what it holds back in the new target's counters, where that is known.
    """
    record = find(instruction.mnemonic, old)
    if isinstance(record, Control) and record.action == "wait":
        return _wait(instruction, old, new.name, counts)
    port = Port(instruction, record, old, new.name, instruction)
    issues: list[Issue] = []
    for step in (_name, _pair, _modifiers, _policy, operand_issues):
        issues += step(port)
    if port.goes:
        return issues[:1], ()
    # a mask of another width is the author's to rewrite
    foreign = any(lanes not in new.wave_sizes and names_wide_mask(instruction, lanes) for lanes in (32, 64))
    solved = port.now is not None and not foreign and all(issue.new is not None for issue in issues)
    return issues, (port.now.text(),) if solved and port.now is not None else None


def _wait(
    instruction: Instruction, old: str, new: str, counts: Conditions | None
) -> tuple[list[Issue], tuple[str, ...] | None]:
    asked, text = conditions(instruction, old), instruction.text()
    if exists(instruction.mnemonic, new) and survives(asked, new):
        if generation(old) == generation(new):
            return [], None
        if counts is not None and any(n < dict(asked).get(counter, n + 1) for counter, n in counts):
            lines = texts(counts, new)
            return [Issue("split_counter", "error", text, lines)], lines
        if not is_packed(instruction):
            return [], None
        lines: tuple[str, ...] = (unpacked(asked),) if asked else ()
        return [Issue("packed_wait", "error", text, lines)], lines
    lines = translated(asked, old, new) if counts is None else texts(counts, new)
    # RDNA 4 still takes s_waitcnt, as a wait for everything
    severity: Severity = "warning" if exists(instruction.mnemonic, new) else "error"
    return [Issue("legacy_wait", severity, text, lines, severity)], lines


def _name(port: Port) -> Iterator[Issue]:
    mnemonic = port.instruction.mnemonic
    name, suffix = parts(mnemonic)
    renamed = new_name(mnemonic, port.old, port.new)
    if suffix == "_sdwa" and port.generation != "gfx9":
        yield unsolved(port, "missing_encoding", mnemonic, "SDWA", "SDWA")
        return
    if _releases(port.instruction) and port.generation == "gfx9":
        port.goes = True
        yield Issue("renamed_instruction", "error", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", ())
    elif not exists(mnemonic, port.new):
        yield from _absent(port, name, renamed)
    elif renamed is not None:
        yield Issue("other_name", "info", mnemonic, (renamed,))
        port.now = replace(port.instruction, mnemonic=renamed)
    if port.now is not None and _is_long(parts(port.now.mnemonic)[0], port.generation) and suffix == "_e32":
        short = port.now.mnemonic.removesuffix("_e32")
        yield Issue("renamed_instruction", "error", mnemonic, (short,))
        port.now = replace(port.now, mnemonic=short)


def _absent(port: Port, name: str, renamed: str | None) -> Iterator[Issue]:
    mnemonic, instead = port.instruction.mnemonic, port_data().replacement(name, port.generation)
    if renamed is not None:
        port.now = replace(port.instruction, mnemonic=renamed)
        yield Issue("renamed_instruction", "error", mnemonic, (renamed,))
    elif mnemonic == "s_barrier" and arch.target(port.new).barrier == "split":
        port.now = None
        yield Issue("missing_instruction", "error", mnemonic, ("s_barrier_signal -1", "s_barrier_wait -1"), mnemonic)
    elif instead is not None and instead.text is not None:
        text = port.instruction.text().partition(" ")[2]
        line = instead.text.format(operands=text, rest=name.removeprefix(instead.name)).strip()
        port.goes = not line
        port.now = parse_instruction(line) if line else None
        facts: dict[str, object] = {"advice": instead.advice} if instead.advice else {}
        new = (line.split()[0],) if line else ()
        yield Issue("renamed_instruction", "error", mnemonic, new, instead.advice, facts)
    elif isinstance(port.record, Matrix):
        yield unsolved(port, "missing_matrix", mnemonic, mnemonic, "", alike=matrices_alike(port.record, port.new))
    else:
        yield unsolved(port, "missing_instruction", mnemonic, mnemonic, instead.advice if instead else "")


def _is_long(name: str, generation_: str) -> bool:
    return any(name in row.names and generation_ in row.to for row in port_data().long)


def _releases(instruction: Instruction) -> bool:
    operands = instruction.operands[:1]
    return any(isinstance(o, Call) and o.args[:1] == ("MSG_DEALLOC_VGPRS",) for o in operands)


def _pair(port: Port) -> Iterator[Issue]:
    pair = port.instruction.pair
    first = exists(port.instruction.mnemonic, port.new)
    if pair is not None and first and find(pair.mnemonic, port.new) is None:
        yield unsolved(port, "missing_instruction", pair.mnemonic, pair.mnemonic, "two instructions")


def _modifiers(port: Port) -> Iterator[Issue]:
    for name, _ in port.instruction.modifiers:
        row = next((m for m in port_data().modifier if name in m.names and port.generation not in m.only), None)
        if row is not None and generation(port.old) in row.only:
            yield unsolved(port, "missing_modifier", name, name, row.instead)


def _policy(port: Port) -> Iterator[Issue]:
    data, here = port_data(), generation(port.old)
    names = [n for n in data.cache[here] if port.instruction.modifier(n) is not None]
    foreign = [n for n in names if n not in data.cache[port.generation]]
    if not foreign:
        return
    written = [f"{n}:{v}" if v is not True else n for n in names for v in (port.instruction.modifier(n),)]
    access = port.record.access if isinstance(port.record, Memory) else ""
    text = " ".join(written)
    rows = (p for p in data.policy if p.access == access and p.text(here) == text)
    row = next(rows, None)
    new = None if row is None else row.text(port.generation)
    yield Issue("cache_policy", "error", f"{text} ({access})", None if new is None else (new or "none",))
    if new is None or port.now is None:
        port.now = None
        return
    added = parse_instruction(f"{port.now.mnemonic} v0, {new}").modifiers if ":" in new else ()
    flags = tuple((flag, True) for flag in new.split() if ":" not in flag)
    kept = tuple(m for m in port.now.modifiers if m[0] not in names)
    port.now = replace(port.now, modifiers=(*kept, *added, *flags))
