/* Figures as results return them. */

#ifndef CUSHION_ROUNDED_H
#define CUSHION_ROUNDED_H

#include <math.h>

/* To 6 decimals, with no negative zero; above 1e9 a double has no seventh decimal to round away. */
static inline double round_to_six(double number) {
    return fabs(number) < 1e9 ? rint(number * 1e6) / 1e6 + 0.0 : number;
}

#endif
