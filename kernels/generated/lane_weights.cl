/* SPDX-License-Identifier: BSD-3-Clause */
/* Remeshing weights in lanes: stands for the tables that are generated for the chosen kernel. This
 * one is the linear kernel, whose lanes are taken for points of four. */
#include "common/common.cl"

#define SLOTS 4
#define EVEN_TERMS 1
#define ODD_TERMS 2
/* Coefficients in ascending powers, for each point that a slot may have. */
__constant real EVEN_PARTS[EVEN_TERMS][SLOTS] = {{0}};
__constant real ODD_PARTS[ODD_TERMS][SLOTS] = {{0}, {0}};
