/* SPDX-License-Identifier: BSD-3-Clause */
/* Many sweeps in one launch, of fields so small that waking threads for each sweep would take
 * longer than the sweep.
 *
 * A pass is one sweep, or several along the last two of three axes, which stay within planes: these
 * are swept plane by plane. Passes are cut into jobs. When all jobs of the pass before are done, a
 * work-item takes the one that has its number, whose data are in its caches, and then those of
 * work-items that have not come. Whoever has a job waits for nobody. So work-items need not run
 * side by side, and one alone comes to the end. One that waits for long leaves the rest to those
 * that are at work: on a busy machine it waits for somebody who has lost the processor, perhaps to
 * itself.
 *
 * RACES. Each job of a pass is taken once, by who changes its counter. Jobs of one pass have
 * different lines (sweep.cl), or all lines of different planes. Jobs of two passes are never at
 * work at the same time, and what the one has stored the other sees: it is stored before the job is
 * counted as done, and read after that is known. Each line is swept as in a launch of its own,
 * whoever does it, so all bits are the same.
 *
 * Lines along the last axis are moved, a tile at a time, to where they lie side by side, and back:
 * one text sweeps along all axes whose lines are of one kind. What moves particles lies side by
 * side for good. Other kinds, with other ends, are swept by functions of other objects, each of
 * this text with its own options, which are linked with the one that has the kernel.
 *
 * CHAINED   1: a launch does a chain of sweeps; else one
 * AXES      of the grid
 * KINDS     of lines along them
 * KIND      of lines that this object sweeps; 0: it has the kernel as well
 * HAS_ENDS  1: lines of some kind have ends
 * HAS_RATES 1: what comes in through ends of some kind is strained along the other axes */
#include "common/common.cl"
#include "common/transpose.cl"
#include "generated/swept_fields.cl"
#include "lines/boundary.cl"
#include "lines/lines.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_kinds.cl"
#include "motion/motion_stored.cl"
#include "sweep/swept.cl"
#include "common/formula_parameters.cl"

#ifndef CHAINED
#define CHAINED 0
#endif
#ifndef AXES
#define AXES 1
#endif
#ifndef KINDS
#define KINDS 1
#endif
#ifndef KIND
#define KIND 0
#endif
#ifndef HAS_ENDS
#define HAS_ENDS BOUNDED
#endif
#ifndef HAS_RATES
#define HAS_RATES (CROSSFLOW > 0)
#endif

#if CHAINED

/* Of each sweep: its axis, the scale and the shift of its motion, three shares of the later level,
 * or times of a formula, how far it looks along lines with ends, in two numbers, of which kind its
 * lines are, when it begins and how long it lasts, which rates across it are its own, less than 0
 * where it is alone, how much further it begins than the lane axis and the outer one have come, and
 * whether the next sweep is of the same pass. */
#define REACH 6
#define OF_FIRST_NUMBER 4096 /* as sweep_chain.cpp has it */
#define KIND_OF_LINES 8
#define BEGIN 9
#define DURATION 10
#define RATES 11
#define LEADS 12
#define GOES_ON 14
#define LINK_NUMBERS 15

#if MOTION == FORMULA

/* Where points lie along an axis. */
typedef struct {
  real origin, spacing;
} Known;

#define BEGIN_MOTION DECLARE_TERMS
#define MOTION_OF_AXIS(axis) const real origin##axis, const real spacing##axis,
#define KNOWN_OF_AXIS(axis) {origin##axis, spacing##axis},

#else

/* The motion along an axis, as it is stored. */
typedef struct {
  __global const real* from;
  Strides strides;
} Stored;
typedef struct {
  Stored level[LEVELS];
} Known;

#define BEGIN_MOTION forget_runs(m)
#define STORED_AT(name)                                                                  \
  {                                                                                      \
    name + name##_offset, { name##_row_stride, name##_lane_stride, name##_outer_stride } \
  }
