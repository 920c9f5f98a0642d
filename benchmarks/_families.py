"""A row a processor family: the same kernels on one core, in both modes, and a first launch. And a very long kernel."""

from __future__ import annotations

from benchmarks._measurement import Measurement, Results
from benchmarks._settings import Settings
from benchmarks._worker import require_right, worker

FAMILIES = {
    "gfx942": "CDNA 3",
    "gfx950": "CDNA 4",
    "gfx1100": "RDNA 3",
    "gfx1151": "RDNA 3.5",
    "gfx1201": "RDNA 4",
    "gfx1250": "CDNA 5",
}
"""One processor of each family."""
METRICS = {
    "gemm_instructions_per_s": "GEMM, M/s",
    "gemm_ns_per_matrix_instruction": "ns a matrix instr.",
    "gemm_recording_vs_fast": "recording / fast",
    "softmax_instructions_per_s": "softmax, M/s",
    "cold_start_s": "GEMM cold, s",
}
"""What is measured of each, and its heading."""
SCALES = {key: 1e-6 if key.endswith("_per_s") else 1.0 for key in METRICS}
_GEMM_SIZE = 512
_SOFTMAX_ROWS, _SOFTMAX_COLUMNS = 1024, 1000
_SECONDS = 0.4
_LARGE_TARGET, _LARGE_SIZE = "gfx1100", 128


def families(settings: Settings) -> Results:
    """Every family in turn; keys are families.TARGET.METRIC."""
    results: Results = {}
    for i, (target, name) in enumerate(FAMILIES.items()):
        settings.show(f"{name} ({target})", i, len(FAMILIES))
        results |= {f"families.{target}.{metric}": value for metric, value in _family(settings, target).items()}
    settings.notes.append(
        f"families: GEMM f16, M = N = K = {_GEMM_SIZE}, tiles of 128x128x64; softmax f32, "
        f"{_SOFTMAX_ROWS} rows of {_SOFTMAX_COLUMNS}; one core"
    )
    return results


def _family(settings: Settings, target: str) -> Results:
    from benchmarks._kernels import empty_kernel, triton_gemm, triton_softmax

    folder = settings.fresh(target)
    gemm = triton_gemm(target, _GEMM_SIZE, folder).save(folder / "gemm.json")
    softmax = triton_softmax(target, _SOFTMAX_ROWS, _SOFTMAX_COLUMNS, folder).save(folder / "softmax.json")
    cache, empty = settings.fresh("cache"), empty_kernel(target, folder)
    values: dict[str, list[float]] = {metric: [] for metric in METRICS}
    with worker("antiphase", gemm, cache=cache) as product, worker("antiphase", softmax, cache=cache) as rows:
        # recorded results show that Triton's gfx11 code has barriers before waits for LDS stores
        for asked in (product, rows):
            require_right(asked.ask(core=settings.core, check=True))
        product.ask(core=settings.core, record=True)
        for _ in range(settings.runs):
            fast = product.ask(core=settings.core, seconds=_SECONDS)
            recorded = product.ask(core=settings.core, seconds=_SECONDS, record=True)
            by_rows = rows.ask(core=settings.core, seconds=_SECONDS)
            with worker("cold", gemm, empty, cache=settings.fresh("cache")) as first:
                cold = first.ask(core=settings.core)
            values["gemm_instructions_per_s"].append(fast["instructions"] / fast["seconds"])
            values["gemm_ns_per_matrix_instruction"].append(fast["seconds"] / fast["matrix_instructions"] * 1e9)
            values["gemm_recording_vs_fast"].append(recorded["seconds"] / fast["seconds"])
            values["softmax_instructions_per_s"].append(by_rows["instructions"] / by_rows["seconds"])
            values["cold_start_s"].append(cold["parse"] + cold["translate"])
    return {metric: Measurement.of(taken) for metric, taken in values.items()}


def large_kernel(settings: Settings) -> Results:
    """First launch of a kernel of some 30,000 instructions, as `cold_start` measures it."""
    from benchmarks._kernels import LARGE, empty_kernel, tail_gemm, triton_gemm

    folder = settings.fresh("large")
    job = triton_gemm(_LARGE_TARGET, _LARGE_SIZE, folder, tail_gemm, LARGE)
    path, empty = job.save(folder / "large.json"), empty_kernel(_LARGE_TARGET, folder)
    answers: list[dict[str, float]] = []
    for run in range(settings.runs):
        settings.show("large kernel", run, settings.runs)
        with worker("cold", path, empty, cache=settings.fresh("cache")) as first:
            answers.append(first.ask(core=settings.core))
    settings.notes.append(f"large kernel: {_LARGE_TARGET}, fp8 GEMM, {answers[0]['instructions']:,} instructions")
    return {
        "large_cold_start_s": Measurement.of([a["parse"] + a["translate"] for a in answers]),
        "large_cold_start_parse_s": Measurement.of([a["parse"] for a in answers]),
    }
