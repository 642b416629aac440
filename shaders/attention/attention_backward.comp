#version 460
/* SPDX-License-Identifier: MIT */
/* Gradients of q, or with KEYS=1 gradients of k and v: two passes, so that each row has one writer.
 * With p[t][u] = exp2 (SCALE q[t] . k[u] - sums[t]), computed again, and delta[t] = dy[t] . y[t]:
 *     ds[t][u] = p[t][u] (dy[t] . v[u] - delta[t]) / sqrt (HEAD_DIM)
 *     dq[t] = sum over u of ds[t][u] k[u]
 *     dk[u] = sum over t of ds[t][u] q[t];   dv[u] = sum over t of p[t][u] dy[t]
 * The pass of q writes delta, which the pass of k and v reads.  ACCUMULATE=1 adds to dqkv. */
#include "types.glsl"
#include "attention-push.h"
#define TILE_ROWS (2 * (OWN + OTHERS))
#ifdef KEYS
#define N_WEIGHTS 2
#else
#define N_WEIGHTS 1
#endif
#include "attention.glsl"

/* The tiles for the scores (q, k) and the tiles for their gradients (dy, v). */
#define OWN_A   0
#define OWN_B   (OWN * PITCH)
#define OTHER_A (2 * OWN * PITCH)
#define OTHER_B (OTHER_A + OTHERS * PITCH)
#define LN_2    0.6931471805599453

DYNO_PUSH (DynoAttentionBackwardPush, p);

/* Loads the tile of the queries and the tile of dy. */
void
load_queries (uint a, uint b, uint rows, uint n, uint head, uint row0)
{
  const uint pitch = HEADS * QUADS;
  tile_load (a, rows, p.qkv, n * T * 3 * pitch + PART_Q * pitch + head * QUADS, 3 * pitch, row0);
  tile_load (b, rows, p.dy, n * T * pitch + head * QUADS, pitch, row0);
}

void
load_keys (uint a, uint b, uint rows, uint n, uint head, uint row0)
{
  const uint pitch = HEADS * QUADS, first = n * T * 3 * pitch + head * QUADS;
  tile_load (a, rows, p.qkv, first + PART_K * pitch, 3 * pitch, row0);
  tile_load (b, rows, p.qkv, first + PART_V * pitch, 3 * pitch, row0);
}

#ifdef KEYS
/* Gradients of the keys and values from row0 on: weights are [key][query]. */
void
run (uint n, uint head, uint row0, uint valid)
{
  const uint x = gl_LocalInvocationID.x, pitch = HEADS * QUADS,
             first = n * T * 3 * pitch + head * QUADS, rows = (n * HEADS + head) * T;
  vec4 dk[ROWS * VECS], dv[ROWS * VECS];
  [[unroll]] for (uint i = 0; i < ROWS * VECS; i++)
    dk[i] = dv[i] = vec4 (0.0);
  load_keys (OWN_A, OWN_B, OWN, n, head, row0);
  for (uint query0 = 0; query0 < T; query0 += OTHERS)
    {
      const uvec4 t = query0 + x + LOCAL_X * uvec4 (0, 1, 2, 3);
      const bvec4 past = greaterThanEqual (t, uvec4 (T));
      vec4 scores[ROWS], gradients[ROWS], sums, deltas;
      barrier (); /* the previous tiles have been read */
      load_queries (OTHER_A, OTHER_B, OTHERS, n, head, query0);
      [[unroll]] for (uint j = 0; j < 4; j++)
        {
          sums[j] = FloatsIn (p.sums).v[rows + min (t[j], T - 1)];
          deltas[j] = FloatsIn (p.deltas).v[rows + min (t[j], T - 1)];
        }
      barrier ();
      tile_scores (OWN_A, OTHER_A, scores);
      tile_scores (OWN_B, OTHER_B, gradients);
      [[unroll]] for (uint i = 0; i < ROWS; i++)
        {
          const vec4 w = row0 + own_row (i) < valid
                             ? mix (exp2 (scores[i] * SCALE - sums), vec4 (0.0), past)
                             : vec4 (0.0);
          weights[own_row (i) * LOCAL_X + x] = w;
          weights[(OWN + own_row (i)) * LOCAL_X + x] = w * (gradients[i] - deltas);
        }
      barrier ();
      tile_accumulate (0, OTHER_B, dv);
      tile_accumulate (OWN * LOCAL_X, OTHER_A, dk);
    }
  [[unroll]] for (uint i = 0; i < ROWS * VECS; i++)
    dk[i] *= SCALE * LN_2;
  rows_store (p.dqkv, first + PART_K * pitch, 3 * pitch, row0, dk);
  rows_store (p.dqkv, first + PART_V * pitch, 3 * pitch, row0, dv);
}
#else
/* The dot product of dy and y for row i of the invocation's own rows, dy from the tile. */
float
row_delta (uint i, uint n, uint head, uint row0)
{
  const uint row = min (row0 + own_row (i), T - 1);
  float sum = 0.0;
  for (uint column = 0; column < QUADS; column++)
    sum += dot (quad_unpack (tiles[OWN_B + own_row (i) * PITCH + column]),
                quad_unpack (quad_load (p.y, ((n * T + row) * HEADS + head) * QUADS + column)));
  return sum;
}

