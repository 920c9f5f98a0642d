"""Calls, returns, function pointers, recursion, constants and variables in data sections."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet

from antiphase import asm
from antiphase.asm import Program
from antiphase.errors import Unsupported
from antiphase.frontends import launch_asm

ADDRESS = "s_getpc_b64 s[{0}:{1}]\ns_add_u32 s{0}, s{0}, {2}@rel32@lo+4\ns_addc_u32 s{1}, s{1}, {2}@rel32@hi+12"
SLOT = (
    "s_getpc_b64 s[{0}:{1}]\ns_add_u32 s{0}, s{0}, {2}@gotpcrel32@lo+4\ns_addc_u32 s{1}, s{1}, {2}@gotpcrel32@hi+12\n"
    "s_load_dwordx2 s[{0}:{1}], s[{0}:{1}], 0x0\ns_waitcnt lgkmcnt(0)"
)
CALL = "s_swappc_b64 s[30:31], s[{0}:{1}]"
FUNCTIONS = """.type triple,@function
triple:
v_mul_u32_u24 v2, 3, v2
s_setpc_b64 s[30:31]
.Lfunc_end_triple:
.type add100,@function
add100:
v_add_u32 v2, 0x64, v2
s_setpc_b64 s[30:31]
.Lfunc_end_add100:
.type both,@function
both:
s_mov_b64 s[40:41], s[30:31]
{call}
s_mov_b64 s[30:31], s[40:41]
{jump}
s_setpc_b64 s[44:45]
.Lfunc_end_both:
""".format(call=f"{ADDRESS.format(42, 43, 'triple')}\n{CALL.format(42, 43)}", jump=ADDRESS.format(44, 45, "add100"))
DATA = """.section .data.rel.ro,"aw",@progbits
.p2align 3
choices:
.quad triple
.quad add100
.section .rodata,"a",@progbits
.p2align 2
numbers:
.long 7, 8, 0xffffffff
.byte 1, 2
.short 0x403
.asciz "a\\012"
.zero 3, 9
.data
.p2align 2
counter:
.long 40
.comm zeros,8,2
"""


def program(k: Snippet, functions: str = FUNCTIONS, data: str = DATA) -> Program:
    before, after = k.text().split('.section .rodata,"a",@progbits', 1)
    return asm.parse(f'{before}{functions}{data}.section .rodata,"a",@progbits{after}', "calls.s")


def run(k: Snippet, one: Program | None = None, record: bool = False) -> np.ndarray:
    out = np.zeros((1, k.kept, k.threads), np.uint32)
    execution = launch_asm(one or program(k), grid=1, args=[out], threads=k.threads, record=record)
    assert not execution.faults
    return out[0]


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("address", [ADDRESS, SLOT])
def test_a_call_returns_behind_itself(address: str, record: bool) -> None:
    k = Snippet()
    k("v_mov_b32 v2, v0")
    for name in ("triple", "add100", "triple"):
        k(f"{address.format(20, 21, name)}\n{CALL.format(20, 21)}")
    k.keep("v2")
    assert (run(k, record=record)[0] == (3 * np.arange(64) + 100) * 3).all()


def test_nested_calls_and_a_tail_call() -> None:
    k = Snippet()
    k(f"v_mov_b32 v2, v0\n{ADDRESS.format(20, 21, 'both')}\n{CALL.format(20, 21)}")
    k.keep("v2")
    assert (run(k)[0] == 3 * np.arange(64) + 100).all()


@pytest.mark.parametrize("choice", [0, 1])
def test_a_function_pointer_from_a_table(choice: int) -> None:
    k = Snippet()
    k(f"v_mov_b32 v2, v0\n{ADDRESS.format(20, 21, 'choices')}\ns_load_dwordx2 s[22:23], s[20:21], {8 * choice}")
    k(f"s_waitcnt lgkmcnt(0)\n{CALL.format(22, 23)}")
    k.keep("v2")
    assert (run(k)[0] == (np.arange(64) + 100 if choice else 3 * np.arange(64))).all()


def test_recursion_keeps_its_returns_apart() -> None:
    """f(n) = n ? f(n - 1) + n : 0, the return addresses in SGPRs by M0's place of v10."""
    function = f""".type f,@function
f:
s_cmp_eq_u32 s24, 0
s_cbranch_scc1 .Ldone
s_mov_b32 m0, s25
s_nop 0
v_writelane_b32 v10, s30, m0
v_writelane_b32 v11, s31, m0
s_add_u32 s25, s25, 1
v_add_u32 v2, s24, v2
s_sub_u32 s24, s24, 1
{ADDRESS.format(20, 21, "f")}
{CALL.format(20, 21)}
s_sub_u32 s25, s25, 1
v_readlane_b32 s30, v10, s25
v_readlane_b32 s31, v11, s25
.Ldone:
s_setpc_b64 s[30:31]
.Lfunc_end_f:
"""
    k = Snippet()
    k(f"v_mov_b32 v2, 0\ns_mov_b32 s24, 9\ns_mov_b32 s25, 0\n{ADDRESS.format(20, 21, 'f')}\n{CALL.format(20, 21)}")
    k.keep("v2")
    assert (run(k, program(k, function, ""))[0] == 45).all()


