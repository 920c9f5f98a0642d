"""The MI300X launch of seed 003 on all cores against NumPy's float32 matmul of the same product."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks._measurement import Measurement, Results
from benchmarks._settings import Settings
from benchmarks._worker import require_right, worker

SIZE = (4096, 4864, 16448)


def full_launch(settings: Settings) -> Results:
    """NumPy and antiphase by turns, each in a process of its own, on all cores; sampled rows are checked."""
    from benchmarks._kernels import mi300x_gemm

    job = mi300x_gemm(*settings.full, settings.fresh("mi300x"))
    path, cache = job.save(settings.folder / "full.json"), settings.fresh("cache")
    numpy_seconds: list[float] = []
    seconds: list[float] = []
    peaks: list[float] = []
    total = 2 * settings.runs
    for run in range(settings.runs):
        with ExitStack() as stack:
            settings.show("MI300X launch: NumPy", 2 * run, total)
            theirs = stack.enter_context(worker("numpy_matmul", path, cache=cache))
            # The first product starts the threads and touches the result.
            theirs.ask()
            numpy_seconds.append(theirs.ask()["seconds"])
        with worker("antiphase", path, cache=cache) as ours:
            # Translation is not what is compared; it has a benchmark of its own.
            ours.ask(groups=1)
            answer = ours.ask(
                lambda done, groups, run=run: settings.show(
                    f"MI300X launch: run {run + 1} of {settings.runs}, workgroup", done, groups
                ),
                check=True,
                progress=True,
            )
            require_right(answer)
            seconds.append(answer["seconds"])
            peaks.append(answer["peak_gib"])
    m, n, k = settings.full
    settings.notes.append(f"MI300X launch: bf16, M={m}, N={n}, K={k}, {job.grid[0]} workgroups")
    return {
        "mi300x_full_vs_numpy": Measurement.ratio(seconds, numpy_seconds),
        "mi300x_full_s": Measurement.of(seconds),
        "numpy_full_s": Measurement.of(numpy_seconds),
        "mi300x_full_peak_gib": Measurement.of(peaks),
    }
