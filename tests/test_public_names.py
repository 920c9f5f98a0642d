"""What `import antiphase` offers, and what README shows of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from _checked import scale

import antiphase

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("name", antiphase.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(antiphase, name) is not None and name in dir(antiphase)


def test_readme_names_what_there_is() -> None:
    """By attribute, as it is written there: `antiphase.mutate.mutants` with no import but `antiphase`."""
    names = set(re.findall(r"\bantiphase((?:\.[a-z_]+)+)\(", README.read_text()))
    assert {".launch", ".check", ".mutate.mutants"} <= names
    code = "import antiphase\n" + "\n".join(f"antiphase{name}" for name in sorted(names))
    subprocess.run([sys.executable, "-c", code], check=True)


def test_readme_shows_how_to_read_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernel.s").write_text(scale(wait=""))
    (example,) = re.findall(r"```python\n(result = .*?)```", README.read_text(), re.DOTALL)
    alone = example.replace(", grid=4, args=[a, out, 1024]", "")
    assert alone != example
    with pytest.raises(AssertionError):
        exec(alone, {"antiphase": antiphase})
    Path("kernel.s").write_text(scale())
    exec(alone, {"antiphase": antiphase})
