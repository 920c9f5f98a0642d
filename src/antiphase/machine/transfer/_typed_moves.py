"""load_typed_* and store_typed_*: native functions between registers and elements in a format.

One routine for all formats: it is told where the components lie in the element and of what kind they are, in one i64
(`form`). All lanes' components of one channel are converted at once, by the expressions of `isa`.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphase.isa import U32, Expr, source
from antiphase.isa._buffer_convert import loaded, loaded_half, one, stored, stored_half
from antiphase.isa._buffer_formats import KINDS, BufferFormat, buffer_formats
from antiphase.machine import _layout as at
from antiphase.machine.llvm import _native
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode, Lowering, Value

_BYTES, _COMPONENTS, _COMPONENT, _OFFSET = 4, 9, 13, 7
"""Bits of a form: kind, bytes from _BYTES on, then for x to w the offset in bits and from _OFFSET on the width."""
UNKNOWN = 15
"""The kind in a form of no known format."""
WORD, HALF, HIGH = range(3)
"""How registers hold components: 32 bits each, 16 bits packed, or one in the upper half."""

_loaded: dict[int, _native.Library] = {}


def form(format_: BufferFormat) -> int:
    """A format as the routines read it."""
    value, offset = KINDS.index(format_.kind) | format_.bytes << _BYTES, 0
    for i, width in enumerate(format_.widths):
        value |= (offset | width << _OFFSET) << _COMPONENTS + _COMPONENT * i
        offset += width
    return value


def bytes_of(f: Function, form_: str) -> str:
    return f.let(f"and i64 {f.let(f'lshr i64 {form_}, {_BYTES}')}, 31")


def kind_of(f: Function, form_: str) -> str:
    return f.let(f"trunc i64 {f.let(f'and i64 {form_}, 15')} to i32")


def ready(lanes: int) -> None:
    """Make the functions known to code that is loaded later; compiles them when first needed."""
    if lanes in _loaded:
        return
    functions = [
        *(_lookup(generation, lanes) for generation in ("gfx9", "gfx11", "gfx12")), _load(lanes), _store(lanes),
        *(_conversion(f"convert_{name}_{lanes}", expression, lanes) for name, expression in _CONVERSIONS.items()),
    ]  # fmt: skip
    _loaded[lanes] = _native.Library(module(functions), 2)
    for function in functions:
        _native.publish(function.name, _loaded[lanes].address(function.name))


_CONVERSIONS: dict[str, Callable[[Expr, Expr, Expr], Expr]] = {
    "load": loaded, "load_half": loaded_half, "store": stored, "store_half": stored_half,
}  # fmt: skip


def _lookup(generation: str, lanes: int) -> Function:
    """form_<generation>_*(code): the form of a format that a resource names."""
    f = Function(f"form_{generation}_{lanes}", "i64", [("i32", "code")])
    forms = {code: form(format_) for code, format_ in buffer_formats(generation).items()}
    cases = " ".join(f"i32 {code}, label %known{code}" for code in forms)
    f.emit(f"switch i32 %code, label %unknown [{cases}]")
    for code, value in forms.items():
        f.label(f"known{code}")
        f.ret(str(value))
    f.label("unknown")
    f.ret(str(UNKNOWN))
    return f


def _conversion(name: str, expression: Callable[[Expr, Expr, Expr], Expr], lanes: int) -> Function:
    """convert_*(to, from, width, kind): one plane of components."""
    f = Function(name, "void", [("ptr", "to"), ("ptr", "from"), ("i32", "width"), ("i32", "kind")])
    words = f"<{lanes} x i32>"
    sources = [Value(f.load(words, "%from", 64), U32, lanes), Value("%width", U32, 1), Value("%kind", U32, 1)]
    # conversions do not look at MODE
    lowering = Lowering(f, lanes, FloatMode(), sources, lambda: "-1")
    result = lowering.splat(lowering.lower(expression(*(source(i, U32) for i in range(3)))), lanes)
    f.store(words, result.text, "%to", 64)
    f.ret()
    return f


_SHAPE = [("i64", "form"), ("i64", "select"), ("i64", "components"), ("i32", "held")]


class _Moves:
    """What both directions share: planes of raw elements by dword, and of channels by what DST_SEL calls them."""

    def __init__(self, f: Function, lanes: int) -> None:
        self.f, self.lanes, self.plane, self.words = f, lanes, 4 * lanes, f"<{lanes} x i32>"
        self.kind, self.bytes = kind_of(f, "%form"), bytes_of(f, "%form")
        self.raw, self.channels = f.alloca(f"[{4 * self.plane} x i8]"), f.alloca(f"[{8 * self.plane} x i8]")
        self.code = f.alloca(self.words)
        for base, count in ((self.raw, 4), (self.channels, 8)):
            for i in range(count):
                self.put("zeroinitializer", f.at(base, i * self.plane))
        self.word = f.let(f"icmp eq i32 %held, {WORD}")

    def get(self, pointer: str) -> str:
        return self.f.load(self.words, pointer, 64)

    def put(self, value: str, pointer: str) -> None:
        self.f.store(self.words, value, pointer, 64)

    def splat(self, value: str) -> str:
        first = self.f.let(f"insertelement {self.words} poison, i32 {value}, i32 0")
        return self.f.let(f"shufflevector {self.words} {first}, {self.words} poison, {self.words} zeroinitializer")

    def shifted(self, operation: str, value: str, count: str) -> str:
        return self.f.let(f"{operation} {self.words} {value}, {self.splat(count)}")

    def in_lanes(self, mask: str, value: str, other: str) -> str:
        bits = mask if self.lanes == 64 else self.f.let(f"trunc i64 {mask} to i{self.lanes}")
        active = self.f.let(f"bitcast i{self.lanes} {bits} to <{self.lanes} x i1>")
        return self.f.let(f"select <{self.lanes} x i1> {active}, {self.words} {value}, {self.words} {other}")

    def component(self, i: int) -> tuple[str, str, str]:
        """Of x to w: the plane of its dword, its first bit there and its width, which is 0 if there is none."""
        f = self.f
        entry = f.let(f"lshr i64 %form, {_COMPONENTS + _COMPONENT * i}")
        dword = f.let(f"and i64 {f.let(f'lshr i64 {entry}, 5')}, 3")
        pointer = f.at(self.raw, f.let(f"mul i64 {dword}, {self.plane}"))
        narrow = f.let(f"trunc i64 {entry} to i32")
        return pointer, f.let(f"and i32 {narrow}, 31"), f.let(f"and i32 {f.let(f'lshr i32 {narrow}, {_OFFSET}')}, 63")

    def selected(self, i: str) -> str:
        """The plane of the channel that DST_SEL has for a component."""
        shifted = self.f.let(f"lshr i64 %select, {self.f.let(f'mul i64 {i}, 3')}")
        three = self.f.let(f"and i64 {shifted}, 7")
        return self.f.at(self.channels, self.f.let(f"mul i64 {three}, {self.plane}"))

    def register(self, base: str, i: str) -> str:
        """The register of a component: its own, or one that two share."""
        number = self.f.let(f"select i1 {self.word}, i64 {i}, i64 {self.f.let(f'lshr i64 {i}, 1')}")
        return self.f.at(base, self.f.let(f"mul i64 {number}, {self.plane}"))

    def place(self, i: str) -> str:
        """The first bit of a component in its register, i32."""
        odd = self.f.let(f"and i32 {self.f.let(f'trunc i64 {i} to i32')}, 1")
        upper = self.f.let(f"select i1 {self.f.let(f'icmp eq i32 %held, {HIGH}')}, i32 1, i32 {odd}")
        return self.f.let(f"select i1 {self.word}, i32 0, i32 {self.f.let(f'shl i32 {upper}, 4')}")

    def convert(self, direction: str, to: str, from_: str, width: str) -> None:
        arguments = ("ptr", to), ("ptr", from_), ("i32", width), ("i32", self.kind)
        with self.f.if_(self.word):
            self.f.call("void", f"convert_{direction}_{self.lanes}", *arguments)
        with self.f.if_not(self.word):
            self.f.call("void", f"convert_{direction}_half_{self.lanes}", *arguments)

    def each_byte(self, move: Callable[[str, str], None]) -> None:
        """Run `move` for all bytes of the elements of %good: (in memory, in the raw planes)."""
        f = self.f
        with f.each_bit("%good") as lane:
            memory = f.let(f"inttoptr i64 {f.load('i64', f.index('i64', f.at('%w', at.ADDRESSES), lane))} to ptr")
            mine = f.index("i32", self.raw, lane)
            with f.loop(self.bytes) as i:
                dword = f.let(f"mul i64 {f.let(f'lshr i64 {i}, 2')}, {self.plane}")
                move(f.at(memory, i), f.at(mine, f.let(f"add i64 {dword}, {f.let(f'and i64 {i}, 3')}")))


def _load(lanes: int) -> Function:
    """load_typed_*(w, to, good, zero, form, select, components, held): lanes of `good` load from ADDRESSES and lanes of
    `zero` are out of range: components are 0 there, but for those that DST_SEL makes 1."""
    params = [("ptr", "w"), ("ptr", "to"), ("i64", "good"), ("i64", "zero"), *_SHAPE]
    f = Function(f"load_typed_{lanes}", "void", params)
    m = _Moves(f, lanes)
    m.each_byte(lambda memory, raw: f.store("i8", f.load("i8", memory, 1), raw, 1))
    bound = f.let(f"icmp ne i64 {m.bytes}, 0")
    with f.if_(bound):
        m.put(m.splat(_one(f, m.kind, m.word)), f.at(m.channels, m.plane))
    for i in range(4):
        pointer, first, width = m.component(i)
        channel, some = f.at(m.channels, (4 + i) * m.plane), f.let(f"icmp ne i32 {width}, 0")
        with f.if_(some):
            ones = f.let(f"lshr i32 -1, {f.let(f'sub i32 32, {width}')}")
            code = m.shifted("lshr", m.get(pointer), first)
            m.put(f.let(f"and {m.words} {code}, {m.splat(ones)}"), m.code)
            # in lanes that load nothing the bits are 0, which every kind of component converts to 0
            m.convert("load", channel, m.code, width)
        if i == 3:
            with f.if_not(some):
                m.put(m.in_lanes("%good", m.get(f.at(m.channels, m.plane)), "zeroinitializer"), channel)
    written = f.let("or i64 %good, %zero")
    with f.loop("%components") as i:
        register, place = m.register("%to", i), m.place(i)
        old = m.get(register)
        other = f.let(f"xor i32 {f.let(f'shl i32 65535, {place}')}, -1")
        kept = f.let(f"select i1 {m.word}, i32 0, i32 {other}")
        value = m.shifted("shl", m.get(m.selected(i)), place)
        mixed = f.let(f"or {m.words} {f.let(f'and {m.words} {old}, {m.splat(kept)}')}, {value}")
        m.put(m.in_lanes(written, mixed, old), register)
    f.ret()
    return f


def _one(f: Function, kind: str, word: str) -> str:
    """DST_SEL 1 as a component of a kind."""
    lowering = Lowering(f, 1, FloatMode(), [Value(kind, U32, 1)], lambda: "-1")
    both = [one(source(0, U32), half) for half in (False, True)]
    wide, half = (lowering.lower(each).text for each in both)
    return f.let(f"select i1 {word}, i32 {wide}, i32 {half}")


def _store(lanes: int) -> Function:
    """store_typed_*(w, from, good, fill, form, select, components, held): lanes of `good` store to ADDRESSES. A channel
    takes the first component that DST_SEL sends there; of those the instruction does not have, `fill` makes the first
    component, 0 zeros."""
    params = [("ptr", "w"), ("ptr", "from"), ("i64", "good"), ("i64", "fill"), *_SHAPE]
    f = Function(f"store_typed_{lanes}", "void", params)
    m = _Moves(f, lanes)
    for i in reversed(range(4)):
        given = f.let(f"icmp ult i64 {i}, %components")
        any_ = f.let(f"or i1 {given}, {f.let('icmp ne i64 %fill, 0')}")
        component = f.let(f"select i1 {given}, i64 {i}, i64 0")
        bits = m.shifted("lshr", m.get(m.register("%from", component)), m.place(component))
        value = f.let(f"select i1 {any_}, {m.words} {bits}, {m.words} zeroinitializer")
        half = f.let(f"and {m.words} {value}, splat (i32 65535)")
        m.put(f.let(f"select i1 {m.word}, {m.words} {value}, {m.words} {half}"), m.selected(str(i)))
    for i in range(4):
        pointer, first, width = m.component(i)
        with f.if_(f.let(f"icmp ne i32 {width}, 0")):
            m.convert("store", m.code, f.at(m.channels, (4 + i) * m.plane), width)
            m.put(f.let(f"or {m.words} {m.get(pointer)}, {m.shifted('shl', m.get(m.code), first)}"), pointer)
    m.each_byte(lambda memory, raw: f.store("i8", f.load("i8", raw, 1), memory, 1))
    f.ret()
    return f
