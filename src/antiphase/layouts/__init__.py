"""The layout oracle: where a wave keeps each element of a matrix instruction's operands, and back.

>>> from antiphase.layouts import layout
>>> layout("v_wmma_f32_16x16x16_f16", target="gfx1100").operand("D").elements(lane=16, register=1)
(Element(row=3, column=0, block=0),)

`antiphase.layouts.probe` checks a layout against the CPU machine; it is apart because it loads the machine.
"""

from antiphase.layouts._difference import Difference, OperandDifference, difference
from antiphase.layouts._find import forms
from antiphase.layouts._groups import LaneGroup, lane_groups
from antiphase.layouts._layout import Layout, layout
from antiphase.layouts._modifiers import Modifiers
from antiphase.layouts._operand import Element, Held, Operand

__all__ = [
    "Difference",
    "Element",
    "Held",
    "LaneGroup",
    "Layout",
    "Modifiers",
    "Operand",
    "OperandDifference",
    "difference",
    "forms",
    "lane_groups",
    "layout",
]
