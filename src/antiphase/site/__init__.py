"""The published reference: static pages made from the facts, the instruction records and runs of our own kernels."""

from antiphase.site._build import build
from antiphase.site._serve import serve

__all__ = ["build", "serve"]
