/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cells have particles that reach a tile of points, and what these reach beyond the ends. */
#include "common/common.cl"
#include "interpolation/stencil.cl"
#include "sets/ends.cl"

typedef struct {
  long first, end;
} CellRows;

/* The cells along an axis whose particles may have some of `count` points; beyond the ends of a
 * periodic axis they are counted on. A mirror image is among the points that its particle reaches,
 * or nearer; where there are fewer points than a particle has, images of images reach everything.
 */
INLINE CellRows rows_that_reach(const int axis, const Axis along, const long first,
                                const long count) {
  CellRows rows = {0, along.cells};
  if (!IS_AXIS(axis)) return rows;
  const bool is_periodic = along.ends & ENDS_MEET;
  if (!is_periodic && along.points < WEIGHTS_ALONG(axis)) return rows;
  const long low = first + BEFORE_ALONG(axis) + 1 - WEIGHTS_ALONG(axis);
  const long high = first + count + BEFORE_ALONG(axis);
  rows.first = low;
  rows.end = high + (is_periodic ? 0 : 1);
  if (!SAME_CELLS) { /* divisions cut off: a cell more on either side */
    rows.first = low * along.cells / along.points - 2;
    rows.end = (high + 2) * along.cells / along.points + 2;
  }
  if (!is_periodic) {
    rows.first = max(rows.first, (long)0);
    rows.end = min(rows.end, along.cells);
  }
  return rows;
}

/* A number from 0 to n - 1, and what is lacking to one beyond. */
typedef struct {
  long inside, shift;
} Wrapped;

INLINE Wrapped wrapped(const long number, const long n) {
  const Wrapped in = {modulo_of(number, n), number - modulo_of(number, n)};
  return in;
}

/* The line of a tile that a point along axis 0 or 1 is in, or one beyond it. */
INLINE long line_in_tile(const long point, const Axis along, const long first) {
  return (along.ends & ENDS_MEET ? point : stored_point(point, along)) - first;
}

/* Points that a particle of the first or last cells reaches beyond the ends of axis 2. They have
 * sums of their own, which are added last to the points that stand for them; but those of a box of
 * one periodic axis, which is gone round. */
#define BEYOND_LOW (BEFORE_ALONG(2) + 1)
#define BEYOND_HIGH (WEIGHTS_ALONG(2) - BEFORE_ALONG(2))
#define GOES_ROUND(along) (!IS_AXIS_0 && !IS_AXIS_1 && (along).ends & ENDS_MEET)
