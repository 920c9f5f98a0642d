"""Speed on one core: fast mode against tinygrad's emulator, and recording mode against fast mode."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from antiphase.errors import UserError
from benchmarks._measurement import Measurement, Results
from benchmarks._settings import Settings
from benchmarks._worker import require_right, worker

_EMULATOR = "test/mockgpu/amd/emu.py"
GEMM_SIZE = 512
# The emulators alternate this long in every repetition; one call of tinygrad's takes a third of a second.
WARM_SECONDS = 0.7
# One workgroup with a loop long enough to outweigh its start and end.
RECORDED = (256, 256, 1024)


def against_tinygrad(settings: Settings) -> Results:
    """The same code object on both emulators, pinned to one core, in fresh processes with empty caches."""
    if settings.tinygrad is None:
        settings.notes.append("fast_vs_tinygrad not measured: TINYGRAD names no checkout of tinygrad")
        return {}
    if not Path(settings.tinygrad, _EMULATOR).is_file():
        raise UserError(
            f"TINYGRAD={settings.tinygrad} has no {_EMULATOR}",
            remedy="name a checkout of tinygrad, or unset it",
        )
    from benchmarks._kernels import triton_gemm

    job = triton_gemm(settings.target, GEMM_SIZE, settings.fresh("gemm"))
    path = job.save(settings.folder / "gemm.json")
    cold: dict[str, list[float]] = {"ours": [], "theirs": []}
    warm: dict[str, list[float]] = {"ours": [], "theirs": []}
    instructions, right = 0, 0.0
    for run in range(settings.runs):
        settings.show("GEMM against tinygrad's emulator", run, settings.runs)
        cache = settings.fresh("cache")
        with ExitStack() as stack:
            ours = stack.enter_context(worker("antiphase", path, cache=cache))
            theirs = stack.enter_context(
                worker(
                    "tinygrad",
                    path,
                    cache=cache,
                    python_path=settings.tinygrad,
                    environment={"XDG_CACHE_HOME": str(cache)},
                )
            )
            first = theirs.ask(core=settings.core, check=True)
            right = first["right"]
            cold["theirs"].append(first["seconds"])
            cold["ours"].append(ours.ask(core=settings.core)["seconds"])
            warm["theirs"].append(theirs.ask(core=settings.core, seconds=WARM_SECONDS)["seconds"])
            answer = ours.ask(core=settings.core, seconds=WARM_SECONDS, check=True)
            warm["ours"].append(answer["seconds"])
            instructions = answer["instructions"]
            require_right(answer)
    settings.notes.append(
        f"GEMM: {settings.target}, M = N = K = {GEMM_SIZE}, f16, {instructions:,} wave-instructions; "
        f"tinygrad's result is {right:.1%} right"
    )
    return {
        "fast_vs_tinygrad": Measurement.ratio(warm["theirs"], warm["ours"]),
        "fast_vs_tinygrad_cold": Measurement.ratio(cold["theirs"], cold["ours"]),
        "tinygrad_instructions_per_s": Measurement.of([instructions / s for s in warm["theirs"]]),
        "gemm_instructions_per_s": Measurement.of([instructions / s for s in warm["ours"]]),
    }


def recording(settings: Settings) -> Results:
    """One workgroup of the staged MI300X GEMM in both modes by turns, on one core."""
    from benchmarks._kernels import mi300x_gemm

    job = mi300x_gemm(*RECORDED, settings.fresh("mi300x"))
    path = job.save(settings.folder / "recorded.json")
    fast: list[float] = []
    recorded: list[float] = []
    instructions = matrix = 0.0
    with worker("antiphase", path, cache=settings.fresh("cache")) as ours:
        for record in (False, True):
            require_right(ours.ask(core=settings.core, record=record, check=True))
        for run in range(settings.runs):
            settings.show("recording mode against fast mode", run, settings.runs)
            answer = ours.ask(core=settings.core, seconds=WARM_SECONDS)
            fast.append(answer["seconds"])
            recorded.append(ours.ask(core=settings.core, seconds=WARM_SECONDS, record=True)["seconds"])
            instructions, matrix = answer["instructions"], answer["matrix_instructions"]
    return {
        "recording_vs_fast": Measurement.ratio(recorded, fast),
        "fast_instructions_per_s": Measurement.of([instructions / s for s in fast]),
        "recording_instructions_per_s": Measurement.of([instructions / s for s in recorded]),
        "fast_ns_per_matrix_instruction": Measurement.of([s / matrix * 1e9 for s in fast]),
    }
