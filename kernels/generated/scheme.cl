/* SPDX-License-Identifier: BSD-3-Clause */
/* The midpoint rule: stands for the text that is made of a row of the table of schemes. */
#include "common/common.cl"

#define STAGES 2
#define LOOKS 1
#define TIME_1 AT_BEGIN
#define AFTER_1(scale, slope, sum, place) place = (REAL(0.5) * (scale)) * (slope)
#define TIME_2 AT_MIDDLE
#define AFTER_2(scale, slope, sum, place) place = (scale) * (slope)
