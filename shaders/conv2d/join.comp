#version 460
/* SPDX-License-Identifier: MIT */
/* y[i] (+)= bias + sum over s of part[s][i], in order: the activation of a forward or dgrad whose K
 * axis was split.  SPLITS, where splits are few, equals p.n_splits, and all parts are loaded at
 * once.  With AFFINE a batch norm is applied to the sum (lib/affine.glsl).  With ADD_STEP_H and
 * ADD_STEP_W, the values of p.added are added instead of the old y, as in geometry.glsl, where
 * images have H x W pixels.  An invocation has 16 bytes of y. */
#include "types.glsl"
#include "conv2d.h"
#include "modes.h"

DYNO_PUSH (DynoConv2dJoinPush, p);
#ifndef AFFINE
#define AFFINE 0
#endif
#if AFFINE
#include "affine.glsl"
#endif
DYNO_BUFFER_IN (Parts4, vec4, 16);
DYNO_BUFFER_IN (Bias4, vec4, 16);
#if HALF
#define VECTORS 2
DYNO_BUFFER_INOUT (Target, u32vec4, 16);
#else
#define VECTORS 1
DYNO_BUFFER_INOUT (Target, vec4, 16);
#endif

#ifdef ADD_STEP_H
#define OLD p.added
#else
#define OLD p.target
#endif

#if AFFINE
#if HALF
DYNO_BUFFER_IN (Residual, u32vec4, 16);
#else
DYNO_BUFFER_IN (Residual, vec4, 16);
#endif

void
apply (uint i, inout vec4 sum[VECTORS])
{
  vec4 residual[VECTORS];
  [[unroll]] for (uint v = 0; v < VECTORS; v++)
    residual[v] = vec4 (0.0);
#if HALF
#if AFFINE == DYNO_AFFINE_ID_RESIDUAL
  const u32vec4 words = Residual (p.norm_x).v[i];
  residual[0] = vec4 (unpackHalf2x16 (words.x), unpackHalf2x16 (words.y));
  residual[1] = vec4 (unpackHalf2x16 (words.z), unpackHalf2x16 (words.w));
#endif
  [[unroll]] for (uint v = 0; v < VECTORS; v++)
    sum[v] = vec4 (unpackHalf2x16 (packHalf2x16 (sum[v].xy)),
                   unpackHalf2x16 (packHalf2x16 (sum[v].zw)));
#elif AFFINE == DYNO_AFFINE_ID_RESIDUAL
  residual[0] = Residual (p.norm_x).v[i];
#endif
  [[unroll]] for (uint v = 0; v < VECTORS; v++)
    sum[v] = affine_take (affine_columns ((i * VECTORS + v) % (p.columns / 4)), sum[v],
                          residual[v]);
}
#endif

/* The index of the added values for 16 bytes of y; FALSE: nothing is added. */
bool
old_at (uint i, out uint from)
{
#ifdef ADD_STEP_H
  const uint chunks = p.columns / (4 * VECTORS), pixel = i / chunks;
  const uint x = pixel % W, y = pixel / W % H, image = pixel / (W * H);
  const uint rows = (H + ADD_STEP_H - 1) / ADD_STEP_H, columns = (W + ADD_STEP_W - 1) / ADD_STEP_W;
  from = ((image * rows + y / ADD_STEP_H) * columns + x / ADD_STEP_W) * chunks + i % chunks;
  return x % ADD_STEP_W == 0 && y % ADD_STEP_H == 0;
#else
  from = i;
  return p.accumulate != 0;
#endif
}

void
main ()
{
  const uint count = p.count / (4 * VECTORS), step = gl_NumWorkGroups.x * LOCAL_X;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += step)
    {
      vec4 sum[VECTORS];
      [[unroll]] for (uint v = 0; v < VECTORS; v++)
        sum[v] = p.bias == 0 ? vec4 (0.0) : Bias4 (p.bias).v[(i * VECTORS + v) % (p.columns / 4)];
#ifdef SPLITS
      vec4 part[SPLITS][VECTORS];
      [[unroll]] for (uint s = 0; s < SPLITS; s++)
        [[unroll]] for (uint v = 0; v < VECTORS; v++)
          part[s][v] = Parts4 (p.source).v[s * (p.count / 4) + i * VECTORS + v];
      [[unroll]] for (uint s = 0; s < SPLITS; s++)
        [[unroll]] for (uint v = 0; v < VECTORS; v++)
          sum[v] += part[s][v];
#else
      for (uint s = 0; s < p.n_splits; s++)
        [[unroll]] for (uint v = 0; v < VECTORS; v++)
          sum[v] += Parts4 (p.source).v[s * (p.count / 4) + i * VECTORS + v];
#endif
#if AFFINE
      apply (i, sum);
#endif
      uint from;
#if HALF
      if (old_at (i, from))
        {
          u32vec4 old = Target (OLD).v[from];
          sum[0] += vec4 (unpackHalf2x16 (old.x), unpackHalf2x16 (old.y));
          sum[1] += vec4 (unpackHalf2x16 (old.z), unpackHalf2x16 (old.w));
        }
      Target (p.target).v[i] = u32vec4 (packHalf2x16 (sum[0].xy), packHalf2x16 (sum[0].zw),
                                        packHalf2x16 (sum[1].xy), packHalf2x16 (sum[1].zw));
#else
      if (old_at (i, from))
        sum[0] += Target (OLD).v[from];
      Target (p.target).v[i] = sum[0];
#endif
    }
}
