"""Whole files: structure, control flow, descriptor, metadata, edits, and what is said of broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphase.asm import Block, Imm, Kernel, KernelArg, Loc, Program, load, parse, parse_instruction
from antiphase.errors import UserError

HEAD = """\t.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942"
\t.text
\t.globl\tk ; a comment
\t.p2align\t8
\t.type\tk,@function
k:                                      ; @k
.Lfunc_begin0:
\t.file\t1 "/src" "k.py"
"""
BODY = """\t.loc\t1 5 3 prologue_end ; k.py:5:3
\ts_mov_b32 s4, 4
.LBB0_1:
\t; antiphase: stage load
\ts_sub_u32 s4, s4, 1
.Ltmp0:
\t.loc\t1 0 7
\ts_cmp_lg_u32 s4, 0 ; antiphase: stage compare
loop_end: s_cbranch_scc1 .LBB0_1
\ts_endpgm
"""
DESCRIPTOR = """.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 10
\t\t.amdhsa_inst_pref_size ((instprefsize(.Lfunc_end0-k)<<4)&1008)>>4
\t.end_amdhsa_kernel
"""
METADATA = """\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .name:           'a b'
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 1024
    .kernarg_segment_size: 12
    .max_flat_workgroup_size: 256
    .name:           k
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
    - 64
    - 1
    - 1
    .sgpr_count:     6
    .symbol:         k.kd
    .uses_dynamic_stack: false
    .vgpr_count:     10
    .wavefront_size: 64
amdhsa.version:
  - 1
  - 2
