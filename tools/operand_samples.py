"""What tools/operand_forms.py tries: operands, modifiers, and lines that are near one that assembles."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from assembler_forms import line as plain_line

from antiphase.asm import Instruction, Operand, Reg, parse_instruction
from antiphase.asm._operand_kinds import kinds, modifier_kind
from antiphase.frontends._llvm import assembler

_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32)
_VALU_WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 32)
_SCALAR_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 16)
NAMED = (
    "vcc vcc_lo vcc_hi exec exec_lo exec_hi m0 scc vccz execz null off flat_scratch flat_scratch_lo flat_scratch_hi "
    "xnack_mask xnack_mask_lo xnack_mask_hi lds_direct src_shared_base src_shared_limit src_private_base "
    "src_private_limit src_pops_exiting_wave_id src_flat_scratch_base_lo src_flat_scratch_base_hi"
)
_CONSTANTS = (
    "0 1 64 -16 65 255 256 0xf000 65536 0xfffff 0x100000 0x7fffff 0x800000 0xf0000000 0x100000000 0x123456789abcdef0 "
    "-17 -32768 -32769 -0x80000 -0x80001 -0x400000 -0x400001 -0x80000000 -0x80000001 -0x123456789abcde "
    "0xfff0 0xfffffff0 0xfffffffffffffff0 0x3c00 0x3f80 0x3f800000 0x3ff0000000000000 0.5 -4.0 0.3 3.0"
)
_COUNTERS = "vmcnt lgkmcnt expcnt vscnt loadcnt storecnt dscnt kmcnt samplecnt bvhcnt asynccnt tensorcnt"
_DELAYS = (
    "NO_DEP VALU_DEP_1 VALU_DEP_2 VALU_DEP_3 VALU_DEP_4 TRANS32_DEP_1 TRANS32_DEP_2 TRANS32_DEP_3 FMA_ACCUM_CYCLE_1 "
    "SALU_CYCLE_1 SALU_CYCLE_2 SALU_CYCLE_3"
)
_SKIPS = "SAME NEXT SKIP_1 SKIP_2 SKIP_3 SKIP_4"
_STALLS = "hold_cnt sa_sdst va_sdst va_ssrc va_vcc va_vdst vm_vsrc"
_IN_LIBRARY = re.compile(rb"\b(?:MSG|HW_REG)_[A-Z0-9_]+(?=\0)")  # names of messages and hardware registers
FEW = "v64 v[64:65] v[64:67] v[64:71] s8 s[8:9] s[8:11] s[8:15] a64 a[64:65] a[64:67] off null 1 v64.l 0xf0000000 end"
FEW_OF_VALU = "v64 v[64:65] v[64:67] s8 s[8:9] 1 v64.l"
SIGNED = ("-{}", "|{}|", "sext({})")
SIGNABLE = ("v8", "v[8:9]", "v[8:11]", "s8", "s[8:9]", "v8.l", "v8.h", "a8")

DPP = (
    "quad_perm:[0,1,2,3] row_shl:1 row_shr:1 row_ror:1 wave_shl:1 wave_shr:1 wave_rol:1 wave_ror:1 row_mirror "
    "row_half_mirror row_bcast:15 row_newbcast:1 row_share:1 row_xmask:1 dpp8:[0,1,2,3,4,5,6,7]"
)
_PLAIN = (
    "offset:8 offset:-8 offset:swizzle(SWAP,1) offset0:1 offset1:1 op_sel:[0] op_sel:[0,0] op_sel:[0,0,0] "
    "op_sel:[0,0,0,0] op_sel:[1,1] op_sel:[1,1,1] op_sel:[1,0,0,0] op_sel_hi:[0] op_sel_hi:[0,0] op_sel_hi:[0,0,0] "
    "neg_lo:[0] neg_lo:[1,0] neg_lo:[0,0] neg_lo:[0,0,0] neg_lo:[0,0,1] neg_hi:[0] neg_hi:[1,0] neg_hi:[0,0] "
    "neg_hi:[0,0,0] neg_hi:[0,0,1] neg:[1,0,0] mul:2 div:2 row_mask:0xf bank_mask:0xf bound_ctrl:0 bound_ctrl:1 fi:1 "
    "dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD cbsz:1 abid:1 blgp:1 byte_sel:1 byte_sel:0 "
    "bitop3:1 index_key:1 index_key:0 dmask:1 dim:SQ_RSRC_IMG_1D format:1 format:[BUF_FMT_32_FLOAT] "
    "wait_vdst:1 wait_exp:1 wait_va_vdst:1 wait_vm_vsrc:1 scale_sel:1 scale_sel:0 matrix_a_scale:1 "
    "matrix_a_scale:MATRIX_SCALE_ROW1 matrix_b_scale:MATRIX_SCALE_ROW1 "
    "glc slc dlc scc sc0 sc1 nt nv lds offen idxen addr64 tfe lwe gds d16 a16 r128 da unorm high clamp done "
    "scale_offset matrix_a_reuse matrix_b_reuse scope:SCOPE_CU scope:SCOPE_SE scope:SCOPE_DEV scope:SCOPE_SYS"
)
MODIFIERS = [
    *_PLAIN.split(),
    *(f"th:TH_{kind}_{name}" for kind in ("LOAD", "STORE") for name in (
        "RT", "NT", "HT", "LU", "BYPASS", "NT_RT", "RT_NT", "NT_HT", "NT_WB", "WB", "RT_WB", "RESERVED")),
    *(f"th:TH_ATOMIC_{name}" for name in (
        "RT", "NT", "RETURN", "RT_RETURN", "NT_RETURN", "CASCADE_RT", "CASCADE_NT", "CASCADE_RT_RETURN")),
    *(f"matrix_{side}_fmt:MATRIX_FMT_{name}" for side in "ab" for name in ("FP8", "BF8", "FP6", "BF6", "FP4")),
    *(f"matrix_{side}_scale_fmt:MATRIX_SCALE_FMT_{name}" for side in "ab" for name in ("E8", "E5M3", "E4M3")),
]  # fmt: skip
SUFFIXES = {
    "": ("",), "_e32": ("",), "_e64": ("",),
    "_dpp": (" quad_perm:[0,1,2,3]", " dpp8:[0,1,2,3,4,5,6,7]"),
    "_e64_dpp": (" quad_perm:[0,1,2,3]", " dpp8:[0,1,2,3,4,5,6,7]"),
    "_sdwa": (" dst_sel:DWORD src0_sel:DWORD src1_sel:DWORD", " src0_sel:DWORD src1_sel:DWORD",
              " dst_sel:DWORD src0_sel:DWORD", ""),
}  # fmt: skip
TAILS = (
    "",
    " offen lds",
    " idxen lds",
    " idxen offen lds",
    " lds",
    " gds",
    " glc",
    " sc0",
    " th:TH_ATOMIC_RETURN",
    " offen",
    " idxen",
    " idxen offen",
    " tfe",
)
SCALAR_TAILS = ("", " glc")  # other words behind scalar operands are read as symbols
MEMORY = ("buffer_", "cluster_", "ds_", "flat_", "global_", "scratch_", "tbuffer_", "tensor_", "s_", "lds_")
_MASKS = ("vcc", "vcc_lo", "s0", "s[0:1]")
SECOND_HALVES = ("v_dual_add_nc_u32", "v_dual_and_b32", "v_dual_lshlrev_b32")
EVEN = ("gfx942", "gfx950", "gfx1250")  # targets that want some register tuples to start at an even one

Seed = tuple[str, tuple[str, ...], str]
"""Mnemonic, operands, and modifiers with a blank before each."""


DPP_KINDS = frozenset(word.partition(":")[0] for word in DPP.split())
HINTS = tuple(word for word in MODIFIERS if word.startswith("th:"))


def line(name: str, operands: Sequence[str], tail: str) -> str:
    """Some dual-issue instructions are second halves alone."""
    if name in SECOND_HALVES:
        return f"v_dual_mov_b32 v7, v2 :: {name} {', '.join(operands)}{tail}"
    return plain_line(name, operands, tail)


def is_valu(name: str) -> bool:
    return name.startswith("v_") and not name.startswith(("v_mfma", "v_smfmac", "v_wmma", "v_swmmac"))


def samples(target: str, valu: bool) -> list[tuple[str, str]]:
    """Kind and text of every operand that is tried. valu: those of a vector instruction alone."""
    old = target in ("gfx942", "gfx950")
    widths = _VALU_WIDTHS if valu else _WIDTHS
    texts = [*NAMED.split(), *_CONSTANTS.split(), "end"]
    for bank in "va" if old else "v":
        # behind those that a line starts with: the result of a matrix instruction may not overlap its sources
        texts += [_registers(bank, 64, n) for n in widths]
        texts += [_registers(bank, 65, n) for n in widths if n > 1 and target in EVEN]
    scalar = [n for n in _SCALAR_WIDTHS if n <= 4 or not valu]
    texts += ["v200", "ttmp[0:15]"]
    texts += [_registers("s", 8, n) for n in scalar] + [_registers("ttmp", 4, n) for n in scalar if n <= 8]
    texts += [] if old else [f"v{n}.{half}" for n in (64, 200) for half in "lh"]
    texts += [] if valu else _calls()
    return [(kind, text) for text in texts for kind in kinds(operand_of(text))]


@functools.cache
def _calls() -> list[str]:
    names = sorted({match.decode() for match in _IN_LIBRARY.findall(assembler().path.read_bytes())})
    return [
        *(f"sendmsg({name})" for name in ("1", *names) if not name.startswith("HW_REG")),
        *(f"hwreg({name})" for name in ("1", *names) if not name.startswith("MSG")),
        *(f"{name}{sat}(0)" for name in _COUNTERS.split() for sat in ("", "_sat")),
        *(f"depctr_{name}(0)" for name in _STALLS.split()),
        *(f"instid{i}({name})" for i in (0, 1) for name in _DELAYS.split()),
        *(f"gpr_idx({name})" for name in ("SRC0", "SRC0,SRC1", "DST")),
        *(f"instskip({name})" for name in _SKIPS.split()),
    ]


def operand_of(text: str) -> Operand:
    """As the operand of a line, where counters are told from other calls."""
    return parse_instruction(f"s_nop {text}").operands[0]


def _registers(bank: str, first: int, count: int) -> str:
    return f"{bank}{first}" if count == 1 else f"{bank}[{first}:{first + count - 1}]"


def with_accumulators(seed: Seed) -> Iterator[Seed]:
    """Any of the VGPRs as AGPRs: data operands are all of one kind."""
    name, given, tail = seed
    vectors = [i for i, text in enumerate(given) if accumulators(text)]
    for count in range(2, len(vectors) + 1):
        for chosen in itertools.combinations(vectors, count):
            texts = [accumulators(text)[0] if i in chosen else text for i, text in enumerate(given)]
            yield name, tuple(texts), tail


def with_base(seed: Seed) -> Iterator[Seed]:
    """A base in SGPRs behind the operands, and an offset in one VGPR before the data."""
    name, given, tail = seed
    for place in range(len(given)):
        yield name, (*given[:place], "v64", *given[place + 1 :], "s[8:9]"), tail


def accumulators(text: str) -> list[str]:
    operand = operand_of(text)
    return [_registers("a", 64, operand.count)] if isinstance(operand, Reg) and operand.bank == "v" else []


def with_scope(word: str) -> str:
    """Loads and stores bypass caches with the widest scope alone."""
    return f"{word} scope:SCOPE_SYS" if word.endswith("_BYPASS") else word


def sign_of(text: str) -> str:
    return "neg" if text[0] == "-" else "abs" if text[0] == "|" else "sext"


def modifier_of(word: str) -> str:
    (one,) = parse_instruction(f"v_nop v0 {word}").modifiers
    return modifier_kind(*one)


def variants(operands: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for halves in (operands, *_with_halves(operands)):
        yield halves
        yield from _with_masks(halves)


def formatted(operands: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Operands and modifiers of matrix instructions whose formats say how many registers A and B take."""
    d, _, _, *more = operands
    sides = [_registers("v", 0, n) for n in (4, 6, 8, 12, 16)]
    formats = ("FP8", "BF6", "FP4")
    tails = [f" cbsz:{a} blgp:{b}" for a, b in itertools.product((1, 2, 4), repeat=2)]
    tails += [
        f" matrix_a_fmt:MATRIX_FMT_{a} matrix_b_fmt:MATRIX_FMT_{b}" for a, b in itertools.product(formats, repeat=2)
    ]
    for a, b, tail in itertools.product(sides, sides, tails):
        yield (d, a, b, *more), tail


