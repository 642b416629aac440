/* SPDX-License-Identifier: MIT */
/* Code shared by the passes of attention with matrix units, on fp16 values.  Include after
 * types.glsl and attention-push.h.
 *
 * A workgroup of SUBGROUPS subgroups has OWN rows of one head of one sample (queries, or keys in
 * the pass of their gradients), 16 * FRAGMENTS rows per subgroup, and goes through the rows on the
 * other side, OTHERS at a time, in two tiles in shared memory.  Scores are fragments in registers.
 * The driver defines how a fragment's elements are distributed over a subgroup.  Therefore a value
 * per row or column is applied as a fragment too, loaded with a stride of 0; and weights, which are
 * the left operand of the next product, go through shared memory, where each subgroup has its own
 * region.
 * All sums are fp32, in an order that depends only on shapes; weights are rounded to fp16. */
#ifndef DYNO_ATTENTION_MATRIX_GLSL
#define DYNO_ATTENTION_MATRIX_GLSL
#include "matrix.glsl"
#include "steps.glsl"

layout (constant_id = DYNO_ATTENTION_T) const uint T = 1;
layout (constant_id = DYNO_ATTENTION_HEADS) const uint HEADS = 1;
layout (constant_id = DYNO_ATTENTION_ITEMS) const uint ITEMS = 1;
layout (constant_id = DYNO_ATTENTION_SCALE) const float SCALE = 1.0;
layout (constant_id = DYNO_ATTENTION_STRIDE) const uint STRIDE = 1;

/* A chunk is eight neighbouring values, 16 bytes. */
#define CHUNKS    (HEAD_DIM / 8)         /* chunks of a row */
#define STEPS     ((HEAD_DIM + 15) / 16) /* fragments of a row, the last one padded with zeros */
#define PITCH     (2 * STEPS + 1)        /* chunks of a row of a tile; odd: see gemm-tiles.glsl */
#define SUBGROUPS (LOCAL_X / 32)
#define ROWS      (16 * FRAGMENTS) /* rows of a subgroup */
#define OWN       (SUBGROUPS * ROWS)
#define BLOCKS    ((T + OWN - 1) / OWN)
#define TILE      (OTHERS * PITCH)
#define MOST_ROWS (OWN > OTHERS ? OWN : OTHERS)
/* A subgroup has ROWS rows of WEIGHTS weights; PITCH and AT count chunks. */
#define WEIGHTS_PITCH (WEIGHTS / 8 + 1)
#define WEIGHTS_AT    (2 * TILE + gl_SubgroupID * ROWS * WEIGHTS_PITCH)
#define LOOP_SIZE     (2 * TILE + OWN * WEIGHTS_PITCH)
/* At the beginning and at the end the own rows lie in this memory instead of the tiles. */
#define SHARED_SIZE (LOOP_SIZE > OWN * PITCH ? LOOP_SIZE : OWN * PITCH)
/* the parts of a row of qkv */
#define PART_Q 0
#define PART_K 1
#define PART_V 2
/* stands for the logarithm of 0; its product with any scale of scores is finite */
#define SMALLEST (-1.0e30)

DYNO_BUFFER_IN (ChunksIn, u32vec4, 16);
DYNO_BUFFER_OUT (ChunksOut, u32vec4, 16);
DYNO_BUFFER_IN (FloatsIn, float, 4);
DYNO_BUFFER_OUT (FloatsOut, float, 4);

shared u32vec4 tile[SHARED_SIZE];

/* The index of the workgroup's block. */
uint
attention_item ()
{
  return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

/* Barrier: after it a subgroup may read the values that its invocations wrote to shared memory. */
void
subgroup_wait ()
{
  subgroupMemoryBarrierShared ();
  subgroupBarrier ();
}

/* Copies `rows` rows of a head, from row0 on, to the tile that begins at `at`; first and pitch
 * count chunks.  Rows past T and columns past HEAD_DIM are zero.  All loads are issued, without
 * conditions, before the first one is waited for. */
void
tile_load (uint at, uint rows, uint64_t source, uint first, uint pitch, uint row0)
{
  u32vec4 chunks[(MOST_ROWS * 2 * STEPS + LOCAL_X - 1) / LOCAL_X];
  const uint loads = (rows * 2 * STEPS + LOCAL_X - 1) / LOCAL_X;
  [[unroll]] for (uint k = 0; k < loads; k++)
    {
      const uint i = k * LOCAL_X + gl_LocalInvocationID.x, row = row0 + i / (2 * STEPS),
                 column = i % (2 * STEPS);
      chunks[k] =
          ChunksIn (source).v[first + min (row, T - 1) * pitch + min (column, CHUNKS - 1)];
    }
  [[unroll]] for (uint k = 0; k < loads; k++)
    {
      const uint i = k * LOCAL_X + gl_LocalInvocationID.x, row = i / (2 * STEPS),
                 column = i % (2 * STEPS);
      if (rows * 2 * STEPS % LOCAL_X == 0 || row < rows)
        tile[at + row * PITCH + column] =
            row0 + row < T && column < CHUNKS ? chunks[k] : u32vec4 (0);
    }
}

/* The own rows' fragment `step` of fragment row i, from a tile that begins at `at`. */
#define LOAD_OWN(m, at, i, step)                                                        \
  MATRIX_LOAD_ROWS (m, tile, (at) + (gl_SubgroupID * ROWS + (i) *16) * PITCH + (step) *2, \
                    PITCH)
/* Fragment `step` of 16 rows of the other side: LOAD_COLUMNS for the scores, whose columns these
 * rows are, LOAD_ROWS for the product of the weights and these rows. */
#define LOAD_COLUMNS(m, at, j, step) \
  MATRIX_LOAD_COLUMNS (m, tile, (at) + (j) *16 * PITCH + (step) *2, PITCH)
#define LOAD_ROWS(m, at, j, step) \
  MATRIX_LOAD_ROWS (m, tile, (at) + (j) *16 * PITCH + (step) *2, PITCH)

/* Writes the product's rows, as fp16, over the tiles, and from there to memory; first and pitch
 * count chunks.  Rows from `valid` on are zero.  ACCUMULATE=1 adds to the values in memory. */
void
rows_store (uint64_t target, uint first, uint pitch, uint row0, uint valid,
            MATRIX_C sums[FRAGMENTS][STEPS])
{
  const uint at = gl_SubgroupID * ROWS * PITCH;
  barrier (); /* the tiles have been read */
  [[unroll]] for (uint i = 0; i < FRAGMENTS; i++)
    [[unroll]] for (uint step = 0; step < STEPS; step++)
      {
        MATRIX_C16 rounded = MATRIX_C16 (sums[i][step]);
        MATRIX_STORE_ROWS (rounded, tile, at + i * 16 * PITCH + step * 2, PITCH);
      }
  subgroup_wait ();
  for (uint i = gl_SubgroupInvocationID; i < ROWS * CHUNKS; i += 32)
    {
      const uint row = i / CHUNKS, column = i % CHUNKS,
                 t = row0 + gl_SubgroupID * ROWS + row;
      if (t < T)
        {
          u32vec4 chunk = t < valid ? tile[at + row * PITCH + column] : u32vec4 (0);
#ifdef ACCUMULATE
          const u32vec4 old = ChunksIn (target).v[first + t * pitch + column];
          [[unroll]] for (uint k = 0; k < 4; k++)
            chunk[k] = packHalf2x16 (unpackHalf2x16 (chunk[k]) + unpackHalf2x16 (old[k]));
#endif
          ChunksOut (target).v[first + t * pitch + column] = chunk;
        }
    }
}
#endif
