"""A launch written down in short or as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from antiphase.errors import UserError
from antiphase.frontends import read_launch_spec


def test_words() -> None:
    spec = read_launch_spec("a=random:bf16:4x8 b=arange:i32:3 c=ones:f16:2 n=7 x=0.5 p=null")
    a, b, c, n, x, p = spec.values
    assert a.shape == (4, 8) and a.dtype == ml_dtypes.bfloat16 and b.tolist() == [0, 1, 2]
    assert c.tolist() == [1, 1] and (n, x, p) == (7, 0.5, None)
    assert spec.names == ("a", "b", "c", "n", "x", "p") and spec.grid is None


def test_random_is_the_same_every_time_and_launches_get_copies() -> None:
    first, second = (read_launch_spec("random:f32:16") for _ in "ab")
    assert (first.values[0] == second.values[0]).all()
    first.fresh()[0][:] = 0
    assert first.values[0].any()


def test_json_text_and_file(tmp_path: Path) -> None:
    document = {"grid": [4, 2], "threads": 256, "lds_bytes": 64, "args": ["zeros:u8:5", 3]}
    file = tmp_path / "launch.json"
    file.write_text(json.dumps(document))
    for spec in (read_launch_spec(json.dumps(document)), read_launch_spec(str(file))):
        assert (spec.grid, spec.threads, spec.lds_bytes, spec.values[1]) == ((4, 2), 256, 64, 3)
        assert spec.values[0].dtype == np.uint8


def test_an_array_from_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(4, dtype=np.int16))
    assert read_launch_spec(f"a={tmp_path}/a.npy").values[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a=some:f32:4", "argument 'a' is 'some:f32:4'"),
        ("a=ones:f33:4", "argument 'a' is 'ones:f33:4'"),
        ("a=ones:f32:4y", "argument 'a' is 'ones:f32:4y'"),
        ("a=ones:f32", "argument 'a' is 'ones:f32'"),
        ("a=none.npy", "argument 'a'"),
        ('{"args": 3}', "'args' is neither"),
        ('{"gird": [1]}', "not an object of known keys"),
        ('{"args": [[1]]}', "argument '' is [1]"),
        ("{", "not JSON"),
        ('{"args": ' + "[" * 100_000, "not JSON"),
        ("a=ones:f32:4:4", "argument 'a' is 'ones:f32:4:4'"),
        ("a=random:f16:100000000x1000000000000", "argument 'a' is 'random:f16:100000000x1000000000000': "),
        ("a=zeros:f16:99999999999999999999x9", "argument 'a' is"),
        ("a=" + "9" * 5000, "argument 'a' is"),
        ('{"grid": 4.5}', "grid 4.5 is not made of integers"),
        ('{"grid": [0]}', "grid (0,) has no workgroups"),
        ('{"threads": "64"}', "threads '64' is not made of integers"),
        ('{"lds_bytes": "x"}', "lds_bytes is 'x'"),
    ],
)
def test_what_cannot_be_read(text: str, what: str) -> None:
    with pytest.raises(UserError) as caught:
        read_launch_spec(text)
    assert what in caught.value.what


def test_files_that_hold_no_array(tmp_path: Path) -> None:
    (tmp_path / "empty.npy").touch()
    with (tmp_path / "several.npy").open("wb") as file:
        np.savez(file, a=np.ones(3), b=np.ones(3))
    with pytest.raises(UserError, match=r"empty\.npy: argument 'a': "):
        read_launch_spec(f"a={tmp_path}/empty.npy")
    with pytest.raises(UserError, match=r"several\.npy: argument 'a' has several arrays; write one with np\.save"):
        read_launch_spec(f"a={tmp_path}/several.npy")
