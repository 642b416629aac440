#version 460
/* SPDX-License-Identifier: MIT */
/* y = softmax (q k^T / sqrt (HEAD_DIM)) v of each head; qkv (N, T, 3, HEADS, HEAD_DIM), y
 * (N, T, HEADS, HEAD_DIM).  The softmax is computed in one pass over the keys: the sums are of
 * exponentials relative to the largest score so far, and are rescaled when a larger score occurs.
 * KEEP=1 stores the base-2 logarithm of the sum of each row's exponentials.  LENGTHS=1: only the
 * keys that count are used. */
#include "types.glsl"
#include "attention-push.h"
#define TILE_ROWS (OWN + 2 * OTHERS)
#define N_WEIGHTS 1
#include "attention.glsl"

#define QUERIES  0
#define KEYS     (OWN * PITCH)
#define VALUES   (KEYS + OTHERS * PITCH)
#define SMALLEST -3.0e38

DYNO_PUSH (DynoAttentionPush, p);

shared float parts[OWN * LOCAL_X];

void
main ()
{
  const uint item = attention_item (), x = gl_LocalInvocationID.x;
  if (item >= ITEMS)
    return;
  const uint n = item / (BLOCKS * HEADS), head = item / BLOCKS % HEADS,
             row0 = item % BLOCKS * OWN, pitch = 3 * HEADS * QUADS,
             first = n * T * pitch + head * QUADS,
             valid = steps_valid (p.lengths, n, STRIDE, T);
  vec4 sums[ROWS * VECS];
  float most[ROWS], total[ROWS]; /* total: of this invocation's keys only */
  [[unroll]] for (uint i = 0; i < ROWS * VECS; i++)
    sums[i] = vec4 (0.0);
  [[unroll]] for (uint i = 0; i < ROWS; i++)
    {
      most[i] = SMALLEST;
      total[i] = 0.0;
    }
  tile_load (QUERIES, OWN, p.qkv, first + PART_Q * HEADS * QUADS, pitch, row0);

  for (uint key0 = 0; key0 < valid; key0 += OTHERS)
    {
      barrier (); /* the previous tiles have been read */
      tile_load (KEYS, OTHERS, p.qkv, first + PART_K * HEADS * QUADS, pitch, key0);
      tile_load (VALUES, OTHERS, p.qkv, first + PART_V * HEADS * QUADS, pitch, key0);
      barrier ();
      vec4 scores[ROWS];
      tile_scores (QUERIES, KEYS, scores);
      const bvec4 past =
          greaterThanEqual (key0 + x + LOCAL_X * uvec4 (0, 1, 2, 3), uvec4 (valid));
      [[unroll]] for (uint i = 0; i < ROWS; i++)
        {
          scores[i] = mix (scores[i] * SCALE, vec4 (SMALLEST), past);
          parts[own_row (i) * LOCAL_X + x] =
              max (max (scores[i].x, scores[i].y), max (scores[i].z, scores[i].w));
        }
      barrier ();
      [[unroll]] for (uint i = 0; i < ROWS; i++)
        {
          float now = most[i];
          [[unroll]] for (uint k = 0; k < LOCAL_X; k++)
            now = max (now, parts[own_row (i) * LOCAL_X + k]);
          const float scale = exp2 (most[i] - now);
          const vec4 w = exp2 (scores[i] - now);
          most[i] = now;
          total[i] = total[i] * scale + (w.x + w.y + (w.z + w.w));
          [[unroll]] for (uint v = 0; v < VECS; v++)
            sums[i * VECS + v] *= scale;
          weights[own_row (i) * LOCAL_X + x] = w;
        }
      barrier ();
      tile_accumulate (0, VALUES, sums);
    }

  [[unroll]] for (uint i = 0; i < ROWS; i++)
    parts[own_row (i) * LOCAL_X + x] = total[i];
  barrier ();
  [[unroll]] for (uint i = 0; i < ROWS; i++)
    {
      float sum = 0.0;
      [[unroll]] for (uint k = 0; k < LOCAL_X; k++)
        sum += parts[own_row (i) * LOCAL_X + k];
      [[unroll]] for (uint v = 0; v < VECS; v++)
        sums[i * VECS + v] /= sum;
#ifdef KEEP
      const uint row = row0 + own_row (i);
      if (x == 0 && row < T)
        FloatsOut (p.sums).v[(n * HEADS + head) * T + row] = most[i] + log2 (sum);
#endif
    }
  rows_store (p.y, n * T * HEADS * QUADS + head * QUADS, HEADS * QUADS, row0, sums);
}
