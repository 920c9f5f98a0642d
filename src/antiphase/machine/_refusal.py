"""Whether one instruction can be translated, asked without a kernel around it."""

from __future__ import annotations

from dataclasses import replace

from antiphase import arch
from antiphase.asm import Block, Function, Instruction, Kernel, KernelMetadata, Label, Program
from antiphase.errors import AntiphaseError, UserError
from antiphase.machine._translate import translate
from antiphase.machine.waves._entry import layout_of

_VGPRS = 512


def refusal(instruction: Instruction, target: str) -> str:
    """Why the machine cannot execute an instruction of a target; '' where it can. Labels name nothing."""
    kernel = _kernel(instruction, target)
    program = Program(kernel.name, target, (kernel,), ())
    try:
        return translate(program, kernel, layout_of(kernel, target, False)).unsupported.get(0, "")
    except AntiphaseError as error:
        return error.what if isinstance(error, UserError) else str(error)


def _kernel(instruction: Instruction, target: str) -> Kernel:
    """The instruction and an s_endpgm, each a block of its own; every label names the latter."""
    wave = arch.target(target).default_wave_size
    labels = {operand.name: 1 for operand in instruction.operands if isinstance(operand, Label)}
    metadata = KernelMetadata("probe", "probe.kd", (), 0, 0, 0, 1024, wave, _VGPRS, 0, 100, 0, 0)
    descriptor = {
        "next_free_vgpr": _VGPRS,
        "accum_offset": _VGPRS // 2,
        "wavefront_size32": int(wave == 32),
        "workgroup_processor_mode": 0,  # some instructions exist in CU mode only
    }
    return Kernel(
        "probe",
        (replace(instruction, line=1), Instruction("s_endpgm", line=2)),
        labels,
        (Block(0, None, 0, 1, (1,)), Block(1, None, 1, 2, ())),
        descriptor,
        metadata,
        (Function("probe", 0, 2),),
    )
