# SPDX-License-Identifier: BSD-3-Clause
"""Symbolic real expressions that answer Python's operators and NumPy's functions.

Equal expressions are one object: what occurs twice is evaluated once. Operations on numbers alone
are carried out at once. So is 0 times what is finite wherever it is evaluated; where it might be
infinite or NaN, the product is NaN there, as NumPy has it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import count
from numbers import Integral, Real
from threading import RLock
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from particles.base.checks import entries, shown
from particles.base.kinds import is_a

ARITHMETIC: dict[str, np.ufunc] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
COMPARISONS: dict[str, np.ufunc] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
LOGIC: dict[str, np.ufunc] = {
    "&": np.logical_and,
    "|": np.logical_or,
    "^": np.logical_xor,
    "!": np.logical_not,
}
FUNCTIONS: dict[str, np.ufunc] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "pow": np.power,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "hypot": np.hypot,
    "fabs": np.fabs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "fmin": np.fmin,
    "fmax": np.fmax,
}
"""Functions of OpenCL C, and the functions of NumPy that compute the same."""

NUMPYS_OWN: dict[str, np.ufunc] = {
    "minimum": np.minimum,
    "maximum": np.maximum,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
}
"""Functions of NumPy that OpenCL C lacks, or has with other values where there is NaN."""

EVALUATE: dict[str, Callable[..., Any]] = {
    **ARITHMETIC,
    **COMPARISONS,
    **LOGIC,
    **FUNCTIONS,
    **NUMPYS_OWN,
    "negative": np.negative,
    "select": np.where,
}

_COORDINATES_AND_TIME = ("x", "y", "z", "t")

# Finite for all finite numbers, in any dtype: sums and products may overflow, others have poles.
ALWAYS_FINITE = {
    *("negative", "fabs", "sign", "floor", "ceil", "trunc", "rint", "copysign", "select"),
    *("fmin", "fmax", "minimum", "maximum"),
    *("sin", "cos", "atan", "atan2", "tanh", "asinh", "cbrt"),
}

# Each rounds once more.
MOST_FACTORS = 64

_nodes: WeakValueDictionary[tuple[object, ...], Expression] = WeakValueDictionary()
_serials = count()
_making = RLock()


class Expression(NDArrayOperatorsMixin):
    """A number, a variable, or an operation on expressions.

    Attributes
    ----------
    operation : str
        ``"constant"``, ``"variable"``, ``"parameter"``, or a key of the tables of this module.
    operands : tuple of Expression
        What it operates on.
    value : float, bool, str or None
        Of a constant, or the name of a variable or parameter.
    serial : int
        Larger than those of the operands.
    is_mask : bool
        True or false rather than a real number.
    varies : bool
        Whether it differs from point to point.
    is_finite : bool
        Whether it is known to be finite everywhere. Values of fields need not be.
    """

    __slots__ = (
        "__weakref__",
        "is_finite",
        "is_mask",
        "operands",
        "operation",
        "serial",
        "value",
        "varies",
    )
    __hash__ = object.__hash__

    operation: str
    operands: tuple[Expression, ...]
    value: float | bool | str | None
    serial: int
    is_mask: bool
    varies: bool
    is_finite: bool

    def __repr__(self) -> str:
        return "a formula"

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Expression:
        if any(is_a(operand, Components) for operand in inputs):
            return NotImplemented  # type: ignore[no-any-return]
        if "out" in kwargs:
            raise TypeError("a formula cannot assign in place: write a = a + b, not a += b")
        if method != "__call__" or kwargs:
            options = "".join(f", {key}=" for key in kwargs)
            raise TypeError(f"a formula cannot use np.{ufunc.__name__}.{method}{options}")
        if ufunc not in _UFUNCS:
            raise _refusal(ufunc)
        operands = tuple(map(expression, inputs))
        are_masks = [operand.is_mask for operand in operands]
        if all(are_masks) and ufunc in _OF_MASKS:
            return _OF_MASKS[ufunc](*operands)
        if (all(are_masks) and ufunc not in _TAKE_MASKS) or (
            any(are_masks) and ufunc in _NEED_NUMBERS
        ):
            raise TypeError(
                f"a formula cannot use np.{ufunc.__name__} of conditions, which NumPy does not "
                "compute as numbers: write np.where(condition, 1.0, 0.0)"
            )
        if ufunc in _NEED_MASKS and not all(are_masks):
            raise TypeError(
                f"a formula cannot use np.{ufunc.__name__} of numbers, only of conditions such as x > 0"
            )
        return _UFUNCS[ufunc](*operands)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: Sequence[object],
        kwargs: dict[str, object],
    ) -> Expression:
        if function not in _ARRAY_FUNCTIONS:
            raise _refusal(function)
        if any(is_a(operand, Components) for operand in (*args, *kwargs.values())):
            return NotImplemented  # type: ignore[no-any-return]
        return _ARRAY_FUNCTIONS[function](*args, **kwargs)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a formula is evaluated at all points at once and cannot use 'if', 'and', 'or', 'in', "
            "min, max or a chained comparison: use np.where(condition, a, b), np.minimum and "
            "np.maximum, and combine conditions by & and |"
        )

    def __contains__(self, value: object) -> bool:
        return bool(self == value)

    def _convert(self) -> NoReturn:
        raise TypeError(
            "a formula needs NumPy's functions (np.sin), not those of math, nor int or float"
        )

    __float__ = __int__ = __complex__ = __index__ = __trunc__ = _convert

    def __getitem__(self, index: object) -> NoReturn:
        raise TypeError(
            f"a formula cannot be indexed (by {shown(index)}): use np.where(condition, a, b)"
        )

    def __setitem__(self, index: object, value: object) -> None:
        self[index]

    def __iter__(self) -> NoReturn:
        raise TypeError("a formula cannot be iterated over")

    def __len__(self) -> NoReturn:
        raise TypeError("a formula has no length")

    def __round__(self, digits: int | None = None) -> Expression:
        return rounded(self, digits or 0)

    @property
    def real(self) -> Expression:
        """The expression itself: all numbers here are real."""
        return self

    def clip(self, min: object = None, max: object = None, **others: object) -> Expression:
        """Return what `numpy.clip` makes of it."""
        return clip(self, min, max, **others)  # type: ignore[no-any-return]

    def round(self, decimals: int = 0, **others: object) -> Expression:
        """Return what `numpy.round` makes of it."""
        return rounded(self, decimals, **others)

    def astype(self, dtype: object, **others: object) -> Expression:
        """Return the expression for `float`, which it is, and refuse other types."""
        if dtype not in (float, "float") or others:
            raise TypeError(
                "a formula is computed in the dtype of the fields: it can use .astype(float) alone"
            )
        return real(self)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"a formula has no attribute {name!r}")
        raise AttributeError(f"a formula cannot use .{name}{_advice(name)}")


class Components(NDArrayOperatorsMixin):
    """Expressions side by side, as a vector has them: what is done is done with each.

    Examples
    --------
    >>> position = Components([variable("x"), variable("y")])
    >>> moved = position + variable("u") * np.sqrt(2)
    >>> len(moved), (2 * position)[1]
    (2, a formula)
    """

    __slots__ = ("_each",)
    __hash__ = object.__hash__

    def __init__(self, each: Sequence[Expression]) -> None:
        self._each = tuple(each)

    def __repr__(self) -> str:
        return f"{len(self)} formulas"

    def __len__(self) -> int:
        return len(self._each)

    def __iter__(self) -> Iterator[Expression]:
        return iter(self._each)

    def __getitem__(self, index: int | slice) -> Expression | Components:
        if isinstance(index, slice):
            return Components(self._each[index])
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} components, so none has the index {index}")
        return self._each[index]

    def __bool__(self) -> bool:
        return bool(self._each[0])

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Components:
        if method != "__call__":
            raise TypeError(f"a formula cannot use np.{ufunc.__name__}.{method}")
        if "out" in kwargs:
            raise TypeError("a formula cannot assign in place: write a = a + b, not a += b")
        return self._with_each(ufunc, inputs, kwargs)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: Sequence[object],
        kwargs: dict[str, object],
    ) -> Components:
        if function not in _ARRAY_FUNCTIONS:
            raise _refusal(function)
        return self._with_each(function, args, kwargs)

    def _with_each(
        self, function: Callable[..., Any], args: Sequence[object], kwargs: dict[str, object]
    ) -> Components:
        spread = [self._spread(value) for value in args]
        named = {name: self._spread(value) for name, value in kwargs.items()}
        return Components(
            [
                expression(
                    function(
                        *(value[k] for value in spread),
                        **{name: value[k] for name, value in named.items()},
                    )
                )
                for k in range(len(self))
            ]
        )

    def _spread(self, value: object) -> Sequence[Any]:
        """Return what a value is to each component."""
        several = list(value) if is_a(value, Components) else entries(value)
        if several is None:
            return [value] * len(self)
        if len(several) != len(self):
            raise ValueError(f"there are {len(self)} components, not {len(several)}")
        return several


_OF_ALL_POINTS = (
    "all any argmax argmin average cumprod cumsum dot matmul max mean median min prod ptp"
)
_OF_ALL_POINTS += " shape size sort std sum var"
_INSTEAD = {
    **dict.fromkeys(_OF_ALL_POINTS.split(), ": it is computed at each point without the others"),
    **dict.fromkeys(("select", "piecewise"), ": write np.where"),
    "divmod": ": write // and %",
    **dict.fromkeys(("stack", "vstack", "concatenate"), ": return a tuple of components"),
}


def _refusal(function: object) -> TypeError:
    name = getattr(function, "__name__", str(function))
    return TypeError(f"a formula cannot use np.{name}{_advice(name)}")


def _advice(name: str) -> str:
    usable = sorted({one.__name__ for one in (*_UFUNCS, *_ARRAY_FUNCTIONS)})
    return f"{_INSTEAD.get(name, '')}; it can use: {', '.join(usable)}"


def _node(operation: str, operands: tuple[Expression, ...], value: object = None) -> Expression:
    """Return the one expression of these parts."""
    known = value.hex() if isinstance(value, float) else value
    key = (operation, type(value), known, *map(id, operands))
    with _making:
        node = _nodes.get(key)
        if node is None:
            node = Expression()
            node.operation, node.operands, node.value = operation, operands, value  # type: ignore[assignment]
            node.serial = next(_serials)
            node.is_mask = operation in COMPARISONS or operation in LOGIC or isinstance(value, bool)
            node.varies = any(o.varies for o in operands) or (
                operation == "variable" and value != "t"
            )
            node.is_finite = (
                node.is_mask
                or operation in ("constant", "parameter")
                or (operation == "variable" and value in _COORDINATES_AND_TIME)
                or (operation in ALWAYS_FINITE and all(o.is_finite for o in operands))
            )
            _nodes[key] = node  # when it is whole
        return node


def rebuilt(node: Expression, operands: tuple[Expression, ...]) -> Expression:
    """Return the same operation on other operands."""
    are_same = all(map(operator.is_, operands, node.operands))
    return node if are_same else _node(node.operation, operands, node.value)


def substituted(root: Expression, others: Mapping[Expression, Expression]) -> Expression:
    """Return an expression with others in place of some of those that it is made of."""
    made = dict(others)
    for node in nodes_of([root], made):
        made[node] = rebuilt(node, tuple(made[operand] for operand in node.operands))
    return made.get(root, root)


def variable(name: str) -> Expression:
    """Return what differs from point to point, such as ``"x"``, or the time ``"t"``."""
    return _node("variable", (), name)


def parameter(name: str) -> Expression:
    """Return a number that is the same everywhere and known only when the formula is evaluated."""
    return _node("parameter", (), name)


def expression(value: object) -> Expression:
    """Return a number as an expression, and an expression as it is."""
    if is_a(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if is_a(value, Expression):
        return value
    if is_a(value, bool | np.bool_):
        return _node("constant", (), bool(value))
    if not is_a(value, Real):
        what = f"an array of shape {value.shape}" if is_a(value, np.ndarray) else shown(value)
        raise TypeError(f"a formula is made of real numbers, not {what}")
    try:
        number = float(value)
    except OverflowError:  # of an integer or a fraction
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"a formula cannot contain the number {number}")
    if number == 0 and value != 0:
        raise ValueError(f"a formula cannot contain {shown(value)}, which would be 0 in float64")
    if is_a(value, Integral) and int(value) != int(number):
        raise ValueError(f"a formula cannot contain {shown(value)}, which float64 would round")
    return _node("constant", (), number)


def nodes_of(
    expressions: Iterable[Expression], known: Container[Expression] = ()
) -> list[Expression]:
    """Return all expressions that these are made of, operands before what uses them.

    But for those that are known, and what only they are made of.
    """
    found: set[Expression] = set()
    waiting = [node for node in expressions if node not in known]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(operand for operand in node.operands if operand not in known)
    return sorted(found, key=lambda node: node.serial)


def reads(expressions: Iterable[Expression], *names: str) -> bool:
    """Whether any of some variables occurs in expressions."""
    return any(
        node.operation == "variable" and node.value in names for node in nodes_of(expressions)
    )


def check_numbers(name: str, expressions: Iterable[Expression], dtype: np.dtype[Any]) -> None:
    """Refuse a formula with numbers that are infinite or 0 in what a device computes with."""
    for node in nodes_of(expressions):
        if node.operation == "constant" and node.value:
            with np.errstate(all="ignore"):
                there = float(dtype.type(node.value))
            if there == 0 or not np.isfinite(there):
                raise ValueError(
                    f"{name} must contain numbers that {dtype} can hold, but {node.value} would become "
                    f"{there:g}: use other units, or fields of float64"
                )


def apply(operation: str, *operands: Expression) -> Expression:
    """Return an operation of arithmetic, a function or a comparison, simplified."""
    terms = tuple(real(operand) for operand in operands)
    if all(operand.operation == "constant" for operand in terms):
        return _folded(operation, terms)
    neutral = {"+": 0.0, "-": 0.0, "*": 1.0, "/": 1.0}.get(operation)
    if neutral is not None and terms[1].value == neutral:
        return terms[0]
    if operation in ("+", "*") and terms[0].value == neutral:
        return terms[1]
    if operation == "*" and any(term.value == 0 for term in terms) and _are_finite(terms):
        return expression(0.0)
    if operation == "negative" and terms[0].operation == "negative":
        return terms[0].operands[0]
    return _node(operation, terms)


def _are_finite(terms: Sequence[Expression]) -> bool:
    """Whether 0 times one of them is 0, and not NaN."""
    return all(term.is_finite for term in terms)


def _folded(operation: str, constants: tuple[Expression, ...]) -> Expression:
    numbers = [constant.value for constant in constants]
    with np.errstate(all="ignore"):
        result = EVALUATE[operation](*numbers)
    if not np.isfinite(result):
        raise ValueError(f"{operation} of {', '.join(map(str, numbers))} is {result}")
    return expression(result)


def real(operand: Expression) -> Expression:
    """Return a real expression as it is, and a mask as 1 where true and 0 elsewhere."""
    return select(operand, expression(1.0), expression(0.0)) if operand.is_mask else operand


def _mask(operand: Expression) -> Expression:
    return operand if operand.is_mask else apply("!=", operand, expression(0.0))


def select(condition: Expression, chosen: Expression, otherwise: Expression) -> Expression:
    """Return ``chosen`` where the condition holds and ``otherwise`` elsewhere."""
    mask = _mask(condition)
    if chosen.is_mask and otherwise.is_mask:
        without = combine("&", combine("!", mask), otherwise)
        return combine("|", combine("&", mask, chosen), without)
    chosen, otherwise = real(chosen), real(otherwise)
    if mask.operation == "constant":
        return chosen if mask.value else otherwise
    return chosen if chosen is otherwise else _node("select", (mask, chosen, otherwise))


def combine(operation: str, *operands: Expression) -> Expression:
    """Return the conjunction, disjunction, exclusive disjunction or negation of masks."""
    masks = tuple(_mask(operand) for operand in operands)
    constants = [mask for mask in masks if mask.operation == "constant"]
    if len(constants) == len(masks):
        return expression(bool(EVALUATE[operation](*(mask.value for mask in masks))))
    if not constants:
        return _node(operation, masks)
    (other,) = (mask for mask in masks if mask.operation != "constant")
    decided = bool(constants[0].value)
    if operation == "^":
        return _node("!", (other,)) if decided else other
    return constants[0] if decided == (operation == "|") else other


def power(base: Expression, exponent: Expression) -> Expression:
    """Return the power: products for a small whole exponent, a square root for one half."""
    number = exponent.value
    if number == 0.5:
        return apply("sqrt", base)
    if not isinstance(number, float) or not number.is_integer() or abs(number) > MOST_FACTORS:
        return apply("pow", base, exponent)
    remaining = abs(int(number))
    result, square = expression(1.0), real(base)
    while remaining:
        if remaining % 2:
            result = apply("*", result, square)
        remaining //= 2
        if remaining:
            square = apply("*", square, square)
    return result if number >= 0 else apply("/", expression(1.0), result)


def heaviside(a: Expression, at_zero: Expression) -> Expression:
    """Return 0 below 0, 1 above, NaN of NaN, and what is given of 0."""
    zero = expression(0.0)
    above = select(apply(">", a, zero), expression(1.0), a)
    return select(apply("==", a, zero), at_zero, select(apply("<", a, zero), zero, above))


def where(condition: object, chosen: object, otherwise: object) -> Expression:
    """Return one or the other, as a condition holds or not."""
    return select(*map(expression, (condition, chosen, otherwise)))


def clip(a: object, a_min: object = None, a_max: object = None, **bounds: object) -> Any:  # noqa: ANN401
    """Return what is not below one bound nor above another."""
    low, high = bounds.pop("min", a_min), bounds.pop("max", a_max)
    if bounds:
        raise TypeError(f"a formula cannot use np.clip with {next(iter(bounds))}=")
    above = expression(a) if low is None else np.maximum(expression(a), low)  # type: ignore[call-overload]
    return above if high is None else np.minimum(above, high)  # type: ignore[call-overload]


def rounded(a: object, decimals: object = 0, **options: object) -> Expression:
    """Return the nearest whole number, the even one of two."""
    if decimals != 0 or options:
        raise TypeError(
            "a formula rounds to whole numbers alone: write np.rint(x * 100) / 100 for two digits"
        )
    return apply("rint", expression(a))


def sinc(x: object) -> Expression:
    """Return sin(pi x) / (pi x)."""
    place = expression(x)
    angle = apply("*", place, expression(math.pi))
    quotient = apply("/", apply("sin", angle), angle)
    return select(apply("==", place, expression(0.0)), expression(1.0), quotient)


def full_like(a: object, fill_value: object) -> Expression:
    """Return a number everywhere."""
    return expression(fill_value)


def ones_like(a: object) -> Expression:
    """Return 1 everywhere."""
    return expression(1.0)


def zeros_like(a: object) -> Expression:
    """Return 0 everywhere."""
    return expression(0.0)


def _operation(name: str) -> Callable[..., Expression]:
    build = combine if name in LOGIC else apply
    return lambda *operands: build(name, *operands)


_UFUNCS: dict[Any, Callable[..., Expression]] = {
    **{ufunc: _operation(name) for name, ufunc in EVALUATE.items() if isinstance(ufunc, np.ufunc)},
    np.absolute: _operation("fabs"),
    np.bitwise_and: _operation("&"),
    np.bitwise_or: _operation("|"),
    np.bitwise_xor: _operation("^"),
    np.invert: _operation("!"),
    np.positive: real,
    np.power: power,
    np.float_power: power,
    np.square: lambda a: apply("*", a, a),
    np.heaviside: heaviside,
    np.isnan: lambda a: apply("!=", a, a),
    np.isfinite: lambda a: apply("==", apply("-", a, a), expression(0.0)),
    **dict.fromkeys((np.radians, np.deg2rad), lambda a: apply("*", a, expression(math.pi / 180))),
    **dict.fromkeys((np.degrees, np.rad2deg), lambda a: apply("*", a, expression(180 / math.pi))),
    np.reciprocal: lambda a: apply("/", expression(1.0), a),
}

_ARRAY_FUNCTIONS: dict[Any, Callable[..., Expression]] = {
    np.where: where,
    np.clip: clip,
    np.round: rounded,
    np.around: rounded,
    np.fix: lambda x: apply("trunc", expression(x)),
    np.real: expression,
    np.sinc: sinc,
    np.full_like: full_like,
    np.ones_like: ones_like,
    np.zeros_like: zeros_like,
}

# To NumPy truth values are no numbers: two of them are added to another one.
_OF_MASKS: dict[Any, Callable[..., Expression]] = {
    **dict.fromkeys((np.add, np.maximum, np.fmax), _operation("|")),
    **dict.fromkeys((np.multiply, np.minimum, np.fmin), _operation("&")),
    np.absolute: lambda a: a,
}
_NEED_MASKS = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert}
_NEED_NUMBERS = {np.floor_divide, np.remainder, np.fmod, np.power, np.float_power}
_TAKE_MASKS = {*_NEED_MASKS, *LOGIC.values(), *COMPARISONS.values(), np.divide}
