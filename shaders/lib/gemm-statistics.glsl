/* SPDX-License-Identifier: MIT */
/* With STATISTICS: sums over the stored rows of each column of y, of the distances to a pivot and
 * of their squares, for the batch norm that follows.  Where the pivot is near the mean, a mean that
 * is large compared with the deviation causes no cancellation.
 *
 * The sums are of the values as stored.  A workgroup writes partials[group][2][K]; batchnorm_finish
 * adds them up.  The order of all sums is fixed.
 *
 * With NORM, in dgrad, the sums are as in norm.glsl, partials[group][2][C], and batchnorm_collect
 * adds them up. */
#ifndef DYNO_GEMM_STATISTICS_GLSL
#define DYNO_GEMM_STATISTICS_GLSL
#include "finite.glsl"

#if STATISTICS
DYNO_BUFFER_IN (Pivots4, vec4, 16);

/* The pivots of four columns of the tile; batchnorm_finish uses the same replacement where a pivot
 * is not finite. */
vec4
statistics_pivot (uint tile_column, uint column)
{
  return CHECK_N == 0 || tile_column + column < K
             ? finite_or_zero (Pivots4 (p.pivot).v[(tile_column + column) / 4])
             : vec4 (0.0);
}

#endif

#if STATISTICS || NORM
DYNO_BUFFER_OUT (Partials4, vec4, 16);

/* The workgroup's total of four columns; `which` is 0 for the sums, 1 for the squares or
 * products. */
void
statistics_put (uint group, uint which, uint tile_column, uint column, vec4 total)
{
  const uint at = (tile_column + column) / 4;
  if (CHECK_N != 0 && tile_column + column >= SUMS_COLUMNS)
    return;
#if NORM
  if (which == 1)
    total = norm_finish (at, total);
#endif
  Partials4 (p.partials).v[(group * 2 + which) * (SUMS_COLUMNS / 4) + at] = total;
}
#endif

#endif
