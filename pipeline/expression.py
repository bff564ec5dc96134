"""Conditions on points, such as ``sides < 3 and chance == 'jail=0'``, evaluated over arrays without Python's eval.

The language: names of parameters, numbers, strings, True and False; ``+ - * / // %`` on numbers; comparisons, chained ones
too; ``in`` and ``not in`` with a list in brackets; ``and``, ``or``, ``not``.  Anything else is refused when it is read.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import suggestion

MAX_LENGTH = 2000
MAX_DEPTH = 30

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISON: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class Expression:
    """A condition that has been read and found harmless.

    Attributes
    ----------
    text : str
    names : frozenset of str
        The names that it mentions.
    """

    text: str
    names: frozenset[str]
    _tree: ast.expr

    def __call__(self, values: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Evaluate over arrays that broadcast against each other.

        Raises
        ------
        ValueError
            If the condition compares or computes with things that do not go together, such as a string and a number.
        """
        arrays = {name: np.asarray(values[name]) for name in self.names}
        try:
            with np.errstate(all="ignore"):
                return np.asarray(_truth(_evaluate(self._tree, arrays)))
        except (TypeError, np.exceptions.DTypePromotionError, OverflowError, ZeroDivisionError) as error:
            raise ValueError(f"cannot be evaluated: {str(error).splitlines()[0]}") from None


def parse_expression(text: str, known: Iterable[str]) -> Expression:
    """Read a condition on the names in `known`.

    Raises
    ------
    ValueError
        One line: what is not allowed, or which name is not known.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "cannot be read"
        raise ValueError(f"not a condition: {reason}") from None
    names: set[str] = set()
    _check(tree, names, 0)
    known = sorted(known)
    if unknown := sorted(names - set(known)):
        hint = suggestion(unknown[0], known)
        raise ValueError(f"unknown name {unknown[0]!r}{hint} (known: {', '.join(known)})")
    return Expression(text.strip(), frozenset(names), tree)


def _check(node: ast.expr, names: set[str], depth: int) -> None:
    """Collect names; raise ValueError for whatever :func:`_evaluate` does not know."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    match node:
        case ast.Name(id=name):
            names.add(name)
            children: list[ast.expr] = []
        case ast.Constant(value=bool() | int() | float() | str() as value):
            if isinstance(value, int) and abs(value) >= 2**53:
                raise ValueError("numbers are limited to 2**53")
            children = []
        case ast.BoolOp(values=children):
            pass
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            children = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            children = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=rights):
            children = [left]
            for comparison, right in zip(ops, rights, strict=True):
                if isinstance(comparison, ast.In | ast.NotIn):
                    if not isinstance(right, ast.List | ast.Tuple):
                        raise ValueError("'in' needs a list in brackets on its right, such as [4, 6]")
                    children.extend(right.elts)
                elif type(comparison) in _COMPARISON:
                    children.append(right)
                else:
                    raise ValueError("'is' is not allowed: write == or !=")
        case _:
            piece = ast.unparse(node)
            piece = piece if len(piece) <= 40 else f"{piece[:37]}..."
            raise ValueError(f"{piece!r} is not allowed: only names, numbers, strings, arithmetic, comparisons, and, or, not")
    for child in children:
        _check(child, names, depth + 1)


def _evaluate(node: ast.expr, values: Mapping[str, NDArray[Any]]) -> Any:
    match node:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=value):
            return value
        case ast.BoolOp(op=op, values=parts):
            combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
            result = _truth(_evaluate(parts[0], values))
            for part in parts[1:]:
                result = combine(result, _truth(_evaluate(part, values)))
            return result
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return np.logical_not(_truth(_evaluate(operand, values)))
        case ast.UnaryOp(operand=operand):
            return -_number(_evaluate(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_number(_evaluate(left, values)), _number(_evaluate(right, values)))
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return _compare(_evaluate(left, values), ops, rights, values)
    raise AssertionError(ast.dump(node))


def _compare(left: Any, ops: list[ast.cmpop], rights: list[ast.expr], values: Mapping[str, NDArray[Any]]) -> Any:
    result: Any = np.True_
    for op, right in zip(ops, rights, strict=True):
        if isinstance(op, ast.In | ast.NotIn):
            found: Any = np.False_
            for item in right.elts:  # type: ignore[attr-defined]  # _check let only lists through
                found = np.logical_or(found, _same_kind(operator.eq, left, _evaluate(item, values)))
            result = np.logical_and(result, found if isinstance(op, ast.In) else np.logical_not(found))
            continue
        following = _evaluate(right, values)
        result = np.logical_and(result, _same_kind(_COMPARISON[type(op)], left, following))
        left = following
    return result


def _same_kind(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if _is_text(left) != _is_text(right):
        raise TypeError("a string is compared with a number")
    return compare(np.asarray(left), np.asarray(right))


def _is_text(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "OUT"


def _number(value: Any) -> Any:
    if np.asarray(value).dtype.kind not in "iuf":
        raise TypeError("arithmetic needs numbers")
    return np.asarray(value, dtype=np.float64)


def _truth(value: Any) -> Any:
    if np.asarray(value).dtype.kind != "b":
        raise TypeError("a condition must be true or false: compare with == or <")
    return value