...
\t.end_amdgpu_metadata
"""
DESCRIBE = (
    "the file may be cut short; text written by hand needs '.amdhsa_kernel NAME', '.amdhsa_next_free_vgpr N', "
    "'.amdhsa_next_free_sgpr N' and '.end_amdhsa_kernel', a line each, for every kernel"
)
EXPAND = (
    "let LLVM's assembler expand it and pass the result: "
    "llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx942 k.s -o expanded.s (or -filetype=obj -o k.o)"
)


def source(head: str = HEAD, body: str = BODY, descriptor: str = DESCRIPTOR, metadata: str = METADATA) -> str:
    return head + body + descriptor + metadata


def kernel(body: str = BODY) -> Kernel:
    return parse(source(body=body)).kernel()


def error(text: str, target: str | None = None) -> str:
    with pytest.raises(UserError) as caught:
        parse(text, "k.s", target)
    return str(caught.value)


def mnemonics(one: Kernel) -> list[str]:
    return [instruction.mnemonic for instruction in one.instructions]


def test_structure() -> None:
    one = kernel()
    assert mnemonics(one) == ["s_mov_b32", "s_sub_u32", "s_cmp_lg_u32", "s_cbranch_scc1", "s_endpgm"]
    assert dict(one.labels) == {"k": 0, ".Lfunc_begin0": 0, ".LBB0_1": 1, ".Ltmp0": 2, "loop_end": 3}
    assert one.markers == ((1, "stage load"), (2, "stage compare"))
    assert [instruction.line for instruction in one.instructions] == [10, 13, 16, 17, 18]
    assert one.instructions[0].loc == Loc("/src/k.py", 5, 3)
    assert one.instructions[4].loc == Loc("/src/k.py", 0, 7)


def test_blocks_split_at_labels_that_are_named() -> None:
    assert kernel().blocks == (
        Block(0, None, 0, 1, (1,), (1,)),
        Block(1, ".LBB0_1", 1, 4, (2, 1), (2, 1)),
        Block(2, None, 4, 5, ()),
    )


def test_blocks_after_unconditional_branches_and_calls() -> None:
    one = kernel(
        "\ts_branch .LB\n\ts_nop 0\n.LA:\n\ts_swappc_b64 s[0:1], s[2:3]\n\ts_endpgm\n"
        ".LB:\n\ts_call_b64 s[0:1], .LA\n\ts_setpc_b64 s[0:1]\n"
    )
    assert [block.successors for block in one.blocks] == [(4,), (2,), (3,), (), (2,), (5,)]


def test_descriptor_and_metadata() -> None:
    one = kernel()
    assert dict(one.descriptor) == {"next_free_vgpr": 10}
    assert one.metadata.args == (
        KernelArg(0, 8, "global_buffer", "a b", "global"),
        KernelArg(8, 4, "by_value"),
    )
    assert (one.metadata.name, one.metadata.symbol) == ("k", "k.kd")
    assert (one.metadata.group_segment_fixed_size, one.metadata.wavefront_size) == (1024, 64)
    assert (one.metadata.agpr_count, one.metadata.vgpr_spill_count) == (0, 0)


def test_descriptor_value_by_symbol() -> None:
    text = "\t.set .Lk.num_vgpr, 0x20 ; set\n" + source().replace("vgpr 10\n", "vgpr .Lk.num_vgpr\n", 1)
    assert parse(text).kernel().descriptor["next_free_vgpr"] == 32


@pytest.mark.parametrize(
    "triple", ["amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "amdgpu9.0a-amd-amdhsa-unknown-gfx90a"]
)
def test_target_of_every_triple_form(triple: str) -> None:
    assert parse(source().replace("amdgpu9.42-amd-amdhsa-unknown-gfx942", triple)).target == "gfx90a"


def test_target_can_be_given() -> None:
    assert parse(source(head=HEAD.split("\n", 1)[1]), target="gfx950").target == "gfx950"


def test_comments_of_every_kind() -> None:
    one = kernel(
        '/* a licence;\n s_nop 7\n*/ s_nop 1 // s_nop 2\n# 1 "k.c"\n'
        "\tv_max_f32 v14 /*v270*/, v248, v249 /* more */ ; end\n\ts_endpgm\n"
    )
    assert [instruction.text() for instruction in one.instructions] == [
        "s_nop 1",
        "v_max_f32 v14, v248, v249",
        "s_endpgm",
    ]


def test_device_functions_are_kept_as_text() -> None:
    helper = "\t.type f,@function\nf:\n\ts_setpc_b64   s[30:31]\n.Lfunc_end1:\n"
    program = parse(source(head=HEAD.split("\n", 1)[0] + "\n" + helper + HEAD.split("\n", 1)[1]))
    assert [one.name for one in program.kernels] == ["k"]
    assert "s_setpc_b64 s[30:31]" in program.text()


def test_text_reads_back() -> None:
    program = parse(source())
    again = parse(program.text())
    assert [one.text() for one in again.kernel().instructions] == [one.text() for one in program.kernel().instructions]
    assert again.kernel().labels == program.kernel().labels
    assert again.kernel().markers == program.kernel().markers
    assert again.text() == program.text()


def edited(program: Program) -> Kernel:
    """The kernel of an edited program, which must be what its text says."""
    one, again = program.kernel(), parse(program.text()).kernel()
    assert (mnemonics(one), one.labels, one.blocks, one.markers) == (
        mnemonics(again),
        again.labels,
        again.blocks,
        again.markers,
    )
    return one


def test_edit_replaces_and_inserts() -> None:
    program = parse(source())
    wait = parse_instruction("s_waitcnt vmcnt(0)")
    one = edited(program.edit({1: [wait, program.kernel().instructions[1]], 4: [wait, parse_instruction("s_endpgm")]}))
    assert mnemonics(one)[1:3] == ["s_waitcnt", "s_sub_u32"]
    assert one.labels[".LBB0_1"] == 1
    assert one.instructions[1].line == 13
    assert one.blocks[1] == Block(1, ".LBB0_1", 1, 5, (2, 1), (2, 1))


def test_without_moves_labels_to_the_next_instruction() -> None:
    program = parse(source())
    one = edited(program.without([1]))
    assert mnemonics(one) == ["s_mov_b32", "s_cmp_lg_u32", "s_cbranch_scc1", "s_endpgm"]
    assert one.labels[".LBB0_1"] == one.labels[".Ltmp0"] == 1
    assert mnemonics(program.kernel())[1] == "s_sub_u32"
    assert mnemonics(edited(program.without(0))) == mnemonics(program.kernel())[1:]


def test_edit_of_a_missing_instruction() -> None:
    with pytest.raises(UserError, match=r"^<string>: kernel 'k' has 5 instructions, no number 5$"):
        parse(source()).without(5)


def test_kernel_by_name() -> None:
    program = parse(source())
    assert program.kernel("k") is program.kernel()
    with pytest.raises(UserError, match=r"^<string>: no kernel 'add'; choose one of: k$"):
        program.kernel("add")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("\tv_mov_b32 v1, v[8:", f"brackets do not match in 'v_mov_b32 v1, v[8:'; {EXPAND}"),
        ("\tglob", f"cannot read the instruction name 'glob' in 'glob'; {EXPAND}"),
        (
            "\tv_mov_b32 v1, vccc",
            "unknown operand 'vccc' in 'v_mov_b32 v1, vccc'; no label or symbol has that name",
        ),
        (
            "\ts_branch .LBB9_9",
            "unknown operand '.LBB9_9' in 's_branch .LBB9_9'; no label or symbol has that name",
        ),
        (
            "\ts_branch 3",
            "'s_branch 3' does not branch to a label; write the target as a label "
            "(llvm-objdump --symbolize-operands prints them)",
        ),
        ("\t.org 4", f"unknown directive '.org' in '.org 4'; remove it, or {EXPAND}"),
        (
            "\t.amdhsa_kernal m",
            "unknown directive '.amdhsa_kernal' in '.amdhsa_kernal m'; did you mean '.amdhsa_kernel'",
        ),
        ("\t.macro m", f"'.macro' is for an assembler to carry out; {EXPAND}"),
        ("\tv_mov_b32 v[1+2], v0", f"cannot read the operand 'v[1+2]' in 'v_mov_b32 v[1+2], v0'; {EXPAND}"),
        ("\t.set n, 3\n\ts_nop n", f"'n' is a number for an assembler to fill in; {EXPAND}"),
        (".Lfunc_begin0:", "the label '.Lfunc_begin0' is defined twice"),
        ("\t.long 0", "data between the instructions of a function"),
        ("\t.loc 2 5 1", "cannot read '.loc 2 5 1'"),
        (
            ".Lfunc_end7:\n\ts_nop 0",
            "the instruction 's_nop 0' is in no function; declare one with .type or .amdhsa_kernel",
        ),
        (
            "\t.data\n\ts_nop 0",
            "the instruction 's_nop 0' is in no function; declare one with .type or .amdhsa_kernel",
        ),
    ],
)
def test_errors_name_the_line(line: str, message: str) -> None:
    number = 9 + line.count("\n")
    assert error(source(body=line + "\n" + BODY)) == f"k.s:{number}: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"k.s: no kernel: the file has no .amdhsa_kernel block; {DESCRIBE}"),
        (HEAD + BODY, f"k.s: no kernel: the file has no .amdhsa_kernel block; {DESCRIBE}"),
        (
            HEAD + BODY + DESCRIPTOR.replace("\t.end_amdhsa_kernel\n", ""),
            "k.s:22: the descriptor of 'k' is not closed; the file may be cut short",
        ),
        (
            HEAD + BODY + DESCRIPTOR,
            "k.s: no .amdgpu_metadata block; the file may be cut short",
        ),
        (
            source(metadata=METADATA.replace(".name:           k", ".name:           z")),
            "k.s: kernel 'k' has no entry in the .amdgpu_metadata block; "
            "add one with '.name: k', or leave out the block",
        ),
        (
            source(metadata=METADATA.replace("\t.end_amdgpu_metadata\n", "")),
            "k.s:26: the .amdgpu_metadata block is not closed; the file may be cut short",
        ),
        (source(body="\ts_nop 0\n"), "k.s: kernel 'k' has no s_endpgm; the file may be cut short"),
        (
            source().replace("k:  ", "z:  "),
            "k.s:10: the instruction 's_mov_b32 s4, 4' is in no function; declare one with .type or .amdhsa_kernel",
        ),
        (source(head="", body=""), "k.s: kernel 'k' has a descriptor and no code; the file may be cut short"),
        (source() + "/* open\n", "k.s:58: the comment '/*' is not closed; the file may be cut short"),
        (
            source(head=HEAD.split("\n", 1)[1]),
            "k.s: no .amdgcn_target in the file; name the target, such as gfx942",
        ),
        (
            source().replace("-gfx942", "-"),
            'k.s:1: no processor in the target "amdgpu9.42-amd-amdhsa-unknown-"; '
            "the triple must end in one, such as gfx942",
        ),
        (
            source().replace("vgpr 10\n", "vgpr ten\n", 1),
            "k.s:23: .amdhsa_next_free_vgpr is not a number: 'ten'",
        ),
        (
            source(metadata=METADATA.replace(".size:           8", ".size 8")),
            "k.s:34: cannot read the metadata line '.size 8': could not find expected ':'",
        ),
        (
            source(metadata=METADATA.replace("gpr_count:     6", "gpr_count:     [6]")),
            "k.s:26: the kernel metadata has [6] for '.sgpr_count'",
        ),
        (
            source(metadata=METADATA.replace("    .symbol:         k.kd\n", "")),
            "k.s:26: the kernel metadata lacks '.symbol'",
        ),
        (
            source(metadata=METADATA.replace(".vgpr_count:     10", ".vgpr_count:     ten")),
            "k.s:26: the kernel metadata has 'ten' for '.vgpr_count'",
        ),
    ],
)
def test_broken_files(text: str, message: str) -> None:
    assert error(text) == message


def by_hand(text: str) -> Kernel:
    return parse(text.replace(".Lfunc_end0", ".Lend"), "k.s").kernel()


def test_metadata_is_yaml() -> None:
    args = "{.offset: 0, .size: 8, .value_kind: by_value, .name: on}, {.offset: 0x8, .size: 4, .value_kind: '8'}"
    extra = "custom.config:\n  MatrixInstruction: [16, 16, 16, 1] # Tensile's\n  none:\n"
    lines = METADATA.splitlines(keepends=True)
    text = "".join([*lines[:2], extra, *lines[2:4], f"    .args: [{args}]\n", *lines[13:]])
    assert parse(source(metadata=text)).kernel().metadata.args == (
        KernelArg(0, 8, "by_value", "on"),
        KernelArg(8, 4, "8"),
    )


def test_metadata_left_out_is_that_of_the_descriptor() -> None:
    more = "\t\t.amdhsa_accum_offset 8\n\t\t.amdhsa_kernarg_size 24\n\t\t.amdhsa_group_segment_fixed_size 512\n"
    text = HEAD + BODY + DESCRIPTOR.replace("\t.end_", more + "\t.end_")
    found = by_hand(text).metadata
    assert (found.stated, found.name, found.symbol, found.args) == (False, "k", "k.kd", ())
    assert (found.vgpr_count, found.agpr_count, found.wavefront_size) == (10, 2, 64)
    assert (found.kernarg_segment_size, found.group_segment_fixed_size, found.max_flat_workgroup_size) == (24, 512, 0)


def test_wave_size_of_the_descriptor() -> None:
    text = (HEAD + BODY + DESCRIPTOR).replace("gfx942", "gfx1100")
    assert by_hand(text).metadata.wavefront_size == 32
    assert by_hand(text.replace("\t.end_", "\t.amdhsa_wavefront_size32 0\n\t.end_")).metadata.wavefront_size == 64


def test_target_that_contradicts_the_file() -> None:
    assert error(source(), "gfx950") == "k.s: the file is for gfx942, not for gfx950"


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(source())
    program = load(path)
    assert (program.name, program.target) == (str(path), "gfx942")
    assert program.kernel().instructions[0].operands[1] == Imm(4, "4")


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "k.s"
    path.write_text(source(), encoding="utf-8-sig")
    assert load(path).lines == parse(source()).lines


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot open: No such file or directory; check the path"),
        (b"\x7fELF\x02\x01", "this is a code object; disassemble it or pass the .s text"),
        (b"s_nop\0", "this is not a text file; pass the .s text of a kernel"),
        (b"\xfe\x80", "this is not a text file; pass the .s text of a kernel"),
        ("s_nop".encode("utf-16"), "this is UTF-16 text; save it as UTF-8"),
    ],
)
def test_load_refuses(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "k.s"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        load(path)
    assert str(caught.value) == f"{path}: {message}"
