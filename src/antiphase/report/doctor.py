"""`antiphase doctor` in words: what is installed, what a missing piece would enable, how to get it."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from antiphase.doctor import Diagnosis, Piece

_REINSTALL = "pip install --upgrade antiphase"

# Per piece: what it is for, and how to get it.
_GUIDE = {
    "python": ("runs antiphase", "install Python 3.11 or newer, then make PYTHON=python3.11"),
    "triton": (
        "compiling Triton and Gluon kernels, antiphase demo and run",
        "pip install 'antiphase[triton]'",
    ),
    "torch": ("running scripts that use torch tensors (NumPy arrays work without it)", "pip install torch"),
    "llvm-objdump": ("reading code objects (.hsaco, .co); .s text needs nothing", "apt-get install llvm-22"),
    "llvm-mc": ("antiphase arch verify: what LLVM's assembler accepts for each target", "apt-get install llvm-22"),
    "llc": ("antiphase arch verify: what LLVM's compiler puts between instructions", "apt-get install llvm-22"),
    "tinygrad checkout": (
        "the comparison with tinygrad's emulator in make bench",
        "git clone https://github.com/tinygrad/tinygrad && export TINYGRAD=$PWD/tinygrad",
    ),
    "cache directory": (
        "keeping translated kernels between runs",
        "export ANTIPHASE_CACHE=a directory you can write to",
    ),
    "Triton cache": (
        "keeping compiled kernels between runs; Triton compiles none without one",
        "export TRITON_CACHE_DIR=a directory you can write to",
    ),
}
_MARKS = {"ok": "[green]ok[/]", "missing": "[yellow]missing[/]", "unsuitable": "[red]unsuitable[/]"}


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as plain data, each piece with `enables` and, unless it is ok, `install`."""
    plain = msgspec.to_builtins(diagnosis)
    for piece, record in zip(diagnosis.pieces, plain["pieces"], strict=True):
        record["enables"], install = _guide(piece)
        if piece.state != "ok":
            record["install"] = install
    return plain


def print_doctor(diagnosis: Diagnosis, console: Console) -> None:
    """Print the diagnosis: the machine, one row a piece, then what to install."""
    machine = diagnosis.machine
    features = " ".join(machine.cpu_features) or "none"
    console.print(f"antiphase {diagnosis.version} on {machine.system}", highlight=False)
    console.print(f"{escape(machine.cpu)}, {machine.cores} cores, {machine.memory_gib:g} GiB", highlight=False)
    console.print(f"vector features: {features}", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("piece", "state", "found"):
        table.add_column(heading, overflow="fold")
    for piece in diagnosis.pieces:
        problem = f" ({escape(piece.problem)})" if piece.problem else ""
        table.add_row(piece.name, _MARKS[piece.state], escape(piece.found) + problem)
    console.print(table, highlight=False)
    for piece in diagnosis.pieces:
        if piece.state != "ok":
            enables, install = map(escape, _guide(piece))
            need = "required" if piece.required else "optional"
            console.print(f"[bold]{piece.name}[/] ({need}): {enables}", highlight=False, soft_wrap=True)
            console.print(f"    {install}", highlight=False, soft_wrap=True)
    console.print("Everything required is here." if diagnosis.ok else "[red]Something required is broken.[/]")


def _guide(piece: Piece) -> tuple[str, str]:
    return _GUIDE.get(piece.name, ("required by antiphase", _REINSTALL))
