"""The contract between a study (mathematics) and whatever evaluates it over a parameter space.

A study is a question with parameters and labelled outputs.  It is declared as one frozen :class:`Study` value: what may be
asked (:class:`Parameter`), what comes out (:class:`Variable`, :class:`Coordinate`), what a point costs, and one function,
``solve``, which answers a whole :class:`Grid` of parameter values at once.  Solving grids rather than points is what lets a
solver do the work that points have in common only once.

A study is found by its entry point in the group ``dicesweep.studies``, so a separate package can add its own, or as
``module:attribute``.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module, metadata
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

ENTRY_POINTS = "dicesweep.studies"

_IMPORTABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)

Values: TypeAlias = Mapping[str, Sequence[Any]]
"""Every value that each parameter takes: one entry for a fixed parameter, several for an axis."""

Results: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Integer:
    """Whole numbers from `minimum` to `maximum`, both included; None means unbounded."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class Real:
    """Finite floating-point numbers from `minimum` to `maximum`, both included; None means unbounded."""

    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class Boolean:
    """True or False."""


@dataclass(frozen=True)
class Choice:
    """One of a few named options."""

    options: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """Structured values (a board, a deck), written in place or kept in a file and called by name.

    Attributes
    ----------
    folder : str
        Folder of the library where a named document lives: ``folder/name.yaml``.
    parse : callable
        Plain mapping (as read from YAML or JSON) to the value.  Raises ValueError with one line that says what is wrong.
    plain : callable
        The inverse of `parse`: value to a plain mapping that JSON can hold.  Two values are the same if these are equal.
    label : callable
        Value to the short string by which it is known along an axis.
    key : str or None
        Key of the file under which the document stands, where one file holds several.
    vary : callable or None
        ``vary(value, changes)`` gives the member of a family with these changes made; None if there are no families.
    varied : str
        Name of the mapping that lists the changes in a family, ``{vary: base, <varied>: {change: values}}``.
    """

    folder: str
    parse: Callable[[Mapping[str, Any]], Any]
    plain: Callable[[Any], dict[str, Any]]
    label: Callable[[Any], str]
    key: str | None = None
    vary: Callable[[Any, Mapping[str, Any]], Any] | None = None
    varied: str = ""


Kind: TypeAlias = Integer | Real | Boolean | Choice | Document


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()
"""Default of a parameter that must be given."""


@dataclass(frozen=True)
class Parameter:
    """One thing that a study can be asked about.

    Attributes
    ----------
    name : str
        A Python identifier; becomes a dimension of the dataset when it takes several values.
    kind : Kind
        Which values are allowed.
    meaning : str
        One line for people.
    default : object or callable
        The value taken when none is given, in the form in which a sweep file would give it; or a function of the values of
        the parameters declared before this one (:data:`Values`) that returns it; or :data:`REQUIRED`.
    unit : str
        Unit of the values, "1" for plain numbers and labels.
    shared : bool
        True if points that differ only in this parameter share work, so that they are best solved together.
    """

    name: str
    kind: Kind
    meaning: str
    default: Any = REQUIRED
    unit: str = "1"
    shared: bool = False


def _always(values: Values) -> bool:
    return True


@dataclass(frozen=True)
class Variable:
    """One output of a study, at every point.

    Attributes
    ----------
    name : str
    long_name : str
        One line for people and for axis labels.
    dims : tuple of str
        The variable's own dimensions, after those of the sweep.  Each is a key of what ``Study.coordinates`` returns.
    dtype : str
        A NumPy dtype name, or "str" for strings.
    unit : str
        "1" for probabilities and labels.
    missing : str or None
        What a NaN says, if one can be a result.  Without it a non-finite number is a fault of the solver.
    when : callable
        All values of the parameters to whether a sweep over them has this variable at all.
    reproducible : bool
        False if the same point gives another number each time, as a duration does.
    """

    name: str
    long_name: str
    dims: tuple[str, ...] = ()
    dtype: str = "float64"
    unit: str = "1"
    missing: str | None = None
    when: Callable[[Values], bool] = _always
    reproducible: bool = True


