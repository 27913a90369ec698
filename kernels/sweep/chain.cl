/* SPDX-License-Identifier: BSD-3-Clause */
/* Many sweeps in one launch, of fields so small that waking threads for each sweep would take
 * longer than the sweep.
 *
 * Sweeps are cut into jobs, which are counted from the first sweep to the last. A work-item takes
 * the next one when all jobs of earlier sweeps are done, and does it. Whoever has a job waits for
 * nobody. So work-items need not run side by side, and one alone comes to the end. One that waits
 * for long leaves the rest to those that are at work: on a busy machine it waits for somebody who
 * has lost the processor, perhaps to itself.
 *
 * RACES. Jobs of one sweep have different lines (sweep.cl). Jobs of two sweeps are never at work at
 * the same time, and what the one has stored the other sees: it is stored before the job is counted
 * as done, and read after that is known. Each line is swept as in a launch of its own, whoever does
 * it, so all bits are the same.
 *
 * Lines along the last axis are moved, a tile at a time, to where they lie side by side, and back:
 * one text sweeps along all axes. What moves particles lies side by side for good.
 *
 * CHAINED  1: a launch does a chain of sweeps; else one
 * AXES     of the grid */
#include "common/common.cl"
#include "common/transpose.cl"
#include "generated/swept_fields.cl"
#include "lines/lines.cl"
#include "motion/motion_stored.cl"
#include "sweep/swept.cl"

#ifndef CHAINED
#define CHAINED 0
#endif
#ifndef AXES
#define AXES 1
#endif

#if CHAINED

/* Of each sweep: its axis, the scale and the shift of its motion, the shares of the later level. */
#define LINK_NUMBERS 6

/* The motion along an axis, as it is stored. */
typedef struct {
  __global const real* from;
  Strides strides;
} Stored;

#define STORED_AT(name)                                                                  \
  {                                                                                      \
    name + name##_offset, { name##_row_stride, name##_lane_stride, name##_outer_stride } \
  }
#if LEVELS == 2
#define LEVELS_PARAMETERS(name, later) LEVEL_PARAMETERS_OF(name) LEVEL_PARAMETERS_OF(later)
#define STORED_LEVELS(name, later) {STORED_AT(name), STORED_AT(later)},
#else
#define LEVELS_PARAMETERS(name, later) LEVEL_PARAMETERS_OF(name)
#define STORED_LEVELS(name, later) {STORED_AT(name)},
#endif
#define OF_AXIS(of, axis) of(motion##axis, later_motion##axis)
#if AXES == 1
#define OF_AXES(of) OF_AXIS(of, 0)
#elif AXES == 2
#define OF_AXES(of) OF_AXIS(of, 0) OF_AXIS(of, 1)
#else
#define OF_AXES(of) OF_AXIS(of, 0) OF_AXIS(of, 1) OF_AXIS(of, 2)
#endif

/* `jobs`: how many are taken, and how many are done. `kept`: where each work-item moves the lines
 * of a tile to. */
#define CHAIN_PARAMETERS                                                                          \
  __global const real *links, __global volatile uint *jobs, const int points0, const int points1, \
      const int points2, const long stride0, const long stride1, const long stride2,              \
      OF_AXES(LEVELS_PARAMETERS) const int sweeps
#define TAKEN 0
#define DONE 16     /* in a cache line of its own */
#define JOBS_EACH 2 /* of a sweep, for a work-item */
#define LOOKS_AT_MOST (1 << 16)

typedef struct {
  __global const real* links;
  __global volatile uint* jobs;
  int points[3];
  long strides[3];
  Stored stored[AXES][LEVELS];
  __global stored* home[COMPONENTS];
  __global stored* side_by_side[COMPONENTS];
  int sweeps;
  int sweep, first, own; /* the one at work, its first job, and how many it has */
  int tiles, each;       /* all of it, and of a job */
  int lines, across;     /* along the lane axis, and in how many tiles */
  int is_moved;          /* its lines are moved */
  Strides at_home;
} Chain;

#define DECLARE_CHAIN                          \
  Swept f;                                     \
  Chain chain = {links,                        \
                 jobs,                         \
                 {points0, points1, points2},  \
                 {stride0, stride1, stride2},  \
                 {OF_AXES(STORED_LEVELS)},     \
                 FIELD_POINTERS,               \
                 KEPT_POINTERS,                \
                 sweeps,                       \
                 -1};                          \
  Motion held_motion, *const m = &held_motion; \
  const int meets_ends = 1;                    \
  forget_runs(m);                              \
  begin_chain(&chain)

INLINE int whole_vectors(const int n) { return (n + LANES - 1) / LANES * LANES; }

INLINE void begin_chain(Chain* c) {
  const long room = (long)whole_vectors(c->points[AXES - 1]) * LANES;
  for (int k = 0; k < COMPONENTS; k++) c->side_by_side[k] += get_global_id(0) * room;
  c->first = c->own = 0;
}

/* The fields and their motion, as the sweep at work sees them. Each work-item is to have several
 * jobs of it: who comes late does fewer. */
