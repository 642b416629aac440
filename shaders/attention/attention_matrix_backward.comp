#version 460
/* SPDX-License-Identifier: MIT */
/* attention_backward.comp with matrix units: the same two passes, and the same own rows and rows of
 * the other side.  Each fragment of 16 rows of the other side goes through all products separately,
 * since the sums of exponentials are known. */
#include "types.glsl"
#include "attention-push.h"
#ifdef KEYS
#define WEIGHTS 32 /* probabilities and gradients of scores, 16 columns each */
#else
#define WEIGHTS 16
#endif
#include "attention-matrix.glsl"

/* The tiles for the scores (q, k) and the tiles for their gradients (dy, v). */
#define OTHER_A 0
#define OTHER_B TILE
#define COLUMNS (OTHERS / 16)
#define LN_2    0.6931471805599453

DYNO_PUSH (DynoAttentionBackwardPush, p);

/* Sums and deltas of the queries, which are the rows of the other side with KEYS, else the own
 * rows. */
#ifdef KEYS
#define QUERIES OTHERS
#else
#define QUERIES OWN
#endif
shared float sums_shared[QUERIES];
shared float deltas_shared[QUERIES];

MATRIX_A own_a[FRAGMENTS][STEPS], own_b[FRAGMENTS][STEPS];

/* The location of a head's rows: their buffer, the chunk of the first row, and the chunks from row
 * to row. */
struct Rows {
  uint64_t source;
  uint first, pitch;
};

Rows
rows_of_part (uint part, uint n, uint head)
{
  const uint pitch = HEADS * CHUNKS;
  return Rows (p.qkv, (n * T * 3 + part) * pitch + head * CHUNKS, 3 * pitch);
}

Rows
rows_of_dy (uint n, uint head)
{
  const uint pitch = HEADS * CHUNKS;
  return Rows (p.dy, n * T * pitch + head * CHUNKS, pitch);
}

void
load_own (Rows a, Rows b, uint row0)
{
  tile_load (0, OWN, a.source, a.first, a.pitch, row0);
  barrier ();
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    [[unroll]] for (uint step = 0; step < STEPS; step++)
      LOAD_OWN (own_a[i][step], 0, i, step);
  barrier ();
  tile_load (0, OWN, b.source, b.first, b.pitch, row0);
  barrier ();
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    [[unroll]] for (uint step = 0; step < STEPS; step++)
      LOAD_OWN (own_b[i][step], 0, i, step);
}

