"""Times a first launch step by step, with an empty cache.

`python -m benchmarks.workers.cold JOB.json EMPTY.s`
"""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.workers._serve import Answer, Send, pin, serve


def main(job_path: str, empty: str) -> None:
    """One request: core. Answer: processor seconds of import, helper library, parse, and translate with compile."""

    def answer(request: dict[str, Any], send: Send) -> Answer:
        pin(request)
        clock = time.process_time
        started = clock()
        # Inside, because importing is the first thing timed; NumPy and llvmlite come with it.
        import antiphase.frontends
        import antiphase.machine

        imported = clock()
        from benchmarks._job import load

        job = load(job_path)
        arguments = job.arguments(job.operands())
        prepared = clock()
        # The helper library is compiled with the first kernel whatever it does; this one does nothing.
        antiphase.launch(empty, grid=1, args=[])
        helpers_ready = clock()
        program = antiphase.load(job.text)
        parsed = clock()
        options = {"grid": job.grid, "args": arguments, "threads": job.threads, "lds_bytes": job.lds_bytes}
        antiphase.launch(program, **options)
        launched = clock()
        execution = antiphase.launch(program, **options)
        again = clock() - launched
        return {
            "import": imported - started,
            "runtime": helpers_ready - prepared,
            "parse": parsed - helpers_ready,
            # What a first launch takes over a second one.
            "translate": launched - parsed - again,
            "instructions": len(execution.kernel.instructions),
        }

    serve(answer)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
