/* SPDX-License-Identifier: MIT */
/* The residual that is added to y, with ADDED, one of DYNO_ADDED_ID_* (modes.h): a tensor of y's
 * shape, or the output of a batch norm of such a tensor, computed after loading from the statistics
 * of the batch.  Include after lanes.glsl, batchnorm-push.h and the declaration of p. */
#ifndef DYNO_BATCHNORM_ADDED_GLSL
#define DYNO_BATCHNORM_ADDED_GLSL
#include "modes.h"

#if ADDED == DYNO_ADDED_ID_NORM
Lanes added_mean, added_factor, added_beta;
#endif

/* Loads the added batch norm's values for the channels of access `column`, to which the invocation
 * keeps. */
void
added_start (uint column)
{
#if ADDED == DYNO_ADDED_ID_NORM
  const Lanes invstd = lanes_load_floats (p.added.invstd, column);
  added_mean = lanes_load_floats (p.added.mean, column);
  added_beta = lanes_load_floats (p.added.beta, column);
  added_factor = lanes_load_floats (p.added.gamma, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    added_factor.q[j] *= invstd.q[j];
#endif
}

uvec4
added_load (uint i)
{
  return words_load (p.added.x, i);
}

Lanes
added_unpack (uvec4 words)
{
  Lanes lanes = words_unpack (words);
#if ADDED == DYNO_ADDED_ID_NORM
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    lanes.q[j] = (lanes.q[j] - added_mean.q[j]) * added_factor.q[j] + added_beta.q[j];
#endif
  return lanes;
}

#endif
