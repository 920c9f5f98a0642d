"""The native loop that runs workgroups: waves of one group take turns from barrier to barrier on one host thread.

Any order of waves between barriers is a legal one; this takes wave 0 first. A wave that has ended is no longer waited
for (AMD CDNA ISA, "Work-group barriers"). The host is asked for help through the returned status, and the loop resumes
where it was.
"""

from __future__ import annotations

from antiphase.machine import _layout as at
from antiphase.machine.llvm._ir import Function

# a worker, in bytes: what one host thread runs
(WAVES, STATES, STRIDE, KERNEL, TEMPLATE, TEMPLATE_BYTES, NEXT, END, ACTIVE, GRID_X, GRID_Y, LDS_FILL, WAVE_AT, ID_X,
 ID_Y, ID_Z, ID_YZ, STOP_EACH, BARRIER_TABLE) = range(0, 19 * 8, 8)  # fmt: skip
# workgroups of a cluster, its size along x, y, z, and all their LDS; a workgroup by itself is a cluster of one
MEMBERS, CLUSTER_X, CLUSTER_Y, CLUSTER_Z, LDS_TOTAL = range(152, 192, 8)
BUDGET, EPOCH = 208, 216  # i64: instructions until the host is asked; what the clock shows when BUDGET is 0
WORKER_BYTES = 256

DONE, GROUP_DONE = 0, 100
"""Results of run() besides a wave's STATUS_BUDGET, STATUS_RECORD or STATUS_TRAP: all workgroups, one workgroup done."""


def functions(lanes: int) -> list[Function]:
    return [_start(), _group(), _run()]


def _start() -> Function:
    """start(g): set up the cluster whose number is in NEXT: registers from the template, ids, barriers, a fresh LDS.

    The registers for ids get those of the cluster, which are the workgroup's own where it is by itself.
    """
    f = Function("start", "void", [("ptr", "g")])
    number = f.load("i64", f.at("%g", NEXT))
    grid_x, grid_y = f.load("i64", f.at("%g", GRID_X)), f.load("i64", f.at("%g", GRID_Y))
    rest = f.let(f"udiv i64 {number}, {grid_x}")
    ids = [
        f.let(f"urem i64 {number}, {grid_x}"),
        f.let(f"urem i64 {rest}, {grid_y}"),
        f.let(f"udiv i64 {rest}, {grid_y}"),
    ]
    ids = [f.let(f"trunc i64 {i} to i32") for i in ids]
    stride, size = f.load("i64", f.at("%g", STRIDE)), f.load("i64", f.at("%g", TEMPLATE_BYTES))
    states, template = f.load("ptr", f.at("%g", STATES)), f.load("ptr", f.at("%g", TEMPLATE))
    with f.loop(f.load("i64", f.at("%g", WAVES))) as i:
        w = f.at(states, f.let(f"mul i64 {i}, {stride}"))
        from_ = f.at(template, f.let(f"mul i64 {i}, {size}"))
        f.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", w), ("ptr", from_), ("i64", size), ("i1", "false"))
        for k, (id_, where) in enumerate(zip(ids, (ID_X, ID_Y, ID_Z), strict=True)):
            side = f.let(f"trunc i64 {f.load('i64', f.at('%g', (CLUSTER_X, CLUSTER_Y, CLUSTER_Z)[k]))} to i32")
            local = f.load("i32", f.at(w, at.LOCAL + 4 * k))
            own = f.let(f"add i32 {f.let(f'mul i32 {id_}, {side}')}, {local}")
            f.store("i32", own, f.at(w, at.GROUP + 4 * k))
            register = f.load("i64", f.at("%g", where))
            with f.if_(f.let(f"icmp sge i64 {register}, 0")):
                f.store("i32", id_, f.at(w, register))
        packed = f.load("i64", f.at("%g", ID_YZ))
        with f.if_(f.let(f"icmp sge i64 {packed}, 0")):
            both = f.let(f"or i32 {ids[1]}, {f.let(f'shl i32 {ids[2]}, 16')}")
            f.store("i32", both, f.at(w, packed))
    table = f.load("ptr", f.at("%g", BARRIER_TABLE))
    members, bytes_ = f.load("i64", f.at("%g", MEMBERS)), at.BARRIER_COUNT * at.BARRIER_BYTES
    whole = f.let(f"mul i64 {members}, {bytes_}")
    f.call("void", "llvm.memset.p0.i64", ("ptr", table), ("i8", "0"), ("i64", whole), ("i1", "false"))
    waves = f.let(f"udiv i64 {f.load('i64', f.at('%g', WAVES))}, {members}")
    waves = f.let(f"trunc i64 {waves} to i32")
    with f.loop(members) as m:
        f.store("i32", waves, f.at(f.at(table, f.let(f"mul i64 {m}, {bytes_}")), at.BARRIER_MEMBERS))
    of_cluster = f.at(table, at.CLUSTER_BARRIER * at.BARRIER_BYTES + at.BARRIER_MEMBERS)
    f.store("i32", f.let(f"trunc i64 {members} to i32"), of_cluster)
    lds, bytes_ = f.load("ptr", f.at(states, at.LDS)), f.load("i64", f.at("%g", LDS_TOTAL))
    fill = f.let(f"trunc i64 {f.load('i64', f.at('%g', LDS_FILL))} to i32")
    with f.loop(f.let(f"lshr i64 {bytes_}, 2")) as i:
        f.store("i32", fill, f.index("i32", lds, i))
    f.ret()
    return f


