/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep in place by teams: a work-group takes a line, or a SEGMENT of it, and its
 * work-items stand along it, with neighbouring particles and then with neighbouring nodes. All
 * memory is read and written side by side where lines run along it.
 *
 * Particles lay down in local memory what they give: their weights, what they carry, and the first
 * node that they reach. Then every node adds up, in ascending order, what the particles have for it
 * that reach it. Those that keep their order are found from a guess; where some have overtaken
 * others, or are so far apart that no guess helps, a node asks them all. So every node receives its
 * particles in the order of the serial loop, as in all other forms.
 *
 * RACES. Nobody adds to what is another's: between barriers a work-item writes what its own
 * particles lay down, or the sums of its own nodes. A line is stored when all of it has been laid
 * down. A SEGMENT reads its neighbours' particles where keep_edges.cl has left a copy. */
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "lines/shifts.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_stored.cl"
#include "motion/push.cl"
#include "sweep/arrival.cl"
#include "sweep/limiter.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/sums.cl"
#include "sweep/swept.cl"

/* IN_PORTIONS  1: there is no room for all particles of a tile at once */
#ifndef IN_PORTIONS
#define IN_PORTIONS 0
#endif
#define COME_IN_PORTIONS (SEGMENT || IN_PORTIONS)
/* Sums are held where particles come in several portions, or where results are not sums. */
#define ARE_HELD (COME_IN_PORTIONS || LIMITED)
/* Rows beyond either end of a segment that have sums; those of a whole line are its own. */
#define ROWS_BESIDE (SEGMENT ? MARGIN : 0)

/* Local memory of a team. */
typedef struct {
  int room;             /* for particles of a portion */
  __local V* weights;   /* WEIGHTS of each: those of all first nodes, of all second ones ... */
  __local V* strengths; /* of the first component of all, of the second one ... */
  __local int* firsts;  /* nodes that they reach first, counted on beyond the ends */
  int rows;             /* of held sums */
  __local V* sums;      /* of each node: of the first kind, of the second one ... */
  volatile __local uint* overtaken;
  int first, count; /* of the portion: row of its first particle, and how many there are */
} Team;

#define MEMBER ((int)get_local_id(0))
#define MEMBERS ((int)get_local_size(0))
/* What has been read of the line may be overwritten afterwards. */
#define MEET barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

INLINE void lay_down(MOTION_STATE, const Team* t, const Swept* f, const int low) {
  for (int k = MEMBER; k < t->count; k += MEMBERS) {
    const int row = t->first + k, is_own = SEGMENT && low == 0 && row >= 0 && row < f->segment;
    V moved[LANES], weight[WEIGHTS];
    push_rows(MOTION_ARGUMENT, &f->tile, f->n, f->reach, row, 0, 1, moved);
    int side = BOUNDED ? side_of(f, row, low) : FAR_FROM_ENDS, begin = 0, end = 1;
    if (BOUNDED) expect_ghosts(MOTION_ARGUMENT, f->ends, side, row, &begin, &end, moved);
    if (begin == end) side = FAR_FROM_ENDS; /* no node of this line asks for it */
    const Shifts shifts = shifts_of(moved[0]);
    weights_of(shifts.offset - REAL(0.5), weight);
    for (int j = 0; j < WEIGHTS; j++) t->weights[j * t->room + k] = weight[j];
    t->firsts[k] = row + shifts.common - STENCIL_BEFORE;
    const int stored_row =
        SEGMENT && low != 0 ? STORED_NODE(f->tile.first + row, f->n) - f->tile.first : row;
    for (int c = 0; c < COMPONENTS; c++) {
      V strength =
          read_row(is_own || !SEGMENT ? f->u[c] : f->kept[c], &f->starts, f->strides, stored_row);
      if (BOUNDED) {
        strength = strength_at_ends(f->ends, side, c, 0, strength);
        count_crossing(f->ends, c, side, row, &shifts, weight, strength);
      }
      t->strengths[c * t->room + k] = strength;
    }
  }
}

/* Adds what particle k has for the node that is `j` after its first one. */
INLINE void take_from(const Team* t, const int k, const int j, __private V* sum) {
  const int linear = j - STENCIL_BEFORE;
  for (int c = 0; c < COMPONENTS; c++) {
    const V strength = t->strengths[c * t->room + k];
    __private V* const own = sum + c * SUMS_EACH;
    if (!LIMITED) {
      own[0] = MAD(t->weights[j * t->room + k], strength, own[0]);
    } else {
      if (linear >= 0 && linear < LINEAR_STENCIL)
        own[0] = MAD(t->weights[linear * t->room + k], strength, own[0]);
      if (j < FACES)
        own[SUMS_EACH - 1] =
            MAD(t->weights[(LINEAR_STENCIL + j) * t->room + k], strength, own[SUMS_EACH - 1]);
    }
  }
}