/* Gradients of the queries from row0 on: weights are [query][key]. */
void
run (uint n, uint head, uint row0, uint valid)
{
  const uint x = gl_LocalInvocationID.x, pitch = HEADS * QUADS,
             first = n * T * 3 * pitch + head * QUADS, rows = (n * HEADS + head) * T;
  vec4 dq[ROWS * VECS];
  float sums[ROWS], deltas[ROWS];
  [[unroll]] for (uint i = 0; i < ROWS * VECS; i++)
    dq[i] = vec4 (0.0);
  load_queries (OWN_A, OWN_B, OWN, n, head, row0);
  barrier ();
  [[unroll]] for (uint i = 0; i < ROWS; i++)
    {
      const uint row = row0 + own_row (i);
      sums[i] = FloatsIn (p.sums).v[rows + min (row, T - 1)];
      deltas[i] = row_delta (i, n, head, row0);
      if (x == 0 && row < T)
        FloatsOut (p.deltas).v[rows + row] = deltas[i];
    }
  for (uint key0 = 0; key0 < valid; key0 += OTHERS)
    {
      const bvec4 past =
          greaterThanEqual (key0 + x + LOCAL_X * uvec4 (0, 1, 2, 3), uvec4 (valid));
      vec4 scores[ROWS], gradients[ROWS];
      barrier (); /* the previous tiles have been read */
      load_keys (OTHER_A, OTHER_B, OTHERS, n, head, key0);
      barrier ();
      tile_scores (OWN_A, OTHER_A, scores);
      tile_scores (OWN_B, OTHER_B, gradients);
      [[unroll]] for (uint i = 0; i < ROWS; i++)
        {
          const vec4 w = mix (exp2 (scores[i] * SCALE - sums[i]), vec4 (0.0), past);
          weights[own_row (i) * LOCAL_X + x] = w * (gradients[i] - deltas[i]);
        }
      barrier ();
      tile_accumulate (0, OTHER_A, dq);
    }
  [[unroll]] for (uint i = 0; i < ROWS * VECS; i++)
    dq[i] *= SCALE * LN_2;
  rows_store (p.dqkv, first + PART_Q * pitch, 3 * pitch, row0, dq);
}
#endif

void
main ()
{
  const uint item = attention_item ();
  if (item >= ITEMS)
    return;
  const uint n = item / (BLOCKS * HEADS);
  run (n, item / BLOCKS % HEADS, item % BLOCKS * OWN, steps_valid (p.lengths, n, STRIDE, T));
}
