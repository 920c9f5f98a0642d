"""Formats of buffer elements: every code of every component, names as LLVM writes them, and records in words."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from _typed_buffers import NUMERIC, UNIFIED, formats, loaded, split, stored, truncated
from isa_harness import Machine

from antiphase._llvm_tools import find_tool
from antiphase.asm import parse_instruction
from antiphase.isa import U32, describe, find, source
from antiphase.isa import _buffer_convert as convert
from antiphase.isa._buffer_formats import KINDS, buffer_formats, format_code

MACHINE = Machine(level=1)
KEYS = {
    (access, half): MACHINE.add(
        f"{access}{half}", (expression(*(source(i, U32) for i in range(3))),), (U32, U32, U32)
    )
    for (access, half), expression in {
        ("load", False): convert.loaded, ("load", True): convert.loaded_half, ("store", False): convert.stored,
        ("store", True): convert.stored_half,
    }.items()
}  # fmt: skip
COMPONENTS = [
    *((width, kind) for width in (2, 8, 10, 11, 16) for kind in NUMERIC[:6]),
    (10, "FLOAT"), (11, "FLOAT"), (16, "FLOAT"),
]  # fmt: skip
LLVM_MC = find_tool("llvm-mc")
needs_llvm_mc = pytest.mark.skipif(not LLVM_MC.usable, reason="no llvm-mc of LLVM 22 or newer on PATH")


def converted(access: str, half: bool, values: np.ndarray, width: int, kind: str) -> np.ndarray:
    (result,) = MACHINE(KEYS[access, half], values, width, KINDS.index(kind.lower()))
    return result


def nan(x: np.ndarray, width: int) -> np.ndarray:
    infinity, magnitude = {10: (0x3E0, 0x3FF), 11: (0x7C0, 0x7FF), 16: (0x7C00, 0x7FFF)}.get(
        width, (0x7F800000, 0x7FFFFFFF)
    )
    return (x & magnitude) > infinity


@pytest.mark.parametrize("half", [False, True], ids=["32", "d16"])
@pytest.mark.parametrize(("width", "kind"), COMPONENTS)
def test_every_code_becomes_the_nearest_register(width: int, kind: str, half: bool) -> None:
    codes = np.arange(1 << width, dtype=np.uint32)
    got, wanted = converted("load", half, codes, width, kind), loaded(codes, width, kind, half)
    out = 16 if half else 32
    equal = (got == wanted) | (kind == "FLOAT") & nan(got, out) & nan(wanted, out)
    assert equal.all(), codes[~equal][:4]


@pytest.mark.parametrize(("width", "kind"), [*COMPONENTS, (32, "FLOAT"), (32, "UINT"), (32, "SINT")])
def test_every_half_becomes_a_code(width: int, kind: str) -> None:
    halves = np.arange(1 << 16, dtype=np.uint32)
    got, wanted = converted("store", True, halves, width, kind), stored(halves, width, kind, True)
    equal = (got == wanted) | (kind == "FLOAT") & nan(got, width) & nan(wanted, width)
    assert equal.all(), halves[~equal][:4]


@pytest.mark.parametrize(("width", "kind"), COMPONENTS)
def test_words_of_all_sizes_become_codes(width: int, kind: str) -> None:
    """Around every half, so that ties are met from both sides, and random bits."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(invalid="ignore"):
        near = halves.astype(np.float32).view(np.uint32)
    words = np.concatenate(
        [near - 1, near, near + 1, np.random.default_rng(0).integers(0, 1 << 32, 1 << 14, np.uint32)]
    )
    got, wanted = converted("store", False, words, width, kind), stored(words, width, kind, False)
    equal = (got == wanted) | (kind == "FLOAT") & nan(got, width) & nan(wanted, width)
    assert equal.all(), words[~equal][:4]


