/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the particles of a set along with a velocity, all stages of a step at once: no particle
 * depends on another one. A work-item goes through its particles LANES at a time.
 *
 * What crosses an open end stays there, and is `gone`: later steps leave it alone until somebody
 * takes it out. What meets no finite velocity, or would go to nowhere known, does not move.
 *
 * SAME_CELLS   the set has as many cells along each axis as the velocity's grid has points
 * WITH_TURNS   how often each went round is counted
 * WITH_GONE    some end is open */
#ifndef SAME_CELLS
#define SAME_CELLS 1
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "generated/scheme.cl"
#include "generated/velocity_formulas.cl"
#include "motion/scheme.cl"
#include "sets/places.cl"
#include "sets/sixteen_places.cl"
#include "stepping/trace_flow.cl"
#include "common/formula_parameters.cl"

/* A group counts what has left through the low and the high end of axes 1, 2, 3, and what could not
 * move. Of both it knows in which step that was first, counted from 1, and which particle it was.
 */
#define FIRST_LEFT LEFT
#define STUCK (LEFT + 2)
#define FIRST_STUCK (LEFT + 3)
#define COUNTS_OF_TRACES (LEFT + 5)

/* Nowhere is farther. */
#define IS_KNOWN(moved) (((moved) <= MOST_CELLS) & ((moved) >= -MOST_CELLS))