/* Of particles that keep their order, from the one on that is the first to reach a node. */
INLINE void take_in_order(const Team* t, const int node, const int reached, __private V* sum) {
  const int last = t->count - 1, near = clamp(node - t->first, 0, last);
  int k = clamp(reached - STENCIL + 1 - (t->firsts[near] - near), 0, last);
  while (k > 0 && t->firsts[k - 1] > reached - STENCIL) k--;
  while (k <= last && t->firsts[k] <= reached - STENCIL) k++;
  for (; k <= last && t->firsts[k] <= reached; k++) take_from(t, k, reached - t->firsts[k], sum);
}

INLINE void gather_in_team(const Team* t, const int node, const int n, const int in_order,
                           __private V* sum) {
  const int least = t->firsts[0], greatest = t->firsts[t->count - 1] + STENCIL - 1;
  if (BOUNDED && in_order) {
    take_in_order(t, node, node, sum);
  } else if (in_order) { /* the line goes around: the same node again */
    for (int reached = least + wrap(node - least, n); reached <= greatest; reached += n)
      take_in_order(t, node, reached, sum);
  } else {
    for (int k = 0; k < t->count; k++) {
      const int place = node - t->firsts[k];
      if (BOUNDED && place >= 0 && place < STENCIL) take_from(t, k, place, sum);
      for (int j = wrap(place, n); !BOUNDED && j < STENCIL; j += n) take_from(t, k, j, sum);
    }
  }
}

/* Whether all have kept their order and are not too far apart. Of a line that is shorter than the
 * stencil, a node meets a particle twice, and then the next one. */
INLINE int is_in_order(const Team* t, const int n) {
  const uint width = (uint)t->firsts[t->count - 1] - (uint)t->firsts[0];
  return !*t->overtaken && width < 4 * (uint)(n + t->count) && (BOUNDED || n >= STENCIL);
}

/* Rows that a portion in order reaches; of a line that goes around they may go on with its first
 * ones. */
INLINE void find_reached(const Team* t, const int n, int* begin, int* end) {
  const int least = t->firsts[0], greatest = t->firsts[t->count - 1] + STENCIL - 1;
  if (BOUNDED) {
    *begin = clamp(least + ROWS_BESIDE, 0, t->rows);
    *end = clamp(greatest + 1 + ROWS_BESIDE, 0, t->rows);
  } else if (!SEGMENT) {
    *begin = wrap(least, n);
    *end = *begin + min(greatest - least + 1, n);
  }
}

/* Adds what the particles of a portion have. `low`: of the nodes that they are on, counted on
 * beyond the ends of the line. */
INLINE void bring_portion(MOTION_STATE, Team* t, const Swept* f, const int low) {
  MEET; /* all have done with the portion before */
  if (MEMBER == 0) *t->overtaken = 0;
  lay_down(MOTION_ARGUMENT, t, f, low);
  MEET;
  for (int k = MEMBER + 1; k < t->count; k += MEMBERS)
    if (t->firsts[k - 1] > t->firsts[k]) atomic_inc(t->overtaken);
  MEET;
  const int in_order = is_in_order(t, f->n);
  int begin = 0, end = t->rows;
  if (COME_IN_PORTIONS && in_order) find_reached(t, f->n, &begin, &end);
  for (int place = begin + MEMBER; place < end; place += MEMBERS) {
    const int row = place < t->rows ? place : place - t->rows;
    V sum[LINE_SUMS];
    for (int c = 0; c < LINE_SUMS; c++)
      sum[c] = COME_IN_PORTIONS ? t->sums[c * t->rows + row] : (V)(REAL(0.0));
    gather_in_team(t, row - ROWS_BESIDE, f->n, in_order, sum);
    for (int c = 0; c < LINE_SUMS; c++) {
      if (ARE_HELD)
        t->sums[c * t->rows + row] = sum[c];
      else
        write_row(sum[c], f->u[c], &f->starts, f->strides, row);
    }
  }
}

/* Portion by portion. There is one, so that all members come to each barrier on one way, as the
 * compilers of some CPUs want it. */
INLINE void bring_all(MOTION_STATE, Team* t, const Swept* f, const int count) {
  RowRange parts[PARTS];
  for (int k = 0; k < PARTS; k++) parts[k] = rows_of_part(f, count, k);
  int part = 0;
  t->first = parts[0].from;
  while (t->first >= parts[part].to) t->first = parts[++part].from;
  do {
    t->count = min(t->room, parts[part].to - t->first);
    bring_portion(MOTION_ARGUMENT, t, f, parts[part].low);
    t->first += t->room;
    while (part < PARTS && t->first >= parts[part].to)
      if (++part < PARTS) t->first = parts[part].from;
  } while (part < PARTS);
}

