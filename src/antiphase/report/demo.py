"""`antiphase demo` in words: the verdict, the kernel, its stages, and the strip of its two wave groups."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from antiphase.demo import Demo
from antiphase.machine.fault_tally import FaultTally
from antiphase.report.faults import fault_lines
from antiphase.report.stages import print_stage_strip, stage_name

_KINDS = {"mfma": "matrix", "memory": "memory"}


def as_json(demo: Demo) -> dict[str, Any]:
    """The demonstration as plain data; `timeline` has the stage of both wave groups in each interval."""
    timeline, accuracy, offset = demo.timeline, demo.accuracy, demo.timeline.offset
    names = [
        [stage_name(interval, demo.gemm.stages) for interval in group] for group in (timeline.group_a, timeline.group_b)
    ]
    return {
        "ok": demo.ok,
        "max_error": _finite(accuracy.largest),
        "max_relative_error": _finite(accuracy.relative),
        "relative_error_bound": accuracy.bound,
        "target": demo.gemm.target,
        "kernel": demo.execution.kernel.name,
        "shape": list(demo.shape),
        "tile": list(demo.gemm.tile),
        "vgprs": demo.vgprs,
        "agprs": demo.agprs,
        "spills": demo.spills,
        "lds_bytes": demo.lds_bytes,
        "waves_per_simd": demo.waves_per_simd,
        "instructions": demo.execution.instructions,
        "matrix_instructions": demo.matrix_instructions,
        "faults": demo.execution.fault_count,
        "loop_iterations": _whole(timeline.iterations),
        "rendezvous_per_iteration": _whole(timeline.rendezvous_per_iteration),
        "stages": [
            {
                "label": stage.label,
                "kind": stage.kind,
                "priority": work.priority,
                "instructions": _whole(work.instructions),
                "matrix_instructions": _whole(work.matrix),
            }
            for stage, work in zip(demo.gemm.stages, timeline.work, strict=True)
        ],
        "offset": {
            "ok": offset.ok and demo.workgroups_alike,
            "opens": offset.opens,
            "closes": offset.closes,
            "intervals": offset.active,
            "one_stage_behind": offset.behind,
            "matrix_beside_memory": offset.opposed,
        },
        "timeline": [{"interval": k, "a": a, "b": b} for k, (a, b) in enumerate(zip(*names, strict=True))],
    }


def print_demo(demo: Demo, console: Console) -> None:
    """Print the demonstration, to fit the console's width."""

    def say(text: str, **style: Any) -> None:
        console.print(text, highlight=False, **style)

    _print_verdict(demo, console)
    say("")
    _print_kernel(demo, console)
    say("")
    _print_stages(demo, console)
    say("")
    half = len(demo.timeline.waves) // 2
    say(f"Group A is waves 0-{half - 1}, Group B waves {half}-{2 * half - 1}; numbers count their rendezvous\n")
    print_stage_strip(demo.timeline, demo.gemm.stages, console)
    say("")
    for line in _offset_lines(demo):
        say(line)
    for line in fault_lines(FaultTally.of([demo.execution])):
        say(f"[red]{escape(line)}[/]", soft_wrap=True)


def _print_verdict(demo: Demo, console: Console) -> None:
    accuracy, gemm = demo.accuracy, demo.gemm
    sizes = " x ".join(map(str, demo.shape))
    verdict = "[bold green]right[/]" if accuracy.ok else "[bold red]wrong[/]"
    lines = [
        f"[bold]{gemm.target} {gemm.name}[/]: {verdict}, largest error {accuracy.largest:.2g}",
        f"[dim]C = A x B, {sizes} (M, N, K), bf16 in, fp32 out, against float64 NumPy[/]",
        f"[dim]relative to the sum of absolute products {accuracy.relative:.2g}, "
        f"fp32 sums may reach {accuracy.bound:.2g}[/]",
    ]
    for line in lines:
        console.print(line, highlight=False)


def _print_kernel(demo: Demo, console: Console) -> None:
    timeline, execution = demo.timeline, demo.execution
    tile = " x ".join(map(str, demo.gemm.tile))
    facts = {
        "tile": f"{tile} (M, N, K), {len(timeline.waves)} waves a workgroup",
        "registers": f"{demo.vgprs} VGPRs, {demo.agprs} AGPRs, {demo.spills} spilled",
        "LDS": f"{demo.lds_bytes:,} bytes a workgroup",
        "occupancy": f"{demo.waves_per_simd} waves per SIMD",
        "executed": f"{execution.instructions:,} instructions, {demo.matrix_instructions:,} of them matrix",
        "loop": f"{timeline.iterations:g} iterations of {timeline.rendezvous_per_iteration:g} rendezvous",
    }
    table = Table.grid(padding=(0, 3, 0, 0))
    for name, value in facts.items():
        table.add_row(f"[dim]{name}[/]", value)
    console.print(table, highlight=False)


def _print_stages(demo: Demo, console: Console) -> None:
    console.print("What a wave executes for each stage in one iteration\n", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("stage")
    table.add_column("kind")
    for heading in ("priority", "instructions", "of them matrix"):
        table.add_column(heading, justify="right")
    for stage, work in zip(demo.gemm.stages, demo.timeline.work, strict=True):
        style = "magenta" if stage.kind == "mfma" else "cyan"
        table.add_row(
            f"[{style}]{stage.label}[/]",
            _KINDS[stage.kind],
            "varies" if work.priority is None else str(work.priority),
            f"{work.instructions:g}",
            f"{work.matrix:g}" if work.matrix else "",
        )
    console.print(table, highlight=False)


def _offset_lines(demo: Demo) -> list[str]:
    offset = demo.timeline.offset
    style = "green" if offset.ok else "red"
    opens = "does not open" if offset.opens is None else f"opens at rendezvous {offset.opens}"
    closes = "does not close" if offset.closes is None else f"closes at rendezvous {offset.closes}"
    lines = [
        f"[bold {style}]Group B is one stage behind for {offset.behind} of {offset.active} intervals.[/]",
        f"The offset {opens} and {closes}.",
        f"In {offset.opposed} of the {offset.active} one group does matrix work while the other moves data.",
    ]
    if not offset.alike:
        lines.append("[red]The waves of one group are not always in the same stage.[/]")
    x, y, z = demo.grid
    alike = "All workgroups agree" if demo.workgroups_alike else "[red]The workgroups differ[/]"
    return [*lines, f"{alike}; this is the first of {x * y * z}."]


def _finite(error: float) -> float | None:
    return error if math.isfinite(error) else None  # JSON has no NaN


def _whole(mean: float) -> int | float:
    return int(mean) if mean == int(mean) else mean
