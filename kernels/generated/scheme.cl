/* SPDX-License-Identifier: BSD-3-Clause */
/* The midpoint rule: stands for the text that is made of a row of the table of schemes. */
#include "common/common.cl"

#define STAGES 2
#define LOOKS 1
#define TIME_1 AT_BEGIN
#define PLACE_1(scale, slope, place, sum) ((REAL(0.5) * (scale)) * (slope))
#define SUM_1(sum, place) (sum)
#define TIME_2 AT_MIDDLE
#define PLACE_2(scale, slope, place, sum) ((scale) * (slope))
#define SUM_2(sum, place) (sum)
