"""Compiling Triton and Gluon functions without a GPU."""

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from antiphase.errors import UserError
from antiphase.frontends import compile_kernel


@triton.jit
def scale(x, BLOCK: tl.constexpr, factor, out):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * factor)


@gluon.jit
def fill(out, value, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    gl.store(out + gl.arange(0, BLOCK, LAYOUT), value)


@triton.jit
def reverse_sum(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.flip(tl.load(x + at)), 0))


SCALE = {"x": "*fp32", "out": "*fp32", "factor": "fp32"}


@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_triton_kernel(target):
    compiled = compile_kernel(scale, SCALE, {"BLOCK": 256}, target, num_warps=2)
    assert (compiled.name, compiled.target, compiled.num_warps) == ("scale", target, 2)
    assert compiled.threads_per_workgroup == 128
    assert list(compiled.signature) == ["x", "factor", "out"], "launch order, not the order given"
    assert compiled.program.target == target
    assert compiled.program.kernel("scale").metadata.args[0].value_kind == "global_buffer"


def test_gluon_kernel():
    layout = gl.BlockedLayout([1], [64], [4], [0])
    compiled = compile_kernel(fill, {"out": "*i32", "value": "i32"}, {"BLOCK": 256, "LAYOUT": layout}, "gfx942")
    assert compiled.program.kernel().name == "fill"


def test_dynamic_lds_is_reported():
    assert compile_kernel(reverse_sum, {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 1024}).shared > 0


def test_specialisation_chooses_the_instructions():
    def text(**marks: Any) -> str:
        return compile_kernel(scale, SCALE, {"BLOCK": 1024}, "gfx942", **marks).asm

    assert "buffer_load_dwordx4" in text()
    assert "buffer_load" not in text(small_tensors=False)
    assert "dwordx4" not in text(aligned_pointers=False)


@pytest.mark.parametrize(
    ("signature", "constexprs", "message"),
    [
        (
            {**SCALE, "y": "i32"},
            {"BLOCK": 64},
            "kernel scale has no argument 'y'; its arguments are x, BLOCK",
        ),
        (SCALE, {}, "kernel scale: nothing given for argument 'BLOCK'; put it in signature or in constexprs"),
        ({**SCALE, "BLOCK": "i32"}, {"BLOCK": 64}, "argument 'BLOCK' is in signature and in constexprs"),
    ],
)
def test_signature_that_does_not_fit(signature, constexprs, message):
    with pytest.raises(UserError, match=message):
        compile_kernel(scale, signature, constexprs)


@pytest.mark.parametrize("target", ["gfx943", None, 942, b"gfx942"])
def test_unknown_target(target):
    with pytest.raises(UserError, match="target"):
        compile_kernel(scale, SCALE, {"BLOCK": 64}, target)


@pytest.mark.parametrize("name", ["*foo", "foo", "", "*", "*float32", np.float32, None, tl.float32])
def test_a_type_that_triton_does_not_know(name):
    with pytest.raises(UserError, match=r"kernel scale: argument 'x' has type .*; use one of i1, i8, .*'\*fp16'$"):
        compile_kernel(scale, {**SCALE, "x": name}, {"BLOCK": 64})


def test_what_is_no_signature():
    with pytest.raises(UserError, match="scale: signature is of type list; give a dict"):
        compile_kernel(scale, list(SCALE), {"BLOCK": 64})  # type: ignore[arg-type]
    with pytest.raises(UserError, match="scale: constexprs is of type list; give a dict"):
        compile_kernel(scale, SCALE, [64])  # type: ignore[arg-type]
    with pytest.raises(UserError, match="argument 'BLOCK' is a constexpr without a value; put its value in constexprs"):
        compile_kernel(scale, {**SCALE, "BLOCK": "constexpr"})
    with pytest.raises(UserError, match=r"divisible_by_16 is a string; give a list of names: \['factor'\]"):
        compile_kernel(scale, SCALE, {"BLOCK": 64}, divisible_by_16="factor")


def test_what_is_no_function():
    with pytest.raises(UserError, match="function is no kernel that can be compiled; pass a triton"):
        compile_kernel(lambda x: x, {})
    tuned = triton.autotune([triton.Config({"BLOCK": 64})], key=["factor"])(scale)
    with pytest.raises(UserError, match=r"scale is wrapped in Autotuner, .* compile scale\.fn$"):
        compile_kernel(tuned, SCALE, {"BLOCK": 64})
    twice = triton.heuristics({"BLOCK": lambda args: 64})(tuned)
    with pytest.raises(UserError, match=r"compile scale\.fn\.fn$"):
        compile_kernel(twice, SCALE, {"BLOCK": 64})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_wraps": 4}, r"Triton has no option 'num_wraps'; did you mean num_warps\?"),
        ({"grid": 4}, "no option 'grid'; options are num_warps"),
        ({"num_warps": 3}, "does not take the options num_warps=3: num_warps must be a power of 2"),
        ({"num_warps": "4"}, "option num_warps is '4'; give a whole number"),
        ({"num_stages": 2.0}, r"option num_stages is 2\.0; give a whole number"),
        ({"num_ctas": 2}, "does not take the options num_ctas=2"),
    ],
)
def test_options_that_triton_does_not_take(options, message):
    with pytest.raises(UserError, match=message):
        compile_kernel(scale, SCALE, {"BLOCK": 64}, **options)
