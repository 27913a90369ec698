/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a formula that may change without another build: its text defines what they are called
 * as parameters and as arguments, each after a comma. Most formulas have none. This is included
 * last, after the text. */
#ifndef FORMULA_PARAMETERS
#define FORMULA_PARAMETERS
#define FORMULA_ARGUMENTS
#endif
