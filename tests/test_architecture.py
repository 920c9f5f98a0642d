"""The layers of docs/architecture.md: imports go up the table only, and the table names every package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import antiphase

SOURCE = Path(antiphase.__file__).parent
DOCUMENT = Path(__file__).parent.parent / "docs" / "architecture.md"
BESIDE = {"errors", "_paths", "_llvm_tools", "__version__"}
"""What every layer may use."""
BY_NAME = {
    ("layouts", "report"): "_repr_html_ asks the drawing for its own picture",
    ("machine", "report"): "so does that of an Execution",
    ("checks", "report"): "a CheckResult asks for its words, too",
}


def layers() -> list[str]:
    """The packages of the table, from the bottom layer on."""
    rows = re.findall(r"^\| (`.+?`) \|", DOCUMENT.read_text(), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)(?:/|\.py)`", row)]


def imported(package: Path) -> set[str]:
    """The packages of antiphase that a package's modules import."""
    found: set[str] = set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "antiphase":
                _, *below = node.module.split(".")
                found |= {below[0]} if below else {alias.name for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("antiphase.")}
    return found


def test_the_table_names_every_package() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= set(layers())


def test_imports_go_up_the_table() -> None:
    order = layers()
    wrong = []
    for number, layer in enumerate(order):
        if not (SOURCE / layer).is_dir():
            continue
        above = {*order[: number + 1], *BESIDE}
        wrong += [(layer, name) for name in imported(SOURCE / layer) - above if (layer, name) not in BY_NAME]
    assert wrong == []
