"""What the checks take: the static ones by the length of a kernel, the dynamic ones on a staged GEMM's launch."""

from __future__ import annotations

from benchmarks._measurement import Measurement, Results
from benchmarks._settings import Settings
from benchmarks._worker import worker

_LARGE_TARGET, _LARGE_SIZE = "gfx1100", 128
_DEMO_TARGETS = ("gfx942", "gfx950")
_INSTRUCTIONS = 4000


def checks(settings: Settings) -> Results:
    """Static checks of a very long kernel, for each 4,000 instructions; the demonstration recorded and checked."""
    from benchmarks._kernels import LARGE, tail_gemm, triton_gemm

    folder, cache = settings.fresh("checks"), settings.fresh("cache")
    job = triton_gemm(_LARGE_TARGET, _LARGE_SIZE, folder, tail_gemm, LARGE).save(folder / "large.json")
    static: list[float] = []
    dynamic: dict[str, list[float]] = {target: [] for target in _DEMO_TARGETS}
    for run in range(settings.runs):
        settings.show("checks", run, settings.runs)
        with worker("checks", job, cache=cache) as one:
            found = one.ask(core=settings.core, what="static")
            static.append(found["seconds"] / found["instructions"] * _INSTRUCTIONS)
            for target in _DEMO_TARGETS:
                dynamic[target].append(one.ask(core=settings.core, what=target)["seconds"])
    return {"static_checks_s": Measurement.of(static)} | {
        f"demo_checks_{target}_s": Measurement.of(taken) for target, taken in dynamic.items()
    }
