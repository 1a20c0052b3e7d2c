"""Formulas on a few particles as symbols: traced, differentiated and printed as source.

vocabulary     the functions that a formula may use, exported here
trace          run a formula on symbols, and the forms of a law derived from the result
expression     scalars of a formula, with searches and substitutions; `_array`: vectors of them
graph          operations that make and simplify expressions
differentiate  derivatives, by reverse accumulation
structure      what the formula says about its Hessian: one vector instead of many, closed forms
measures       the metric, a cheap positive semi-definite form of a Hessian
source         the Python source of a law's loops; `_emit`: of single expressions
interpret      evaluation with numpy, without compiling
products       products of derivatives with vectors, evaluated in the same way
"""

from taut.formula.vocabulary import (
    Matrix2,
    Matrix3,
    Scalar,
    Vector,
    Vectors,
    acos,
    asin,
    atan2,
    columns,
    cos,
    cross,
    det,
    dot,
    exp,
    frozen,
    inverse,
    log,
    maximum,
    minimum,
    norm,
    rate,
    sin,
    sqrt,
    stretch_sum,
    tan,
    tanh,
    total,
    tr,
    unit,
    where,
)

__all__ = [
    "Matrix2",
    "Matrix3",
    "Scalar",
    "Vector",
    "Vectors",
    "acos",
    "asin",
    "atan2",
    "columns",
    "cos",
    "cross",
    "det",
    "dot",
    "exp",
    "frozen",
    "inverse",
    "log",
    "maximum",
    "minimum",
    "norm",
    "rate",
    "sin",
    "sqrt",
    "stretch_sum",
    "tan",
    "tanh",
    "total",
    "tr",
    "unit",
    "where",
]