def test_32_bits_become_16_by_truncation_or_saturation() -> None:
    words = np.random.default_rng(1).integers(0, 1 << 32, 1 << 16, np.uint32)
    words[:4] = 0x477FE000, 0x477FF000, 0x7F7FFFFF, 0xFF800000
    got, wanted = converted("load", True, words, 32, "FLOAT"), truncated(words.view(np.float32), 16)
    assert ((got == wanted) | nan(got, 16) & nan(wanted, 16)).all()
    assert got[:4].tolist() == [0x7BFF, 0x7BFF, 0x7BFF, 0xFC00]
    for kind in ("UINT", "SINT"):
        assert (converted("load", True, words, 32, kind) == loaded(words, 32, kind, True)).all()


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1201"])
def test_tables_have_the_formats_of_the_manuals(target: str) -> None:
    generation = {"gfx942": "gfx9", "gfx1100": "gfx11", "gfx1201": "gfx12"}[target]
    made, every = buffer_formats(generation), formats(target)
    for name, code in every.items():
        widths, kind = split(name)
        assert (made[code].name, made[code].widths, made[code].kind) == (name, widths, kind.lower())
        assert made[code].bytes == sum(widths) // 8
    # what is left: no format at all, and what CDNA does not convert
    left = {made[code].kind for code in made.keys() - set(every.values()) if made[code].name != "INVALID"}
    assert left == ({"raw"} if target == "gfx942" else set())


def test_names_of_formats_may_be_split_or_left_out() -> None:
    unified = UNIFIED.split().index("32_FLOAT") + 1
    for text, gfx9, gfx11 in (
        (None, 1, 1), (22, 22, 22), ("[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]", 0x74, unified),
        ("[BUF_NUM_FORMAT_FLOAT,BUF_DATA_FORMAT_32]", 0x74, unified), ("[BUF_NUM_FORMAT_UINT]", 0x41, 5),
        ("[BUF_DATA_FORMAT_INVALID]", 0, 0), ("[BUF_DATA_FORMAT_RESERVED_15,BUF_NUM_FORMAT_RESERVED_6]", 0x6F, None),
        ("[BUF_FMT_32_FLOAT]", None, unified), ("[BUF_FMT_INVALID]", None, 0), ("[BUF_DATA_FORMAT_7]", None, None),
        ("[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_FLOAT]", 0x71, None), ("[WRONG]", None, None),
    ):  # fmt: skip
        for generation, wanted in (("gfx9", gfx9), ("gfx11", gfx11), ("gfx12", gfx11)):
            if wanted is not None:
                assert format_code(text, generation) == wanted
                continue
            with pytest.raises(ValueError, match="format"):
                format_code(text, generation)


@needs_llvm_mc
@pytest.mark.parametrize(
    ("target", "generation"),
    [("gfx942", "gfx9"), ("gfx950", "gfx9"), ("gfx1100", "gfx11"), ("gfx1151", "gfx11"), ("gfx1201", "gfx12")],
)
def test_what_llvm_prints_for_a_number_reads_back_as_that_number(target: str, generation: str) -> None:
    lines = [f"tbuffer_store_format_xy v[2:3], v8, s[4:7], s1 format:{n} offen" for n in range(128)]
    printed = _assembled(target, lines)
    for n, text in enumerate(printed):
        instruction = parse_instruction(text)
        assert format_code(instruction.modifier("format"), generation) == n  # type: ignore[arg-type]
        assert _assembled(target, [instruction.text()]) == [text] if n % 16 == 3 else True


@needs_llvm_mc
def test_the_older_place_and_form_of_formats_mean_the_same() -> None:
    for target, older in (("gfx942", "dfmt:4, nfmt:7,"), ("gfx942", "nfmt:5, dfmt:12,"), ("gfx1100", "format:22,")):
        line = f"tbuffer_load_format_x v1, v2, s[4:7], {older} s1 offen offset:8"
        assert _assembled(target, [parse_instruction(line).text()]) == _assembled(target, [line])


def _assembled(target: str, lines: list[str]) -> list[str]:
    """What llvm-mc prints for lines."""
    command = [LLVM_MC.path, "-triple=amdgcn", f"-mcpu={target}"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    return [re.sub(r"\s+", " ", line).strip() for line in done.stdout.splitlines() if "buffer_" in line]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("buffer_load_format_xyz", "Converts components x, y, z, in 32 bits each, from the format of an element"),
        ("tbuffer_store_format_d16_xy", "Converts components x, y, in 16 bits each, two to a register, to the format"),
        ("tbuffer_load_format_d16_xyz", "The upper half of the last register keeps its value."),
        ("buffer_load_format_d16_hi_x", "Goes to the upper half of the register; the lower half keeps its value."),
        ("buffer_store_format_x", "The resource has the format, and DST_SEL"),
        ("tbuffer_load_format_x", "The modifier `format` has the format."),
    ],
)
def test_records_in_words(name: str, line: str) -> None:
    record = find(name, "gfx942")
    assert record is not None and record.status == "modelled" and record.note
    assert any(line in said for said in describe(record).words)