/* The slopes of the next stage at the places reached so far, and what it makes of those. */
#define NEXT_SLOPES(s)                                                              \
  {                                                                                 \
    FOR_OWN_AXES(a) {                                                               \
      is_known &= IS_KNOWN(moved[a]);                                               \
      moved[a] = SELECT(IS_KNOWN(moved[a]), moved[a], (V)(REAL(0.0)));              \
    }                                                                               \
    velocity_of_tracers(&flow_at, cell, offset, moved, &instants[TIME_##s], slope); \
    FOR_OWN_AXES(a) { TAKE_STAGE(s, scale[a], slope[a], sum[a], moved[a]); }        \
  }

#if LANES == 16
typedef int16 LooseFlags __attribute__((aligned(sizeof(int))));
#endif

/* Takes note of the first of some events, by a group, in a step. */
INLINE void note(__private long* first, const long particle, const long step_number) {
  if (first[0] == 0 || particle < first[1]) first[1] = particle;
  first[0] = step_number;
}

/* Which cells `count` lanes are in from a particle on, and where in them; further lanes are as the
 * last of them. Where cells `are_few`, lanes divide their numbers. */
INLINE void take_particles(CellOfParticle* at, __global const CELL* cells,
                           __global const OFFSET* offsets, const int count, const long* shape,
                           const bool are_few, __private I* cell, __private V* offset) {
#if LANES == 16
  if (count == LANES && are_few) {
    I number = TO_INT(sixteen_cells(cells));
    UNROLL
    for (int axis = AXES - 1; axis > 0; axis--) {
      const I before = quotients(number, (int)shape[axis]);
      cell[axis] = number - before * (lane_int)shape[axis];
      number = before;
    }
    cell[0] = number;
    sixteen_offsets(offsets, offset);
    return;
  }
#endif
  for (int lane = 0; lane < LANES; lane++) {
    const long particle = min(lane, count - 1);
    find_cell(at, cells[particle], shape);
    UNROLL
    for (int axis = 0; axis < AXES; axis++) {
      ((__private lane_int*)&cell[axis])[lane] = (lane_int)at->along[axis];
      REAL_OF(offset[axis], lane) = (real)offsets[particle * AXES + axis];
    }
  }
}

KERNEL void trace(__global CELL* cells, __global OFFSET* offsets, __global int* turns,
                  __global int* gone, const long n, const long cells0, const long cells1,
                  const long cells2, TRACE_PARAMETERS, const real scale0, const real scale1,
                  const real scale2, const real time, const real middle_time, const real end_time,
                  const long step_number, __global long* counts) {
  const long three[] = {cells0, cells1, cells2};
  const long* const shape = three + ABSENT_AXES; /* of the axes that there are */
  DECLARE_TRACE_FLOW;
  const real scale[3] = {scale0, scale1, scale2};
  const Instants instants[3] = {instants_at(time FORMULA_ARGUMENTS),
                                instants_at(middle_time FORMULA_ARGUMENTS),
                                instants_at(end_time FORMULA_ARGUMENTS)};
  long mine[COUNTS_OF_TRACES];
  for (int k = 0; k < COUNTS_OF_TRACES; k++) mine[k] = 0;
  const Share share = share_of(n);
  CellOfParticle at = no_cell(shape);
  const bool are_few = sizeof(CELL) == sizeof(int) && cells0 * cells1 * cells2 <= 1 << 30;
  for (long i = share.first + (long)get_local_id(0) * LANES; i < share.last; i += GROUP * LANES) {
    const int count = (int)min((long)LANES, share.last - i);
    I cell[3], begin[3]; /* of the velocity's grid, and of the set */
    V offset[3], start[3];
    take_particles(&at, cells + i, offsets + i * AXES, count, shape, are_few, begin + ABSENT_AXES,
                   start + ABSENT_AXES);
    FOR_OWN_AXES(a) {
      cell[a] = begin[a], offset[a] = start[a];
      for (int lane = 0; !SAME_CELLS && lane < LANES; lane++) {
        const long scaled = (long)INT_OF(begin[a], lane) * flow_at.n[a];
        const real place =
            ((real)(scaled % three[a]) + REAL_OF(start[a], lane) * (real)flow_at.n[a]) /
            (real)three[a];
        const long whole = (long)place;
        ((__private lane_int*)&cell[a])[lane] = (lane_int)(scaled / three[a] + whole);
        REAL_OF(offset[a], lane) = place - (real)whole;
      }
    }
    V slope[3], sum[3] = {0, 0, 0}, moved[3] = {0, 0, 0};
    I is_known = -1;
    velocity_of_tracers(&flow_at, cell, offset, moved, &instants[AT_BEGIN], slope);
    FOR_OWN_AXES(a) { TAKE_STAGE(1, scale[a], slope[a], sum[a], moved[a]); }
#if STAGES > 1
    NEXT_SLOPES(2);
#endif
#if STAGES > 2
    NEXT_SLOPES(3);
#endif
#if STAGES > 3
    NEXT_SLOPES(4);
#endif
    I end[3], is_within = -1;
    V rest[3];
    FOR_OWN_AXES(a) {
      is_known &= IS_KNOWN(moved[a]);
      moved[a] = SELECT(IS_KNOWN(moved[a]), moved[a], (V)(REAL(0.0)));
      if (!SAME_CELLS) moved[a] *= (real)three[a] / (real)flow_at.n[a];
      end[a] = moved_lanes(begin[a], start[a], moved[a], &rest[a]);
      is_within &= (end[a] >= 0) & (end[a] < (I)((lane_int)three[a]));
    }
#if LANES == 16
    bool stay_all = count == LANES && are_few && !ANY(~(is_known & is_within));
#ifdef WITH_GONE
    stay_all = stay_all && !ANY(*(__global const LooseFlags*)(gone + i) != 0);
#endif
    if (stay_all) {
      I number = 0;
      FOR_OWN_AXES(a) number = number * (lane_int)three[a] + end[a];
      put_sixteen_cells(number, cells + i);
      put_sixteen_offsets(rest + ABSENT_AXES, offsets + i * AXES);
      continue;
    }
#endif
    for (int lane = 0; lane < count; lane++) {
      const long particle = i + lane;
#ifdef WITH_GONE
      if (gone[particle]) continue;
#endif
      int left = 0, turned[] = {0, 0, 0};
      bool can_move = INT_OF(is_known, lane) != 0;
      if (can_move && INT_OF(is_within, lane) == 0) {
        FOR_OWN_AXES(a) {
          const AxisPlace place = moved_place(INT_OF(begin[a], lane), REAL_OF(start[a], lane),
                                              REAL_OF(moved[a], lane), three[a], ENDS_OF(a));
          ((__private lane_int*)&end[a])[lane] = (lane_int)WITHIN(place.cell, 0, three[a] - 1);
          REAL_OF(rest[a], lane) = place.offset;
          if (place.left && !left) left = 2 * (a - ABSENT_AXES) + place.left;
#ifdef WITH_TURNS
          const long turn = turns[particle * AXES + a - ABSENT_AXES] + place.turn;
          can_move = can_move && turn == (int)turn;
          turned[a] = (int)place.turn;
#endif
        }
      }
      if (!can_move) {
        mine[STUCK]++;
        note(mine + FIRST_STUCK, particle, step_number);
        continue;
      }
      CELL number = 0;
      FOR_OWN_AXES(a) {
        const long own = particle * AXES + a - ABSENT_AXES;
        number = number * (CELL)three[a] + (CELL)INT_OF(end[a], lane);
        offsets[own] = (OFFSET)REAL_OF(rest[a], lane);
        if (turned[a]) turns[own] += turned[a];
      }
      cells[particle] = number;
#ifdef WITH_GONE
      if (left) {
        gone[particle] = 1;
        mine[left - 1]++;
        note(mine + FIRST_LEFT, particle, step_number);
      }
#endif
    }
  }
#if GROUP > 1
  __local long shared[GROUP * COUNTS_OF_TRACES];
  for (int k = 0; k < COUNTS_OF_TRACES; k++)
    shared[get_local_id(0) * COUNTS_OF_TRACES + k] = mine[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) > 0) return;
  for (int item = 1; item < GROUP; item++) {
    __local const long* const its = shared + item * COUNTS_OF_TRACES;
    for (int k = 0; k < LEFT; k++) mine[k] += its[k];
    mine[STUCK] += its[STUCK];
    if (its[FIRST_LEFT]) note(mine + FIRST_LEFT, its[FIRST_LEFT + 1], step_number);
    if (its[FIRST_STUCK]) note(mine + FIRST_STUCK, its[FIRST_STUCK + 1], step_number);
  }
#endif
  __global long* const all = counts + get_group_id(0) * COUNTS_OF_TRACES;
  for (int k = 0; k < LEFT; k++) all[k] += mine[k];
  all[STUCK] += mine[STUCK];
  for (int first = FIRST_LEFT; first <= FIRST_STUCK; first += FIRST_STUCK - FIRST_LEFT)
    if (all[first] == 0 && mine[first]) {
      all[first] = mine[first];
      all[first + 1] = mine[first + 1];
    }
}
