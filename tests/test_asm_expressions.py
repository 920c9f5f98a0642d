"""Numbers that LLVM leaves to the assembler."""

import pytest

from antiphase.asm._expressions import evaluate

SYMBOLS = {
    "k.num_vgpr": "max(43, amdgpu.max_num_vgpr, .Lf$x.num_vgpr)",
    "k.num_agpr": "max(0, amdgpu.max_num_agpr)",
    ".Lf$x.num_vgpr": "7",
    "amdgpu.max_num_vgpr": "66",
    "amdgpu.max_num_agpr": "10",
    "loop": "1+again",
    "again": "loop",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x10", 16),
        ("010", 8),
        ("max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)", 68 + 10),
        ("(((((alignto(max(1, k.num_vgpr), 4)/4)-1)&~65536)&63)+1)*4", 68),
        ("(((((alignto(5, 4)/4)<<14)&~4080)|80)&114688)>>14", 2),
        ("max(56+(extrasgprs(1, 1, 0)), 1, 0)-6", 56),
        ("max(56+(extrasgprs(1, 0, 0)), 1, 0)-2", 56),
        ("or(0, 1)", 1),
        ("or(0, 0)", 0),
        ("or(1, 6)", 7),
        ("7%4^1", 2),
    ],
)
def test_value(text: str, value: int) -> None:
    assert evaluate(text, SYMBOLS, True) == value


def test_agprs_are_part_of_the_vgprs_before_gfx90a_and_after_gfx9() -> None:
    assert evaluate("totalnumvgprs(10, 66)", {}, False) == 66
    assert evaluate("extrasgprs(1, 1, 1)", {}, False) == 2


@pytest.mark.parametrize(
    "text", ["", "nothing", "loop", "max()", "f(1)", "1 +", "2**3", "'a'", "alignto(1, 0)", "k.x(1)"]
)
def test_no_value(text: str) -> None:
    with pytest.raises((ValueError, ZeroDivisionError)):
        evaluate(text, SYMBOLS, True)