/* Scores, and gradients of probabilities, of the own rows and 16 rows of the other side. */
void
multiply_both (uint j, out MATRIX_C scores[FRAGMENTS], out MATRIX_C gradients[FRAGMENTS])
{
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    scores[i] = gradients[i] = MATRIX_C (0.0);
  [[unroll]] for (uint step = 0; step < STEPS; step++)
    {
      MATRIX_B a, b;
      LOAD_COLUMNS (a, OTHER_A, j, step);
      LOAD_COLUMNS (b, OTHER_B, j, step);
      [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
        {
          scores[i] = MATRIX_MULTIPLY_ADD (own_a[i][step], a, scores[i]);
          gradients[i] = MATRIX_MULTIPLY_ADD (own_b[i][step], b, gradients[i]);
        }
    }
}

/* Writes weights, rounded to fp16, to shared memory, at chunk `column` of their rows. */
void
put_weights (uint i, uint column, MATRIX_C weights)
{
  MATRIX_C16 rounded = MATRIX_C16 (weights);
  MATRIX_STORE_ROWS (rounded, tile, WEIGHTS_AT + i * 16 * WEIGHTS_PITCH + column, WEIGHTS_PITCH);
}

/* sums += the weights at chunk `column` times 16 rows of the other side's tile at `at`. */
void
multiply_weights (uint column, uint at, uint j, inout MATRIX_C sums[FRAGMENTS][STEPS])
{
  MATRIX_A weights[FRAGMENTS];
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    MATRIX_LOAD_ROWS (weights[i], tile, WEIGHTS_AT + i * 16 * WEIGHTS_PITCH + column,
                      WEIGHTS_PITCH);
  [[unroll]] for (uint step = 0; step < STEPS; step++)
    {
      MATRIX_B rows;
      LOAD_ROWS (rows, at, j, step);
      [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
        sums[i][step] = MATRIX_MULTIPLY_ADD (weights[i], rows, sums[i][step]);
    }
}

void
scale_sums (inout MATRIX_C sums[FRAGMENTS][STEPS])
{
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    [[unroll]] for (uint step = 0; step < STEPS; step++)
      [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (sums[i][step]); e++)
        sums[i][step][e] *= SCALE * LN_2;
}

#ifdef KEYS
/* Gradients of the keys and values from row0 on: weights are [key][query]. */
void
run (uint n, uint head, uint row0, uint valid)
{
  const uint lane = gl_LocalInvocationID.x, pitch = HEADS * CHUNKS,
             first = n * T * 3 * pitch + head * CHUNKS, rows = (n * HEADS + head) * T;
  const bool busy = row0 + gl_SubgroupID * ROWS < valid;
  MATRIX_C dk[FRAGMENTS][STEPS], dv[FRAGMENTS][STEPS];
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    [[unroll]] for (uint step = 0; step < STEPS; step++)
      dk[i][step] = dv[i][step] = MATRIX_C (0.0);
  const Rows q = rows_of_part (PART_Q, n, head), dy = rows_of_dy (n, head);
  load_own (rows_of_part (PART_K, n, head), rows_of_part (PART_V, n, head), row0);
  for (uint query0 = 0; query0 < T; query0 += OTHERS)
    {
      barrier (); /* the tiles before have been read */
      tile_load (OTHER_A, OTHERS, q.source, q.first, q.pitch, query0);
      tile_load (OTHER_B, OTHERS, dy.source, dy.first, dy.pitch, query0);
      for (uint i = lane; i < OTHERS; i += LOCAL_X)
        {
          /* queries past the last one have no probabilities */
          sums_shared[i] =
              query0 + i < T ? FloatsIn (p.sums).v[rows + query0 + i] : -SMALLEST;
          deltas_shared[i] = query0 + i < T ? FloatsIn (p.deltas).v[rows + query0 + i] : 0.0;
        }
      barrier ();
      if (!busy)
        continue;
      [[unroll]] for (uint j = 0; j < COLUMNS; j++)
        {
          if (query0 + j * 16 >= T)
            continue;
          MATRIX_C scores[FRAGMENTS], gradients[FRAGMENTS], sums, deltas;
          multiply_both (j, scores, gradients);
          MATRIX_LOAD_ROWS (sums, sums_shared, j * 16, 0);
          MATRIX_LOAD_ROWS (deltas, deltas_shared, j * 16, 0);
          [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
            {
              [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (sums); e++)
                {
                  scores[i][e] = exp2 (scores[i][e] * SCALE - sums[e]);
                  gradients[i][e] = scores[i][e] * (gradients[i][e] - deltas[e]);
                }
              put_weights (i, 0, scores[i]);
              put_weights (i, 2, gradients[i]);
            }
          subgroup_wait ();
          multiply_weights (0, OTHER_B, j, dv);
          multiply_weights (2, OTHER_A, j, dk);
          subgroup_wait ();
        }
    }
  scale_sums (dk);
  rows_store (p.dqkv, first + PART_K * pitch, 3 * pitch, row0, valid, dk);
  rows_store (p.dqkv, first + PART_V * pitch, 3 * pitch, row0, valid, dv);
}
#else
/* added to the scores of the fragment with the last valid key: 0 for valid keys, else SMALLEST */
shared float edge_shared[16];

/* Computes the deltas, dot products of own rows of dy and y, and writes them to shared memory and
 * to p.deltas for the other pass; copies the sums of these rows to shared memory. */
void
make_deltas (uint n, uint head, uint row0)
{
  const uint lane = gl_SubgroupInvocationID, pitch = HEADS * CHUNKS,
             first = n * T * pitch + head * CHUNKS, rows = (n * HEADS + head) * T;
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    {
      const uint own = gl_SubgroupID * ROWS + i * 16 + lane / 2, t = min (row0 + own, T - 1);
      float delta = 0.0;
      for (uint column = lane % 2; column < CHUNKS; column += 2)
        {
          const u32vec4 a = ChunksIn (p.dy).v[first + t * pitch + column],
                        b = ChunksIn (p.y).v[first + t * pitch + column];
          [[unroll]] for (uint k = 0; k < 4; k++)
            delta += dot (unpackHalf2x16 (a[k]), unpackHalf2x16 (b[k]));
        }
      delta += subgroupShuffleXor (delta, 1);
      if (lane % 2 == 0)
        {
          sums_shared[own] = FloatsIn (p.sums).v[rows + t];
          deltas_shared[own] = delta;
          if (row0 + own < T)
            FloatsOut (p.deltas).v[rows + t] = delta;
        }
    }
  subgroup_wait ();
}

/* Gradients of the queries from row0 on: weights are [query][key]. */
void
run (uint n, uint head, uint row0, uint valid)
{
  const uint lane = gl_LocalInvocationID.x, pitch = HEADS * CHUNKS,
             first = n * T * 3 * pitch + head * CHUNKS;
  const bool busy = row0 + gl_SubgroupID * ROWS < T;
  MATRIX_C dq[FRAGMENTS][STEPS], sums[FRAGMENTS], deltas[FRAGMENTS];
  if (lane < 16)
    edge_shared[lane] = valid % 16 == 0 || lane < valid % 16 ? 0.0 : SMALLEST;
  make_deltas (n, head, row0);
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    {
      [[unroll]] for (uint step = 0; step < STEPS; step++)
        dq[i][step] = MATRIX_C (0.0);
      MATRIX_LOAD_COLUMNS (sums[i], sums_shared, gl_SubgroupID * ROWS + i * 16, 0);
      MATRIX_LOAD_COLUMNS (deltas[i], deltas_shared, gl_SubgroupID * ROWS + i * 16, 0);
    }
  const Rows k = rows_of_part (PART_K, n, head), v = rows_of_part (PART_V, n, head);
  load_own (rows_of_part (PART_Q, n, head), rows_of_dy (n, head), row0);
  for (uint key0 = 0; key0 < valid; key0 += OTHERS)
    {
      barrier (); /* the tiles before have been read */
      tile_load (OTHER_A, OTHERS, k.source, k.first, k.pitch, key0);
      tile_load (OTHER_B, OTHERS, v.source, v.first, v.pitch, key0);
      barrier ();
      if (!busy)
        continue;
      [[unroll]] for (uint j = 0; j < COLUMNS; j++)
        {
          if (key0 + j * 16 >= valid)
            continue;
          MATRIX_C scores[FRAGMENTS], gradients[FRAGMENTS];
          multiply_both (j, scores, gradients);
          if (key0 + j * 16 + 16 > valid)
            {
              MATRIX_C edge;
              MATRIX_LOAD_ROWS (edge, edge_shared, 0, 0);
              [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
                [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (edge); e++)
                  scores[i][e] += edge[e];
            }
          [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
            {
              [[unroll]] for (uint e = 0; e < MATRIX_LENGTH (scores[i]); e++)
                gradients[i][e] = exp2 (scores[i][e] * SCALE - sums[i][e])
                                  * (gradients[i][e] - deltas[i][e]);
              put_weights (i, 0, gradients[i]);
            }
          subgroup_wait ();
          multiply_weights (0, OTHER_A, j, dq);
          subgroup_wait ();
        }
    }
  scale_sums (dq);
  rows_store (p.dqkv, first + PART_Q * pitch, 3 * pitch, row0, T, dq);
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
