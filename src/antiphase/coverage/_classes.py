"""The class of an instruction from its name alone: known also for those that antiphase has no record of."""

from __future__ import annotations

import re

GRAPHICS = "graphics"

_CONTROL = (
    r"s_(?:branch|cbranch|call|setpc|swappc|getpc|(?:add|get|set|swap)_pc|rfe|endpgm|barrier|wait|trap|sendmsg"
    r"|set(?:prio|halt|kill|reg|vskip)|set_(?:inst|vgpr|gpr)|get(?:reg|_barrier|_shader)|alloc_vgpr|sleep|nop|wakeup"
    r"|icache|inst_prefetch|clause|delay_alu|code_end|incperf|decperf|ttrace|monitor|subvector|version|round_mode"
    r"|denorm_mode)"
)
# First match wins.
_CLASSES = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"image_|exp(?:ort)?$|v_interp|ds_param|lds_param|s_wait_(?:bvh|sample)cnt|ds_bvh", GRAPHICS),
        (r"v_dual_", "VOPD"),
        (r"v_(?:mfma|smfmac|wmma|swmmac)", "matrix"),
        (r"v_(?:pk|dot|fma_mix|mad_mix)", "packed"),
        (r"v_accvgpr", "matrix"),
        (r"s_(?:buffer_|scratch_)?(?:load|store|atomic|prefetch)|s_(?:dcache|gl1|mem|atc)", "SMEM"),
        (_CONTROL, "control"),
        (r"s_", "SALU"),
        (r"t?buffer_", "buffer"),
        (r"(?:global|flat|scratch|cluster)_", "FLAT"),
        (r"tensor_", "tensor"),
        (r"(?:ds|lds)_", "LDS"),
        (r"v_", "VALU"),
    )
)
CLASSES = (
    *("SALU", "VALU", "VOPD", "packed", "matrix", "SMEM", "FLAT", "buffer", "LDS", "tensor", "control"),
    GRAPHICS,
)
"""In the order of reports. FLAT is the encoding of global, flat, scratch and cluster instructions."""


def instruction_class(mnemonic: str) -> str:
    """One of CLASSES. ValueError for a name that no instruction of these targets can have."""
    for pattern, name in _CLASSES:
        if pattern.match(mnemonic):
            return name
    raise ValueError(f"no instruction class for {mnemonic!r}")
