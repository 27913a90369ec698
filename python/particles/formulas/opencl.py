# SPDX-License-Identifier: BSD-3-Clause
"""Expressions as functions in OpenCL C."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from particles.formulas.bounds import bounds_of_all
from particles.formulas.expressions import (
    ARITHMETIC,
    COMPARISONS,
    Expression,
    apply,
    combine,
    expression,
    nodes_of,
    parameter,
    rebuilt,
    select,
    variable,
)
from particles.formulas.printing import ATOM, PRECEDENCE, Text, call, infix

_DEEPEST = 16
_LONGEST = 1000  # letters of a condition that is written wherever it is used
_MOST_NUMBERS = 32  # that are given to a kernel; the others are part of its text
_SHORT = 64  # operations of a formula that a kernel has several times

_ONE, _ZERO = expression(1.0), expression(0.0)

# What trigonometry.cl has for lanes, faster or more reliable than the library of OpenCL.
_OWN_FUNCTIONS = {
    "sin": "sine",
    "cos": "cosine",
    "tan": "tangent",
    "fmod": "modulo",
    "pow": "power",
}
_NEAR = 8192.0  # Sines of smaller numbers need no library, in any dtype.


def _sign(a: Expression) -> Expression:
    """Return NaN of NaN, and 0 of -0."""
    below = select(apply("<", a, _ZERO), expression(-1.0), apply("*", a, a))
    return select(apply(">", a, _ZERO), _ONE, below)


def _extremum(beats: str, a: Expression, b: Expression) -> Expression:
    """Return the second where it beats the first or is NaN, which a constant is not."""
    if a.operation == "constant":
        a, b = b, a
    wins = apply(beats, b, a)
    return select(wins if b.operation == "constant" else combine("|", wins, _is_nan(b)), b, a)


def _is_nan(a: Expression) -> Expression:
    return apply("!=", a, a)


def _remainder(a: Expression, b: Expression) -> Expression:
    """Return what is left of a, with the sign of b."""
    left = apply("fmod", a, b)
    is_whole = apply("==", left, _ZERO)
    turned = select(_is_of_other_sign(left, b), apply("+", left, b), left)
    return select(is_whole, apply("copysign", _ZERO, b), turned)


def _floor_divide(a: Expression, b: Expression) -> Expression:
    """Return the whole number of times that b, less what is left, goes into a."""
    left = apply("fmod", a, b)
    times = apply("/", apply("-", a, left), b)  # a whole number but for its rounding
    is_less = combine("&", apply("!=", left, _ZERO), _is_of_other_sign(left, b))
    times = select(is_less, apply("-", times, _ONE), times)
    floor = apply("floor", times)
    is_above = apply(">", apply("-", times, floor), expression(0.5))
    whole = select(is_above, apply("+", floor, _ONE), floor)
    quotient = apply("/", a, b)
    signed = select(apply("==", times, _ZERO), apply("copysign", _ZERO, quotient), whole)
    return select(apply("==", b, _ZERO), quotient, signed)


def _is_of_other_sign(a: Expression, b: Expression) -> Expression:
    return combine("^", apply("<", a, _ZERO), apply("<", b, _ZERO))


_IN_OPENCL: dict[str, Callable[..., Expression]] = {
    "sign": _sign,
    "minimum": partial(_extremum, "<"),
    "maximum": partial(_extremum, ">"),
    "remainder": _remainder,
    "floor_divide": _floor_divide,
}
"""What OpenCL C lacks, made of what it has: as NumPy computes it, NaN and zeros included."""


def lowered(roots: Sequence[Expression]) -> list[Expression]:
    """Return expressions that have the same values, of operations that OpenCL C has."""
    made: dict[Expression, Expression] = {}
    for node in nodes_of(roots):
        operands = tuple(made[operand] for operand in node.operands)
        build = _IN_OPENCL.get(node.operation)
        made[node] = rebuilt(node, operands) if build is None else build(*operands)
    return [made[root] for root in roots]


def _widened(node: Expression, text: Text) -> Text:
    """Return the text of an operand where OpenCL C does not make a vector of a scalar by itself."""
    return text if node.varies else Text(f"(V)({text.text})", ATOM, text.depth + 1)


def opencl_velocity(
    root: Expression,
    along: str,
    parameters: Sequence[str] = (),
    places: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> str:
    """Return the OpenCL C function ``velocity_formula`` of ``x``, ``y``, ``z`` (``V``) and an instant.

    An ``Instant``, made by ``instant_at(t)``, holds all that depends on the time alone, to be computed
    once for many points. ``row_terms`` are what depends on the coordinate `along` and on no other, to be
    computed once for a row of many lines; ``velocity_of_terms`` is the rest. ``IS_SHORT`` is 1 where a kernel
    may have several copies of it, as its building takes long. ``FORMULA_PARAMETERS`` and
    ``FORMULA_ARGUMENTS`` are made of parameters, if there are any. Coordinates lie between those of
    `places`, which spares a test of most sines.
    """
    (root,) = lowered([root])
    order = nodes_of([root])
    known, taken, macros = _opencl_parameters(parameters)
    used = {o for node in order if node.varies or node.is_mask for o in node.operands} | {root}
    timed = [n for n in known if n in used]  # in their own order, whatever was made first
    timed += [n for n in order if n in used and n not in known and _is_of_time_alone(n)]
    lines, results = _opencl_lines(timed, known)
    names = [f"f{k}" for k in range(len(timed))]
    fields = "".join(f"  real {name};\n" for name in names) or "  real t;\n"
    given = [f"at.{name} = {result};" for name, result in zip(names, results, strict=True)]
    given = given or ["at.t = t;"]
    texts = {n: Text(f"at->{name}", ATOM, 0) for n, name in zip(timed, names, strict=True)}
    near = _near(root, places)
    is_short = len(order) <= _SHORT
    terms = _terms_along(along, root, order) if is_short else [variable(along)]
    own, made = _opencl_lines(terms, texts, near)
    own += [f"terms[{k}] = {term};" for k, term in enumerate(made)]
    texts |= {term: Text(f"terms[{k}]", ATOM, 0) for k, term in enumerate(terms)}
    rest, (result,) = _opencl_lines([root], texts, near)
    widened = _widened(root, Text(result, 0, 0)).text
    point = "const V x, const V y, const V z, const Instant* at"
    return (
        f"{macros}typedef struct {{\n{fields}}} Instant;\n"
        + _opencl_text(
            f"Instant instant_at(const real t{taken})",
            ["Instant at;", *lines, *given, "return at;"],
        )
        + f"enum {{ ROW_TERMS = {len(terms)}, IS_SHORT = {int(is_short)} }};\n"
        + _opencl_text(
            f"void row_terms(const V {along}, const Instant* at, __private V* terms)", own
        )
        + _opencl_text(
            f"V velocity_of_terms({point}, __private const V* terms)", [*rest, f"return {widened};"]
        )
        + _opencl_text(
            f"V velocity_formula({point})",
            [
                "V terms[ROW_TERMS];",
                f"row_terms({along}, at, terms);",
                "return velocity_of_terms(x, y, z, at, terms);",
            ],
        )
    )


def _terms_along(along: str, root: Expression, order: Sequence[Expression]) -> list[Expression]:
    """Return all that varies with one coordinate alone and is no part of another such term.

    It is the coordinate itself where nothing does.
    """
    coordinate = variable(along)
    own: set[Expression] = {coordinate}
    for node in order:
        varying = [operand for operand in node.operands if operand.varies]
        if varying and own.issuperset(varying):
            own.add(node)
    terms = {node for node in own if not node.is_mask}
    rest = nodes_of([root], terms)
    used = {operand for node in rest for operand in node.operands} | {root}
    return [node for node in order if node in terms and node in used] or [coordinate]


def _near(root: Expression, places: Mapping[str, tuple[float, float]]) -> set[Expression]:
    """Return those sines, cosines and tangents whose angle is surely not so great that the library is needed.

    It may be none.
    """
    known = bounds_of_all(root, places, or_none=True)
    return {
        node
        for node in known
        if node.operation in ("sin", "cos", "tan")
        and not node.operands[0].is_mask
        and known[node.operands[0]].size < _NEAR
    }


def _opencl_parameters(names: Sequence[str]) -> tuple[dict[Expression, Text], str, str]:
    """Return the texts of parameters, how a function takes them, and the macros to pass them on."""
    texts = {parameter(name): Text(f"p_{k}", ATOM, 0) for k, name in enumerate(names)}
    if not texts:
        return texts, "", ""
    declared = "".join(f", const real {text.text}" for text in texts.values())
    given = "".join(f", {text.text}" for text in texts.values())
    macros = f"#define FORMULA_PARAMETERS {declared}\n#define FORMULA_ARGUMENTS {given}\n"
    return texts, " FORMULA_PARAMETERS", macros


def _is_of_time_alone(node: Expression) -> bool:
    return not (node.varies or node.is_mask or node.operation == "constant")


def opencl_function(root: Expression, name: str) -> str:
    """Return the OpenCL C function of a name, of ``x``, ``y``, ``z`` (``V``) and ``t``.

    What does not vary from point to point is computed as one scalar for all lanes.
    """
    (root,) = lowered([root])
    lines, (result,) = _opencl_lines([root])
    arguments = "const V x, const V y, const V z, const real t"
    widened = _widened(root, Text(result, 0, 0)).text
    return _opencl_text(f"V {name}({arguments})", [*lines, f"return {widened};"])


def opencl_rates(
    roots: Sequence[Expression], values: Sequence[str], parameters: Sequence[str] = ()
) -> str:
    """Return the OpenCL C function ``rates_of``: what `roots` are where variables have values."""
    known, taken, macros = _opencl_parameters(parameters)
    roots = lowered(roots)
    used = {str(node.value) for node in nodes_of(roots) if node.operation == "variable"}
    named = [f"const V {name} = values[{k}];" for k, name in enumerate(values) if name in used]
    lines, results = _opencl_lines(roots, known)
    widened = [_widened(r, Text(t, 0, 0)).text for r, t in zip(roots, results, strict=True)]
    given = [f"rates[{k}] = {result};" for k, result in enumerate(widened)]
    arguments = "const V* values, const V x, const V y, const V z, const real t, V* rates" + taken
    return macros + _opencl_text(f"void rates_of({arguments})", [*named, *lines, *given])


def opencl_results(
    roots: Sequence[Expression], values: Sequence[str], parameters: Sequence[str] = ()
) -> tuple[str, tuple[float, ...]]:
    """Return the OpenCL C function ``results_of``, and the numbers that it is to be given.

    Formulas that differ by their numbers alone have the same text, but for 0 and 1. Numbers for
    parameters come behind the others.
    """
    roots, numbers = _without_numbers(lowered(roots))
    used = {str(node.value) for node in nodes_of(roots) if node.operation == "variable"}
    named = [f"const V {name} = values[{k}];" for k, name in enumerate(values) if name in used]
    given = [*map(str, range(len(numbers))), *parameters]
    named += [f"const real p_{name} = numbers[{k}];" for k, name in enumerate(given)]
    lines, results = _opencl_lines(roots)
    widened = [_widened(r, Text(t, 0, 0)).text for r, t in zip(roots, results, strict=True)]
    made = [f"results[{k}] = {result};" for k, result in enumerate(widened)]
    arguments = "const V* values, const V x, const V y, const V z, const real* numbers, V* results"
    return _opencl_text(f"void results_of({arguments})", [*named, *lines, *made]), numbers


def _without_numbers(
    roots: Sequence[Expression],
) -> tuple[list[Expression], tuple[float, ...]]:
    """Return expressions with parameters ``0``, ``1``, ... for their numbers, and these."""
    numbers: dict[float, Expression] = {}
    made: dict[Expression, Expression] = {_ONE: _ONE, _ZERO: _ZERO}
    waiting = list(reversed(roots))  # in the order in which they are written, not made
    while waiting:
        node = waiting[-1]
        unknown = [operand for operand in reversed(node.operands) if operand not in made]
        waiting.extend(unknown)
        if unknown:
            continue
        waiting.pop()
        if node in made:
            continue
        if isinstance(node.value, float) and len(numbers) < _MOST_NUMBERS:
            made[node] = numbers[node.value] = parameter(str(len(numbers)))
        else:
            made[node] = rebuilt(node, tuple(made[operand] for operand in node.operands))
    return [made[root] for root in roots], tuple(numbers)


def _opencl_text(head: str, lines: Sequence[str]) -> str:
    return f"INLINE {head} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _opencl_lines(
    roots: Sequence[Expression],
    known: Mapping[Expression, Text] = MappingProxyType({}),
    near: Container[Expression] = (),
) -> tuple[list[str], list[str]]:
    """Return definitions of what occurs twice or lies deep, and the texts of the roots.

    A condition that is long is kept as a number, 1 where it holds.
    """
    order, results = nodes_of(roots, known), set(roots)
    uses = _uses(order)
    uses.update(results)
    texts = {_ONE: Text("REAL(1.0)", ATOM, 0), _ZERO: Text("REAL(0.0)", ATOM, 0), **known}
    lines: list[str] = []
    for node in order:
        text = _opencl_real(node, texts, "near_" if node in near else "")
        if node.is_mask and len(text.text) <= _LONGEST:
            continue
        is_deep = text.depth > _DEEPEST and node not in results
        if node.operands and (node.is_mask or uses[node] > 1 or is_deep):
            name = f"{'v' if node.varies else 's'}{len(lines)}"
            lines.append(f"const {'V' if node.varies else 'real'} {name} = {text.text};")
            text = Text(name, ATOM, 0)
        texts[node] = text
    return lines, [texts[root].text for root in roots]


def _uses(order: list[Expression]) -> Counter[Expression]:
    """Count how often each expression is written; a mask is written wherever it is used."""
    uses: Counter[Expression] = Counter()
    for node in reversed(order):
        for operand in node.operands:
            uses[operand] += uses[node] if node.is_mask else 1
    return uses


def _opencl_real(node: Expression, texts: Mapping[Expression, Text], kind: str = "") -> Text:
    operation, operands = node.operation, node.operands
    if node.is_mask:
        return _opencl_select(node, _ONE, _ZERO, texts)
    if operation == "constant":
        return Text(f"REAL({node.value!r})", ATOM, 0)
    if operation == "variable":
        return Text(str(node.value), ATOM, 0)
    if operation == "parameter":
        return Text(f"p_{node.value}", ATOM, 0)
    if operation == "select":
        return _opencl_select(operands[0], operands[1], operands[2], texts)
    if operation == "negative":
        return Text(f"-{texts[operands[0]].within(ATOM)}", 4, 1 + texts[operands[0]].depth)
    if operation in ARITHMETIC:
        left, right = (texts[operand] for operand in operands)
        return infix(operation, left, right, PRECEDENCE[operation])
    if node.varies:
        function = kind + _OWN_FUNCTIONS.get(operation, operation)
        return call(function, *(_widened(operand, texts[operand]) for operand in operands))
    return call(operation, *(texts[operand] for operand in operands))


def _opencl_select(
    mask: Expression, chosen: Expression, other: Expression, texts: Mapping[Expression, Text]
) -> Text:
    branches = [texts[chosen], texts[other]]
    if chosen.varies or other.varies or mask.varies:
        branches = [_widened(chosen, branches[0]), _widened(other, branches[1])]
    condition = _opencl_mask(mask, texts, lanes=mask.varies)
    if mask.varies:
        return call("SELECT", condition, *branches)
    text = " ? ".join([condition.within(ATOM), f"{branches[0].text} : {branches[1].text}"])
    return Text(f"({text})", ATOM, 1 + max(t.depth for t in [condition, *branches]))


def _opencl_mask(node: Expression, texts: Mapping[Expression, Text], lanes: bool) -> Text:
    """Return the text of a mask; within a mask that varies all comparisons are between vectors.

    A comparison that holds is 1 between scalars and -1 between vectors, hence no bitwise negation.
    """
    operation, operands = node.operation, node.operands
    if node in texts:
        operation, operands = "!=", (node, _ZERO)
    if operation in COMPARISONS:
        left, right = (texts[operand] for operand in operands)
        if lanes and not node.varies:
            left = _widened(operands[0], left)
        return infix(operation, left, right, PRECEDENCE[operation])
    inner = [_opencl_mask(operand, texts, lanes) for operand in operands]
    joined = f" {operation} ".join(f"({text.text})" for text in inner)
    depth = 1 + max(text.depth for text in inner)
    return Text(joined if operation != "!" else f"{joined} == 0", 0, depth)
