# SPDX-License-Identifier: BSD-3-Clause
"""Velocities given by formulas."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particles.base.checks import as_index, as_real, as_values
from particles.base.guards import Named
from particles.fields.grid import Grid, check_grid
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import Expression, reads, variable
from particles.formulas.opencl import opencl_velocity
from particles.formulas.parameters import Parameters
from particles.formulas.printing import readable
from particles.formulas.tracing import COORDINATES, Formula, Signature, places, traced

__all__ = ["Velocity"]

_WRONG_CELLS = 256  # of 2**30, in single precision


class Velocity(Named):
    """A velocity given by a formula, which the device evaluates at any point and time.

    Parameters
    ----------
    grid : Grid
        The grid on which it carries fields; component ``k`` is the velocity along axis ``k``.
    formula : callable or sequence of str or float
        A function of the coordinates ``x``, ``y``, ``z`` and the time ``t``, or of some of them;
        the names of its arguments say which (:doc:`/howto/formulas`). It returns one component per
        dimension. It is called once, with symbols. It may use Python's operators and NumPy's
        functions, such as ``np.where``, but not ``if``. Or one entry per component: a number, or
        an expression of OpenCL C in ``x``, ``y``, ``z`` and ``t``. Arrays of values on the points
        make a `Field`, which is a velocity, too: ``Field.from_arrays(grid, u, v)``.
    name : str, optional
        Name by which it is shown.
    **parameters : float
        Further numbers in the formula, by name; each must occur in it. They can be changed between
        two steps, without a new build: ``velocity.parameters["U"] = 3.0``.

    Attributes
    ----------
    grid
        As above.
    parameters : mapping of str to float
        The present numbers. When one is set, the velocity's properties, such as its strain, are
        measured again. While a transport runs, only its callback can set them.

    Notes
    -----
    Functions compute what NumPy's do in the fields' dtype, but for rounding and the signs of
    zeros; whole powers up to 64 are products. Operations that NumPy does differently with
    booleans than with numbers, such as ``(x > 0) - (y > 0)``, are refused, and so are numbers
    that the dtype does not have. Expressions of OpenCL C are grouped, and treat NaN, as there,
    but every number is real, so ``1/2`` is 0.5; the usual operators, conditions with ``?:``, the
    constants ``M_PI``, ``M_E``, ``M_SQRT2`` and the like, and the real functions from ``sin`` to
    ``clamp`` can be used.

    On the device the coordinates are of the fields' dtype, in float32 exact to about 1e-7 of
    their magnitude. So farther than 1e4 spacings from zero, the position at which the formula is
    evaluated is wrong by a thousandth of a spacing or more. Then put the origin nearer to zero,
    or use float64. The time is rounded in the same way: steps shorter than 1e-6 of the time are
    refused.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((64, 64))
    >>> swirl = pt.Velocity(
    ...     grid,
    ...     lambda x, y, t: (
    ...         np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y) * np.cos(t),
    ...         -np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2 * np.cos(t),
    ...     ),
    ... )
    >>> swirl.depends_on_time
    True
    >>> [float(component) for component in swirl(0.5, 0.25, t=0.0)]
    [1.0, -6.123233995736765e-17]
    >>> pt.Velocity(grid, ["1", "x < 0.5 ? sin(2*M_PI*y) : 0"], name="shear")
    Velocity(shear, shape=(64, 64), x: 1, y: where(x < 0.5, sin(6.28319 * y), 0))
    >>> pt.Velocity(grid, (1.0, 0.5))
    Velocity(shape=(64, 64), x: 1, y: 0.5)
    >>> shear = pt.Velocity(grid, lambda x, y, U: (U * np.sin(2 * np.pi * y), 0), U=2.0)
    >>> shear.parameters["U"] = 3.0
    >>> shear
    Velocity(shape=(64, 64), x: U * sin(6.28319 * y), y: 0, U=3)
    """

    def __init__(
        self, grid: Grid, formula: Formula, *, name: str | None = None, **parameters: float
    ) -> None:
        check_grid(grid)
        self.grid = grid
        self.name = name
        known = places(grid.ndim, variable("t"))
        self.parameters = Parameters("velocity", parameters, known)
        signature = Signature(
            "velocity",
            "formula",
            "the coordinates",
            (),
            known,
            COORDINATES[: grid.ndim],
            f"on a grid of {grid.ndim} dimensions",
            tuple(self.parameters),
        )
        self._components = traced(formula, signature)

    @property
    def components(self) -> tuple[Expression, ...]:
        """One expression for each axis.

        :meta private:
        """
        return self._components

    @property
    def depends_on_time(self) -> bool:
        """Whether the time occurs in the formula."""
        return reads(self._components, "t")

    def source(self, axis: int) -> str:
        """OpenCL C of the component along an axis.

        The text defines ``velocity_formula(x, y, z, at)``, with ``x``, ``y``, ``z`` and the result
        of type ``V`` (a real scalar or vector), and ``instant_at(t)``, which makes ``at`` of a time
        and holds what depends on that alone. It is made of ``velocity_of_terms``, and of ``row_terms``
        for what depends on the coordinate along the axis and on no other. It uses the macros
        ``REAL(x)`` (literal of the real type), ``SELECT(mask, a, b)`` and ``INLINE``, and the
        functions ``sine``, ``cosine`` and ``tangent``, which the embedding files define, and
        ``near_sine`` and the like where angles are known to be small. Parameters, if there are any,
        follow ``t``; it defines ``FORMULA_PARAMETERS`` and ``FORMULA_ARGUMENTS``, with which they are
        passed on.

        Parameters
        ----------
        axis : int
            Axis of the grid.

        Returns
        -------
        str

        Examples
        --------
        >>> import particles as pt
        >>> print(pt.Velocity(pt.Grid((8,)), lambda x: x**2 - 1).source(0))
        typedef struct {
          real t;
        } Instant;
        INLINE Instant instant_at(const real t) {
          Instant at;
          at.t = t;
          return at;
        }
        enum { ROW_TERMS = 1, IS_SHORT = 1 };
        INLINE void row_terms(const V x, const Instant* at, __private V* terms) {
          terms[0] = x * x - REAL(1.0);
        }
        INLINE V velocity_of_terms(const V x, const V y, const V z, const Instant* at, __private const V* terms) {
          return terms[0];
        }
        INLINE V velocity_formula(const V x, const V y, const V z, const Instant* at) {
          V terms[ROW_TERMS];
          row_terms(x, at, terms);
          return velocity_of_terms(x, y, z, at, terms);
        }
        <BLANKLINE>
        """
        axis = as_index("axis", axis, self.grid.ndim)
        names = tuple(self.parameters)
        return opencl_velocity(self._components[axis], COORDINATES[axis], names, self._places())

    def _places(self) -> dict[str, tuple[float, float]]:
        """Return between which coordinates the formula is evaluated.

        That is in the box, but for the rounding of what is put back into it from as far as particles
        can move.
        """
        grid, found = self.grid.whole, {}
        for axis, name in enumerate(COORDINATES[: grid.ndim]):
            beyond = (2 + _WRONG_CELLS / grid.shape[axis]) * grid.extent[axis]
            found[name] = grid.origin[axis] - beyond, grid.origin[axis] + beyond
        return found

    def __call__(self, *coordinates: ArrayLike, t: float = 0.0) -> list[NDArray[np.float64]]:
        """Components at the given points, in double precision.

        Parameters
        ----------
        *coordinates : array_like
            One array per dimension; they are broadcast.
        t : float, optional
            Time.

        Returns
        -------
        list of numpy.ndarray
            One array per component, of the broadcast shape.
        """
        if len(coordinates) != self.grid.ndim:
            raise ValueError(
                f"coordinates must be {self.grid.ndim}, one for each dimension, not {len(coordinates)}"
            )
        arrays = [as_values(given, name="coordinates") for given in coordinates]
        numbers = {name: np.asarray(value) for name, value in self.parameters.items()}
        variables = dict(zip(COORDINATES, arrays, strict=False)) | numbers
        variables["t"] = np.asarray(as_real("t", t))
        shapes = [array.shape for array in arrays]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(
                f"coordinates must broadcast against each other, not be of {shapes}"
            ) from None
        components = evaluate(self._components, variables)
        return [np.array(np.broadcast_to(component, shape)) for component in components]

    def on_grid(self, t: float = 0.0) -> list[NDArray[np.float64]]:
        """Components at the points of the grid, in double precision.

        Parameters
        ----------
        t : float, optional
            Time.

        Returns
        -------
        list of numpy.ndarray
            One array of the grid's shape per component.

        Examples
        --------
        >>> import particles as pt
        >>> slope = pt.Velocity(pt.Grid(4), lambda x, t: x + t)
        >>> slope.on_grid(t=1.0)
        [array([1.  , 1.25, 1.5 , 1.75])]
        """
        return self(*self.grid.coordinates(), t=t)

    def __repr__(self) -> str:
        name = "" if self.name is None else f"{self.name}, "
        formulas = ", ".join(
            f"{coordinate}: {readable(component)}"
            for coordinate, component in zip(COORDINATES, self._components, strict=False)
        )
        numbers = "".join(f", {own}={value:g}" for own, value in self.parameters.items())
        return f"Velocity({name}shape={self.grid.shape}, {formulas}{numbers})"
