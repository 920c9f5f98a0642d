"""All operands of one matrix instruction on one target."""

from __future__ import annotations

from dataclasses import dataclass

from antiphase import arch
from antiphase.arch import Builtin, Fragment, OperandLayout, Place, broadcast_blocks, matrix_builtins, regroup_lanes
from antiphase.errors import UserError
from antiphase.isa import Matrix
from antiphase.isa.fragments import fragments
from antiphase.isa.scale_fragments import scale_fragments
from antiphase.layouts._find import aliases, find_form, wave_of
from antiphase.layouts._modifiers import Modifiers, modifiers
from antiphase.layouts._operand import Operand
from antiphase.layouts._sources import sources


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a wave keeps the operands of one matrix instruction.

    mnemonic, target, wave: "v_wmma_f32_16x16x16_f16", "gfx1100", lanes of the wave. aliases: other spellings.
    record: what antiphase knows of the instruction. operands: D, A, B, C, then index or scales. builtins: clang's, of
    this wave size. compiler: whose they are. sources: where the layout stands.
    """

    mnemonic: str
    target: str
    wave: int
    aliases: tuple[str, ...]
    record: Matrix
    modifiers: Modifiers
    operands: tuple[Operand, ...]
    builtins: tuple[Builtin, ...]
    compiler: str
    sources: tuple[str, ...]

    def operand(self, name: str) -> Operand:
        """The operand of that name, in any letter case. UserError, with the names there are, if there is none."""
        for each in self.operands:
            if each.name.lower() == name.lower():
                return each
        known = ", ".join(each.name for each in self.operands)
        raise UserError(f"{self.mnemonic} has no operand {name!r}", remedy=f"its operands are {known}")

    def builtin_type(self, name: str) -> tuple[int, str] | None:
        """(elements, type) that the builtins of this wave size have for an operand: (8, "f32"). None without one.

        Builtins of one instruction do not differ in this.
        """
        if not self.builtins:
            return None
        builtin = self.builtins[0]
        operands = builtin.operands
        extra = ("index",) if self.record.sparse else ("scale_a", "scale_b")
        known = {"D": builtin.result, **dict(zip(("A", "B", "C", *extra), operands, strict=False))}
        count, _, element = known[self.operand(name).name].rpartition("x")
        return int(count or 1), element

    def builtin_index(self, name: str, place: Place) -> int | None:
        """Which element of the builtin's vector a place is, None where the vector's elements are of another width."""
        found = self.builtin_type(name)
        bits = self.operand(name).bits
        if found is None or int(found[1].lstrip("bfi")) != bits:
            return None
        return (place.register * 32 + place.bit) // bits

    def __repr__(self) -> str:
        return f"<Layout {self.mnemonic} target={self.target!r} wave={self.wave}>"

    def _repr_html_(self) -> str:
        from antiphase.report.layout_html import layout_html

        return layout_html(self)


def layout(
    mnemonic: str,
    target: str = "gfx942",
    *,
    wave: int | None = None,
    formats: str | tuple[str, str] | None = None,
    opsel: tuple[int, int, int] = (0, 0, 0),
    cbsz: int = 0,
    abid: int = 0,
    blgp: int = 0,
    index_set: int | None = None,
    scale_select: tuple[int, int] = (0, 0),
) -> Layout:
    """Where the operands of a matrix instruction lie.

    mnemonic: also a clang builtin or LLVM intrinsic. wave: lanes; a builtin's own, else the target's default, if not
    given. formats: of A and B where the instruction chooses them: fp8, bf8, fp6, bf6, fp4, one for both or a pair.
    opsel: as in op_sel:[0,0,1]. cbsz, abid, blgp: as in the assembly text. index_set: which of the sets in a sparse
    index register (ABID or index_key). scale_select: for A and B, the byte (MFMA) or the half of the lanes (WMMA) that
    scales are read from.

    UserError for a name, target, wave size or modifier that does not exist together with the others.
    """
    where = arch.target(target)
    spelled, record = find_form(mnemonic, where.name)
    named = wave_of(mnemonic, where.name)
    if wave is not None and named not in (None, wave):
        raise UserError(f"{mnemonic} is for waves of {named} lanes", remedy=f"leave wave {wave} out")
    lanes = next(each for each in (wave, named, where.default_wave_size) if each is not None)
    if lanes not in where.wave_sizes:
        sizes = " or ".join(map(str, where.wave_sizes))
        raise UserError(f"{where.name} has no waves of {lanes} lanes", remedy=f"its waves have {sizes}")
    pair = (formats, formats) if isinstance(formats, str) else formats
    chosen = modifiers(
        spelled, record, lanes, formats=pair, opsel=opsel, cbsz=cbsz, abid=abid, blgp=blgp, index_set=index_set,
        scale_select=scale_select,
    )  # fmt: skip
    compiler, known = matrix_builtins()
    names = (spelled, *aliases(spelled, record, where.name))
    return Layout(
        mnemonic=spelled,
        target=where.name,
        wave=lanes,
        aliases=names[1:],
        record=record,
        modifiers=chosen,
        operands=tuple(_operands(record, lanes, chosen, has_agprs=where.has_agprs)),
        builtins=tuple(b for b in known if b.mnemonic in names and where.name in b.targets and b.wave == lanes),
        compiler=compiler.partition(":")[0],
        sources=sources(record, where.name),
    )


def _operands(r: Matrix, lanes: int, m: Modifiers, *, has_agprs: bool) -> list[Operand]:
    parts = fragments(r, lanes, m.formats, m.half, m.index_set)
    banks = ("v", "a") if has_agprs else ("v",)
    a_views = _views(parts.a, broadcast_blocks(parts.a.layout, m.cbsz, m.abid))
    b_views = _views(parts.b, regroup_lanes(parts.b.layout, m.blgp))
    result = (r.m, r.n, r.blocks)
    found = [
        Operand("D", r.acc, result, (parts.d,), False, banks),
        Operand("A", m.formats[0], (r.m, r.depth, r.blocks), a_views, False, banks),
        Operand("B", m.formats[1], (r.k, r.n, r.blocks), b_views, True, banks),
        Operand("C", r.start, result, (parts.c,), False, banks, "D" if r.sparse else ""),
    ]
    if parts.index is not None:
        found.append(Operand("index", "index", (r.m, r.depth, 1), (parts.index,), False, ("v",)))
    if r.scaled:
        scale_a, scale_b = scale_fragments(r, m.scale_select)
        groups, where = r.k // r.scale_block, ("v",) if r.family == "mfma" else ("v", "s")
        found.append(Operand("scale_a", "scale", (r.m, groups, 1), (scale_a,), False, where))
        found.append(Operand("scale_b", "scale", (groups, r.n, 1), (scale_b,), True, where))
    return found


def _views(fragment: Fragment, layouts: tuple[OperandLayout, ...]) -> tuple[Fragment, ...]:
    return tuple(Fragment(each, fragment.bits, fragment.stride, fragment.offset) for each in layouts)
