"""Semantics expressions to LLVM IR: one wave-wide vector (or one scalar) instruction sequence per node."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

from antiphase.isa import B1, BF16, F16, F32, F64, U16, U32, U64, Expr, Type
from antiphase.machine.llvm import _odd
from antiphase.machine.llvm._ir import Function


@dataclass(frozen=True, slots=True)
class FloatMode:
    """The MODE fields that change results, known when code is translated.

    round32, round64: 0 nearest even, 1 up, 2 down, 3 to zero; for f32, and for f16/f64. denormal32/64: bit 0 keeps
    input denormals, bit 1 keeps output denormals. Field values as AMDGPUUsage (".amdhsa_float_*") states them.
    """

    round32: int = 0
    round64: int = 0
    denormal32: int = 3
    denormal64: int = 3
    dx10_clamp: bool = True
    ieee: bool = True
    fp16_ovfl: bool = False

    def field(self, name: str) -> bool:
        return bool(getattr(self, name))


@dataclass(frozen=True, slots=True)
class Value:
    """An IR value with its lane type; lanes is 1 for a uniform value."""

    text: str
    type: Type
    lanes: int

    @property
    def ir(self) -> str:
        return ir_type(self.type, self.lanes)


_SCALARS = {"f16": "half", "f32": "float", "f64": "double"}


def scalar_ir(type_: Type) -> str:
    """IR type of one lane; bf16 is carried as its bits."""
    return _SCALARS.get(type_.name) or f"i{type_.bits}"


def ir_type(type_: Type, lanes: int) -> str:
    return scalar_ir(type_) if lanes == 1 else f"<{lanes} x {scalar_ir(type_)}>"


def constant(type_: Type, value: int | float) -> str:
    """A scalar constant's spelling."""
    if type_.name in _SCALARS:
        if type_ is F16:
            return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
        if type_ is F32:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if type_.kind == "b":
        return "true" if value else "false"
    return str(int(value) & ((1 << type_.bits) - 1))


_FLOAT_COMPARE = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_INT_COMPARE = {"eq": "eq", "ne": "ne"}
_FLOAT_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INT_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_ROUNDING = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven"}
_COUNTS = {"popcount": "ctpop", "bitreverse": "bitreverse", "clz": "ctlz", "ctz": "cttz"}


