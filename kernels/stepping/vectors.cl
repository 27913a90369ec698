/* SPDX-License-Identifier: BSD-3-Clause */
/* How groups share vectors of neighbouring particles or points: a group has some that follow one
 * another, of which its work-items, side by side, take one each, then the next ones.
 *
 * GROUP  work-items of a group */
#ifndef GROUP
#define GROUP 1
#endif

/* Those of a work-item, of so many for each and so many in all. */
#define FOR_OWN_VECTORS(i, each, all)                                                    \
  for (long i = (long)get_group_id(0) * (each) * GROUP + get_local_id(0),                \
            end_of_own = min((long)(all), (long)(get_group_id(0) + 1) * (each) * GROUP); \
       i < end_of_own; i += GROUP)
