"""The project's own staged GEMMs, one for each target that has one. Importing this does not import Triton."""

from __future__ import annotations

from antiphase.kernels._staged import MI300X, MI350, Stage, StagedGemm, for_target

__all__ = ["MI300X", "MI350", "Stage", "StagedGemm", "for_target"]
