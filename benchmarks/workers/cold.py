"""Times a first launch step by step, with an empty cache.

`python -m benchmarks.workers.cold JOB.json EMPTY.s`
"""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.workers._serve import Answer, Send, pin, serve


def main(job_path: str, empty: str) -> None:
    """One request: core. Answer: seconds of import, helper library, parse, and translate with compile."""

    def answer(request: dict[str, Any], send: Send) -> Answer:
        pin(request)
        started = time.perf_counter()
        # Inside, because importing is the first thing timed; NumPy and llvmlite come with it.
        import antiphase.frontends
        import antiphase.machine

        imported = time.perf_counter()
        from benchmarks._job import load

        job = load(job_path)
        arguments = [*job.operands(), job.m, job.n, job.k]
        prepared = time.perf_counter()
        # The helper library is compiled with the first kernel whatever it does; this one does nothing.
        antiphase.launch(empty, grid=1, args=[])
        helpers_ready = time.perf_counter()
        program = antiphase.load(job.text)
        parsed = time.perf_counter()
        execution = antiphase.launch(
            program, grid=job.grid, args=arguments, threads=job.threads, lds_bytes=job.lds_bytes
        )
        launched = time.perf_counter()
        return {
            "import": imported - started,
            "runtime": helpers_ready - prepared,
            "parse": parsed - helpers_ready,
            "translate": launched - parsed - execution.seconds,
            "instructions": len(execution.kernel.instructions),
        }

    serve(answer)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