@dataclass(frozen=True)
class Coordinate:
    """Labels along the dimensions of variables; one with the name of its dimension is that dimension's index."""

    dims: tuple[str, ...]
    values: NDArray[Any]
    long_name: str
    unit: str = "1"


@dataclass(frozen=True)
class Headline:
    """What to show first about a finished sweep: a variable, at fixed labels of its own dimensions."""

    variable: str
    select: Mapping[str, Any] = field(default_factory=dict)
    format: str = ""


@dataclass(frozen=True)
class Law:
    """Something that holds of every answer of a study.

    Attributes
    ----------
    text : str
        What holds, in words.
    holds : callable
        Variables by name, each of shape (points, ...), to an array of bool, shape (points,).
    """

    text: str
    holds: Callable[[Mapping[str, NDArray[Any]]], NDArray[np.bool_]]


def _unseeded(index: tuple[int, ...]) -> np.random.SeedSequence:
    raise ValueError("this grid carries no seeds")


def _unwatched(done: float) -> None:
    return None


@dataclass(frozen=True)
class Grid:
    """A rectangular set of points to be solved together.

    Attributes
    ----------
    axes : mapping of str to tuple
        The parameters that vary, with their values in order; results have these dimensions first, in this order.
    fixed : mapping of str to object
        The other parameters.
    seed : callable
        Index into the grid to the :class:`numpy.random.SeedSequence` of that point.  It depends on the sweep's root seed and
        on the labels of the point alone.
    sizes : mapping of str to int
        Lengths of the variables' own dimensions in the whole sweep, for those that depend on which values an axis takes.
    progress : callable
        To be called now and then, by a solver that takes long, with the fraction of the grid that is done, from 0 to 1.
    """

    axes: Mapping[str, Sequence[Any]]
    fixed: Mapping[str, Any]
    seed: Callable[[tuple[int, ...]], np.random.SeedSequence] = _unseeded
    sizes: Mapping[str, int] = field(default_factory=dict)
    progress: Callable[[float], None] = _unwatched

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values on each axis."""
        return tuple(len(values) for values in self.axes.values())

    def points(self) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
        """Yield the index of each point, last axis fastest, and the value of every parameter there."""
        indices = itertools.product(*(range(n) for n in self.shape))
        for index, values in zip(indices, itertools.product(*self.axes.values()), strict=True):
            yield index, {**self.fixed, **dict(zip(self.axes, values, strict=True))}

    def over(self, *names: str) -> Iterator[tuple[tuple[int | slice, ...], dict[str, Any]]]:
        """Split along the named parameters.

        Yields, for each combination of their values, the index that selects the rest of the grid in an array of results, and
        the values of the named parameters, fixed ones included.
        """
        split = {name: values for name, values in self.axes.items() if name in names}
        fixed = {name: self.fixed[name] for name in names if name in self.fixed}
        for choice in itertools.product(*(enumerate(values) for values in split.values())):
            at = dict(zip(split, choice, strict=True))
            index = tuple(at[name][0] if name in at else slice(None) for name in self.axes)
            yield index, {**fixed, **{name: value for name, (_, value) in at.items()}}


def _no_coordinates(values: Values) -> Mapping[str, Coordinate]:
    return {}


def _no_objection(values: Values) -> None:
    return None


def _nothing_to_prepare() -> None:
    return None


@dataclass(frozen=True)
class Study:
    """A question with parameters and labelled outputs.

    Attributes
    ----------
    name : str
    version : int
        Raised when the numbers that the study gives change.
    title : str
        The question, in one line.
    parameters : tuple of Parameter
        Dimensions of a dataset follow this order.
    variables : tuple of Variable
    solve : callable
        :class:`Grid` to a mapping from each variable's name to an array of shape ``grid.shape + own shape``.  Raising says
        that some point of the grid has no answer; the points are then tried one by one, and the exception's text is kept
        as the reason for those that fail.
    cost : callable
        Values of all parameters at one point to about the seconds that the point takes on one core.
    headline : tuple of Headline
    coordinates : callable
        All values of the parameters to the coordinates of the variables' own dimensions.  Raises ValueError if the values
        cannot share one dataset (boards of different sizes).
    check : callable
        All values of the parameters to None.  Raises :class:`ParameterError` for combinations that make no sense.
    prepare : callable
        Compiles what ``solve`` needs, once a process, so that the time is seen and said, and taken out of the first point.
    details : callable or None
        Values of all parameters at one point to tables that belong to that point alone, since their lengths depend on it (a
        strategy): named columns, those with the same dimension being one table.  Empty if the point has none.
    contained : bool
        True if solving cannot take its process down, so that small sweeps may be solved in threads of the caller's process;
        else they are always solved in worker processes.
    laws : tuple of Law
        What must hold of every answer.
    recompute : callable or None
        Values of all parameters and the answers at one point to a line that says how they differ from an independent
        computation, empty if they do not, or None if there is no independent way for that point.
    remarks : callable or None
        What else to print below the headline of a small sweep that is done: labels of each axis, values of all fixed parameters
        and the variables, each of shape (axes ..., own ...), to paragraphs of text.
    reference : str
        Source of the model.
    """

    name: str
    version: int
    title: str
    parameters: tuple[Parameter, ...]
    variables: tuple[Variable, ...]
    solve: Callable[[Grid], Results]
    cost: Callable[[Mapping[str, Any]], float]
    headline: tuple[Headline, ...]
    coordinates: Callable[[Values], Mapping[str, Coordinate]] = _no_coordinates
    check: Callable[[Values], None] = _no_objection
    prepare: Callable[[], None] = _nothing_to_prepare
    details: Callable[[Mapping[str, Any]], Mapping[str, Coordinate]] | None = None
    contained: bool = False
    laws: tuple[Law, ...] = ()
    remarks: Callable[[Mapping[str, Sequence[Any]], Mapping[str, Any], Results], Iterator[str]] | None = None
    recompute: Callable[[Mapping[str, Any], Mapping[str, Any]], str | None] | None = None
    reference: str = ""

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name; KeyError if there is none."""
        return {parameter.name: parameter for parameter in self.parameters}[name]