INLINE void aim_at_sweep(Chain* c, Swept* f, Motion* m) {
  __global const real* link = c->links + c->sweep * LINK_NUMBERS;
  const int axis = (int)link[0], last = AXES - 1;
  const int lane = axis != last ? last : last - 1, outer = AXES == 3 ? 3 - axis - lane : -1;
  const Strides at_home = {c->strides[axis], lane < 0 ? 0 : c->strides[lane],
                           outer < 0 ? 0 : c->strides[outer]};
  const Strides in_tile = {LANES, 0, 0};
  c->at_home = at_home;
  c->is_moved = AXES > 1 && axis == last;
  c->lines = lane < 0 ? 1 : c->points[lane];
  c->across = (c->lines + LANES - 1) / LANES;
  c->tiles = c->across * (outer < 0 ? 1 : c->points[outer]);
  c->each = max(1, c->tiles / (int)(JOBS_EACH * get_global_size(0)));
  c->own = (c->tiles + c->each - 1) / c->each;
  f->n = f->segment = c->points[axis];
  f->reach = 0;
  f->strides = c->is_moved ? in_tile : at_home;
  for (int k = 0; k < COMPONENTS; k++) f->u[k] = c->is_moved ? c->side_by_side[k] : c->home[k];
  m->n = f->n / COARSE;
  m->scale = link[1];
  m->shift = link[2];
  for (int when = 0; when < 3; when++) m->shares[when] = link[3 + when];
  for (int level = 0; level < LEVELS; level++) {
    m->level[level].from = c->stored[axis][level].from;
    m->level[level].strides = c->stored[axis][level].strides;
  }
}

/* Takes the next job, when it may begin. 0: there is none, or not for long. */
INLINE int take_job(Chain* c, Swept* f, Motion* m, int* job) {
  for (int looks = 0; looks < LOOKS_AT_MOST;) {
    *job = (int)c->jobs[TAKEN];
    while (*job >= c->first + c->own) {
      c->first += c->own;
      c->sweep++;
      if (c->sweep == c->sweeps) return 0;
      aim_at_sweep(c, f, m);
    }
    if ((int)c->jobs[DONE] < c->first) {
      looks++;
    } else if (atomic_cmpxchg(c->jobs + TAKEN, (uint)*job, (uint)(*job + 1)) == (uint)*job) {
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      return 1;
    }
  }
  return 0;
}

INLINE void end_job(Chain* c) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_inc(c->jobs + DONE);
}

INLINE Tile chain_tile(const Chain* c, const int number) {
  Tile t;
  t.first = t.least_first = t.greatest_first = 0;
  t.outer = number / c->across;
  t.lane = (number - t.outer * c->across) * LANES;
  t.live = min(LANES, c->lines - t.lane);
  return t;
}

#if LANES > 1 && AXES > 1

/* Lines are padded to whole vectors, so the last block may be read and written whole. */
INLINE void move_there(const Chain* c, const Swept* f) {
  if (!c->is_moved) return;
  const Tile* t = &f->tile;
  const long start = t->outer * c->at_home.outer + t->lane * c->at_home.lane;
  for (int k = 0; k < COMPONENTS; k++)
    for (int first = 0; first < f->n; first += LANES) {
      V block[LANES];
      UNROLL
      for (int j = 0; j < LANES; j++)
        block[j] = LOAD(c->home[k] + start + min(j, t->live - 1) * c->at_home.lane + first);
      transpose_block(block);
      UNROLL
      for (int j = 0; j < LANES; j++) STORE(block[j], c->side_by_side[k] + (first + j) * LANES);
    }
}

INLINE void move_back(const Chain* c, const Swept* f) {
  if (!c->is_moved) return;
  const Tile* t = &f->tile;
  const long start = t->outer * c->at_home.outer + t->lane * c->at_home.lane;
  for (int k = 0; k < COMPONENTS; k++)
    for (int first = 0; first < f->n; first += LANES) {
      V block[LANES];
      UNROLL
      for (int j = 0; j < LANES; j++) block[j] = LOAD(c->side_by_side[k] + (first + j) * LANES);
      transpose_block(block);
      UNROLL
      for (int j = 0; j < LANES; j++)
        if (j < t->live) STORE(block[j], c->home[k] + start + j * c->at_home.lane + first);
    }
}

#else

INLINE void move_there(const Chain* c, const Swept* f) {}
INLINE void move_back(const Chain* c, const Swept* f) {}

#endif

/* Does what `act` says for all tiles of a job, which `f` and `m` are aimed at. */
#define FOR_TILES(c, f, job, act)                                                              \
  for (int number = (job - (c)->first) * (c)->each, end = min(number + (c)->each, (c)->tiles); \
       number < end; number++) {                                                               \
    (f)->tile = chain_tile(c, number);                                                         \
    (f)->starts = (f)->next = lane_starts(&(f)->tile, (f)->strides);                           \
    move_there(c, f);                                                                          \
    aim_motion(MOTION_ARGUMENT, &(f)->tile, &(f)->tile, (f)->n, 0);                            \
    act;                                                                                       \
    move_back(c, f);                                                                           \
  }

#endif
