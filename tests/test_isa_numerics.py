"""Every sum of products says how it is taken, and docs/numerics.md says the same."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from antiphase.isa import REGISTRY, Alu, Matrix, find

ROOT = Path(__file__).parent.parent
SUMS = [r for r in REGISTRY.all() if isinstance(r, Matrix) or r.name.startswith("v_dot")]
PARTS = re.compile(r"Order: \S.*\. Rounding: \S.*\. Denormals: \S.*\. Hardware: \S.*\.")


def test_every_modelled_sum_names_order_rounding_denormals_and_hardware() -> None:
    assert {r.name for r in SUMS if r.status == "modelled" and not PARTS.fullmatch(r.note)} == set()


def test_only_integer_sums_are_exact() -> None:
    exact = [r for r in SUMS if r.status == "exact"]
    results = {
        r.acc if isinstance(r, Matrix) else str(r.signature.results[0].type)
        for r in exact
        if isinstance(r, Matrix | Alu)
    }
    assert results <= {"i32", "u32"}


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("v_mfma_f32_16x16x16_f16", "gfx942", ("up to 8 products a step", "MMA-Sim")),
        ("v_mfma_f32_16x16x16_f16", "gfx950", ("not documented",)),
        ("v_mfma_f32_32x32x2_f32", "gfx942", ("Hardware: the same",)),
        ("v_mfma_f32_16x16x32_fp8_fp8", "gfx942", ("16 products, the even and the odd",)),
        ("v_mfma_scale_f32_16x16x128_f8f6f4", "gfx950", ("times the scale of its block",)),
        ("v_smfmac_f32_16x16x32_f16", "gfx942", ("the index picks", "not documented")),
        ("v_wmma_f16_16x16x16_f16", "gfx1151", ("narrowed after every 2 products", "measured on gfx1100 and gfx1151")),
        ("v_wmma_f32_16x16x16_f16", "gfx1201", ("4 products a step",)),
        ("v_wmma_f32_16x16x32_f16", "gfx1250", ("not documented",)),
        ("v_dot2_f32_f16", "gfx1151", ("as MODE says", "rocm-systems#12056")),
    ],
)
def test_what_is_known_of_each_family_is_said(name: str, target: str, words: tuple[str, ...]) -> None:
    record = find(name, target)
    assert record is not None
    assert [w for w in words if w not in record.note] == []
    assert f"`{name}`" in (ROOT / "docs/numerics.md").read_text()


def test_the_page_is_what_the_records_say() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools/numerics.py"], capture_output=True, text=True, check=True)
    assert (ROOT / "docs/numerics.md").read_text() == made.stdout, "run: python tools/numerics.py > docs/numerics.md"