def test_data_is_laid_out_as_the_directives_say() -> None:
    k = Snippet()
    k(ADDRESS.format(20, 21, "numbers"))
    k("s_load_dwordx4 s[24:27], s[20:21], 0\ns_load_dwordx2 s[28:29], s[20:21], 0x10\ns_waitcnt lgkmcnt(0)")
    for i in range(24, 30):
        k(f"v_mov_b32 v{i}, s{i}")
    k.keep(*(f"v{i}" for i in range(24, 30)))
    words = run(k)[:, 0].tolist()
    assert words[:3] == [7, 8, 0xFFFFFFFF]
    assert np.array(words[3:], np.uint32).tobytes() == bytes([1, 2, 3, 4]) + b"a\n\0" + bytes([9, 9, 9, 0, 0])[:5]


@pytest.mark.parametrize("offset", [0, 4, 8])
def test_an_offset_behind_a_symbol(offset: int) -> None:
    k = Snippet()
    k(f"s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, numbers@rel32@lo+{4 + offset}")
    k(f"s_addc_u32 s21, s21, numbers@rel32@hi+{12 + offset}\ns_load_dword s24, s[20:21], 0\ns_waitcnt lgkmcnt(0)")
    k("v_mov_b32 v2, s24")
    k.keep("v2")
    assert (run(k)[0] == (7, 8, 0xFFFFFFFF)[offset // 4]).all()


@pytest.mark.parametrize(("name", "start"), [("counter", 40), ("zeros", 0)])
def test_a_variable_begins_anew_with_each_launch(name: str, start: int) -> None:
    k = Snippet()
    k(f"{ADDRESS.format(20, 21, name)}\nv_mov_b32 v2, 0\nv_mov_b32 v3, 1")
    k("global_atomic_add v4, v2, v3, s[20:21] sc0\ns_waitcnt vmcnt(0)\nglobal_load_dword v5, v2, s[20:21]")
    k("s_waitcnt vmcnt(0)")
    k.keep("v4", "v5")
    one = program(k)
    for _ in range(2):
        rows = run(k, one)
        assert sorted(rows[0].tolist()) == list(range(start, start + 64))
        assert (rows[1] == start + 64).all()


def test_the_address_of_what_the_file_lacks_is_named_when_it_is_used() -> None:
    k = Snippet()
    k(f"v_mov_b32 v2, 0\n{ADDRESS.format(20, 21, 'elsewhere')}\n{CALL.format(20, 21)}")
    k.keep("v2")
    with pytest.raises(Unsupported, match="address of 'elsewhere', which the file does not define"):
        run(k)


def test_a_jump_to_no_code_is_named() -> None:
    k = Snippet()
    k("v_mov_b32 v2, 0\ns_mov_b64 s[20:21], 0\ns_swappc_b64 s[30:31], s[20:21]")
    k.keep("v2")
    with pytest.raises(Unsupported, match=r"'s_swappc_b64 .*' is not supported: a jump to where the file has no code"):
        run(k)


def test_data_that_was_not_understood_is_named_when_it_is_used() -> None:
    k = Snippet()
    k(f"v_mov_b32 v2, 0\n{ADDRESS.format(20, 21, 'odd')}")
    k.keep("v2")
    odd = '.section .rodata.odd,"a"\nodd:\n.long odd-k\n'
    with pytest.raises(Unsupported, match=r"data in \.rodata\.odd: '\.long odd-k'"):
        run(k, program(k, "", odd))
    k = Snippet()
    k("v_mov_b32 v2, 5")
    k.keep("v2")
    assert (run(k, program(k, "", odd))[0] == 5).all(), "nobody asks for it"


def test_functions_are_part_of_what_can_be_edited() -> None:
    k = Snippet()
    k(f"v_mov_b32 v2, v0\n{ADDRESS.format(20, 21, 'both')}\n{CALL.format(20, 21)}")
    k.keep("v2")
    one = program(k)
    kernel = one.kernel()
    names = [part.name for part in kernel.functions]
    assert names[0] == "k" and set(names[1:]) == {"both", "triple", "add100"}
    (index,) = (i for i, each in enumerate(kernel.instructions) if each.mnemonic == "v_mul_u32_u24")
    less = one.without(index)
    assert len(less.kernel().instructions) == len(kernel.instructions) - 1
    again = asm.parse(less.text()).kernel()
    assert [one.text() for one in again.instructions] == [one.text() for one in less.kernel().instructions]
    assert (run(k, less)[0] == np.arange(64) + 100).all()
