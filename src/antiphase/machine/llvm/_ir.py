"""A thin builder of LLVM IR text: functions, structured control flow, typed loads and stores.

Text instead of llvmlite's object tree because building is on the cold-start path: a kernel is thousands of lines.
Values are their IR spelling ('%12', '7', 'zeroinitializer'); callers state types.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Function:
    """One function under construction; `text()` is its definition."""

    def __init__(self, name: str, result: str, params: list[tuple[str, str]], attributes: str = "nounwind") -> None:
        self.name, self.result = name, result
        self.params = params
        self.attributes = attributes
        self.lines: list[str] = ["entry:"]
        self._allocas: list[str] = []
        self._counter = 0
        self.declarations: set[str] = set()

    def text(self) -> str:
        params = ", ".join(f"{t} %{n}" for t, n in self.params)
        body = "\n".join([self.lines[0], *self._allocas, *self.lines[1:]])
        return f"define {self.result} @{self.name}({params}) {self.attributes} {{\n{body}\n}}\n"

    def fresh(self) -> str:
        self._counter += 1
        return f"%t{self._counter}"

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def let(self, expression: str) -> str:
        """Name the value of an instruction."""
        name = self.fresh()
        self.lines.append(f"{name} = {expression}")
        return name

    def block(self, hint: str = "b") -> str:
        self._counter += 1
        return f"{hint}{self._counter}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def jump(self, label: str) -> None:
        self.lines.append(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.lines.append(f"br i1 {condition}, label %{yes}, label %{no}")

    def at(self, base: str, offset: int | str) -> str:
        """Pointer `offset` bytes after `base`."""
        if offset == 0:
            return base
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def index(self, type_: str, base: str, i: str, index_type: str = "i64") -> str:
        """Pointer to element i of an array of `type_`."""
        return self.let(f"getelementptr {type_}, ptr {base}, {index_type} {i}")

    def load(self, type_: str, pointer: str, align: int | None = None) -> str:
        return self.let(f"load {type_}, ptr {pointer}" + (f", align {align}" if align else ""))

    def store(self, type_: str, value: str, pointer: str, align: int | None = None) -> None:
        self.lines.append(f"store {type_} {value}, ptr {pointer}" + (f", align {align}" if align else ""))

    def alloca(self, type_: str, align: int = 64) -> str:
        """Stack memory for the whole call, wherever in the body it is asked for."""
        name = self.fresh()
        self._allocas.append(f"{name} = alloca {type_}, align {align}")
        return name

    def call(self, result: str, name: str, *args: tuple[str, str]) -> str:
        """Call a function that is defined elsewhere; its declaration is collected."""
        self.declarations.add(f"declare {result} @{name}({', '.join(t for t, _ in args)})")
        text = f"call {result} @{name}({', '.join(f'{t} {v}' for t, v in args)})"
        if result == "void":
            self.lines.append(text)
            return ""
        return self.let(text)

    def variable(self, type_: str, value: str) -> Variable:
        return Variable(self, type_, value)

    @contextmanager
    def if_(self, condition: str) -> Iterator[None]:
        yes, done = self.block("then"), self.block("done")
        self.branch(condition, yes, done)
        self.label(yes)
        yield
        self.jump(done)
        self.label(done)

    @contextmanager
    def if_not(self, condition: str) -> Iterator[None]:
        no, done = self.block("else"), self.block("done")
        self.branch(condition, done, no)
        self.label(no)
        yield
        self.jump(done)
        self.label(done)

    @contextmanager
    def loop(self, count: int | str, type_: str = "i64", start: str = "0") -> Iterator[str]:
        """Run the body for i = start .. count - 1; yields i."""
        i = self.variable(type_, start)
        head, body, done = self.block("head"), self.block("body"), self.block("done")
        self.jump(head)
        self.label(head)
        value = i.get()
        self.branch(self.let(f"icmp ult {type_} {value}, {count}"), body, done)
        self.label(body)
        yield value
        i.set(self.let(f"add {type_} {value}, 1"))
        self.jump(head)
        self.label(done)

    @contextmanager
    def each_bit(self, mask: str) -> Iterator[str]:
        """Run the body for every set bit of an i64, lowest first; yields the bit's index as i64."""
        rest = self.variable("i64", mask)
        head, body, done = self.block("head"), self.block("body"), self.block("done")
        self.jump(head)
        self.label(head)
        value = rest.get()
        self.branch(self.let(f"icmp ne i64 {value}, 0"), body, done)
        self.label(body)
        bit = self.call("i64", "llvm.cttz.i64", ("i64", value), ("i1", "true"))
        rest.set(self.let(f"and i64 {value}, {self.let(f'sub i64 {value}, 1')}"))
        yield bit
        self.jump(head)
        self.label(done)

    def ret(self, value: str | None = None) -> None:
        self.emit("ret void" if value is None else f"ret {self.result} {value}")


class Variable:
    """A mutable local; optimised code keeps it in a register."""

    def __init__(self, function: Function, type_: str, value: str) -> None:
        self._function, self._type = function, type_
        self._slot = function.alloca(type_, 8)
        self.set(value)

    def get(self) -> str:
        return self._function.load(self._type, self._slot)

    def set(self, value: str) -> None:
        self._function.store(self._type, value, self._slot)


def module(functions: list[Function], extra: str = "") -> str:
    """Text of a module: the functions, and declarations of what they call and do not define."""
    defined = {f.name for f in functions}
    wanted = set().union(*(f.declarations for f in functions)) if functions else set()
    declarations = sorted(d for d in wanted if d.split("@")[1].split("(")[0] not in defined)
    return "\n".join([*declarations, extra, *(f.text() for f in functions)])
