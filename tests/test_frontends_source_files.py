"""Source paths of a kernel that Triton's cache knows from another checkout."""

from pathlib import Path

from antiphase.frontends._source_files import at_home

TEXT = """\t.file\t1 "{0}/ops" "matmul.py"
\t.loc\t1 12 4
\t.file\t2 "{0}/ops" "shared.py"
\t.file\t3 "/opt/elsewhere" "standard.py"
"""


def test_the_files_of_the_other_checkout_are_found_in_this_one(tmp_path: Path) -> None:
    (tmp_path / "ops").mkdir()
    for name in ("matmul.py", "shared.py"):
        (tmp_path / "ops" / name).touch()
    other = TEXT.format("/first/checkout")
    assert at_home(other, tmp_path / "ops/matmul.py") == TEXT.format(tmp_path)


def test_a_file_that_is_not_there_keeps_its_path(tmp_path: Path) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/matmul.py").touch()
    moved = at_home(TEXT.format("/first/checkout"), tmp_path / "ops/matmul.py")
    assert f'"{tmp_path}/ops" "matmul.py"' in moved
    assert '"/first/checkout/ops" "shared.py"' in moved


def test_own_text_and_unrelated_sources_stay_as_they_are() -> None:
    text = TEXT.format("/first/checkout")
    assert at_home(text, Path("/first/checkout/ops/matmul.py")) == text
    assert at_home(text, Path("/second/other.py")) == text
    assert at_home(text, None) == text
