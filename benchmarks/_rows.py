"""What is measured: key, wording, unit and, where the design sets one, the bar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks._measurement import Measurement


@dataclass(frozen=True)
class Bar:
    """A limit on the median."""

    kind: Literal["at least", "at most"]
    limit: float

    def met(self, measurement: Measurement) -> bool:
        if self.kind == "at least":
            return measurement.median >= self.limit
        return measurement.median <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.limit:g}"


@dataclass(frozen=True)
class Row:
    """One line of the result table. scale: what the stored value is multiplied by to be shown in `unit`."""

    key: str
    what: str
    unit: str
    bar: Bar | None = None
    scale: float = 1.0


ROWS = (
    Row("fast_vs_tinygrad", "Triton GEMM, one core, warm: tinygrad / fast mode", "x", Bar("at least", 50)),
    Row("fast_vs_tinygrad_cold", "  the same, first launch in a fresh process", "x"),
    Row("tinygrad_instructions_per_s", "  tinygrad, wave-instructions per second", "M/s", scale=1e-6),
    Row("gemm_instructions_per_s", "  fast mode, wave-instructions per second", "M/s", scale=1e-6),
    Row("recording_vs_fast", "MI300X GEMM, one core: recording / fast mode", "x", Bar("at most", 3)),
    Row("fast_instructions_per_s", "  fast mode, wave-instructions per second", "M/s", scale=1e-6),
    Row("recording_instructions_per_s", "  recording mode, wave-instructions per second", "M/s", scale=1e-6),
    Row("fast_ns_per_matrix_instruction", "  fast mode, whole loop per matrix instruction", "ns"),
    Row("mi300x_full_vs_numpy", "MI300X launch, all cores: antiphase / NumPy", "x", Bar("at most", 12)),
    Row("mi300x_full_s", "  antiphase", "s"),
    Row("numpy_full_s", "  NumPy float32 matmul", "s"),
    Row("mi300x_full_peak_gib", "  peak resident memory of antiphase", "GiB", Bar("at most", 4)),
    Row("cold_start_s", "cold start: parse, translate, compile", "s", Bar("at most", 1.5)),
    Row("cold_start_parse_s", "  of that parse", "s"),
    Row("cold_start_runtime_s", "  besides: helper library, once a machine", "s"),
    Row("cold_start_import_s", "  besides: importing antiphase, NumPy, llvmlite", "s"),
    Row("large_cold_start_s", "cold start of a kernel of 33,000 instructions", "s"),
    Row("large_cold_start_parse_s", "  of that parse", "s"),
    Row("static_checks_s", "static checks, for each 4,000 instructions", "s", Bar("at most", 2)),
    Row("demo_checks_gfx942_s", "MI300X demonstration: recording and all dynamic checks", "s", Bar("at most", 10)),
    Row("demo_checks_gfx950_s", "MI350 demonstration: recording and all dynamic checks", "s", Bar("at most", 10)),
    Row("help_s", "antiphase --help", "s", Bar("at most", 0.3)),
)
