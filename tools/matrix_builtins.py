"""Remakes src/antiphase/arch/data/matrix_builtins.tsv: clang's builtins of matrix instructions.

Of each: the targets for which clang compiles it to that instruction, the wave size, the LLVM intrinsic it becomes,
and its types. Needs clang 22 and its BuiltinsAMDGPU.def (Debian: clang-22, libclang-22-dev); takes minutes.

    python tools/matrix_builtins.py clang-22 .../clang/Basic/BuiltinsAMDGPU.def > .../matrix_builtins.tsv

Nothing is derived from names: the signature is that of the .def file, the intrinsic is what the IR calls, and the
mnemonic is what stands in the assembly text.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TARGETS = {
    "mai-insts": "gfx942 gfx950",
    "fp8-insts": "gfx942 gfx950",
    "gfx950-insts": "gfx950",
    "gfx11-insts": "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153",
    "gfx12-insts": "gfx1200 gfx1201 gfx1250",
    "gfx1250-insts": "gfx1250",
}
KNOWN = sorted({name for names in TARGETS.values() for name in names.split()})
_NAMES = "wmma|mfma|swmmac|smfmac"
_BUILTIN = re.compile(rf'TARGET_BUILTIN\((__builtin_amdgcn_(?:{_NAMES})_\w+), "(.*?)", "nc", "(.*?)"\)')
_INTRINSIC = re.compile(rf"call .*@(llvm\.amdgcn\.(?:{_NAMES})\.[\w.]*)\(")
_MNEMONIC = re.compile(rf"^\s+(v_(?:{_NAMES})_\w+)", re.MULTILINE)
_TYPE = re.compile(r"(I?)(?:V(\d+))?(Wi|Zi|Li|[fdxhsyib])")
# letter of the .def file: element, spelling in OpenCL
_ELEMENTS = {
    "f": ("f32", "float"), "d": ("f64", "double"), "x": ("f16", "half"), "h": ("f16", "half"), "s": ("i16", "short"),
    "y": ("bf16", "__bf16"), "i": ("i32", "int"), "Zi": ("i32", "int"), "Wi": ("i64", "long"), "Li": ("i64", "long"),
    "b": ("i1", "bool"),
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    constant: bool
    count: int
    letter: str

    @property
    def text(self) -> str:
        """8xf32, i32, !i1 for a compile-time constant."""
        element = _ELEMENTS[self.letter][0]
        return f"{'!' * self.constant}{f'{self.count}x' * (self.count > 1)}{element}"

    @property
    def source(self) -> str:
        name = _ELEMENTS[self.letter][1]
        return name if self.count == 1 else f"__attribute__((ext_vector_type({self.count}))) {name}"


def builtins(path: Path) -> Iterator[tuple[str, list[Type], list[str]]]:
    """Name, types (the result first), features of every matrix builtin."""
    for line in path.read_text().splitlines():
        found = _BUILTIN.match(line)
        if found:
            types = [Type(bool(c), int(n or 1), letter) for c, n, letter in _TYPE.findall(found[2])]
            yield found[1], types, found[3].split(",")


def compiled(clang: str, name: str, types: list[Type], target: str, wave: int, scaled: bool) -> tuple[str, str] | None:
    """(intrinsic, mnemonic) of a kernel that calls the builtin; None if it does not compile.

    scaled: whether the operands after C are variables; constants make the plain F8F6F4 instruction of a scaled one.
    """
    result, *parameters = types
    names, declared = [], []
    for number, each in enumerate(parameters):
        variable = not each.constant and (scaled or len(declared) < 3)
        names.append(f"p{number}" if variable else "0")
        if variable:
            declared.append(f"{each.source} p{number}")
    code = (
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        f"typedef {result.source} result;\n"
        f"void kernel f(global result *out, {', '.join(declared)}) {{ *out = {name}({', '.join(names)}); }}\n"
    )
    flags = [clang, "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-x", "cl", "-cl-std=CL2.0", "-O1"]
    if target.startswith(("gfx11", "gfx12")):
        flags.append("-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64")
    texts = []
    for output in (["-S", "-emit-llvm"], ["-S"]):
        done = subprocess.run([*flags, *output, "-o", "-", "-"], input=code, capture_output=True, text=True)
        if done.returncode:
            return None
        texts.append(done.stdout)
    intrinsic, mnemonic = _INTRINSIC.search(texts[0]), _MNEMONIC.search(texts[1])
    return (intrinsic[1], mnemonic[1]) if intrinsic and mnemonic else None


def rows(clang: str, path: Path) -> Iterator[tuple[str, ...]]:
    for name, types, features in builtins(path):
        wave = 64 if "wavefrontsize64" in features or "wavefrontsize32" not in features else 32
        found: dict[tuple[str, str], list[str]] = {}
        for scaled in (True, False) if "mfma_scale" in name else (True,):
            for target in TARGETS[features[0]].split():
                what = compiled(clang, name, types, target, wave, scaled)
                if what:
                    found.setdefault(what, []).append(target)
        result, *parameters = types
        for (intrinsic, mnemonic), targets in found.items():
            texts = " ".join(each.text for each in parameters)
            yield mnemonic, name, short(targets), str(wave), intrinsic, result.text, texts


def short(targets: list[str]) -> str:
    """gfx110x for all known targets of that name, as antiphase.arch reads it back."""
    families = dict.fromkeys(f"{each[:-1]}x" for each in targets)
    whole = {f for f in families if all(t in targets for t in KNOWN if t[:-1] == f[:-1])}
    alone = {"gfx94x", "gfx95x", "gfx125x"}  # families of one known target
    return " ".join(dict.fromkeys(f"{t[:-1]}x" if f"{t[:-1]}x" in whole - alone else t for t in targets))


def main() -> None:
    clang, path = sys.argv[1], Path(sys.argv[2])
    version = subprocess.run([clang, "-dumpversion"], capture_output=True, text=True).stdout.strip()
    print(f"# clang {version}: BuiltinsAMDGPU.def, and what each builtin compiles to.")
    print("# Remade by tools/matrix_builtins.py. 8xf32 is a vector, !i1 a parameter that must be a constant.")
    print("# mnemonic\tbuiltin\ttargets\twave\tintrinsic\tresult\tparameters")
    for row in sorted(rows(clang, path)):
        print("\t".join(row))


if __name__ == "__main__":
    main()
