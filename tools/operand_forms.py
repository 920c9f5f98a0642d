"""Remakes src/antiphase/arch/data/operands.tsv: what operands and modifiers LLVM's assembler takes.

Takes a quarter of an hour and the `triton` extra.

    python tools/operand_forms.py > src/antiphase/arch/data/operands.tsv

A form of an instruction is a set of kinds for each operand (`asm/_operand_kinds.py`), any combination of which
assembles. It is found by putting a sample of every kind in each place of a line that does; lines with two places
changed that assemble and are in no form yet start another. Targets that differ in the last digit are asked once.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assembler_forms import families
from assembler_forms import line as plain_line

from antiphase import arch
from antiphase.asm import Instruction, Operand, Reg, parse_instruction
from antiphase.asm._operand_kinds import kinds, modifier_kind, satisfies
from antiphase.frontends._llvm import Isolated, assembler

_ASKED = ("gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1200", "gfx1250")
_FEATURES = ("", "-real-true16", "+wavefrontsize64")  # the latter two of targets that have a choice

_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32)
_VALU_WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 32)
_SCALAR_WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 16)
_NAMED = (
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
_FEW = "v64 v[64:65] v[64:67] v[64:71] s8 s[8:9] s[8:11] s[8:15] a64 a[64:65] a[64:67] off null 1 v64.l 0xf0000000 end"
_FEW_OF_VALU = "v64 v[64:65] v[64:67] s8 s[8:9] 1 v64.l"
_SIGNED = ("-{}", "|{}|", "sext({})")
_SIGNABLE = ("v8", "v[8:9]", "v[8:11]", "s8", "s[8:9]", "v8.l", "v8.h", "a8")

_DPP = (
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
_MODIFIERS = [
    *_PLAIN.split(),
    *(f"th:TH_{kind}_{name}" for kind in ("LOAD", "STORE") for name in (
        "RT", "NT", "HT", "LU", "BYPASS", "NT_RT", "RT_NT", "NT_HT", "NT_WB", "WB", "RT_WB", "RESERVED")),
    *(f"th:TH_ATOMIC_{name}" for name in (
        "RT", "NT", "RETURN", "RT_RETURN", "NT_RETURN", "CASCADE_RT", "CASCADE_NT", "CASCADE_RT_RETURN")),
    *(f"matrix_{side}_fmt:MATRIX_FMT_{name}" for side in "ab" for name in ("FP8", "BF8", "FP6", "BF6", "FP4")),
    *(f"matrix_{side}_scale_fmt:MATRIX_SCALE_FMT_{name}" for side in "ab" for name in ("E8", "E5M3", "E4M3")),
]  # fmt: skip
_SUFFIXES = {
    "": ("",), "_e32": ("",), "_e64": ("",),
    "_dpp": (" quad_perm:[0,1,2,3]", " dpp8:[0,1,2,3,4,5,6,7]"),
    "_e64_dpp": (" quad_perm:[0,1,2,3]", " dpp8:[0,1,2,3,4,5,6,7]"),
    "_sdwa": (" dst_sel:DWORD src0_sel:DWORD src1_sel:DWORD", " src0_sel:DWORD src1_sel:DWORD",
              " dst_sel:DWORD src0_sel:DWORD", ""),
}  # fmt: skip
_TAILS = (
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
_SCALAR_TAILS = ("", " glc")  # other words behind scalar operands are read as symbols
_MEMORY = ("buffer_", "cluster_", "ds_", "flat_", "global_", "scratch_", "tbuffer_", "tensor_", "s_", "lds_")
_MASKS = ("vcc", "vcc_lo", "s0", "s[0:1]")
_SECOND_HALVES = ("v_dual_add_nc_u32", "v_dual_and_b32", "v_dual_lshlrev_b32")
_EVEN = ("gfx942", "gfx950", "gfx1250")  # targets that want some register tuples to start at an even one
_MOST_FORMS = 24

Seed = tuple[str, tuple[str, ...], str]
"""Mnemonic, operands, and modifiers with a blank before each."""


@dataclass(frozen=True)
class Form:
    operands: tuple[frozenset[str], ...]
    modifiers: frozenset[str]
    needed: frozenset[str]

    def has(self, one: Instruction) -> bool:
        given = {modifier_kind(*each) for each in one.modifiers}
        return (
            len(one.operands) == len(self.operands)
            and given <= self.modifiers
            and all(any(satisfies(kind, need) for kind in given) for need in self.needed)
            and all(map(frozenset.issubset, map(kinds, one.operands), self.operands))
        )


_DPP_KINDS = frozenset(word.partition(":")[0] for word in _DPP.split())
_HINTS = tuple(word for word in _MODIFIERS if word.startswith("th:"))


def line(name: str, operands: Sequence[str], tail: str) -> str:
    """Some dual-issue instructions are second halves alone."""
    if name in _SECOND_HALVES:
        return f"v_dual_mov_b32 v7, v2 :: {name} {', '.join(operands)}{tail}"
    return plain_line(name, operands, tail)


def _is_valu(name: str) -> bool:
    return name.startswith("v_") and not name.startswith(("v_mfma", "v_smfmac", "v_wmma", "v_swmmac"))


def samples(target: str, valu: bool) -> list[tuple[str, str]]:
    """Kind and text of every operand that is tried. valu: those of a vector instruction alone."""
    old = target in ("gfx942", "gfx950")
    widths = _VALU_WIDTHS if valu else _WIDTHS
    texts = [*_NAMED.split(), *_CONSTANTS.split(), "end"]
    for bank in "va" if old else "v":
        # behind those that a line starts with: the result of a matrix instruction may not overlap its sources
        texts += [_registers(bank, 64, n) for n in widths]
        texts += [_registers(bank, 65, n) for n in widths if n > 1 and target in _EVEN]
    scalar = [n for n in _SCALAR_WIDTHS if n <= 4 or not valu]
    texts += ["v200", "ttmp[0:15]"]
    texts += [_registers("s", 8, n) for n in scalar] + [_registers("ttmp", 4, n) for n in scalar if n <= 8]
    texts += [] if old else [f"v{n}.{half}" for n in (64, 200) for half in "lh"]
    texts += [] if valu else _calls()
    return [(kind, text) for text in texts for kind in kinds(_operand(text))]


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


def _operand(text: str) -> Operand:
    """As the operand of a line, where counters are told from other calls."""
    return parse_instruction(f"s_nop {text}").operands[0]


def _registers(bank: str, first: int, count: int) -> str:
    return f"{bank}{first}" if count == 1 else f"{bank}[{first}:{first + count - 1}]"


class Prober:
    """Asks the assembler for one target with one set of features."""

    def __init__(self, target: str, features: str) -> None:
        self.target = target
        self._tool = Isolated(assembler(), features)
        self._samples = {valu: samples(target, valu) for valu in (True, False)}

    def accepted(self, lines: Sequence[str]) -> list[bool]:
        found: list[bool] = []
        for start in range(0, len(lines), 50_000):
            part = lines[start : start + 50_000]
            refused = self._tool.refusals(part, self.target)
            found += [index not in refused for index in range(len(part))]
        return found

    def seeds(self) -> list[Seed]:
        """One line of each mnemonic that assembles, and of each encoding of vector instructions."""
        tried: list[Seed] = []
        for form in arch.assembler_inventory().accepted(self.target).values():
            if form:
                name, operands, tail = _split(form)
                suffixes = _SUFFIXES if name.startswith("v_") and not name.startswith("v_dual_") else {"": ("",)}
                # scalar sources of a packed f32 are read as one word for both halves
                halves = ("", " op_sel_hi:[0,0]", " op_sel_hi:[0,0,0]") if name.startswith("v_pk_") else ("",)
                tried += [
                    (name + suffix, given, tail + more + half)
                    for suffix, all_ in suffixes.items()
                    for more in all_
                    for half in halves
                    for given in dict.fromkeys(_variants(operands))
                ]
                if "f8f6f4" in name:
                    tried += [(f"{name}_e64", *each) for each in _formatted(operands)]
                if name.startswith(("v_wmma", "v_swmmac")):
                    tried += [(f"{name}_e64", given, "") for given in _matrix_operands(name)]
        tried += [(name, ("v0", "v0", "v0"), "") for name in _SECOND_HALVES]
        found = self.good(tried)
        known = arch.assembler_inventory().mnemonics
        encoded = {name.removesuffix(end) for name, *_ in found for end in _SUFFIXES if end and name.endswith(end)}
        return [seed for seed in found if seed[0] not in encoded or seed[0] not in known]

    def good(self, seeds: Sequence[Seed]) -> list[Seed]:
        return [seed for seed, good in zip(seeds, self.accepted([line(*each) for each in seeds]), strict=True) if good]

    def forms(self, seeds: Sequence[Seed]) -> list[Form]:
        operands: list[list[set[str]]] = [[set() for _ in seed[1]] for seed in seeds]
        tried, places = [], []
        for index, (name, given, tail) in enumerate(seeds):
            for place in range(len(given)):
                texts = [*self._samples[_is_valu(name)], *(("", each) for each in self._signed(given[place]))]
                tried += [line(name, (*given[:place], text, *given[place + 1 :]), tail) for _, text in texts]
                places += [(index, place, kind or _sign(text)) for kind, text in texts]
        for (index, place, kind), good in zip(places, self.accepted(tried), strict=True):
            if good:
                operands[index][place].add(kind)
                if kind[0] == "v" and kind[1:].isdigit() and kind != "v1" and self.target not in _EVEN:
                    operands[index][place].add(f"{kind}o")
        modifiers, needed = self._modifiers(seeds)
        return [
            Form(tuple(map(frozenset, sets)), frozenset(modifiers[index]), frozenset(needed[index]))
            for index, sets in enumerate(operands)
        ]

    def _signed(self, base: str) -> list[str]:
        """Input modifiers are tried on registers that may stand there; most places take a register."""
        texts = (base, *_SIGNABLE) if base[0] in "vsa" and base not in _NAMED else _SIGNABLE
        return [sign.format(text) for sign in _SIGNED for text in dict.fromkeys(texts)]

    def _modifiers(self, seeds: Sequence[Seed]) -> tuple[list[set[str]], list[set[str]]]:
        found: list[set[str]] = []
        needed: list[set[str]] = [set() for _ in seeds]
        tried, places = [], []
        for index, (name, given, tail) in enumerate(seeds):
            words = tail.split()
            found.append({_modifier(word) for word in words})
            for word in words:
                rest = "".join(f" {other}" for other in words if other != word)
                tried.append(line(name, given, rest))
                places.append((index, word, True))
                instead = _DPP.split() if _modifier(word) in _DPP_KINDS else _HINTS if word.startswith("th:") else ()
                tried += [line(name, given, f" {other}{rest}") for other in instead]
                places += [(index, other, False) for other in instead]
            # some orders of modifiers are refused
            for at in range(len(words) + 1):
                before, behind = ("".join(f" {other}" for other in part) for part in (words[:at], words[at:]))
                tried += [line(name, given, f"{before} {word}{behind}") for word in _MODIFIERS]
                places += [(index, word, False) for word in _MODIFIERS]
        for (index, word, without), good in zip(places, self.accepted(tried), strict=True):
            kind = _modifier(word)
            if without and not good:
                needed[index].add("dpp" if kind in _DPP_KINDS else "th" if kind.startswith("th:") else kind)
            elif good and not without:
                found[index].add(kind)
        return found, needed

    def neighbours(self, seed: Seed, form: Form) -> Iterator[Seed]:
        """Lines two steps away that the form does not have."""
        name, given, tail = seed
        few = (_FEW_OF_VALU if _is_valu(name) else _FEW).split()
        for i, j in itertools.combinations(range(len(given)), 2):
            for a, b in itertools.product([*few, *_accumulators(given[i])], [*few, *_accumulators(given[j])]):
                if not (kinds(_operand(a)) <= form.operands[i] and kinds(_operand(b)) <= form.operands[j]):
                    operands = list(given)
                    operands[i], operands[j] = a, b
                    yield name, tuple(operands), tail
        tails = _SCALAR_TAILS if name.startswith("s_") else _TAILS if name.startswith(_MEMORY) else (tail,)
        for more in tails:
            if not given:
                yield from ((name, (text,), "") for text in few)
                return
            yield name, given, more
            for i in range(len(given) + 1):
                yield name, (*given[:i], *given[i + 1 :]), more
                for text in few:
                    yield name, (*given[:i], text, *given[i:]), more
                    if i < len(given):
                        yield name, (*given[:i], text, *given[i + 1 :]), more
        if name.startswith(_MEMORY) and not name.startswith("s_"):
            yield from _with_accumulators(seed)
            yield from _with_base(seed)
        for i, j in itertools.permutations(range(len(given)), 2) if name.startswith(_MEMORY) else ():
            yield name, given[:i], tail
            for text in few:
                replaced = (*given[:j], text, *given[j + 1 :])
                yield name, (*replaced[:i], *replaced[i + 1 :]), tail


def _with_accumulators(seed: Seed) -> Iterator[Seed]:
    """Any of the VGPRs as AGPRs: data operands are all of one kind."""
    name, given, tail = seed
    vectors = [i for i, text in enumerate(given) if _accumulators(text)]
    for count in range(2, len(vectors) + 1):
        for chosen in itertools.combinations(vectors, count):
            texts = [_accumulators(text)[0] if i in chosen else text for i, text in enumerate(given)]
            yield name, tuple(texts), tail


def _with_base(seed: Seed) -> Iterator[Seed]:
    """A base in SGPRs behind the operands, and an offset in one VGPR before the data."""
    name, given, tail = seed
    for place in range(len(given)):
        yield name, (*given[:place], "v64", *given[place + 1 :], "s[8:9]"), tail


def _accumulators(text: str) -> list[str]:
    operand = _operand(text)
    return [_registers("a", 64, operand.count)] if isinstance(operand, Reg) and operand.bank == "v" else []


def _sign(text: str) -> str:
    return "neg" if text[0] == "-" else "abs" if text[0] == "|" else "sext"


def _modifier(word: str) -> str:
    (one,) = parse_instruction(f"v_nop v0 {word}").modifiers
    return modifier_kind(*one)


def _variants(operands: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for halves in (operands, *_with_halves(operands)):
        yield halves
        yield from _with_masks(halves)


def _formatted(operands: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
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


def _matrix_operands(name: str) -> Iterator[tuple[str, ...]]:
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


def _split(form: str) -> Seed:
    one = parse_instruction(form)
    text = Instruction(one.mnemonic, (), one.modifiers).text().removeprefix(one.mnemonic)
    return one.mnemonic, tuple(map(str, one.operands)), text


def _parsed(seed: Seed) -> Instruction:
    one = parse_instruction(line(*seed))
    return one.pair if one.pair is not None and one.pair.mnemonic == seed[0] else one


def explore(prober: Prober, seeds: Sequence[Seed]) -> dict[str, list[Form]]:
    """All forms of each mnemonic, from one or more lines of it."""
    found: dict[str, list[Form]] = {}
    others: dict[str, list[tuple[Seed, Instruction]]] = {}
    work = list(seeds)
    while work:
        fresh = prober.forms(work)
        for (name, *_), form in zip(work, fresh, strict=True):
            found.setdefault(name, []).append(form)
        tried = [each for seed, form in zip(work, fresh, strict=True) for each in prober.neighbours(seed, form)]
        for seed in prober.good(list(dict.fromkeys(tried))):
            others.setdefault(seed[0], []).append((seed, _parsed(seed)))
        for name, lines in others.items():
            lines[:] = [each for each in lines if not any(form.has(each[1]) for form in found[name])]
        # one of each mnemonic a round: its form may have the others
        work = [lines.pop(0)[0] for name, lines in others.items() if lines and len(found[name]) < _MOST_FORMS]
        print(f"{prober.target}: {len(found)} mnemonics, {len(work)} more forms", file=sys.stderr, flush=True)
    return {name: _largest(forms) for name, forms in found.items()}


def _largest(forms: Sequence[Form]) -> list[Form]:
    """Without those that another form contains."""
    forms = list(dict.fromkeys(forms))
    return [form for form in forms if not any(_within(form, other) for other in forms if other is not form)]


def _within(form: Form, other: Form) -> bool:
    return (
        len(form.operands) == len(other.operands)
        and form.modifiers <= other.modifiers
        and other.needed <= form.needed
        and all(map(frozenset.issubset, form.operands, other.operands))
    )


def of_target(target: str) -> dict[str, list[Form]]:
    """The forms for a target, whatever its wave size and however 16-bit registers are named."""
    plain = Prober(target, "")
    seeds = plain.seeds()
    found = explore(plain, seeds)
    for features in _FEATURES[1:] if target not in ("gfx942", "gfx950") else ():
        other = Prober(target, features)
        theirs = other.seeds()
        close = {seed: _close(seed) for seed in {*seeds, *theirs}}
        lines = [line(*each) for each in itertools.chain.from_iterable(close.values())]
        differ = dict(zip(lines, map(bool.__ne__, plain.accepted(lines), other.accepted(lines)), strict=True))
        names = {seed[0] for seed, near in close.items() if any(differ[line(*each)] for each in near)}
        lacking = names.difference(name for name, *_ in theirs)
        near = other.good([each for seed, all_ in close.items() if seed[0] in lacking for each in all_])
        starts = [*(seed for seed in theirs if seed[0] in names), *{seed[0]: seed for seed in near}.values()]
        for name, forms in explore(other, starts).items():
            found[name] = _largest([*found.get(name, ()), *forms])
    return found


def _close(seed: Seed) -> list[Seed]:
    name, given, tail = seed
    places = range(len(given))
    words = (*_FEW.split(), "vcc", "vcc_lo")
    return [seed, *((name, (*given[:i], text, *given[i + 1 :]), tail) for i in places for text in words)]


def main() -> None:
    with multiprocessing.Pool(2) as pool:
        forms = pool.map(of_target, _ASKED, chunksize=1)
    write(dict(zip(map(str, _ASKED), forms, strict=True)))


def write(found: Mapping[str, Mapping[str, Sequence[Form]]]) -> None:
    """Print the table of what was found, by target asked and mnemonic."""
    by_form: dict[tuple[str, Form], list[str]] = {}
    for asked, forms in found.items():
        for name, all_ in forms.items():
            for form in all_:
                by_form.setdefault((name, form), []).extend(_alike(asked))
    numbers: dict[frozenset[str], int] = {}
    rows: dict[tuple[str, ...], list[str]] = {}
    for (name, form), targets in sorted(by_form.items(), key=lambda item: (item[0][0], len(item[0][1].operands))):
        sets = [numbers.setdefault(each, len(numbers)) for each in (*form.operands, form.modifiers)]
        row = " ".join(map(str, sets)), " ".join(sorted(form.needed)), " ".join(families(targets))
        rows.setdefault(row, []).append(name)
    print(f"# LLVM {assembler().revision.partition('-')[0]}, the assembler inside the Triton 3.9.0 wheel.")
    print("# Remade by tools/operand_forms.py. gfx110x is gfx1100 to gfx1103, and so on.")
    print("# First the sets, by number, then the forms: the sets of the operands in order and last that of the")
    print("# modifiers, the modifiers it must have, the targets, the mnemonics")
    for words, number in numbers.items():
        print(number, " ".join(sorted(words)), sep="\t")
    for (sets, needed, targets), names in rows.items():
        print(sets, needed, targets, " ".join(names), sep="\t")


def _alike(asked: str) -> list[str]:
    """The targets that the answer of one holds for."""
    if asked in _EVEN:
        return [asked]
    return [each.name for each in arch.targets() if each.name[:-1] == asked[:-1]]


if __name__ == "__main__":
    main()