#if LEVELS == 2
#define MOTION_OF_AXIS(axis) \
  LEVEL_PARAMETERS_OF(motion##axis) LEVEL_PARAMETERS_OF(later_motion##axis)
#define KNOWN_OF_AXIS(axis) {{STORED_AT(motion##axis), STORED_AT(later_motion##axis)}},
#else
#define MOTION_OF_AXIS(axis) LEVEL_PARAMETERS_OF(motion##axis)
#define KNOWN_OF_AXIS(axis) {{STORED_AT(motion##axis)}},
#endif

#endif

#if AXES == 1
#define OF_AXES(of) of(0)
#elif AXES == 2
#define OF_AXES(of) of(0) of(1)
#else
#define OF_AXES(of) of(0) of(1) of(2)
#endif

/* What crosses the ends of lines is counted for each axis and tile: whoever sweeps it. */
#if HAS_ENDS && !FOLLOWS_BACK
#define CROSSED_OF_AXIS(axis) __global V *crossed##axis,
#define POINTER_OF_AXIS(axis) crossed##axis,
#define CROSSED_PARAMETERS OF_AXES(CROSSED_OF_AXIS)
#define CROSSED_POINTERS {OF_AXES(POINTER_OF_AXIS)}
#else
#define CROSSED_PARAMETERS
#define CROSSED_POINTERS {0}
#endif

/* Rates across the lines along an axis, of one sweep after the other. */
#if HAS_RATES
#define RATES_OF_AXIS(axis) __global const real *rates##axis,
#define RATES_POINTER_OF_AXIS(axis) rates##axis,
#define RATES_PARAMETERS OF_AXES(RATES_OF_AXIS)
#define RATES_POINTERS {OF_AXES(RATES_POINTER_OF_AXIS)}
#else
#define RATES_PARAMETERS
#define RATES_POINTERS {0}
#endif

/* `jobs`: which are taken, and how many are done. `kept`: where each work-item moves the lines
 * of a tile to. */
#define CHAIN_PARAMETERS                                                                          \
  __global const real *links, __global volatile uint *jobs, const int points0, const int points1, \
      const int points2, const long stride0, const long stride1, const long stride2,              \
      OF_AXES(MOTION_OF_AXIS)                                                                     \
          CROSSED_PARAMETERS RATES_PARAMETERS const int sweeps FORMULA_PARAMETERS
/* In cache lines of their own: how many jobs are done, and of each job of a pass, in how many. */
#define DONE 0
#define TAKEN(number) (16 * (1 + (number)))
#define LOOKS_AT_MOST (3 << 16)

typedef struct {
  __global const real* links;
  __global volatile uint* jobs;
  int points[3];
  long strides[3];
  Known known[AXES]; /* of the motion */
  __global stored* home[COMPONENTS];
  __global stored* side_by_side[COMPONENTS];
  __global V* crossed[AXES]; /* of lines with ends */
  __global const real* rates[AXES];
  int sweeps;
  int pass;          /* at work, counted from 1 */
  int begin, end;    /* its sweeps */
  int first, own;    /* how many jobs were before it, and how many it has */
  int mine;          /* which of them is looked at first */
  int units, each;   /* planes or tiles, and how many a job has of them */
  int by_planes;     /* units are planes */
  int lines, across; /* of a sweep: along the lane axis, and in how many tiles */
  int is_moved;      /* its lines are moved */
  int axis;
  Strides at_home;
} Chain;

INLINE int whole_vectors(const int n) { return (n + LANES - 1) / LANES * LANES; }

INLINE void begin_chain(Chain* c) {
  const long room = (long)whole_vectors(c->points[AXES - 1]) * LANES;
  for (int k = 0; k < COMPONENTS; k++) c->side_by_side[k] += get_global_id(0) * room;
  c->pass = c->begin = c->end = c->first = c->own = 0;
}

INLINE __global const real* link_of(const Chain* c, const int sweep) {
  return c->links + sweep * LINK_NUMBERS;
}

/* Axes across the lines along one; -1 where there is none. */
INLINE int lane_axis(const int axis) { return axis != AXES - 1 ? AXES - 1 : AXES - 2; }
INLINE int outer_axis(const int axis) { return AXES == 3 ? 3 - axis - lane_axis(axis) : -1; }

INLINE int points_along(const Chain* c, const int axis) { return axis < 0 ? 1 : c->points[axis]; }

INLINE int tiles_across(const Chain* c, const int axis) {
  return (points_along(c, lane_axis(axis)) + LANES - 1) / LANES;
}

/* As many jobs as work-items: what they know of one another they learn from core to core, which
 * takes longer than a tile. */
INLINE void aim_at_pass(Chain* c) {
  c->pass++;
  c->first += c->own;
  c->begin = c->end;
  if (c->begin == c->sweeps) return;
  const int axis = (int)link_of(c, c->begin)[0];
  do c->end++;
  while (link_of(c, c->end - 1)[GOES_ON] != 0);
  c->by_planes = c->end - c->begin > 1;
  c->units = points_along(c, outer_axis(axis)) * (c->by_planes ? 1 : tiles_across(c, axis));
  c->each = (c->units + (int)get_global_size(0) - 1) / (int)get_global_size(0);
  c->own = (c->units + c->each - 1) / c->each;
  c->mine = (int)get_global_id(0) % c->own;
}

#if MOTION == FORMULA

INLINE Known known_along(const Chain* c, const int axis) {
  const Known none = {0, 0};
  return axis < 0 ? none : c->known[axis];
}

INLINE void aim_motion_along(const Chain* c, Motion* m, const int axis,
                             __global const real* numbers FORMULA_PARAMETERS) {
  m->row_axis = axis, m->lane_axis = lane_axis(axis), m->outer_axis = outer_axis(axis);
  const Known row = known_along(c, m->row_axis), lane = known_along(c, m->lane_axis),
              outer = known_along(c, m->outer_axis);
  m->row_origin = row.origin, m->row_spacing = row.spacing;
  m->lane_origin = lane.origin, m->lane_spacing = lane.spacing;
  m->outer_origin = outer.origin, m->outer_spacing = outer.spacing;
  m->lane_begin = m->outer_begin = 0;
  m->n = c->points[axis];
  for (int when = 0; when < 3; when++) {
    m->instants[when] = INSTANT(numbers[2 + when]);
    m->instants[when].axis = axis;
  }
}

#else

INLINE void aim_motion_along(const Chain* c, Motion* m, const int axis,
                             __global const real* numbers FORMULA_PARAMETERS) {
  m->n = c->points[axis] / COARSE;
  m->shift = numbers[1];
  for (int when = 0; when < 3; when++) m->shares[when] = numbers[2 + when];
  for (int level = 0; level < LEVELS; level++) {
    m->level[level].from = c->known[axis].level[level].from;
    m->level[level].strides = c->known[axis].level[level].strides;
  }
}

#endif

/* What the ends of lines are told of a sweep. */
INLINE void aim_at_turn(const Chain* c, Ends* e, __global const real* link) {
  e->begin = link[BEGIN];
  e->duration = link[DURATION];
#if CROSSFLOW > 0
  const long lines = (long)c->lines * points_along(c, outer_axis(c->axis));
  const int is_alone = link[RATES] < 0, place = is_alone ? 0 : (int)link[RATES];
  const Crossflow crossflow = {!is_alone,
                               c->rates[c->axis] + place * 2 * CROSSFLOW * lines,
                               {link[LEADS], link[LEADS + 1]},
                               c->lines,
                               lines};
  e->crossflow = crossflow;
#endif
}

/* The fields and their motion, as a sweep sees them. */
INLINE void aim_at_sweep(Chain* c, Swept* f, Motion* m, const int sweep FORMULA_PARAMETERS) {
  __global const real* link = link_of(c, sweep);
  const int axis = (int)link[0], lane = lane_axis(axis), outer = outer_axis(axis);
  const Strides at_home = {c->strides[axis], lane < 0 ? 0 : c->strides[lane],
                           outer < 0 ? 0 : c->strides[outer]};
  const Strides in_tile = {LANES, 0, 0};
  c->at_home = at_home;
  c->is_moved = AXES > 1 && axis == AXES - 1;
  c->lines = points_along(c, lane);
  c->across = tiles_across(c, axis);
  f->n = f->segment = c->points[axis];
  f->reach = (int)link[REACH] * OF_FIRST_NUMBER + (int)link[REACH + 1];
  f->ends->n = f->ends->segment = f->n;
  c->axis = axis;
  if (BOUNDED) aim_at_turn(c, f->ends, link);
  f->strides = c->is_moved ? in_tile : at_home;
  for (int k = 0; k < COMPONENTS; k++)
    f->kept[k] = f->u[k] = c->is_moved ? c->side_by_side[k] : c->home[k];
  m->scale = link[1];
  aim_motion_along(c, m, axis, link + 1 FORMULA_ARGUMENTS);
}

/* Takes job `number` of the pass, if nobody has. */
INLINE int takes(const Chain* c, const int number) {
  __global volatile uint* const taken = c->jobs + TAKEN(number);
  const uint passes = *taken;
  if (passes >= (uint)c->pass || atomic_cmpxchg(taken, passes, (uint)c->pass) != passes) return 0;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return 1;
}

/* Takes a job that may begin: that which has the number of the work-item, whose data it had in the
 * pass before, or else one of a work-item that has not come. 0: there is none, or not for long. */
INLINE int take_job(Chain* c, int* job) {
  for (int looks = 0; looks < LOOKS_AT_MOST; looks += 1 + c->own) {
    while ((int)c->jobs[DONE] >= c->first + c->own) {
      aim_at_pass(c);
      if (c->begin == c->sweeps) return 0;
    }
    for (int k = 0; k < c->own; k++) {
      const int number = c->mine + k;
      *job = number < c->own ? number : number - c->own;
      if (takes(c, *job)) return 1;
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

/* The tile of a sweep that is at work next. */
INLINE void aim_at_tile(const Chain* c, Swept* f, const int number) {
  f->tile = chain_tile(c, number);
  f->starts = f->next = lane_starts(&f->tile, f->strides);
  move_there(c, f);
  if (!BOUNDED) return;
  aim_ends(f->ends, &f->tile);
  f->ends->crossed = c->crossed[c->axis] + number * (4 * COMPONENTS);
}

/* What others have stored last is in their caches: all of it is asked for at once, to be stored. */
#if __has_builtin(__builtin_prefetch)
#define FETCH(pointer) __builtin_prefetch((const void*)(size_t)(pointer), 1, 3)
#else
#define FETCH(pointer)
#endif

INLINE void fetch_tiles(const Chain* c, const int n, const int from, const int to) {
  for (int number = from; number < to; number++) {
    const Tile t = chain_tile(c, number);
    const long start = t.outer * c->at_home.outer + t.lane * c->at_home.lane;
    for (int k = 0; k < COMPONENTS; k++) {
      __global stored* const first = c->home[k] + start;
      for (int j = 0; c->is_moved && j < t.live; j++)
        for (int p = 0; p < n; p += LANES) FETCH(first + j * c->at_home.lane + p);
      for (int p = 0; !c->is_moved && p < n; p++) FETCH(first + p * c->at_home.row);
    }
  }
}

/* What of a sweep belongs to a job: a function for each kind of lines, which is SWEEP_JOB here. */
#define SWEEP_JOB JOIN(sweep_job_, KIND)
#define JOB_PARAMETERS Chain *c, const int sweep, const int job FORMULA_PARAMETERS
#define JOB_ARGUMENTS c, sweep, job FORMULA_ARGUMENTS
#if KIND == 0
INLINE void sweep_job_0(JOB_PARAMETERS);
#endif
void sweep_job_1(JOB_PARAMETERS);
void sweep_job_2(JOB_PARAMETERS);

#define DECLARE_SWEPT                          \
  Swept f;                                     \
  Ends ends = {0};                             \
  f.ends = &ends;                              \
  Motion held_motion, *const m = &held_motion; \
  const int meets_ends = 1;                    \
  BEGIN_MOTION;                                \
  aim_at_sweep(c, &f, m, sweep FORMULA_ARGUMENTS)

/* Does what `act` says for each tile of a job. */
#define FOR_TILES(f, act)                                                    \
  const int each = c->by_planes ? c->across : 1, unit = job * c->each;       \
  const int from = each * unit, to = each * min(unit + c->each, c->units);   \
  if (sweep == c->begin) fetch_tiles(c, (f)->n, from, to);                   \
  for (int number = from; number < to; number++) {                           \
    aim_at_tile(c, f, number);                                               \
    aim_motion(MOTION_ARGUMENT, &(f)->tile, &(f)->tile, (f)->n, (f)->reach); \
    act;                                                                     \
    move_back(c, f);                                                         \
  }

#if KIND == 0

INLINE void do_jobs(Chain* c FORMULA_PARAMETERS) {
  int job;
  while (take_job(c, &job)) {
    for (int sweep = c->begin; sweep < c->end; sweep++) {
      const int kind = (int)link_of(c, sweep)[KIND_OF_LINES];
      if (kind == 0) sweep_job_0(JOB_ARGUMENTS);
      if (KINDS > 1 && kind == 1) sweep_job_1(JOB_ARGUMENTS);
      if (KINDS > 2 && kind == 2) sweep_job_2(JOB_ARGUMENTS);
    }
    end_job(c);
  }
}

/* All that the kernel does. */
#define SWEEP_CHAIN                           \
  Chain chain = {links,                       \
                 jobs,                        \
                 {points0, points1, points2}, \
                 {stride0, stride1, stride2}, \
                 {OF_AXES(KNOWN_OF_AXIS)},    \
                 FIELD_POINTERS,              \
                 KEPT_POINTERS,               \
                 CROSSED_POINTERS,            \
                 RATES_POINTERS,              \
                 sweeps};                     \
  begin_chain(&chain);                        \
  do_jobs(&chain FORMULA_ARGUMENTS)

#endif

#endif
