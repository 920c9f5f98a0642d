"""The `.amdgpu_metadata` block, which is YAML, and the records made from it.

Keys are those of AMDGPUUsage, "Code Object V5 Metadata"; others, such as those of Tensile, are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

from antiphase import arch
from antiphase.errors import UserError

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # a build of PyYAML without libyaml
    from yaml import SafeLoader


@dataclass(frozen=True, slots=True)
class KernelArg:
    """One kernel argument: offset and size in bytes; value_kind as AMDGPUUsage names it ('by_value', ...)."""

    offset: int
    size: int
    value_kind: str
    name: str | None = None
    address_space: str | None = None


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """What the runtime is told: sizes in bytes, counts in registers (agpr_count None if absent).

    stated: whether the file says so. If not, it is made from the descriptor, which tells neither the arguments nor the
    largest workgroup (0). reqd_workgroup_size: the only workgroup it may run in, work-items in x, y and z; or None.
    """

    name: str
    symbol: str
    args: tuple[KernelArg, ...]
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    kernarg_segment_size: int
    max_flat_workgroup_size: int
    wavefront_size: int
    vgpr_count: int
    agpr_count: int | None
    sgpr_count: int
    vgpr_spill_count: int
    sgpr_spill_count: int
    uniform_work_group_size: int = 0
    reqd_workgroup_size: tuple[int, int, int] | None = None
    stated: bool = True


class _Loader(SafeLoader):  # pyright: ignore[reportGeneralTypeIssues]
    """Safe YAML with the scalars of YAML 1.2: integers, `true`, `false` and null; 1.1 reads the name `on` as a bool."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


_TAG = "tag:yaml.org,2002:"
_Loader.add_implicit_resolver(_TAG + "int", re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)$"), list("-0123456789"))
_Loader.add_implicit_resolver(_TAG + "bool", re.compile(r"(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver(_TAG + "null", re.compile(r"(?:null|~|)$"), ["n", "~", ""])
_Loader.add_constructor(_TAG + "int", lambda _, node: int(node.value, 0 if "x" in node.value else 10))


def _document(rows: Sequence[tuple[int, str]], file: str, line: int) -> Any:
    """What the rows hold. Of several documents only the first is looked at, as LLVM does."""
    try:
        return next(yaml.load_all("\n".join(text for _, text in rows), _Loader), {})
    except yaml.MarkedYAMLError as error:
        # the place of a key that lacks its colon is that of the key, not of what follows it
        at_key = error.context is not None and "simple key" in error.context
        mark = error.context_mark if at_key else error.problem_mark
        number, text = rows[min(mark.line, len(rows) - 1)] if mark is not None and rows else (line, "")
        raise UserError(
            f"cannot read the metadata line '{text.strip()}': {error.problem}", file=file, line=number
        ) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UserError(f"cannot read the metadata: {' '.join(str(error).split())}", file=file, line=line) from None


def _field(record: Mapping[str, Any], key: str, kind: type, file: str, line: int, default: Any = ...) -> Any:
    value = record.get(key, default)
    if value is ... or not (isinstance(value, kind) or value is default):
        state = "lacks" if value is ... else f"has {value!r} for"
        raise UserError(f"the kernel metadata {state} '{key}'", file=file, line=line)
    return value


def read_metadata(rows: Sequence[tuple[int, str]], file: str, line: int) -> dict[str, KernelMetadata]:
    """Kernel name -> metadata, from the rows (line number, text) of a block starting at `line` of `file`."""
    document = _document(rows, file, line)
    found: dict[str, KernelMetadata] = {}
    kernels = document.get("amdhsa.kernels") if isinstance(document, dict) else None
    for record in kernels or []:
        if not isinstance(record, dict):
            raise UserError("an entry of 'amdhsa.kernels' is not a map", file=file, line=line)
        kernel = _kernel(record, file, line)
        found[kernel.name] = kernel
    return found


def derived(kernel: str, descriptor: Mapping[str, int], target: str) -> KernelMetadata:
    """The metadata of a kernel whose file has none, from its `.amdhsa_` directives. UserError for an unknown target."""
    registers = descriptor.get("next_free_vgpr", 0)
    narrow = descriptor.get("wavefront_size32")
    return KernelMetadata(
        name=kernel,
        symbol=f"{kernel}.kd",
        args=(),
        group_segment_fixed_size=descriptor.get("group_segment_fixed_size", 0),
        private_segment_fixed_size=descriptor.get("private_segment_fixed_size", 0),
        kernarg_segment_size=descriptor.get("kernarg_size", 0),
        max_flat_workgroup_size=0,
        wavefront_size=arch.target(target).default_wave_size if narrow is None else 32 if narrow else 64,
        vgpr_count=registers,
        agpr_count=max(0, registers - descriptor["accum_offset"]) if "accum_offset" in descriptor else None,
        sgpr_count=descriptor.get("next_free_sgpr", 0),
        vgpr_spill_count=0,
        sgpr_spill_count=0,
        stated=False,
    )


def _kernel(record: Mapping[str, Any], file: str, line: int) -> KernelMetadata:
    def integer(key: str, default: Any = ...) -> Any:
        return _field(record, key, int, file, line, default)

    def string(key: str) -> str:
        return _field(record, key, str, file, line)

    return KernelMetadata(
        name=string(".name"),
        symbol=string(".symbol"),
        args=tuple(_arg(arg, file, line) for arg in _field(record, ".args", list, file, line, [])),
        group_segment_fixed_size=integer(".group_segment_fixed_size"),
        private_segment_fixed_size=integer(".private_segment_fixed_size"),
        kernarg_segment_size=integer(".kernarg_segment_size"),
        max_flat_workgroup_size=integer(".max_flat_workgroup_size"),
        wavefront_size=integer(".wavefront_size"),
        vgpr_count=integer(".vgpr_count"),
        agpr_count=integer(".agpr_count", None),
        sgpr_count=integer(".sgpr_count"),
        vgpr_spill_count=integer(".vgpr_spill_count", 0),
        sgpr_spill_count=integer(".sgpr_spill_count", 0),
        uniform_work_group_size=integer(".uniform_work_group_size", 0),
        reqd_workgroup_size=_sides(_field(record, ".reqd_workgroup_size", list, file, line, []), file, line),
    )


def _sides(sizes: list[Any], file: str, line: int) -> tuple[int, int, int] | None:
    """Three sizes as such; None where the key is missing."""
    if not sizes:
        return None
    match sizes:
        case [int(x), int(y), int(z)]:
            return x, y, z
    raise UserError(f".reqd_workgroup_size is {sizes}, not three integers", file=file, line=line)


def _arg(record: Any, file: str, line: int) -> KernelArg:
    if not isinstance(record, dict):
        raise UserError("an entry of '.args' is not a map", file=file, line=line)
    return KernelArg(
        offset=_field(record, ".offset", int, file, line),
        size=_field(record, ".size", int, file, line),
        value_kind=_field(record, ".value_kind", str, file, line),
        name=_field(record, ".name", str, file, line, None),
        address_space=_field(record, ".address_space", str, file, line, None),
    )
