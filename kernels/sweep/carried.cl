/* SPDX-License-Identifier: BSD-3-Clause */
/* What the particles of a tile carry, and how it is given to the nodes around them. */
#include "sweep/crossings.cl"
#include "sweep/swept.cl"

/* Particles on LANES rows of a component, from row `first` on. */
typedef struct {
  __global const stored* from;
  int first, low, high;
#ifdef ALONG_MEMORY
  V rows[LANES];
#endif
#ifdef BOUNDED
  int side;
#endif
} Block;

/* Only nodes low .. high-1, counted on beyond the ends of the line, have particles here. */
INLINE void aim_block(Block* b, const Fields* f, const int c, const int first, const int low,
                      const int high) {
  b->first = first, b->low = low, b->high = high;
  b->from = f->u[c];
#ifdef SEGMENT
  const int is_own = low == 0 && first >= 0 && first < f->segment;
  if (!is_own) b->from = f->kept[c];
#elif defined(LINES_IN_GLOBAL)
  b->from = f->kept[c];
#endif
#ifdef BOUNDED
  b->side = side_of(f->ends, &f->tile, first, low);
#endif
#if defined(ALONG_MEMORY) && defined(SEGMENT)
  read_continued_block(b->rows, b->from, &f->tile, &f->place, f->n, first, low, high, REAL(1.0));
#elif defined(ALONG_MEMORY)
  read_block(b->rows, b->from, &f->place, first);
#endif
}

/* What particle k carries. */
INLINE V strength_of(const Block* b, const Fields* f, const int k) {
  prefetch_row(b->from, &f->next, f->strides, b->first, k);
#ifdef ALONG_MEMORY
  return b->rows[k];
#else
  int row = b->first + k;
#ifdef SEGMENT
  if (b->low != 0) row = STORED_NODE(f->tile.first + row, f->n) - f->tile.first;
#endif
  return read_row(b->from, &f->place, f->strides, row);
#endif
}

/* Particle k of a component. */
INLINE void give(const Sums* sums, Window* window, const Block* b, const Fields* f, const int c,
                 const int k, const Cells* cells, __private const V* weight) {
  V strength = strength_of(&b[c], f, k);
#ifdef BOUNDED
  strength = strength_at_ends(f->ends, b[c].side, c, b->first, k, cells, weight, strength);
#endif
  add_particle(sums, window, b->first + MARGIN + k, cells, weight, strength);
}
