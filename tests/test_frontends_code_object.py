"""Code objects give the Program that the text gives, run to the same result, and say what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _checked import text
from corpus import CASES, Case
from elftools.elf.elffile import ELFFile

import antiphase
from antiphase import arch, asm
from antiphase._llvm_tools import find_objdump
from antiphase.errors import UserError
from antiphase.frontends import Compiled, _compile, launch_asm

needs_objdump = pytest.mark.skipif(
    not find_objdump().usable, reason="code objects are read by llvm-objdump 22 or newer, which is not on PATH"
)
DOT = "dot_fp16_64x64x64_w4s2"


def case(name: str) -> Case:
    return next(each for each in CASES if each.name == name)


def build(name: str, target: str, path: Path) -> Compiled:
    """The kernel's text, and Triton's own code object at `path`."""
    kernels: list[Any] = []
    original = _compile.from_triton
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_compile, "from_triton", lambda k, s: (kernels.append(k), original(k, s))[1])
        compiled = case(name).compile(target)
    path.write_bytes(kernels[0].asm["hsaco"])
    return compiled


def bare(instruction: asm.Instruction) -> str:
    """Without the encoding suffix, which only one of the two spells."""
    return instruction.mnemonic.removesuffix("_e32").removesuffix("_e64")


@needs_objdump
@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
@pytest.mark.parametrize("name", ["add_fp32_256_4", DOT])
def test_agrees_with_the_text(name: str, target: str, tmp_path: Path) -> None:
    path = tmp_path / "k.hsaco"
    text = build(name, target, path).program
    program = antiphase.load(path)
    assert (program.target, program.name) == (target, str(path))
    found, wanted = program.kernel(), text.kernel()
    # the prologue of gfx942 and gfx950 is padded with s_nop
    pairs = [[i for i in kernel.instructions if bare(i) != "s_nop"] for kernel in (found, wanted)]
    assert [bare(i) for i in pairs[0]] == [bare(i) for i in pairs[1]]
    assert [i.loc and i.loc.line for i in pairs[0]] == [i.loc and i.loc.line for i in pairs[1]]
    assert found.metadata == wanted.metadata
    for field in wanted.descriptor.keys() & found.descriptor.keys():
        # counts of registers are rounded to what hardware allocates
        if field not in ("next_free_vgpr", "next_free_sgpr", "reserve_vcc", "reserve_xnack_mask"):
            assert found.descriptor[field] == wanted.descriptor[field], field
    assert found.descriptor["user_sgpr_count"] == wanted.descriptor["user_sgpr_count"]
    assert found.descriptor["next_free_vgpr"] >= wanted.descriptor["next_free_vgpr"]


@needs_objdump
@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"])
def test_runs_to_the_result_of_the_text(target: str, tmp_path: Path) -> None:
    one = case(DOT)
    compiled = build(DOT, target, tmp_path / "k.co")
    mine, theirs, before = one.inputs(), one.inputs(), one.inputs()
    execution = antiphase.launch(
        tmp_path / "k.co",
        grid=one.grid,
        args=mine,
        target=target,
        threads=compiled.threads_per_workgroup,
        lds_bytes=compiled.shared,
    )
    launch_asm(compiled, grid=one.grid, args=theirs)
    assert not execution.faults
    one.check(before, mine)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@needs_objdump
def test_branches_go_to_labels(tmp_path: Path) -> None:
    build(DOT, "gfx942", tmp_path / "k.hsaco")
    kernel = antiphase.load(tmp_path / "k.hsaco").kernel()
    branches = [i.operands[-1] for i in kernel.instructions if i.mnemonic.startswith(("s_branch", "s_cbranch"))]
    assert branches and all(isinstance(each, asm.Label) and each.name in kernel.labels for each in branches)
    assert kernel.instructions[-1].mnemonic != "s_nop"


@needs_objdump
def test_an_encoding_without_text_is_an_error(tmp_path: Path) -> None:
    """GFX11 has no row_bcast: objdump leaves it out and says so in a comment, which would read as no DPP at all."""
    path = tmp_path / "k.hsaco"
    build("add_fp32_256_4", "gfx1100", path)
    with path.open("r+b") as file:
        text = next(each for each in ELFFile(file).iter_sections() if each.name == ".text")
        file.seek(text["sh_offset"])
        file.write(bytes.fromhex("fa02007e 004201ff"))
    with pytest.raises(UserError, match=r"k\.hsaco: .*offset 0x0 of vector_add: .*row_bcast is not supported"):
        antiphase.load(path)


def test_text_is_read_as_before(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot open"):
        antiphase.load(tmp_path / "none.hsaco")
    (tmp_path / "k.s").write_text("s_nop 0\n")
    with pytest.raises(UserError, match="is in no function"):
        antiphase.load(tmp_path / "k.s")


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build("add_fp32_256_4", "gfx942", tmp_path / "k.hsaco")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"k\.hsaco: a code object needs llvm-objdump 22 or newer.*apt-get"):
        antiphase.load(tmp_path / "k.hsaco")
    old = tmp_path / "llvm-objdump"
    old.write_text("#!/bin/sh\necho 'LLVM version 14.0.6'\n")
    old.chmod(0o755)
    with pytest.raises(UserError, match="older than LLVM 22"):
        antiphase.load(tmp_path / "k.hsaco")


@pytest.mark.parametrize("kept", [5, 64, 700])
def test_a_file_cut_short_is_an_error(kept: int, tmp_path: Path) -> None:
    whole = tmp_path / "k.hsaco"
    build("add_fp32_256_4", "gfx942", whole)
    whole.write_bytes(whole.read_bytes()[:kept])
    with pytest.raises(UserError, match=r"k\.hsaco: "):
        antiphase.load(whole)


def test_another_elf_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "k.o"
    path.write_bytes(assembled("s_nop 0\n"))
    with pytest.raises(UserError, match="no kernel in the code object"):
        antiphase.load(path)
    changed = bytearray(path.read_bytes())
    changed[18] = 0x3E  # e_machine: x86-64
    path.write_bytes(changed)
    with pytest.raises(UserError, match="not a code object for AMD GPUs"):
        antiphase.load(path)
    changed[18], changed[48] = 0xE0, 0x3F  # e_flags: gfx90a
    path.write_bytes(changed)
    with pytest.raises(UserError, match="EF_AMDGPU_MACH 0x3f"):
        antiphase.load(path)


def assembled(source: str, target: str = "gfx942") -> bytes:
    from antiphase.frontends import _llvm

    needed = ".amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n"
    needed += ".amdhsa_accum_offset 8\n" if arch.target(target).has_agprs else ""
    return _llvm.assembler().assemble(source.replace(".end_amdhsa_kernel", needed + ".end_amdhsa_kernel"), target)


@needs_objdump
@pytest.mark.parametrize("target", [each.name for each in arch.targets()])
def test_an_object_file_of_text_by_hand(target: str, tmp_path: Path) -> None:
    """Macros and symbols are expanded; the target is that of the ELF header, since the metadata has none."""
    body = "\n.macro idle count\ns_nop \\count\n.endm\nidle 3\nv_mov_b32 v[1+1], v0\n"
    path = tmp_path / "k.o"
    path.write_bytes(assembled(text(body, target), target))
    program = antiphase.load(path)
    assert program.target == target
    found = [" ".join([bare(i), *i.text().split(" ")[1:]]) for i in program.kernel().instructions]
    assert found == ["s_nop 3", "v_mov_b32 v2, v0", "s_endpgm"]
    assert program.kernel().metadata.stated


@needs_objdump
def test_an_object_file_with_addresses_to_fill_in(tmp_path: Path) -> None:
    path = tmp_path / "k.o"
    path.write_bytes(assembled(text("s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, elsewhere@rel32@lo+4")))
    with pytest.raises(UserError, match=rf"addresses still to be filled in; link it: ld\.lld -shared {path} -o"):
        antiphase.load(path)
