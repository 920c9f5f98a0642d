"""The published schema: as the code has it, satisfied by every fact file, and strict about evidence."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import antiphase.arch
from antiphase.arch import fact_schema

ROOT = Path(__file__).parent.parent
PUBLISHED = ROOT / "docs" / "fact.schema.json"
FILES = sorted((Path(antiphase.arch.__file__).parent / "data" / "facts").rglob("*.toml"))
VALIDATOR = jsonschema.Draft202012Validator(fact_schema())


def test_the_published_schema_is_the_one_that_reads() -> None:
    remake = "antiphase arch schema > docs/fact.schema.json"
    assert json.loads(PUBLISHED.read_text()) == json.loads(json.dumps(fact_schema())), remake


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_fact_file_satisfies_it(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text()))


@pytest.mark.parametrize("missing", ["evidence", "scope", "value", "status", "source"])
def test_it_refuses_a_cell_without(missing: str) -> None:
    content: dict[str, Any] = copy.deepcopy(tomllib.loads(FILES[0].read_text()))
    cell = content["row"][0]["cell"][0]
    if missing == "status":
        cell["evidence"] = {}
    elif missing == "source":
        del cell["cite"]
    else:
        del cell[missing]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(content)