class ParameterError(ValueError):
    """Values that a study cannot take together; `parameter` names the one to change."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class UnknownStudyError(LookupError):
    """No installed package provides a study of this name."""


@lru_cache(maxsize=1)
def _entry_points() -> tuple[metadata.EntryPoint, ...]:
    return tuple(metadata.entry_points(group=ENTRY_POINTS))


def study_names() -> list[str]:
    """Names of the studies that the installed packages provide, sorted."""
    return sorted({entry.name for entry in _entry_points()})


def find_study(name: str) -> Study:
    """Load a study.

    Parameters
    ----------
    name : str
        The name under which an installed package provides it, or ``module:attribute`` of one that can be imported.

    Raises
    ------
    UnknownStudyError
        If there is none; the message names the nearest one that exists.
    """
    if _IMPORTABLE.fullmatch(name):
        return _import_study(name)
    for entry in _entry_points():
        if entry.name == name:
            study = entry.load()
            if not isinstance(study, Study):
                raise UnknownStudyError(f"the entry point {entry.value!r} of study {name!r} is not a Study")
            return study
    known = study_names()
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownStudyError(f"unknown study {name!r}{hint} (known: {', '.join(known)})")


def _import_study(name: str) -> Study:
    module, _, attribute = name.partition(":")
    try:
        study = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownStudyError(f"study {name!r} cannot be imported: {error}") from None
    if not isinstance(study, Study):
        raise UnknownStudyError(f"{name!r} is not a Study")
    if study.name != name:
        return replace(study, name=name)
    return study
