"""What a user waits for before a kernel runs."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from benchmarks._measurement import Measurement, Results
from benchmarks._settings import Settings
from benchmarks._worker import worker

HELP_RUNS_EACH = 5
# The cold launch is of one workgroup's work: it is not what is timed.
COLD_SIZE = 128
COLD_TARGET = "gfx942"


def cold_start(settings: Settings) -> Results:
    """First launch of a kernel of over 1,300 lines on one core, in a fresh process with an empty cache."""
    from benchmarks._kernels import empty_kernel, tail_gemm, triton_gemm

    folder = settings.fresh("cold")
    job = triton_gemm(COLD_TARGET, COLD_SIZE, folder, tail_gemm)
    path, empty = job.save(settings.folder / "cold.json"), empty_kernel(COLD_TARGET, folder)
    answers: list[dict[str, float]] = []
    for run in range(settings.runs):
        settings.show("cold start", run, settings.runs)
        with worker("cold", path, empty, cache=settings.fresh("cache")) as first:
            answers.append(first.ask(core=settings.core))
    lines = len(Path(job.text).read_text().splitlines())
    instructions = answers[0]["instructions"]
    settings.notes.append(f"cold start: {COLD_TARGET}, {lines} lines, {instructions} instructions")
    return {
        "cold_start_s": Measurement.of([a["parse"] + a["translate"] for a in answers]),
        "cold_start_parse_s": Measurement.of([a["parse"] for a in answers]),
        "cold_start_runtime_s": Measurement.of([a["runtime"] for a in answers]),
        "cold_start_import_s": Measurement.of([a["import"] for a in answers]),
    }


def help_time(settings: Settings) -> Results:
    """Wall time of `antiphase --help`, as the installed command."""
    command = Path(sys.executable).parent / "antiphase"
    taken: list[float] = []
    for run in range(HELP_RUNS_EACH * settings.runs):
        settings.show("antiphase --help", run, HELP_RUNS_EACH * settings.runs)
        started = time.perf_counter()
        subprocess.run([command, "--help"], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - started)
    return {"help_s": Measurement.of(taken)}
