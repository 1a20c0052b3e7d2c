"""What Numba lacks for loops shared among threads: the only file that emits LLVM for threads.

- `load`, `store`, `increment`, `exchange`: atomic operations on the entries of an int64 array.
- `pause` and `yield_core`: how a thread waits.
- `pointers`: a NamedTuple of arrays as a NamedTuple of pointers, which compile faster.
- `bind` and `call`: a compiled function with its arguments as a pair of addresses, which another
  thread can call. Numba can pass functions around, but not with arguments of any type.

Each is an `intrinsic` of Numba: a function that gets the types of its arguments when it is
compiled, and emits the instructions.
"""

from __future__ import annotations

import os
import platform

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from taut.linalg.simd import I32, I64, address_of

_PAUSE_INSTRUCTIONS = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "AMD64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
    "arm64": ("llvm.aarch64.hint", (1,)),
}


@intrinsic
def pointers(typing_context, arrays):
    """The NamedTuple with a pointer in place of each array.

    An array is seven numbers to numba, and counts its references. Functions that are passed dozens
    of them take seconds to compile; pointers are one number each, and are indexed like arrays.
    """
    fields = [types.CPointer(k.dtype) if isinstance(k, types.Array) else k for k in arrays.types]
    result = types.BaseTuple.from_types(fields, arrays.instance_class)

    def emit(context, builder, signature, values):
        parts = [builder.extract_value(values[0], k) for k in range(len(fields))]
        for k, kind in enumerate(signature.args[0].types):
            if isinstance(kind, types.Array):
                parts[k] = address_of(context, builder, kind, parts[k])
        return context.make_tuple(builder, signature.return_type, parts)

    return result(arrays), emit


def _place(context, builder, signature, values):
    return builder.gep(address_of(context, builder, signature.args[0], values[0]), [values[1]])


@intrinsic
def load(typing_context, counters, at):
    """Read a counter, and see everything that was written before it (acquire)."""

    def emit(context, builder, signature, values):
        return builder.load_atomic(_place(context, builder, signature, values), "acquire", 8)

    return types.int64(counters, types.int64), emit


@intrinsic
def store(typing_context, counters, at, value):
    """Write a counter after everything that was written before (release)."""

    def emit(context, builder, signature, values):
        builder.store_atomic(values[2], _place(context, builder, signature, values), "release", 8)
        return context.get_dummy_value()

    return types.void(counters, types.int64, types.int64), emit


@intrinsic
def increment(typing_context, counters, at):
    """Add 1 to a counter; returns its value before."""

    def emit(context, builder, signature, values):
        place = _place(context, builder, signature, values)
        return builder.atomic_rmw("add", place, I64(1), "acq_rel")

    return types.int64(counters, types.int64), emit


@intrinsic
def exchange(typing_context, counters, at, old, new):
    """Replace a counter by `new` if it is `old`; returns whether it was."""

    def emit(context, builder, signature, values):
        place = _place(context, builder, signature, values)
        outcome = builder.cmpxchg(place, values[2], values[3], "acq_rel", "acquire")
        return builder.extract_value(outcome, 1)

    return types.boolean(counters, types.int64, types.int64, types.int64), emit


def _call_external(builder, result, name, numbers=()):
    kind = ir.FunctionType(result, [I32] * len(numbers))
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    builder.call(function, [I32(number) for number in numbers])


@intrinsic
def pause(typing_context):
    """Tell the processor that this thread is waiting, where it has an instruction for that."""

    def emit(context, builder, signature, values):
        if platform.machine() in _PAUSE_INSTRUCTIONS:
            _call_external(builder, ir.VoidType(), *_PAUSE_INSTRUCTIONS[platform.machine()])
        return context.get_dummy_value()

    return types.void(), emit


@intrinsic
def yield_core(typing_context):
    """Offer the core to other threads, where the system has a call for that."""

    def emit(context, builder, signature, values):
        if os.name == "posix":
            _call_external(builder, I32, "sched_yield")
        return context.get_dummy_value()

    return types.void(), emit


# What `bind` makes of a body: void(first, last, address of its arguments, address of two results).
_BOUND = ir.FunctionType(ir.VoidType(), [I64, I64, I64, I64])


@intrinsic
def bind(typing_context, body, arguments):
    """Addresses of `body` and of a copy of its arguments, a tuple: (function, arguments).

    The copy lives on the stack of the calling function: use it before that returns.
    """
    called = body.get_call_type(typing_context, (types.int64, types.int64, *arguments.types), {})

    def emit(context, builder, signature, values):
        compiled = body.dispatcher.overloads[called.args]
        context.active_code_library.add_linking_library(compiled.library)
        copy = cgutils.alloca_once_value(builder, values[1])
        name = builder.module.get_unique_name(f"bound.{compiled.fndesc.mangled_name}")
        bound = ir.Function(builder.module, _BOUND, name)
        bound.linkage = "internal"
        inside = ir.IRBuilder(bound.append_basic_block("entry"))
        first, last, address, results = bound.args
        whole = inside.load(inside.inttoptr(address, copy.type))
        parts = [inside.extract_value(whole, k) for k in range(len(arguments.types))]
        _, returned = context.call_internal_no_propagate(
            inside, compiled.fndesc, called, [first, last, *parts]
        )
        if called.return_type != types.none:
            target = inside.inttoptr(results, ir.DoubleType().as_pointer())
            for k in range(2):
                value = inside.extract_value(returned, k)
                inside.store(value, inside.gep(target, [I32(k)]))
        inside.ret_void()
        pair = [builder.ptrtoint(bound, I64), builder.ptrtoint(copy, I64)]
        return context.make_tuple(builder, signature.return_type, pair)

    return types.UniTuple(types.int64, 2)(body, arguments), emit


@intrinsic
def call(typing_context, function, arguments, first, last, results, at):
    """Call what `bind` made; store a pair that it returns in results[at] and results[at + 1]."""

    def emit(context, builder, signature, values):
        function, arguments, first, last, results, at = values
        target = builder.ptrtoint(builder.gep(results, [at]), I64)
        pointer = builder.inttoptr(function, _BOUND.as_pointer())
        builder.call(pointer, [first, last, arguments, target])
        return context.get_dummy_value()

    i8 = types.int64
    return types.void(i8, i8, i8, i8, results, i8), emit
