/* SPDX-License-Identifier: BSD-3-Clause */
/* What is stored for a node where that is not its sum alone, node by node along the line. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "sweep/deposit.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/sums.cl"

#define ROWS_TAKEN_BEYOND (LIMITED ? 3 : 0) /* of every row of sums, for a node that is stored */

#define ROW_OF_SUMS(s, row) ((s)->at[(row) * (s)->pitch])

/* Rows of a work-item are 0 again when they have been taken. */
INLINE V taken(const Sums* sums, const int row) {
  const V sum = ROW_OF_SUMS(sums, row);
  if (!LINES_IN_GLOBAL) ROW_OF_SUMS(sums, row) = 0;
  return sum;
}

/* Rows of nodes beyond the end of the line are those of its first nodes, unless it is bounded. */
INLINE void repeat_nodes(const Sums* sums, const int segment) {
  if (!LIMITED || BOUNDED) return;
  for (int c = 0; c < LINE_SUMS; c++)
    for (int p = sums[c].n; p < segment + 2 * MARGIN; p++)
      ROW_OF_SUMS(&sums[c], p) = ROW_OF_SUMS(&sums[c], p - sums[c].n);
}

/* What has been taken for so many nodes is 0 already, but a last segment may be shorter than its
 * rows, and one row is that of all others. */
INLINE void leave_zeros(const Sums* sums, const int nodes, const int segment) {
  if (!SEGMENT) return;
  for (int c = 0; c < LINE_SUMS; c++)
    for (int p = nodes + ROWS_TAKEN_BEYOND; p < rows_of_sums(segment); p++)
      ROW_OF_SUMS(&sums[c], p) = 0;
}

#if LIMITED

/* Zalesak's limiter: of what flows between neighbours, A, the share is taken with which no node
 * leaves its bounds. POSITIVE: no node gives more than it has, u_L, which is nowhere negative where
 * the particles are not; a node below 0 gives nothing. MONOTONE: every node stays within the range
 * of u_L on itself and its neighbours. Each flux leaves one node and enters another, so nothing is
 * lost. */
typedef struct {
#if LIMITER == MONOTONE
  V rise; /* the share of what flows in that a node can take */
#endif
  V fall; /* the share of what flows out that it can give */
} Room;

typedef struct {
  const Sums* sums;
  int row;       /* of the next node */
  V here, after; /* u_L on it, and on the one after */
  V flux;        /* A through its right face */
  Room room;     /* of it */
  V entered;     /* limited, through its left face */
} Results;

#ifdef REAL_IS_DOUBLE
#define EPSILON DBL_EPSILON
#define FAINTEST DBL_MIN
#else
#define EPSILON FLT_EPSILON
#define FAINTEST FLT_MIN
#endif

INLINE V share_taken(const V room, const V flow) {
  const V one = 1;
  return SELECT(room < flow, room / flow, one);
}

/* Where the share is rounded, and what it makes of fluxes, by a few EPSILON at most, so much of the
 * room is left, and nothing below 0 comes of it. Numbers below FAINTEST are rounded by more: they
 * are no share. */
INLINE V share_given(const V room, const V flow) {
  const V zero = 0, one = 1, used = room * (1 - 8 * EPSILON), share = used / flow;
  const V sound = SELECT((used > FAINTEST) & (share > FAINTEST), share, zero);
  return SELECT(used < flow, sound, one);
}

/* For a node between two faces, flux and flux_after, and two nodes, before and after. */
INLINE Room room_of(const V before, const V here, const V after, const V flux, const V flux_after) {
  const V zero = 0;
  const V out = GREATEST_OF(flux_after, zero) - LEAST_OF(flux, zero);
  Room room;
#if LIMITER == POSITIVE
  room.fall = share_given(here, out);
#else
  const V in = GREATEST_OF(flux, zero) - LEAST_OF(flux_after, zero);
  room.rise = share_taken(GREATEST_OF_3(before, here, after) - here, in);
  room.fall = share_given(here - LEAST_OF_3(before, here, after), out);
#endif
  return room;
}

/* Of a flux from the node `left` to the node `right`, or back where it is negative. */
INLINE V share_between(const Room* left, const Room* right, const V flux) {
#if LIMITER == POSITIVE
  return SELECT(flux >= 0, left->fall, right->fall);
#else
  return SELECT(flux >= 0, LEAST_OF(right->rise, left->fall), LEAST_OF(left->rise, right->fall));
#endif
}

INLINE V next_result(Results* r) {
  const V here = r->here, flux = r->flux;
  const V further = taken(r->sums, r->row + 2), flux_after = taken(r->sums + 1, r->row + 1);
  const Room after = room_of(here, r->after, further, flux, flux_after);
  const V leaves = share_between(&r->room, &after, flux) * flux;
  const V result = here + (r->entered - leaves);
  r->here = r->after;
  r->after = further;
  r->flux = flux_after;
  r->room = after;
  r->entered = leaves;
  r->row++;
  return result;
}

/* Through the left face of the next node. */
INLINE V flux_into(const Results* r) { return r->entered; }

INLINE Results begin_results(const Sums* all, const int c) {
  const Sums* sums = all + c * SUMS_EACH;
  Results r = {sums, MARGIN - 1};
  const V before = taken(sums, MARGIN - 2), flux_before = taken(sums + 1, MARGIN - 2);
  r.here = taken(sums, MARGIN - 1);
  r.after = taken(sums, MARGIN);
  r.flux = taken(sums + 1, MARGIN - 1);
  r.room = room_of(before, r.here, r.after, flux_before, r.flux);
  r.entered = 0;
  next_result(&r);
  return r;
}

#else

/* The sums themselves. */
typedef struct {
  const Sums* sums;
  int row; /* of the next node */
} Results;

INLINE V next_result(Results* r) { return taken(r->sums, r->row++); }
INLINE V flux_into(const Results* r) { return 0; }

INLINE Results begin_results(const Sums* sums, const int c) {
  const Results r = {sums + c, 0};
  return r;
}

#endif
