"""Call a law's compiled batch of elements by its address, from any compiled loop."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call_batch(typing, address, first, count, x, y, h, elements, parameters, mode, a, b, c):
    """Call the batch at an address, with arrays as pointers to their data; return its result."""
    signature = types.int64(address, first, count, x, y, h, elements, parameters, mode, a, b, c)

    def emit(context, builder, signature, arguments):
        passed = []
        for kind, value in zip(signature.args[1:], arguments[1:], strict=True):
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
            passed.append(value)
        function = ir.FunctionType(ir.IntType(64), [value.type for value in passed])
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), passed)

    return signature, emit
