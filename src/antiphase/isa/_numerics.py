"""How sums of products are taken, in words: what the machine does, and what is known of hardware."""

from __future__ import annotations

from dataclasses import dataclass, fields

MMA_SIM = "microsoft/MMA-Sim (arXiv 2511.10909), compared bit for bit with an MI300X"


@dataclass(frozen=True, slots=True)
class Numerics:
    """order, rounding, denormals: of the machine. hardware: whether it is known to differ, and from where."""

    order: str
    rounding: str
    denormals: str
    hardware: str

    def note(self) -> str:
        """All four, each under its name."""
        return " ".join(f"{part.name.capitalize()}: {getattr(self, part.name)}." for part in fields(self))


FROM_C = "from C on, a product at a time, in order of k"
SCALED = f"every element times the scale of its block in f32, then {FROM_C}"
CHOSEN = "from D on, a product at a time, in order of k, with the row of B that the index picks"
FUSED = "every product is added by one fused multiply-add in {0} to nearest even, whatever MODE says"
KEPT = "kept everywhere, whatever MODE says"
UNKNOWN = "order and internal width are not documented and no measurement is public, so last bits may differ"
ALIGNED = (
    f"differs in last bits: {{0}} a step, each cut to 24 fractional bits of the largest, their sum and C "
    f"rounded down on a common grid, the step's result to nearest even ({MMA_SIM})"
)
"""CDNA 3; which products is to be filled in."""
_STEPS = {"xf32": "4 products", "fp8": "16 products, the even and the odd ones apart,"}
SAME = f"the same ({MMA_SIM})"


def matrix_numerics(inputs: str, work: str, *, scaled: bool = False, sparse: bool = False, measured: bool) -> str:
    """The note of an MFMA or SMFMAC with sums in `work`. measured: a CDNA 3 form whose hardware has been measured."""
    order = SCALED if scaled else CHOSEN if sparse else FROM_C
    rounding = FUSED.format(work)
    if inputs == "xf32":
        rounding = f"inputs cut to 10 bits of mantissa, then {rounding}"
    hardware = UNKNOWN
    if measured:
        hardware = SAME if inputs in ("f64", "f32") else ALIGNED.format(_STEPS.get(inputs, "up to 8 products"))
    return Numerics(order, rounding, KEPT, hardware).note()


def dot_numerics(work: str, *, reported: bool) -> str:
    """The note of a dot product summed in `work`. reported: gfx1151 is one of its targets."""
    rounding = f"every product is added by one fused multiply-add in {work} to nearest even or as MODE says"
    denormals = "kept" if work == "bf16" else f"of the inputs kept, those of {work} as MODE says"
    hardware = UNKNOWN
    if reported:
        hardware = (
            "differs in last bits on gfx1151, where products are aligned and cut and not rounded one by one "
            "(ROCm/rocm-systems#12056); elsewhere not documented"
        )
    order = "from the accumulator on, a product at a time, the lowest first"
    return Numerics(order, rounding, denormals, hardware).note()
