"""The parts of the benchmarks that compute and report; nothing here is timed."""

import io
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from rich.console import Console

from antiphase import arch
from antiphase.errors import UserError
from benchmarks import _job
from benchmarks._families import FAMILIES
from benchmarks._job import Job, Softmax
from benchmarks._measurement import Measurement, read, write
from benchmarks._report import print_families, print_results
from benchmarks._rows import ROWS, Bar
from benchmarks._worker import WrongResult, require_right, worker

# What issues 2 and 4 ask to be measured against a bar.
PROMISED = {
    *("fast_vs_tinygrad", "recording_vs_fast", "mi300x_full_vs_numpy", "mi300x_full_peak_gib"),
    *("cold_start_s", "help_s", "static_checks_s", "demo_checks_gfx942_s", "demo_checks_gfx950_s"),
}


def test_a_measurement_is_the_median_with_its_extremes() -> None:
    assert Measurement.of([3.0, 1.0, 8.0, 2.0]) == Measurement(2.5, 1.0, 8.0, 4)


def test_a_ratio_pairs_the_runs_before_it_summarises_them() -> None:
    # The second pair ran on a machine that was slow for both: the ratio of the medians would be 21 / 2.
    assert Measurement.ratio([10.0, 200.0, 21.0], [1.0, 20.0, 2.0]) == Measurement(10.0, 10.0, 10.5, 3)


def test_a_ratio_of_runs_that_do_not_pair_up_is_refused() -> None:
    with pytest.raises(ValueError):
        Measurement.ratio([1.0, 2.0], [1.0])


def test_the_file_holds_an_object_a_key_and_reads_back(tmp_path: Path) -> None:
    results = {"help_s": Measurement(0.25, 0.125, 0.5, 15)}
    write(results, tmp_path / "benchmarks.json")
    text = (tmp_path / "benchmarks.json").read_text()
    assert json.loads(text) == {"help_s": {"median": 0.25, "min": 0.125, "max": 0.5, "runs": 15}}
    assert read(tmp_path / "benchmarks.json") == results


def test_every_promised_key_has_one_row_with_a_bar() -> None:
    keys = [row.key for row in ROWS]
    assert len(set(keys)) == len(keys)
    assert {row.key for row in ROWS if row.bar} == PROMISED


@pytest.mark.parametrize(
    ("bar", "median", "met"),
    [
        (Bar("at least", 50), 50.0, True),
        (Bar("at least", 50), 49.9, False),
        (Bar("at most", 3), 3.0, True),
        (Bar("at most", 3), 3.1, False),
    ],
)
def test_a_bar_is_a_limit_on_the_median(bar: Bar, median: float, met: bool) -> None:
    assert bar.met(Measurement(median, 0.0, 100.0, 3)) is met


def test_the_table_says_which_bars_are_met_and_leaves_out_what_was_not_measured() -> None:
    out = io.StringIO()
    results = {
        "fast_vs_tinygrad": Measurement(31.0, 30.0, 32.0, 3),
        "gemm_instructions_per_s": Measurement(16e6, 15e6, 17e6, 3),
        "help_s": Measurement(0.05, 0.04, 0.06, 15),
    }
    print_results(results, Console(file=out, width=120))
    lines = out.getvalue().splitlines()
    (tinygrad,) = (line for line in lines if "tinygrad / fast mode" in line)
    (speed,) = (line for line in lines if "M/s" in line)
    (help_line,) = (line for line in lines if "--help" in line)
    assert "31" in tinygrad and "≥ 50" in tinygrad and "missed" in tinygrad
    assert "16" in speed and "met" not in speed and "missed" not in speed
    assert "met" in help_line
    assert not any("recording" in line for line in lines)


