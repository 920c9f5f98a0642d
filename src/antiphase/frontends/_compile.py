"""Triton and Gluon kernels to AMDGPU text, with no GPU, no ROCm and no torch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from antiphase import arch, asm
from antiphase._paths import settle_triton_cache
from antiphase.errors import UserError
from antiphase.frontends._compile_checks import check_function, check_options, check_signature
from antiphase.frontends._source_files import at_home, source_file
from antiphase.frontends._stage_borders import with_unused_stages

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget


@dataclass(frozen=True)
class Compiled:
    """A kernel compiled for one target.

    name: the kernel's symbol.
    asm: the whole amdgcn text.
    shared: bytes of dynamic LDS a workgroup needs, which the text itself does not say.
    signature: argument name to Triton type, in launch order, constexprs left out.
    metadata: everything Triton records about the compilation.
    """

    name: str
    asm: str = field(repr=False)
    shared: int
    num_warps: int
    wave_size: int
    target: str
    signature: Mapping[str, str]
    metadata: Mapping[str, Any] = field(repr=False)

    @cached_property
    def program(self) -> asm.Program:
        """The text, parsed."""
        return asm.parse(self.asm, name=self.name, target=self.target)

    @property
    def threads_per_workgroup(self) -> int:
        return self.num_warps * self.wave_size


def gpu_target(name: str) -> GPUTarget:
    """Triton's own target record for `name`; UserError for a name that antiphase does not know."""
    target = arch.target(name)
    require_triton()
    from triton.backends.compiler import GPUTarget

    return GPUTarget("hip", target.name, target.default_wave_size)


def require_triton() -> None:
    """UserError with the install command where Triton is missing, or with what keeps it from writing its cache."""
    try:
        import triton  # noqa: F401
    except ImportError as error:
        raise UserError("Triton is not installed", remedy="pip install 'antiphase[triton]'") from error
    settle_triton_cache()


def compile_kernel(
    fn: Any,
    signature: Mapping[str, str],
    constexprs: Mapping[str, object] | None = None,
    target: str = "gfx942",
    *,
    aligned_pointers: bool = True,
    small_tensors: bool = True,
    divisible_by_16: Collection[str] = (),
    **options: Any,
) -> Compiled:
    """Compile a `triton.jit` or `gluon.jit` function.

    signature: argument name to Triton type ('*fp16', 'i32', ...) of every argument that is not a constexpr.
    constexprs: value of every constexpr argument.
    aligned_pointers, small_tensors: pointers are 16-byte aligned and tensors under 2 GiB, as Triton finds for
        itself at a launch with such tensors; the second is what makes it choose buffer instructions.
    divisible_by_16: names of the integer arguments that Triton may take to be multiples of 16.
    options: num_warps, num_stages, waves_per_eu and whatever else Triton's AMD backend takes.
    Raises UserError for a signature or options that do not fit; Triton's compile errors pass through.
    """
    require_triton()
    gpu = gpu_target(target)
    check_function(fn)
    constants = {} if constexprs is None else constexprs
    check_signature(fn, signature, constants, divisible_by_16)
    check_options(options, gpu)
    kernel = _build(
        fn,
        signature,
        constants,
        _attributes(fn, signature, aligned_pointers, small_tensors, divisible_by_16),
        gpu,
        options,
    )
    ordered = {name: signature[name] for name in fn.arg_names if name in signature}
    return from_triton(kernel, ordered)


def from_triton(kernel: Any, signature: Mapping[str, str]) -> Compiled:
    """A `triton.compiler.CompiledKernel` as `Compiled`."""
    metadata = kernel.metadata._asdict()
    return Compiled(
        name=kernel.name,
        asm=at_home(with_unused_stages(kernel.asm["amdgcn"], kernel.asm["ttgir"]), source_file(kernel.src)),
        shared=metadata["shared"],
        num_warps=metadata["num_warps"],
        wave_size=metadata["warp_size"],
        target=metadata["target"].arch,
        signature=dict(signature),
        metadata=metadata,
    )


def _build(
    fn: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, object],
    attributes: dict[tuple[int], list[list[object]]],
    target: GPUTarget,
    options: dict[str, Any],
) -> Any:
    import triton
    from triton.compiler import ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    source_class = GluonASTSource if fn.is_gluon() else ASTSource
    # Triton 3.9 fuses by default, warns about it, and means to change the default.
    options = {"enable_fp_fusion": True, **options}
    full = {name: signature.get(name, "constexpr") for name in fn.arg_names}
    source = source_class(fn, full, {(fn.arg_names.index(n),): v for n, v in constants.items()}, attributes)
    return triton.compile(source, target=target, options=options)


def _attributes(
    fn: Any, signature: Mapping[str, str], aligned: bool, small: bool, divisible: Collection[str]
) -> dict[tuple[int], list[list[object]]]:
    """Argument index to the attributes that Triton's run-time specialisation would attach."""
    found: dict[tuple[int], list[list[object]]] = {}
    for index, name in enumerate(fn.arg_names):
        pointer = signature.get(name, "").startswith("*")
        marks: list[list[object]] = []
        if (pointer and aligned) or name in divisible:
            marks.append(["tt.divisibility", 16])
        if pointer and small:
            marks.append(["tt.pointer_range", 32])
        if marks:
            found[(index,)] = marks
    return found
