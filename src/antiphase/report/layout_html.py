"""A layout as notebooks show it: the picture, and the lane groups in words."""

from __future__ import annotations

from html import escape

from antiphase.layouts import Layout
from antiphase.report._layout_words import group_lines, size_line
from antiphase.report.layout_svg import layout_svg


def layout_html(layout: Layout) -> str:
    """An HTML fragment."""
    items = "".join(
        f"<li><b>{escape(operand.name)}</b> {escape(size_line(layout, operand))}<br>"
        f"{'<br>'.join(map(escape, group_lines(layout, operand)))}</li>"
        for operand in layout.operands
    )
    summary = f"<summary>{escape(layout.mnemonic)}</summary>"
    return f"<details open>{summary}<ul>{items}</ul></details>{layout_svg(layout, layout.operands)}"
