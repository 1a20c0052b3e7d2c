"""A formula on a few particles → expression graph → derivatives → compiled loops; and the vocabulary to write one."""

from taut.formula.vocabulary import (
    Vector,
    acos,
    asin,
    atan2,
    cos,
    cross,
    det,
    dot,
    exp,
    log,
    maximum,
    minimum,
    norm,
    rate,
    sin,
    sqrt,
    tan,
    tanh,
    total,
    unit,
    where,
)

__all__ = [
    "Vector", "acos", "asin", "atan2", "cos", "cross", "det", "dot", "exp", "log", "maximum", "minimum", "norm", "rate", "sin",
    "sqrt", "tan", "tanh", "total", "unit", "where",
]  # fmt: skip
