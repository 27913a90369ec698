/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of any dtype, one at a time: LOAD_AS(type, from) makes them real, STORE_AS rounds once.
 */
#include "common/common.cl"
#include "common/typed.cl"

#define LOAD_AS(type, from) JOIN(LOAD_, type)(from)
#define LOAD_half(from) ((real)HALF_AT(from))
#define LOAD_float(from) ((real) * (from))
#define LOAD_double(from) ((real) * (from))
#define LOAD_uchar(from) ((real) * (from))
#define LOAD_int(from) ((real) * (from))
#define LOAD_uint(from) ((real) * (from))
#define LOAD_long(from) ((real) * (from))
#define LOAD_ulong(from) ((real) * (from))

/* LANES neighbours. */
#define LOAD_ROW_AS(type, from) JOIN(JOIN(load_, type), _row)(from, LANES)

#define STORE_AS(type, u, to) JOIN(STORE_, type)(u, to)
#define STORE_half(u, to) STORE_HALF(u, to)
#define STORE_float(u, to) STORE_FLOAT(u, to)
#define STORE_double(u, to) (*(to) = (u))
