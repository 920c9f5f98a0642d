"""What Python users hold, as `print` and notebooks show it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping
from html import escape

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from antiphase.checks import CheckResult, Found
from antiphase.machine import Execution
from antiphase.machine.fault_tally import FaultTally
from antiphase.report._finding_words import message, places, shown
from antiphase.report._words import times
from antiphase.report.faults import fault_lines
from antiphase.report.findings import print_findings

__all__ = ["execution_html", "found_line", "message", "result_html", "result_text"]

_WIDTH = 120
_MNEMONICS = 8
_THEME = TerminalTheme(
    (255, 255, 255),
    (0, 0, 0),
    [
        (0, 0, 0),
        (207, 34, 46),
        (35, 134, 54),
        (176, 120, 0),
        (9, 105, 218),
        (165, 60, 200),
        (20, 138, 148),
        (128, 128, 128),
    ],
)
"""Colours that can be read on a light and on a dark ground."""
_TEXT = '<pre style="white-space: pre-wrap; line-height: 1.35">{code}</pre>'


def found_line(found: Found) -> str:
    """`k.s:12: error: what is wrong [wait/missing]`."""
    at = places(found.part, found.finding)
    where = at[-1].where if at else shown(found.part.program.name)
    seen = f" x{found.count:,}" if found.count > 1 else ""
    return f"{where}: {found.severity}: {found.message} [{found.check}/{found.rule}]{seen}"


def result_text(result: CheckResult) -> str:
    """What `antiphase check` prints."""
    text = io.StringIO()
    print_findings(result, Console(file=text, width=_WIDTH))
    return text.getvalue().rstrip("\n")


def result_html(result: CheckResult) -> str:
    """The same as an HTML fragment, in the reader's own colours of text and ground."""
    console = Console(file=io.StringIO(), record=True, width=_WIDTH, force_jupyter=False)
    print_findings(result, console)
    return console.export_html(theme=_THEME, inline_styles=True, code_format=_TEXT)


def execution_html(execution: Execution) -> str:
    """An HTML fragment: what ran, where accesses went astray, and which instructions ran most."""
    x, y, z = execution.grid
    recording = execution.recording
    facts = {
        "kernel": f"{execution.kernel.name} for {execution.program.target}",
        "grid": f"{x} x {y} x {z} workgroups",
        "executed": f"{execution.instructions:,} wave-instructions in {execution.seconds:.3g} s",
        "LDS": f"{execution.lds_bytes:,} bytes a workgroup",
        "recorded": "no" if recording is None else times(len(recording.waves), "wave"),
        "accesses astray": f"{execution.fault_count:,}" if execution.fault_count else "none",
    }
    faults = "".join(f"<li>{escape(line)}</li>" for line in fault_lines(FaultTally.of([execution])))
    return f"<table>{_rows(facts)}</table>{f'<ul>{faults}</ul>' if faults else ''}{_most(execution)}"


def _most(execution: Execution) -> str:
    """The instructions that ran most often, by mnemonic."""
    counts: Counter[str] = Counter()
    for instruction, count in zip(execution.kernel.instructions, execution.counts.tolist(), strict=True):
        counts[instruction.mnemonic] += count
    rows = _rows({name: f"{count:,}" for name, count in counts.most_common(_MNEMONICS) if count})
    return f"<details><summary>executed most</summary><table>{rows}</table></details>" if rows else ""


def _rows(facts: Mapping[str, str]) -> str:
    return "".join(
        f"<tr><th style='text-align: left'>{escape(name)}</th><td style='text-align: left'>{escape(text)}</td></tr>"
        for name, text in facts.items()
    )
