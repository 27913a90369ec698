/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies beyond the ends of a line: ghosts, whose particles are made of those on the line.
 *
 * LOW_END, HIGH_END  PERIODIC: the line goes on with its first nodes; both ends or none
 *                    WALL: images; node -1-k has the strength of node k and minus its velocity
 *                    OUTFLOW: strength and velocity of the last node
 *                    INFLOW: the velocity is continued (continued.cl), the strength is what comes
 *                            in (arrival.cl)
 *
 * PART  1: only some nodes of a line are here, and rows beyond them lie where they are counted:
 *       what belongs there has been put there, the nodes of which ghosts are made as well
 *
 * Nodes of a BOUNDED line lie in the middle of cells: its ends are half a cell beyond the last
 * ones. */
#include "common/common.cl"

#define PERIODIC 0
#define WALL 1
#define OUTFLOW 2
#define INFLOW 3
#ifndef LOW_END
#define LOW_END PERIODIC
#endif
#ifndef HIGH_END
#define HIGH_END PERIODIC
#endif

#ifndef PART
#define PART 0
#endif

#define LOW 0
#define HIGH 1

/* i modulo n, for any i; the test keeps the division out of the usual case */
INLINE int wrap(const int i, const int n) {
  if ((uint)i < (uint)n) return i;
  const int m = i % n;
  return m < 0 ? m + n : m;
}

#if LOW_END == PERIODIC

#define BOUNDED 0
#define IS_IMAGE(node, n) 0
#define SOURCE_OF(node, n) (node)
#define STORED_NODE(node, n) (PART ? (node) : wrap(node, n))
#define AS_CONTINUED(value, image, node, n) (value)
#define NODE_ON_LINE(node, n) wrap(node, n)
#define NEXT_NODE(node, n) ((node) + 1 == (n) ? 0 : (node) + 1)
#define ROWS_OF_LINE(rows, n) min(rows, n) /* one for a node */

#else

#define BOUNDED 1

/* Sums of nodes beyond the ends are nobody's. */
#define NODE_ON_LINE(node, n) (node)
#define NEXT_NODE(node, n) ((node) + 1)
#define ROWS_OF_LINE(rows, n) (rows)

/* For numbers of one lane and of all: whether a node is an image, and of which one, on the line or
 * beyond an end without a wall. */
#if LOW_END == WALL && HIGH_END == WALL
#define IS_IMAGE(node, n) (wrap(node, 2 * (n)) >= (n))
#define SOURCE_OF(node, n) \
  (IS_IMAGE(node, n) ? 2 * (n) - 1 - wrap(node, 2 * (n)) : wrap(node, 2 * (n)))
#elif LOW_END == WALL
#define IS_IMAGE(node, n) ((node) < 0)
#define SOURCE_OF(node, n) SELECT((node) < 0, -1 - (node), node)
#elif HIGH_END == WALL
#define IS_IMAGE(node, n) ((node) >= (n))
#define SOURCE_OF(node, n) SELECT((node) >= (n), 2 * (n) - 1 - (node), node)
#else
#define IS_IMAGE(node, n) ((node) != (node))
#define SOURCE_OF(node, n) (node)
#endif

/* The node on the line of which a ghost is made. */
#define STORED_NODE(node, n) (PART ? (node) : clamp(SOURCE_OF(node, n), 0, (n) - 1))
/* The value of a node, `image` times that if it is an image. */
#define AS_CONTINUED(value, image, node, n) (IS_IMAGE(node, n) ? (image) * (value) : (value))

/* What a place, `cells` after the low end of a line of n cells, is an image of, be it on the line
 * or beyond an end without a wall; `*sign` is that of the velocity there. */
INLINE V place_between_walls(const V cells, const real n, V* sign) {
  const V plus = (V)(REAL(1.0)), minus = (V)(REAL(-1.0));
  V place = cells;
  *sign = plus;
#if LOW_END == WALL && HIGH_END == WALL
  place -= 2 * n * FLOOR(place * (REAL(0.5) / n));
#elif LOW_END == WALL
  *sign = SELECT(place < 0, minus, plus);
  place = SELECT(place < 0, -place, place);
#endif
#if HIGH_END == WALL
  *sign = SELECT(place > n, minus, plus);
  place = SELECT(place > n, 2 * n - place, place);
#endif
  return place;
}

/* The place on the line that is nearest to one. */
INLINE V place_on_line(const V cells, const real n) {
  const V place = SELECT(cells < 0, (V)(REAL(0.0)), cells);
  return SELECT(place > n, (V)(n), place);
}

#endif
