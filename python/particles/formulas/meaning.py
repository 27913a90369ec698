# SPDX-License-Identifier: BSD-3-Clause
"""Whether two formulas mean the same, however they are written."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal, localcontext
from hashlib import sha256
from typing import NamedTuple, TypeVar

from particles.formulas.expressions import Expression

_Weight = TypeVar("_Weight", int, Decimal)

# Exact for a few numbers of float64, of which no more than 17 digits are compared.
_NUMBERS = Context(prec=60, Emax=10**15, Emin=-(10**15), traps=[])
_COMPARED = ".16e"

_IN_GROUPS = {"&", "|", "^"}
_IN_ANY_ORDER = {*_IN_GROUPS, "==", "!=", "fmin", "fmax", "minimum", "maximum", "hypot"}
_TURNED = {">": "<", ">=": "<="}


def meaning(root: Expression) -> str:
    """Return a text that is equal for formulas with the same meaning.

    These are of the same operations on the same numbers, but for the order and the groups of terms,
    factors and conditions: differences are sums, quotients are products, ``a > b`` is ``b < a``.
    Rounding apart, they have the same values.
    """
    known: dict[Expression, str] = {}
    forms: dict[Expression, _Form] = {}
    waiting = [root]
    with localcontext(_NUMBERS):
        while waiting:
            node = waiting[-1]
            form = forms[node] if node in forms else forms.setdefault(node, _form(node))
            unknown = [part for part in form.parts if part not in known]
            waiting.extend(unknown)
            if not unknown:
                known[node] = known.get(node) or form.text(known)
                waiting.pop()
    return known[root]


class _Form(NamedTuple):
    """What a meaning is made of: that of other expressions, and how."""

    parts: Iterable[Expression]
    text: Callable[[Mapping[Expression, str]], str]


def _form(node: Expression) -> _Form:
    operation, operands = node.operation, node.operands
    if not operands and (node.is_mask or operation != "constant"):
        return _Form((), lambda known: _digest(operation, node.value))
    if operation in ("constant", "+", "-", "negative", "*", "/"):
        return _form_of_sum(node)
    if operation == "!" and operands[0].operation == "!":
        return _form(operands[0].operands[0])
    if operation in _IN_GROUPS:
        operands = tuple(_conditions(node))
    if operation == "select" and operands[0].operation == "!":
        operands = (operands[0].operands[0], *operands[:0:-1])
    if operation in _TURNED:
        operation, operands = _TURNED[operation], operands[::-1]

    def text(known: Mapping[Expression, str]) -> str:
        made_of = [known[operand] for operand in operands]
        return _digest(operation, *(sorted(made_of) if operation in _IN_ANY_ORDER else made_of))

    return _Form(operands, text)


def _form_of_sum(node: Expression) -> _Form:
    terms = [(share, *_factors(term)) for term, share in _terms(node).items()]

    def text(known: Mapping[Expression, str]) -> str:
        shares: dict[tuple[tuple[str, int], ...], Decimal] = {}
        for share, number, factors in terms:
            powers: dict[str, int] = {}
            for factor, power in factors.items():
                powers[known[factor]] = powers.get(known[factor], 0) + power
            product = tuple(sorted(powers.items()))
            shares[product] = shares.get(product, Decimal()) + share * number
        if shares.get(()) == 0 and len(shares) > 1:  # 0 - a is -a
            del shares[()]
        compared = sorted(
            (product, format(share or Decimal(), _COMPARED)) for product, share in shares.items()
        )
        product, number_of_it = compared[0]
        if len(compared) == 1 and len(product) == 1 and Decimal(number_of_it) == 1:
            ((only, power),) = product
            if power == 1:
                return only
        return _digest("sum", *compared)

    return _Form([factor for _, _, factors in terms for factor in factors], text)


def _terms(node: Expression) -> dict[Expression, Decimal]:
    """Return what a sum is a sum of, and how often it has each."""

    def shares(one: Expression, share: Decimal) -> tuple[Decimal, ...] | None:
        signs = {"+": (share, share), "-": (share, -share), "negative": (-share,)}
        return signs.get(one.operation)

    return _opened(node, Decimal(1), shares)


def _factors(term: Expression) -> tuple[Decimal, dict[Expression, int]]:
    """Return the number in a product, and its other factors with their powers."""
    number = Decimal(1)

    def powers(one: Expression, power: int) -> tuple[int, ...] | None:
        nonlocal number
        is_zero_minus = one.operation == "-" and _is_zero(one.operands[0])
        if one.operation == "negative" or is_zero_minus:
            number *= (-1) ** (power % 2)
        if is_zero_minus:
            return (0, power)
        return {"*": (power, power), "/": (power, -power), "negative": (power,)}.get(one.operation)

    factors = _opened(term, 1, powers)
    for factor, power in list(factors.items()):
        if power == 0 and _is_zero(factor):
            del factors[factor]
        elif isinstance(factor.value, float) and (factor.value or power > 0):
            number *= Decimal(factor.value) ** power
            del factors[factor]
    return number, factors


def _is_zero(one: Expression) -> bool:
    return one.operation == "constant" and not one.is_mask and one.value == 0


def _conditions(node: Expression) -> list[Expression]:
    """Return what is joined by one kind of logic, each once."""

    def counts(one: Expression, count: int) -> tuple[int, ...] | None:
        return (count, count) if one.operation == node.operation else None

    several = _opened(node, 1, counts)
    return [one for one, count in several.items() if node.operation != "^" or count % 2]


def _opened(
    root: Expression,
    weight: _Weight,
    weights_of_operands: Callable[[Expression, _Weight], tuple[_Weight, ...] | None],
) -> dict[Expression, _Weight]:
    """Return what an expression is made of, with weights: the sum of those in all places.

    What has no weights for its operands stays as it is.
    """
    weights, found = {root: weight}, {}
    waiting = [(-root.serial, root)]
    while waiting:  # what uses others comes before them, so all its places have been seen
        _, node = heapq.heappop(waiting)
        weight = weights.pop(node)
        shares = weights_of_operands(node, weight)
        if shares is None:
            found[node] = weight
            continue
        for operand, share in zip(node.operands, shares, strict=True):
            if operand in weights:
                weights[operand] += share
            else:
                weights[operand] = share
                heapq.heappush(waiting, (-operand.serial, operand))
    return found


def _digest(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()
