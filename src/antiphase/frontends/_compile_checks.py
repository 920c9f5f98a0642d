"""What `compile_kernel` is given, held against the function and against what Triton takes."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from antiphase.errors import UserError
from antiphase.frontends._sizes import integer
from antiphase.frontends._types import NUMPY_OF_TRITON

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget


def check_function(fn: Any) -> None:
    """UserError for what is no plain Triton or Gluon function."""
    from triton.runtime.jit import JITFunction

    inner, path = fn, ""
    while not isinstance(inner, JITFunction):
        if not hasattr(inner, "fn"):
            raise UserError(
                f"{type(fn).__name__} is no kernel that can be compiled",
                remedy="pass a triton.jit or gluon.jit function",
            )
        inner, path = inner.fn, f"{path}.fn"
    if path:
        raise UserError(
            f"kernel {inner.__name__} is wrapped in {type(fn).__name__}, which chooses constexprs at a launch",
            remedy=f"choose them, and compile {inner.__name__}{path}",
        )


def check_signature(
    fn: Any, signature: Mapping[str, str], constants: Mapping[str, object], divisible: Collection[str]
) -> None:
    """UserError unless every argument of `fn` has a type or a value, and every type is one."""
    where = f"kernel {fn.__name__}"
    for what, given in (("signature", signature), ("constexprs", constants)):
        if not isinstance(given, Mapping):
            raise UserError(
                f"{where}: {what} is of type {type(given).__name__}", remedy="give a dict from argument names"
            )
    if isinstance(divisible, str):
        raise UserError(f"{where}: divisible_by_16 is a string", remedy=f"give a list of names: ['{divisible}']")
    _check_names(fn, where, signature, constants, divisible)
    for name, triton_type in signature.items():
        _check_type(f"{where}: argument '{name}'", triton_type)


def _check_names(
    fn: Any, where: str, signature: Mapping[str, str], constants: Mapping[str, object], divisible: Collection[str]
) -> None:
    known = list(fn.arg_names)
    for name in [*signature, *constants, *divisible]:
        if name not in known:
            raise UserError(f"{where} has no argument '{name}'", remedy=f"its arguments are {', '.join(known)}")
    for name in known:
        if name not in signature and name not in constants:
            raise UserError(
                f"{where}: nothing given for argument '{name}'", remedy="put it in signature or in constexprs"
            )
        if name in signature and name in constants:
            raise UserError(f"{where}: argument '{name}' is in signature and in constexprs", remedy="choose one")


def _check_type(what: str, triton_type: object) -> None:
    from triton.language import str_to_ty

    if triton_type == "constexpr":
        raise UserError(f"{what} is a constexpr without a value", remedy="put its value in constexprs")
    try:
        if isinstance(triton_type, str):
            str_to_ty(triton_type, None)
            return
    except Exception:  # whatever Triton's own reader of type names trips over
        pass
    names = ", ".join(NUMPY_OF_TRITON)
    raise UserError(
        f"{what} has type {triton_type!r}, which Triton does not know",
        remedy=f"use one of {names}, with a * before it for a pointer, as in '*fp16'",
    )


def check_options(options: Mapping[str, object], target: GPUTarget) -> None:
    """UserError for options that Triton's AMD backend does not have, or has no such value of."""
    from triton.backends.amd.compiler import HIPOptions
    from triton.compiler.compiler import make_backend

    known = HIPOptions.__dataclass_fields__
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"options are {', '.join(known)}"
            raise UserError(f"Triton has no option '{name}'", remedy=remedy)
        if type(known[name].default) is int and integer(options[name]) is None:
            raise UserError(f"option {name} is {options[name]!r}", remedy="give a whole number")
    try:
        make_backend(target).parse_options({"enable_fp_fusion": True, **options})
    except (AssertionError, TypeError, ValueError) as error:
        given = ", ".join(f"{name}={value!r}" for name, value in options.items())
        raise UserError(f"Triton does not take the options {given}: {error}") from None
