"""The result tables on the terminal."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks._families import FAMILIES, METRICS, SCALES
from benchmarks._measurement import Measurement
from benchmarks._rows import ROWS, Row


def print_results(results: Mapping[str, Measurement], console: Console) -> None:
    """Print every measured row with its bar."""
    table = Table(title=f"antiphase on {machine()}", title_justify="left")
    for heading in ("what", "median", "min", "max", "runs", "", "bar", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right")
    for row in ROWS:
        if row.key in results:
            table.add_row(*_cells(row, results[row.key]))
    if table.rows:
        console.print(table)


def print_families(results: Mapping[str, Measurement], console: Console) -> None:
    """Print a row a processor family, median (min-max)."""
    table = Table(title="by family", title_justify="left")
    table.add_column("family")
    for heading in METRICS.values():
        table.add_column(heading, justify="right")
    for target, name in FAMILIES.items():
        found = {key: results.get(f"families.{target}.{key}") for key in METRICS}
        if any(found.values()):
            table.add_row(f"{name}, {target}", *(_spread(m, SCALES[key]) for key, m in found.items()))
    if table.rows:
        console.print(table)


def _spread(measured: Measurement | None, scale: float) -> str:
    if measured is None:
        return ""
    median, low, high = (f"{value * scale:.3g}" for value in (measured.median, measured.min, measured.max))
    return f"{median} ({low}-{high})"


def _cells(row: Row, measured: Measurement) -> tuple[str, ...]:
    numbers = (f"{value * row.scale:.3g}" for value in (measured.median, measured.min, measured.max))
    verdict = ""
    if row.bar:
        verdict = "[green]met[/]" if row.bar.met(measured) else "[red]missed[/]"
    return row.what, *numbers, str(measured.runs), row.unit, str(row.bar or ""), verdict


def machine() -> str:
    """The processor and the cores this process may use."""
    return f"{_processor()}, {len(os.sched_getaffinity(0))} cores"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    fields = {key.strip(): value.strip() for key, value in found.items()}
    name = fields.get("model name", platform.machine())
    return f"{name} (family {fields.get('cpu family', '?')}, model {fields.get('model', '?')})"
