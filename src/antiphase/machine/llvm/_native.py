"""IR text to callable code: compile for this host, keep the objects on disk by content, link them by name."""

from __future__ import annotations

import functools
import hashlib

import llvmlite
import llvmlite.binding as llvm

from antiphase._paths import cache_directory, keep, read_kept


@functools.cache
def _host() -> tuple[str, str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = dict(llvm.get_host_cpu_features())
    # half arithmetic stays "widen, compute, round" on every host, so that results do not depend on the machine
    features["avx512fp16"] = False
    # 512-bit registers hold 16 lanes; without this some hosts split every operation in two
    features["prefer-256-bit"] = False
    text = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()))
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), text


def host_vector_lanes() -> int:
    """32-bit lanes in one host vector register."""
    features = _host()[2]
    if "+avx512f" in features:
        return 16
    return 8 if "+avx2" in features else 4


@functools.cache
def _target_machine(level: int) -> llvm.TargetMachine:
    triple, cpu, features = _host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=level, codemodel="large", jit=True
    )


def compile_object(text: str, level: int) -> bytes:
    """Object code of an IR module. level 0: no passes (straight-line kernel code); 2: the usual pipeline."""
    triple, cpu, features = _host()
    key = hashlib.sha256("\0".join([llvmlite.__version__, triple, cpu, features, str(level), text]).encode())
    path = cache_directory() / "objects" / key.hexdigest()[:2] / f"{key.hexdigest()}.kept"
    # LLVM's loader takes the process down with it when it meets a damaged object
    if (kept := read_kept(path)) is not None:
        return kept
    module = llvm.parse_assembly(text)
    module.triple = triple
    machine = _target_machine(level)
    if level:
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    code = machine.emit_object(module)
    keep(path, code)
    return code


def publish(name: str, address: int) -> None:
    """Make a function known by name to all code loaded later."""
    llvm.add_symbol(name, address)


class Library:
    """Loaded object code; keeps the code alive. `address(name)` of each function."""

    def __init__(self, text: str, level: int) -> None:
        code = compile_object(text, level)
        holder = llvm.parse_assembly("")
        holder.triple = _host()[0]
        triple, cpu, features = _host()
        machine = llvm.Target.from_triple(triple).create_target_machine(
            cpu=cpu, features=features, opt=level, codemodel="large", jit=True
        )
        self._engine = llvm.create_mcjit_compiler(holder, machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        address = self._engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        return address
