"""Benchmarks of antiphase, run by `make bench`. How they measure is in docs/benchmarks.md."""