INLINE V held_sum(const Team* t, const int kind, const int node) {
  const int row = SEGMENT ? node + ROWS_BESIDE : wrap(node, t->rows);
  return t->sums[kind * t->rows + row];
}

#if LIMITED

INLINE Room room_of_node(const Team* t, const int kind, const int node) {
  return room_of(held_sum(t, kind, node - 1), held_sum(t, kind, node), held_sum(t, kind, node + 1),
                 held_sum(t, kind + 1, node - 1), held_sum(t, kind + 1, node));
}

/* What is stored for a node: see next_result(). */
INLINE V result_of(const Team* t, const Swept* f, const int c, const int node) {
  const int kind = c * SUMS_EACH;
  const V flux_before = held_sum(t, kind + 1, node - 1), flux = held_sum(t, kind + 1, node);
  const Room before = room_of_node(t, kind, node - 1), here = room_of_node(t, kind, node),
             after = room_of_node(t, kind, node + 1);
  const V entered = share_between(&before, &here, flux_before) * flux_before;
  const V leaves = share_between(&here, &after, flux) * flux;
  if (BOUNDED && node == 0) count_flux_in(f->ends, c, entered);
  if (BOUNDED) count_flux_out(f->ends, c, node, leaves);
  return held_sum(t, kind, node) + (entered - leaves);
}

#else

INLINE V result_of(const Team* t, const Swept* f, const int c, const int node) {
  return held_sum(t, c, node);
}

#endif

INLINE void store_held(const Team* t, const Swept* f, const int count) {
  MEET; /* sums of neighbours are looked at */
  for (int node = MEMBER; node < count; node += MEMBERS)
    for (int c = 0; c < COMPONENTS; c++)
      write_row(result_of(t, f, c, node), f->u[c], &f->starts, f->strides, node);
}

/* One of the members adds up what has crossed the ends, pair by pair. At both ends at once: where
 * each has barriers of its own, PoCL 3 loses sums of nodes when it optimises. */
INLINE void settle_together(const Team* t, Ends* e) {
  __local V* const low = t->weights;
  __local V* const high = t->weights + MEMBERS;
  for (int c = 0; c < COMPONENTS; c++) {
    MEET;
    low[MEMBER] = e->left[c][LOW];
    high[MEMBER] = e->left[c][HIGH];
    for (int some = MEMBERS, rest; some > 1; some = rest) {
      MEET;
      rest = (some + 1) / 2;
      if (MEMBER < some - rest) {
        low[MEMBER] += low[MEMBER + rest];
        high[MEMBER] += high[MEMBER + rest];
      }
    }
    MEET;
    e->left[c][LOW] = low[0];
    e->left[c][HIGH] = high[0];
  }
  if (MEMBER == 0) settle(e);
}

/* Arguments are those of the kernel `sweep`; `room`: for so many particles there is local memory,
 * and for no less than there are members. */
KERNEL void team(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                 const long outer_stride, const int n, const int lines, const int outers,
                 const int segment, const int tiles_each, const int reach,
#if BOUNDED
                 __global V* crossed, const real sweep_begin, const real sweep_duration,
#endif
#if CROSSFLOW > 0
                 const int others_are_swept, __global const real* rates_across,
                 const real lane_lead, const real outer_lead,
#endif
                 const int room, __local V* local_rows, MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  Swept f = {FIELD_POINTERS, KEPT_POINTERS, strides, n, segment, reach};
  __local uint overtaken;
  Team t = {room, local_rows};
  t.strengths = t.weights + WEIGHTS * room;
  t.firsts = (__local int*)(t.strengths + COMPONENTS * room);
  t.sums = t.strengths + (COMPONENTS + 1) * room;
  t.overtaken = &overtaken;
  DECLARE_MOTION;
#if BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment};
  ends.crossed = crossed + get_group_id(0) * (4 * COMPONENTS);
  f.ends = &ends;
#endif
#if CROSSFLOW > 0
  const Crossflow crossflow = {
      others_are_swept, rates_across, {lane_lead, outer_lead}, lines, (long)lines * outers};
  ends.crossflow = crossflow;
#endif
  const long begin = (long)get_group_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile next = aim_at(&f, grid, job);
    const int count = min(segment, n - f.tile.first);
    t.rows = count + 2 * ROWS_BESIDE;
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, segment, reach);
    for (int row = MEMBER; COME_IN_PORTIONS && row < LINE_SUMS * t.rows; row += MEMBERS)
      t.sums[row] = 0;
    bring_all(MOTION_ARGUMENT, &t, &f, count);
    if (ARE_HELD) store_held(&t, &f, count);
    if (BOUNDED) settle_together(&t, f.ends);
    MEET;
  }
}