def _job_of(by_columns: bool) -> Job:
    common = {"target": "gfx942", "text": "k.s", "kernel": "k", "threads": 256, "lds_bytes": 0, "grid": (1, 1, 1)}
    shape = {"m": 40, "n": 24, "k": 64, "dtype": "bf16", "out_dtype": "fp32", "b_by_columns": by_columns}
    return msgspec.convert({"type": "Job", **common, **shape}, Job)


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_result_is_right_within_the_error_of_fp32_sums(by_columns: bool) -> None:
    job = _job_of(by_columns)
    a, b, c = job.operands()
    assert (a.shape, b.shape) == ((40, 64), (24, 64) if by_columns else (64, 24))
    c[:] = a.astype(np.float32) @ (b.T if by_columns else b).astype(np.float32)
    assert job.share_right(a, b, c) == 1
    c[:, 0] += 0.01
    assert job.share_right(a, b, c) == 23 / 24


def test_a_softmax_is_right_within_the_error_of_fp32_sums() -> None:
    job = Softmax(target="gfx942", text="", kernel="k", threads=64, lds_bytes=0, grid=(3, 1, 1), columns=50)
    x, y = job.operands()
    powers = np.exp(x)
    y[:] = powers / powers.sum(axis=1, keepdims=True)
    assert job.share_right(x, y) == 1
    y[1] *= 1.001
    assert job.share_right(x, y) == 2 / 3


def test_keys_with_dots_are_objects_in_objects(tmp_path: Path) -> None:
    results = {"help_s": Measurement(1.0, 1.0, 1.0, 1), "families.gfx942.cold_start_s": Measurement(2.0, 1.0, 3.0, 3)}
    write(results, tmp_path / "benchmarks.json")
    stored = json.loads((tmp_path / "benchmarks.json").read_text())
    assert stored["families"] == {"gfx942": {"cold_start_s": {"median": 2.0, "min": 1.0, "max": 3.0, "runs": 3}}}
    assert read(tmp_path / "benchmarks.json") == results


def test_the_families_have_a_row_each() -> None:
    out = io.StringIO()
    results = {
        "families.gfx1201.cold_start_s": Measurement(0.5, 0.25, 0.75, 3),
        "families.gfx950.gemm_instructions_per_s": Measurement(16e6, 15e6, 17e6, 3),
    }
    print_families(results, Console(file=out, width=140))
    lines = out.getvalue().splitlines()
    (cdna4,) = (line for line in lines if "gfx950" in line)
    (rdna4,) = (line for line in lines if "gfx1201" in line)
    assert "CDNA 4" in cdna4 and "16 (15-17)" in cdna4
    assert "RDNA 4" in rdna4 and "0.5 (0.25-0.75)" in rdna4
    assert not any("gfx942" in line for line in lines)


def test_every_family_is_one_that_antiphase_knows() -> None:
    assert [arch.target(name).name for name in FAMILIES] == list(FAMILIES)


def test_operands_are_the_same_in_every_process() -> None:
    first, second = _job_of(True).operands(), _job_of(True).operands()
    assert all(np.array_equal(x, y) for x, y in zip(first, second, strict=True))


def test_a_wrong_result_or_a_fault_is_no_measurement() -> None:
    require_right({"right": 1.0, "faults": 0})
    for answer in ({"right": 0.99, "faults": 0}, {"right": 1.0, "faults": 2}):
        with pytest.raises(WrongResult):
            require_right(answer)


def test_a_worker_answers_for_the_job_it_is_given(tmp_path: Path) -> None:
    path = _job_of(True).save(tmp_path / "job.json")
    assert _job.load(path) == _job.product(path) == _job_of(True)
    with worker("numpy_matmul", path, cache=tmp_path) as numpy_worker:
        assert set(numpy_worker.ask()) == {"seconds"}


def test_a_worker_that_dies_leaves_its_last_words(tmp_path: Path) -> None:
    last_words = "numpy_matmul ended with status 1: .*No such file"
    with (
        pytest.raises(UserError, match=last_words),
        worker("numpy_matmul", tmp_path / "none.json", cache=tmp_path) as dead,
    ):
        dead.ask()
