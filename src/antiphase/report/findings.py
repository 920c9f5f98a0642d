"""`antiphase check` in words: each finding with its two sites, its rule, and the smallest change that removes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from antiphase.checks import Cause, CheckedKernel, CheckResult, Finding, Severity, Suppression, causes, verdict
from antiphase.report._finding_words import Place, fix_lines, message, places, shown, waves_text
from antiphase.report._wording import citation, wording
from antiphase.report._words import times

__all__ = ["STATUS", "held_back", "message", "notes", "print_findings", "shown", "verdict", "waves_text"]

STATUS = {"clean": 0, "findings": 1, "incomplete": 2}
"""Exit status of each verdict."""

_COLOURS: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_VERDICTS = {"clean": "bold green", "findings": "bold red", "incomplete": "bold yellow"}
_NOUNS = {"error": "error", "warning": "warning", "info": "note"}
_ALIKE_SHOWN = 6


def notes(result: CheckResult) -> list[str]:
    """What there is to say about the suppressions themselves."""
    unreasoned = [
        f"{shown(where)}: the comment allows nothing without a reason: add -- why" for where in result.unreasoned
    ]
    return [*unreasoned, *(f"{_named(s)} matches no finding and can go" for s in result.unused)]


def _named(suppression: Suppression) -> str:
    return f"{shown(suppression.where)}: the suppression of '{suppression.check}' ({suppression.reason})"


def held_back(part: CheckedKernel) -> str:
    """What is not told of a kernel, and why; empty where all is."""
    if not part.held_back:
        return ""
    count = times(sum(1 for _ in causes(part, part.held_back)), "finding")
    errors = ", ".join(part.disordered)
    return f"{part.kernel.name}: {count} of useless held back: the errors of {errors} may need what orders nothing now"


def print_findings(result: CheckResult, console: Console, limit: int = 20) -> None:
    """Print the findings of all kernels, at most `limit` of those that are alike once, and the verdict."""
    groups = [group for part in result.kept for group in _alike(part)]
    for part, group in groups[:limit]:
        _print_group(part, group, part.kernel.name if len(result.kept) > 1 else "", console)
    if left := groups[limit:]:
        count = sum(cause.finding.count for _, group in left for cause in group)
        console.print(f"... {count:,} more, counted and not shown: --print-limit {len(groups)}\n", highlight=False)
    for text in notes(result):
        console.print(Text.assemble(("info: ", _COLOURS["info"]), text), soft_wrap=True)
    for text in filter(None, map(held_back, result.kept)):
        console.print(Text.assemble(("info: ", _COLOURS["info"]), text), soft_wrap=True)
    for reason in dict.fromkeys(reason for part in result.kept for reason in part.checked.incomplete):
        console.print(Text.assemble(("incomplete: ", _VERDICTS["incomplete"]), reason), soft_wrap=True)
    _print_verdict(result, console)


def _alike(part: CheckedKernel) -> list[tuple[CheckedKernel, list[Cause]]]:
    """What one change would remove or what repeats itself, together; the gravest first."""
    groups: dict[object, list[Cause]] = {}
    for cause in causes(part):
        groups.setdefault(_likeness(part, cause.finding), []).append(cause)
    order = list(_COLOURS)
    return [(part, g) for g in sorted(groups.values(), key=lambda group: order.index(group[0].finding.severity))]


def _likeness(part: CheckedKernel, finding: Finding) -> object:
    fix = finding.fix
    # What goes in at several places is printed once only if it is the same.
    inserted = fix.text if fix is not None and fix.action == "insert" else None
    if finding.check == "wait":
        # One missing wait shows at every use: they are told once, at the first.
        return "wait", finding.severity, finding.sites[0].instruction, finding.facts["counter"], inserted
    sites = []
    for site in finding.sites:
        one = part.kernel.instructions[site.instruction]
        # Without source lines nothing says that two places are the same piece of code.
        known = one.loc is not None and one.loc.line
        sites.append((one.mnemonic, one.loc and (one.loc.file, one.loc.line)) if known else site.instruction)
    return finding.check, finding.rule, finding.severity, tuple(sites), finding.facts.get("counter"), inserted


def _print_group(part: CheckedKernel, group: Sequence[Cause], kernel: str, console: Console) -> None:
    finding = group[0].finding
    words = wording(finding)
    count = sum(cause.finding.count for cause in group)
    console.print(
        Text.assemble(
            (f"{finding.severity}: ", _COLOURS[finding.severity]),
            (words.title(finding.facts), "bold"),
            (f"  [{finding.check}/{finding.rule}]" + (f" {kernel}" if kernel else ""), "dim"),
            (f" x{count:,}" if count > 1 else "", "bold"),
        ),
        soft_wrap=True,
    )
    # A finding about a whole kernel has no place of its own.
    at = [place for place in places(part, finding) if place.role != "kernel"]
    waves = [f", {waves_text(place.waves)}" if place.waves else "" for place in at]
    heads = [f"  ({n}) {place.role}{waves[n - 1]}" for n, place in enumerate(at, 1)]
    width = max(map(len, heads), default=0) + 2
    for head, place in zip(heads, at, strict=True):
        _print_place(head.ljust(width), place, console)
    for line in words.details(finding.facts):
        console.print(Text(f"  {line}"), soft_wrap=True)
    if lines := _alike_lines(part, [one for cause in group for one in cause.all]):
        console.print(Text(f"  and alike at {_lines(lines)}"), soft_wrap=True)
    # A note speaks for itself; a finding says why it is one.
    for line in (words.meaning, citation(finding, part.program.target)) if finding.severity != "info" else ():
        if line:
            console.print(Text(f"  {line}", "dim"), soft_wrap=True)
    _print_fix(part, [cause.finding for cause in group], console)
    console.print()


def _alike_lines(part: CheckedKernel, alike: Sequence[Finding]) -> list[int]:
    """Where findings after the first are: their last sites, or their first ones if it is those that differ."""
    at = [one.sites for one in alike if one.sites]
    site = -1 if len({sites[-1].instruction for sites in at}) > 1 else 0
    return [part.kernel.instructions[sites[site].instruction].line for sites in at[1:]]


def _lines(numbers: Sequence[int]) -> str:
    """`line 3`, `lines 3, 7, 9`; each once, the first few of many."""
    once = list(dict.fromkeys(numbers))
    more = ", ..." if len(once) > _ALIKE_SHOWN else ""
    return f"line{'' if len(once) == 1 else 's'} {', '.join(map(str, once[:_ALIKE_SHOWN]))}{more}"


def _print_place(head: str, place: Place, console: Console) -> None:
    if place.source:
        text = (place.source[2] or "").strip()
        console.print(Text.assemble((head, "bold"), place.where, f": {text}" if text else ""), soft_wrap=True)
        head = " " * len(head)
    at = f"{shown(place.file)}:{place.line}: "
    console.print(Text.assemble((head, "bold"), at, (place.instruction, "cyan")), soft_wrap=True)


def _print_fix(part: CheckedKernel, alike: Sequence[Finding], console: Console) -> None:
    fix, lines = alike[0].fix, fix_lines(part, alike[0])
    if not lines or fix is None:
        return
    at = [
        part.kernel.instructions[f.fix.instruction].line for f in alike if f.fix is not None and f.fix.text == fix.text
    ]
    more = f", and at {_lines(at[1:])}" if len(at) > 1 and fix.action == "insert" else ""
    console.print(Text(f"  fix, at {shown(part.program.name)}:{at[0]}{more}"), soft_wrap=True)
    for text in lines:
        style = {"+": "green", "-": "red"}.get(text[0], "dim")
        console.print(Text(f"    {text}", style), soft_wrap=True)


def _print_verdict(result: CheckResult, console: Console) -> None:
    found = [cause.finding for part in result.kept for cause in causes(part)]
    counts = Counter(finding.severity for finding in found)
    numbers = ", ".join(times(counts[s], _NOUNS[s]) for s in _COLOURS if counts[s])
    seen = sum(finding.count for finding in found)
    numbers += f", seen {seen:,} times" if seen > len(found) else ""
    if result.left_out:
        numbers += f"{', ' if numbers else ''}{len(result.left_out)} suppressed"
    checks = ", ".join(dict.fromkeys(name for part in result.kept for name in part.ran))
    kernels = ", ".join(f"{part.kernel.name} for {part.program.target}" for part in result.kept) or "no kernel"
    is_ = verdict(result.kept)
    console.print(
        Text.assemble((is_, _VERDICTS[is_]), f": {kernels}", f"; {numbers}" if numbers else ""), soft_wrap=True
    )
    console.print(Text(f"checks: {checks or 'none'}{_looked_at(result)}", "dim"), soft_wrap=True)


def _looked_at(result: CheckResult) -> str:
    launches = sum(part.launches for part in result.kept)
    if not launches:
        return ", on every path"
    checked, launched = (sum(part.workgroups[k] for part in result.kept) for k in (0, 1))
    return f"; {times(launches, 'launch')}, {checked:,} of {times(launched, 'workgroup')} recorded"
