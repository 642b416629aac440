#version 460
/* SPDX-License-Identifier: MIT */
/* attention_forward.comp with matrix units. */
#include "types.glsl"
#include "attention-push.h"
#define WEIGHTS OTHERS
#include "attention-matrix.glsl"

#define KEYS    0
#define VALUES  TILE
#define COLUMNS (OTHERS / 16) /* fragments of the scores side by side */

DYNO_PUSH (DynoAttentionPush, p);

/* SCORES_PITCH: chunks from row to row of 16 x 16 fp32 scores, which overwrite a subgroup's
 * weights; most_shared: the largest score of each of these rows. */
#define SCORES_PITCH 5
shared float most_shared[SUBGROUPS * 16];
/* added to the scores of the fragment with the last valid key: 0 for valid keys, else SMALLEST */
shared float edge_shared[16];

/* The largest value of each row, in all elements of the row. */
MATRIX_C
row_most (uint i, MATRIX_C x)
{
  const uint lane = gl_SubgroupInvocationID, row = lane / 2,
             at = WEIGHTS_AT + i * 16 * WEIGHTS_PITCH,
             half_row = at + row * SCORES_PITCH + lane % 2 * 2;
  subgroup_wait (); /* the previous weights have been read */
  MATRIX_STORE_ROWS (x, tile, at, SCORES_PITCH);
  subgroup_wait ();
  const vec4 four = max (uintBitsToFloat (tile[half_row]), uintBitsToFloat (tile[half_row + 1]));
  float most = max (max (four.x, four.y), max (four.z, four.w));
  most = max (most, subgroupShuffleXor (most, 1));
  if (lane % 2 == 0)
    most_shared[gl_SubgroupID * 16 + row] = most;
  subgroup_wait ();
  MATRIX_LOAD_COLUMNS (x, most_shared, gl_SubgroupID * 16, 0);
  return x;
}