def matrix_operands(name: str) -> Iterator[tuple[str, ...]]:
    """Matrix operands of any widths: those of one instruction differ with the wave size."""
    texts = [_registers("v", 0, n) for n in (1, 2, 4, 8, 16)]
    for d, a, b in itertools.product(texts, repeat=3):
        yield (d, a, b, "v0" if name.startswith("v_swmmac") else d)


def _with_halves(operands: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The operands with VGPRs for scalars and constants, and 16-bit names for all VGPRs, the sources, or the result."""
    vectors = tuple("v0" if text in ("s0", "0", "1", "v0.l") else text for text in operands)
    yield vectors
    for texts in (vectors, operands):
        for places in (range(len(texts)), range(1, len(texts)), range(1)):
            yield tuple(f"{text}.l" if i in places and text == "v0" else text for i, text in enumerate(texts))


def _with_masks(operands: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The operands with any mask where one may be, and VGPRs for other scalars and constants."""
    masks = [i for i, text in enumerate(operands) if text in _MASKS]
    for chosen in itertools.product(_MASKS, repeat=len(masks)) if masks else ():
        given = list(operands)
        for i, text in zip(masks, chosen, strict=True):
            given[i] = text
        yield tuple(given)
        yield tuple("v0" if text in ("0", "1", "v0.l") else text for text in given)


def seed_of(form: str) -> Seed:
    one = parse_instruction(form)
    text = Instruction(one.mnemonic, (), one.modifiers).text().removeprefix(one.mnemonic)
    return one.mnemonic, tuple(map(str, one.operands)), text