def _group() -> Function:
    """group(g): run the current cluster until it ends (0) or a wave needs the host (its status)."""
    f = Function("group", "i32", [("ptr", "g")])
    waves, stride = f.load("i64", f.at("%g", WAVES)), f.load("i64", f.at("%g", STRIDE))
    states, kernel = f.load("ptr", f.at("%g", STATES)), f.load("ptr", f.at("%g", KERNEL))
    again = f.block("round")
    ended, ran = f.variable("i64", "0"), f.variable("i1", "false")
    f.jump(again)
    f.label(again)
    ended.set("0")
    ran.set("false")
    with f.loop(waves) as i:
        w = f.at(states, f.let(f"mul i64 {i}, {stride}"))
        status = f.at(w, at.STATUS)
        with f.if_(_runnable(f, w)):
            ran.set("true")
            # one budget for all waves and workgroups of the thread: the host is asked in time whatever their sizes
            f.store("i64", f.load("i64", f.at("%g", BUDGET)), f.at(w, at.BUDGET))
            f.store("i64", f.load("i64", f.at("%g", EPOCH)), f.at(w, at.EPOCH))
            result = f.let(f"call i32 {kernel}(ptr {w})")
            f.store("i64", f.load("i64", f.at(w, at.BUDGET)), f.at("%g", BUDGET))
            with f.if_(f.let(f"icmp ugt i32 {result}, {at.STATUS_END}")):
                f.store("i32", str(at.STATUS_RUN), status)
                f.store("i64", i, f.at("%g", WAVE_AT))
                f.ret(result)
                f.label(f.block("unreachable"))
            f.store("i32", result, status)
            with f.if_(f.let(f"icmp eq i32 {result}, {at.STATUS_END}")):
                left = f.call("i1", "barrier_drop", ("ptr", w), ("i32", str(at.WORKGROUP_BARRIER)))
                with f.if_not(left):
                    f.call("i1", "barrier_drop", ("ptr", w), ("i32", str(at.CLUSTER_BARRIER)))
        is_end = f.let(f"icmp eq i32 {f.load('i32', status)}, {at.STATUS_END}")
        ended.set(f.let(f"add i64 {ended.get()}, {f.let(f'zext i1 {is_end} to i64')}"))
    with f.if_(f.let(f"icmp eq i64 {ended.get()}, {waves}")):
        f.ret("0")
        f.label(f.block("unreachable"))
    stuck = f.block("stuck")
    f.branch(ran.get(), again, stuck)
    f.label(stuck)
    f.ret(str(at.STATUS_DEADLOCK))
    return f


def _runnable(f: Function, w: str) -> str:
    """A wave that runs, or whose barrier has advanced since it began to wait."""
    status = f.load("i32", f.at(w, at.STATUS))
    answer = f.variable("i1", f.let(f"icmp eq i32 {status}, {at.STATUS_RUN}"))
    with f.if_(f.let(f"icmp eq i32 {status}, {at.STATUS_BARRIER}")):
        phase = f.load("i32", f.at(f.load("ptr", f.at(w, at.WAIT_ON)), at.BARRIER_PHASE))
        answer.set(f.let(f"icmp ne i32 {phase}, {f.load('i32', f.at(w, at.WAIT_PHASE))}"))
    return answer.get()


def _run() -> Function:
    """run(g): clusters NEXT .. END - 1; returns a status when the host is needed, and continues when called again."""
    f = Function("run", "i32", [("ptr", "g")])
    again, begin, go = f.block("again"), f.block("begin"), f.block("go")
    f.jump(again)
    f.label(again)
    f.branch(f.let(f"icmp ne i64 {f.load('i64', f.at('%g', ACTIVE))}, 0"), go, begin)
    f.label(begin)
    with f.if_(f.let(f"icmp uge i64 {f.load('i64', f.at('%g', NEXT))}, {f.load('i64', f.at('%g', END))}")):
        f.ret(str(DONE))
        f.label(f.block("unreachable"))
    f.call("void", "start", ("ptr", "%g"))
    f.store("i64", "1", f.at("%g", ACTIVE))
    f.jump(go)
    f.label(go)
    result = f.call("i32", "group", ("ptr", "%g"))
    with f.if_(f.let(f"icmp ne i32 {result}, 0")):
        f.ret(result)
        f.label(f.block("unreachable"))
    f.store("i64", "0", f.at("%g", ACTIVE))
    f.store("i64", f.let(f"add i64 {f.load('i64', f.at('%g', NEXT))}, 1"), f.at("%g", NEXT))
    with f.if_(f.let(f"icmp ne i64 {f.load('i64', f.at('%g', STOP_EACH))}, 0")):
        f.ret(str(GROUP_DONE))
        f.label(f.block("unreachable"))
    f.jump(again)
    return f