class Lowering:
    """Lowers the results of one instruction; shared subtrees are emitted once.

    sources: the instruction's source values by index. exec_: EXEC as i64 text, for cross-lane operations.
    """

    def __init__(
        self, function: Function, lanes: int, mode: FloatMode, sources: list[Value], exec_: Callable[[], str]
    ) -> None:
        self.f, self.lanes, self.mode, self.sources, self.exec = function, lanes, mode, sources, exec_
        self._done: dict[int, Value] = {}

    def lower(self, expr: Expr) -> Value:
        value = self._done.get(id(expr))
        if value is None:
            value = self._done[id(expr)] = self._node(expr)
        return value

    # -- helpers ------------------------------------------------------------------------------------------------

    def splat(self, value: Value, lanes: int) -> Value:
        if value.lanes == lanes:
            return value
        element = scalar_ir(value.type)
        if not value.text.startswith("%"):
            return Value(f"splat ({element} {value.text})", value.type, lanes)
        vector = f"<{lanes} x {element}>"
        one = self.f.let(f"insertelement {vector} poison, {element} {value.text}, i32 0")
        text = self.f.let(f"shufflevector {vector} {one}, {vector} poison, <{lanes} x i32> zeroinitializer")
        return Value(text, value.type, lanes)

    def _same(self, *values: Value) -> list[Value]:
        lanes = max(v.lanes for v in values)
        return [self.splat(v, lanes) for v in values]

    def number(self, type_: Type, value: int | float, lanes: int) -> str:
        text = constant(type_, value)
        return text if lanes == 1 else f"splat ({scalar_ir(type_)} {text})"

    def literal(self, type_: Type, value: int | float) -> Value:
        return Value(constant(type_, value), type_, 1)

    def intrinsic(self, name: str, value: Value, *more: str) -> Value:
        suffix = _suffix(value.type, value.lanes)
        args = [(value.ir, value.text), *((value.ir, m) for m in more)]
        return replace(value, text=self.f.call(value.ir, f"llvm.{name}.{suffix}", *args))

    def binary(self, op: str, a: Value, b: Value, result: Type | None = None) -> Value:
        a, b = self._same(a, b)
        return Value(self.f.let(f"{op} {a.ir} {a.text}, {b.text}"), result or a.type, a.lanes)

    def bitcast(self, value: Value, type_: Type) -> Value:
        if scalar_ir(value.type) == scalar_ir(type_):
            return replace(value, type=type_)
        target = ir_type(type_, value.lanes)
        if not value.text.startswith("%"):
            return Value(self.f.let(f"bitcast {value.ir} {value.text} to {target}"), type_, value.lanes)
        return Value(self.f.let(f"bitcast {value.ir} {value.text} to {target}"), type_, value.lanes)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        condition, yes, no = self._same(condition, yes, no)
        text = self.f.let(f"select {condition.ir} {condition.text}, {yes.ir} {yes.text}, {no.ir} {no.text}")
        return replace(yes, text=text)

    # -- nodes --------------------------------------------------------------------------------------------------

    def _node(self, e: Expr) -> Value:
        method = getattr(self, f"_op_{e.op}", None)
        if method is not None:
            return method(e)
        args = [self.lower(a) for a in e.args]
        if e.op in _FLOAT_COMPARE:
            return self._compare(e.op, *args)
        if args[0].type.is_float:
            return self._float(e.op, args)
        return self._integer(e, args)

    def _op_const(self, e: Expr) -> Value:
        assert isinstance(e.attr, (int, float))
        return Value(constant(e.type, e.attr), e.type, 1)

    def _op_source(self, e: Expr) -> Value:
        assert isinstance(e.attr, int)
        return self.sources[e.attr]

    def _op_mode(self, e: Expr) -> Value:
        return Value("true" if self.mode.field(str(e.attr)) else "false", B1, 1)

    def _op_wave_size(self, e: Expr) -> Value:
        return Value(str(self.lanes), U32, 1)

    def _op_lane_id(self, e: Expr) -> Value:
        ids = ", ".join(f"i32 {i}" for i in range(self.lanes))
        return Value(f"<{ids}>", U32, self.lanes)

    def _op_bits(self, e: Expr) -> Value:
        return self.bitcast(self.lower(e.args[0]), e.type)

    def _op_select(self, e: Expr) -> Value:
        condition = self.lower(e.args[0])
        if condition.text in ("true", "false"):
            return self.lower(e.args[1 if condition.text == "true" else 2])
        return self.select(condition, self.lower(e.args[1]), self.lower(e.args[2]))

    def _op_not(self, e: Expr) -> Value:
        value = self.lower(e.args[0])
        if value.text in ("true", "false"):
            return replace(value, text="false" if value.text == "true" else "true")
        ones = self.number(value.type, -1 if value.type.is_int else 1, value.lanes)
        return replace(value, text=self.f.let(f"xor {value.ir} {value.text}, {ones}"))

    def _compare(self, op: str, a: Value, b: Value) -> Value:
        if a.type.is_float:
            a, b = (self._compare_operand(v) for v in (a, b))
            return self.binary(f"fcmp {_FLOAT_COMPARE[op]}", a, b, B1)
        sign = "s" if a.type.kind == "i" else "u"
        return self.binary(f"icmp {_INT_COMPARE.get(op) or sign + op}", a, b, B1)

    def _compare_operand(self, value: Value) -> Value:
        return self.flush(self.to(value, F32) if value.type is BF16 else value, output=False)

    def _integer(self, e: Expr, args: list[Value]) -> Value:
        a = args[0]
        if e.op in ("and", "or", "xor") and a.type.kind == "b":
            return self.binary(e.op, a, args[1])
        if e.op in _INT_BINARY or e.op in ("lshr", "ashr"):
            return self.binary(e.op, a, args[1])
        if e.op == "neg":
            return replace(a, text=self.f.let(f"sub {a.ir} {self.number(a.type, 0, a.lanes)}, {a.text}"))
        if e.op == "abs":
            return self._with_flag("abs", a)
        if e.op in ("clz", "ctz"):
            return self._with_flag(_COUNTS[e.op], a)
        return self.intrinsic(_COUNTS[e.op], a)

    def _with_flag(self, name: str, a: Value) -> Value:
        """Intrinsics whose last argument says that a special input is not poison."""
        text = self.f.call(a.ir, f"llvm.{name}.{_suffix(a.type, a.lanes)}", (a.ir, a.text), ("i1", "false"))
        return replace(a, text=text)

    def _op_truth_table(self, e: Expr) -> Value:
        """f(a, b, c) = f(0, b, c) ^ (a & (f(0, b, c) ^ f(1, b, c))), each part of b and c alone."""
        a, b, c, table = map(self.lower, e.args)
        entries = int(table.text)
        without, change = entries & 15, (entries & 15) ^ (entries >> 4)
        base = self._two_input(without, b, c)
        if change == 0:
            return base
        return self.binary("xor", base, self.binary("and", a, self._two_input(change, b, c)))

    def _two_input(self, table: int, b: Value, c: Value) -> Value:
        """A bitwise function of two values; bit 2b + c of the table is its value."""
        ones = Value(constant(b.type, -1), b.type, 1)
        if table & 1:
            return self.binary("xor", self._two_input(table ^ 15, b, c), ones)
        if table == 0:
            return Value("0", b.type, 1)
        if table == 2:
            return self.binary("and", c, self.binary("xor", b, ones))
        if table == 4:
            return self.binary("and", b, self.binary("xor", c, ones))
        plain = {6: "xor", 8: "and", 14: "or"}.get(table)
        return self.binary(plain, b, c) if plain else (c if table == 10 else b)

    # -- floating point -----------------------------------------------------------------------------------------

    def _float(self, op: str, args: list[Value]) -> Value:
        type_ = args[0].type
        if op == "neg":
            return replace(args[0], text=self.f.let(f"fneg {args[0].ir} {args[0].text}"))
        if op == "abs":
            return self.intrinsic("fabs", args[0])
        if type_ in (F16, BF16):
            # 24 bits hold more than twice a half's 11, so rounding twice is rounding once, except for fma
            wide = F64 if op == "fma" else F32
            sources = [self.to(self.flush(a, output=False), wide) for a in args]
            exact = op == "fma" and type_ is BF16  # whose exponents reach beyond the 53 bits of an f64
            value = _odd.fma(self, *sources) if exact else self._float_op(op, sources)
            return self.flush(self.to(value, type_), output=True)
        value = self._float_op(op, [self.flush(a, output=False) for a in args])
        return self.flush(value, output=True)

    def _float_op(self, op: str, args: list[Value]) -> Value:
        if op in _FLOAT_BINARY:
            return self.binary(_FLOAT_BINARY[op], args[0], args[1])
        if op == "fma":
            a, b, c = self._same(*args)
            return self.intrinsic("fma", a, b.text, c.text)
        return self.intrinsic(_ROUNDING[op], args[0])

    def flush(self, value: Value, *, output: bool) -> Value:
        """Denormals become zero of the same sign where MODE says so."""
        setting = self.mode.denormal32 if value.type is F32 else self.mode.denormal64
        if setting & (2 if output else 1) or value.type is BF16:
            return value
        smallest = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}[value.type.bits]
        size = self.intrinsic("fabs", value)
        tiny = self.binary("fcmp olt", size, Value(constant(value.type, smallest), value.type, 1), B1)
        zero = Value(constant(value.type, 0.0), value.type, 1)
        lanes = self.splat(zero, value.lanes)
        signed = self.intrinsic("copysign", lanes, value.text)
        return self.select(tiny, signed, value)

    def _op_canonical(self, e: Expr) -> Value:
        value = self.flush(self.lower(e.args[0]), output=False)
        return self.flush(value, output=True)

    def _op_to(self, e: Expr) -> Value:
        return self.to(self.lower(e.args[0]), e.type)

    def to(self, value: Value, type_: Type) -> Value:
        """Numeric conversion; see Expr.to."""
        source = value.type
        if source is type_:
            return value
        if source is BF16:
            wide = self.cast("zext", replace(value, type=U16), U32)
            shifted = self.binary("shl", wide, Value("16", U32, 1))
            return self.to(self.bitcast(shifted, F32), type_)
        if type_ is BF16:
            return self._to_bf16(_odd.narrowed(self, value) if source is F64 else self.to(value, F32))
        if source.is_float and type_.is_float:
            if source is F64 and type_ is F16:
                return self.cast("fptrunc", _odd.narrowed(self, value), F16)
            return self.cast("fpext" if type_.bits > source.bits else "fptrunc", value, type_)
        if source.is_float:
            sign = "s" if type_.kind == "i" else "u"
            target = ir_type(type_, value.lanes)
            name = f"llvm.fpto{sign}i.sat.{_suffix(type_, value.lanes)}.{_suffix(source, value.lanes)}"
            return Value(self.f.call(target, name, (value.ir, value.text)), type_, value.lanes)
        if type_.is_float:
            return self.cast("sitofp" if source.kind == "i" else "uitofp", value, type_)
        if type_.kind == "b":
            zero = self.number(source, 0, value.lanes)
            return Value(self.f.let(f"icmp ne {value.ir} {value.text}, {zero}"), B1, value.lanes)
        if type_.bits == source.bits:
            return replace(value, type=type_)
        if type_.bits < source.bits:
            return self.cast("trunc", value, type_)
        return self.cast("sext" if source.kind == "i" else "zext", value, type_)

    def cast(self, op: str, value: Value, type_: Type) -> Value:
        target = ir_type(type_, value.lanes)
        return Value(self.f.let(f"{op} {value.ir} {value.text} to {target}"), type_, value.lanes)

    def _to_bf16(self, value: Value) -> Value:
        """Round f32 to nearest even; a NaN keeps its top bits and is made quiet."""
        bits = self.bitcast(value, U32)
        high = self.binary("lshr", bits, Value("16", U32, 1))
        odd = self.binary("and", high, Value("1", U32, 1))
        bias = self.binary("add", odd, Value("32767", U32, 1))
        rounded = self.binary("lshr", self.binary("add", bits, bias), Value("16", U32, 1))
        quiet = self.binary("or", high, Value("64", U32, 1))
        nan = self.binary("fcmp uno", value, value, B1)
        return replace(self.cast("trunc", self.select(nan, quiet, rounded), U16), type=BF16)

    # -- across lanes -------------------------------------------------------------------------------------------

    def _op_ballot(self, e: Expr) -> Value:
        return Value(self.mask(self.lower(e.args[0])), U64, 1)

    def mask(self, predicate: Value) -> str:
        """A predicate as the i64 lane mask of active lanes."""
        wide = self.splat(predicate, self.lanes)
        text = self.f.let(f"bitcast {wide.ir} {wide.text} to i{self.lanes}") if wide.text.startswith("%") else None
        if text is None:
            text = str(-1 if predicate.text == "true" else 0)
        elif self.lanes < 64:
            text = self.f.let(f"zext i{self.lanes} {text} to i64")
        return self.f.let(f"and i64 {text}, {self.exec()}")

    def _op_first_lane(self, e: Expr) -> Value:
        value = self.lower(e.args[0])
        if value.lanes == 1:
            return value
        # with EXEC zero the hardware takes lane 0
        active = self.f.call("i64", "llvm.cttz.i64", ("i64", self.exec()), ("i1", "false"))
        lane = self.f.let(f"and i64 {active}, {self.lanes - 1}")
        return self._extract(value, lane)

    def _op_read_lane(self, e: Expr) -> Value:
        value, lane = self.lower(e.args[0]), self.lower(e.args[1])
        if value.lanes == 1:
            return value
        index = self.f.let(f"zext i32 {self.f.let(f'and i32 {lane.text}, {self.lanes - 1}')} to i64")
        return self._extract(value, index)

    def _extract(self, value: Value, lane: str) -> Value:
        slot = self.f.alloca(value.ir)
        self.f.store(value.ir, value.text, slot, 64)
        pointer = self.f.index(scalar_ir(value.type), slot, lane)
        return Value(self.f.load(scalar_ir(value.type), pointer), value.type, 1)

    def _op_shuffle(self, e: Expr) -> Value:
        value = self.splat(self.lower(e.args[0]), self.lanes)
        assert isinstance(e.attr, tuple)
        return self.shuffle(value, tuple(lane % self.lanes for lane in e.attr[: self.lanes]))

    def shuffle(self, value: Value, lanes: tuple[int, ...]) -> Value:
        order = ", ".join(f"i32 {i}" for i in lanes)
        text = self.f.let(f"shufflevector {value.ir} {value.text}, {value.ir} poison, <{len(lanes)} x i32> <{order}>")
        return replace(value, text=text)

    def _op_gather_lanes(self, e: Expr) -> Value:
        value, lane = (self.splat(self.lower(a), self.lanes) for a in e.args)
        if e.attr != "inactive":
            zero = self.splat(Value(constant(value.type, 0), value.type, 1), self.lanes)
            value = self.select(self.exec_vector(), value, zero)
        source = self.f.alloca(value.ir)
        self.f.store(value.ir, value.text, source, 64)
        indices = self.f.alloca(lane.ir)
        wrapped = self.binary("and", lane, Value(str(self.lanes - 1), U32, 1))
        self.f.store(lane.ir, wrapped.text, indices, 64)
        result = self.f.alloca(value.ir)
        element = scalar_ir(value.type)
        with self.f.loop(self.lanes) as i:
            index = self.f.load("i32", self.f.index("i32", indices, i))
            item = self.f.load(element, self.f.index(element, source, index, "i32"))
            self.f.store(element, item, self.f.index(element, result, i))
        return Value(self.f.load(value.ir, result, 64), value.type, self.lanes)

    def _op_scatter_lanes(self, e: Expr) -> Value:
        value, lane = (self.splat(self.lower(a), self.lanes) for a in e.args)
        source, indices, result = self.f.alloca(value.ir), self.f.alloca(lane.ir), self.f.alloca(value.ir)
        self.f.store(value.ir, value.text, source, 64)
        wrapped = self.binary("and", lane, Value(str(self.lanes - 1), U32, 1))
        self.f.store(lane.ir, wrapped.text, indices, 64)
        self.f.store(value.ir, "zeroinitializer", result, 64)
        element = scalar_ir(value.type)
        with self.f.each_bit(self.exec()) as i:
            item = self.f.load(element, self.f.index(element, source, i))
            index = self.f.load("i32", self.f.index("i32", indices, i))
            self.f.store(element, item, self.f.index(element, result, index, "i32"))
        return Value(self.f.load(value.ir, result, 64), value.type, self.lanes)

    def exec_vector(self) -> Value:
        """EXEC as one predicate per lane."""
        return self.lane_mask(self.exec())

    def lane_mask(self, mask: str) -> Value:
        if self.lanes < 64:
            mask = self.f.let(f"trunc i64 {mask} to i{self.lanes}")
        text = self.f.let(f"bitcast i{self.lanes} {mask} to <{self.lanes} x i1>")
        return Value(text, B1, self.lanes)


def _suffix(type_: Type, lanes: int) -> str:
    """Type suffix of an overloaded intrinsic."""
    base = f"f{type_.bits}" if type_.kind == "f" else f"i{type_.bits}"
    return base if lanes == 1 else f"v{lanes}{base}"


__all__ = ["FloatMode", "Lowering", "Value", "constant", "ir_type", "scalar_ir"]
