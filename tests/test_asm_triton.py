"""What Triton prints: every line is read, and the text made from the Program assembles to the same bytes."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from elftools.elf.elffile import ELFFile
from triton.backends.amd.compiler import assemble_amdgcn
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from antiphase.asm import parse
from antiphase.errors import UserError
from antiphase.frontends._source_files import at_home

TARGETS = ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"]


@triton.jit
def softmax_rows(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    value = tl.load(x + row + i, mask=i < n, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row + i, value / tl.sum(value, axis=0), mask=i < n)


@triton.jit
def product(a, b, c, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    i, k = tl.arange(0, BLOCK), tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, DEPTH):
        x = tl.load(a + i[:, None] * K + start + k[None, :])
        y = tl.load(b + (start + k)[:, None] * BLOCK + i[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * BLOCK + i[None, :], total)


@triton.jit
def update(x, out, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    old = tl.atomic_add(out + value % BLOCK, value)
    tl.atomic_cas(out + BLOCK + i, old, value)
    wide = tl.cumsum(value.to(tl.int64) // seed, 0)
    marked = tl.inline_asm_elementwise(
        "; antiphase: stage tail\ns_nop 0 ; antiphase: again\nv_mov_b32 $0, $1",
        "=v,v",
        [wide.to(tl.float32)],
        dtype=tl.float32,
        is_pure=False,
        pack=1,
    )
    tl.store(out + 2 * BLOCK + i, tl.flip(marked).to(tl.int32))


KERNELS: dict[str, tuple[Any, dict[str, str], dict[str, int]]] = {
    "softmax_rows": (softmax_rows, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
    "product": (
        product,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32"},
        {"BLOCK": 64, "DEPTH": 64},
    ),
    "update": (update, {"x": "*i32", "out": "*i32", "seed": "i64"}, {"BLOCK": 128}),
}
EVERY = pytest.mark.parametrize(("name", "target"), [(name, target) for name in KERNELS for target in TARGETS])


@cache
def assembly(name: str, target: str) -> str:
    function, arguments, constants = KERNELS[name]
    signature = arguments | dict.fromkeys(constants, "constexpr")
    values = {(list(signature).index(key),): value for key, value in constants.items()}
    wave = 64 if target.startswith("gfx9") else 32
    compiled = triton.compile(
        ASTSource(function, signature, values),
        target=GPUTarget("hip", target, wave),
        options={"num_warps": 4},
    )
    return compiled.asm["amdgcn"]


def code(text: str, target: str) -> bytes:
    section = ELFFile(BytesIO(assemble_amdgcn(text, target, ""))).get_section_by_name(".text")
    assert section is not None
    return section.data()


@EVERY
def test_text_assembles_to_the_same_bytes(name: str, target: str) -> None:
    text = assembly(name, target)
    program = parse(text)
    assert program.target == target
    assert code(program.text(), target) == code(text, target)


@EVERY
def test_every_instruction_line_is_read(name: str, target: str) -> None:
    text = assembly(name, target)
    body = text[text.index(".Lfunc_begin0:") : text.index(".Lfunc_end0:")]
    lines = [line.partition(";")[0].strip() for line in body.splitlines()]
    expected = [line.split()[0] for line in lines if line and not line.startswith((".", "//"))]
    assert [one.mnemonic for one in parse(text).kernel(name).instructions] == expected


@pytest.mark.parametrize("target", TARGETS)
def test_control_flow_is_closed(target: str) -> None:
    kernel = parse(assembly("product", target)).kernel()
    assert [block.start for block in kernel.blocks[1:]] == [block.end for block in kernel.blocks[:-1]]
    reached, pending = {0}, [0]
    while pending:
        following = set(kernel.blocks[pending.pop()].successors) - reached
        reached |= following
        pending += following
    assert reached == set(range(len(kernel.blocks)))
    assert any(successor <= block.index for block in kernel.blocks for successor in block.successors)


def test_markers_of_inline_assembly() -> None:
    kernel = parse(assembly("update", "gfx942")).kernel()
    assert kernel.markers[0][1] == "stage tail"
    assert kernel.instructions[kernel.markers[0][0]].text() == "s_nop 0"
    assert [text for _, text in kernel.markers[:2]] == ["stage tail", "again"]


def test_source_lines() -> None:
    text = at_home(assembly("product", "gfx950"), Path(__file__))
    kernel = parse(text).kernel()
    lines = {one.loc.line for one in kernel.instructions if one.loc is not None and "mfma" in one.mnemonic}
    first = product.fn.__code__.co_firstlineno  # of the decorator; the tl.dot is seven lines below
    assert lines == {first + 7}
    assert {one.loc.file for one in kernel.instructions if one.loc is not None} == {__file__}


def test_metadata_of_the_compiler() -> None:
    text = assembly("product", "gfx942")
    kernel = parse(text).kernel()
    assert [arg.value_kind for arg in kernel.metadata.args[:4]] == ["global_buffer"] * 3 + ["by_value"]
    assert kernel.metadata.max_flat_workgroup_size == 256
    assert kernel.metadata.kernarg_segment_size == kernel.descriptor["kernarg_size"]
    assert kernel.descriptor["user_sgpr_kernarg_segment_ptr"] == 1


def test_a_file_cut_anywhere_is_refused() -> None:
    text = assembly("product", "gfx942")
    whole = text.index(".end_amdgpu_metadata") + len(".end_amdgpu_metadata")
    for length in range(0, whole, 499):
        with pytest.raises(UserError):
            parse(text[:length])
    parse(text[:whole])


def test_removing_an_instruction_shortens_the_code() -> None:
    program = parse(assembly("product", "gfx942"))
    waits = [i for i, one in enumerate(program.kernel().instructions) if one.mnemonic == "s_waitcnt"]
    shorter = program.without(waits)
    assert "s_waitcnt" not in {one.mnemonic for one in shorter.kernel().instructions}
    assemble_amdgcn(shorter.text(), "gfx942", "")