void
main ()
{
  const uint item = attention_item ();
  if (item >= ITEMS)
    return;
  const uint n = item / (BLOCKS * HEADS), head = item / BLOCKS % HEADS,
             row0 = item % BLOCKS * OWN, pitch = 3 * HEADS * CHUNKS,
             first = n * T * pitch + head * CHUNKS,
             valid = steps_valid (p.lengths, n, STRIDE, T);
  const bool busy = row0 + gl_SubgroupID * ROWS < T; /* the subgroup has rows */
  const MATRIX_B ones = MATRIX_B (float16_t (1.0));
  MATRIX_A queries[FRAGMENTS][STEPS];
  /* most and total: each element of a row has the row's value */
  MATRIX_C sums[FRAGMENTS][STEPS], most[FRAGMENTS], total[FRAGMENTS];

  tile_load (0, OWN, p.qkv, first + PART_Q * HEADS * CHUNKS, pitch, row0);
  if (gl_LocalInvocationID.x < 16)
    edge_shared[gl_LocalInvocationID.x] =
        valid % 16 == 0 || gl_LocalInvocationID.x < valid % 16 ? 0.0 : SMALLEST;
  barrier ();
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    {
      most[i] = MATRIX_C (SMALLEST);
      total[i] = MATRIX_C (0.0);
      [[unroll]] for (uint step = 0; step < STEPS; step++)
        {
          LOAD_OWN (queries[i][step], 0, i, step);
          sums[i][step] = MATRIX_C (0.0);
        }
    }

  for (uint key0 = 0; key0 < valid; key0 += OTHERS)
    {
      barrier (); /* the previous tiles have been read */
      tile_load (KEYS, OTHERS, p.qkv, first + PART_K * HEADS * CHUNKS, pitch, key0);
      tile_load (VALUES, OTHERS, p.qkv, first + PART_V * HEADS * CHUNKS, pitch, key0);
      barrier ();
      if (!busy)
        continue;
      MATRIX_C scores[FRAGMENTS][COLUMNS];
      [[unroll]] for (uint j = 0; j < COLUMNS; j++)
        {
          [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
            scores[i][j] = MATRIX_C (0.0);
          [[unroll]] for (uint step = 0; step < STEPS; step++)
            {
              MATRIX_B keys;
              LOAD_COLUMNS (keys, KEYS, j, step);
              [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
                scores[i][j] = MATRIX_MULTIPLY_ADD (queries[i][step], keys, scores[i][j]);
            }
        }
      if (key0 + OTHERS > valid)
        {
          MATRIX_C edge;
          MATRIX_LOAD_ROWS (edge, edge_shared, 0, 0);
          [[unroll]] for (uint j = 0; j < COLUMNS; j++)
            {
              if (key0 + j * 16 >= valid)
                {
                  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
                    scores[i][j] = MATRIX_C (SMALLEST);
                }
              else if (key0 + j * 16 + 16 > valid)
                {
                  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
                    [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (edge); e++)
                      scores[i][j][e] += edge[e];
                }
            }
        }
      [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
        {
          MATRIX_C now = scores[i][0];
          [[unroll]] for (uint j = 1; j < COLUMNS; j++)
            [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (now); e++)
              now[e] = max (now[e], scores[i][j][e]);
          now = row_most (i, now);
          [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (now); e++)
            {
              now[e] = max (most[i][e], now[e] * SCALE);
              const float scale = exp2 (most[i][e] - now[e]);
              total[i][e] *= scale;
              [[unroll]] for (uint step = 0; step < STEPS; step++)
                sums[i][step][e] *= scale;
            }
          most[i] = now;
          [[unroll]] for (uint j = 0; j < COLUMNS; j++)
            {
              [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (now); e++)
                scores[i][j][e] = exp2 (scores[i][j][e] * SCALE - now[e]);
              MATRIX_C16 rounded = MATRIX_C16 (scores[i][j]);
              MATRIX_STORE_ROWS (rounded, tile, WEIGHTS_AT + i * 16 * WEIGHTS_PITCH + j * 2,
                                 WEIGHTS_PITCH);
            }
        }
      subgroup_wait ();
      [[unroll]] for (uint j = 0; j < COLUMNS; j++)
        {
          if (key0 + j * 16 >= valid)
            continue;
          MATRIX_A weights[FRAGMENTS];
          [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
            {
              MATRIX_LOAD_ROWS (weights[i], tile,
                                WEIGHTS_AT + i * 16 * WEIGHTS_PITCH + j * 2, WEIGHTS_PITCH);
              total[i] = MATRIX_MULTIPLY_ADD (weights[i], ones, total[i]);
            }
          [[unroll]] for (uint step = 0; step < STEPS; step++)
            {
              MATRIX_B values;
              LOAD_ROWS (values, VALUES, j, step);
              [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
                sums[i][step] = MATRIX_MULTIPLY_ADD (weights[i], values, sums[i][step]);
            }
        }
    }

  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    {
      [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (total[i]); e++)
        {
          [[unroll]] for (uint step = 0; step < STEPS; step++)
            sums[i][step][e] /= total[i][e];
          most[i][e] += log2 (total[i][e]);
        }
#ifdef KEEP
      const uint row = row0 + gl_SubgroupID * ROWS + i * 16 + gl_SubgroupInvocationID;
      subgroup_wait ();
      MATRIX_STORE_ROWS (most[i], tile, WEIGHTS_AT, SCORES_PITCH);
      subgroup_wait ();
      if (gl_SubgroupInvocationID < 16 && row < T)
        FloatsOut (p.sums).v[(n * HEADS + head) * T + row] =
            uintBitsToFloat (tile[WEIGHTS_AT + gl_SubgroupInvocationID * SCORES_PITCH].x);
#endif
    }
  rows_store (p.y, n * T * HEADS * CHUNKS + head * CHUNKS, HEADS * CHUNKS, row0, T, sums);
}
