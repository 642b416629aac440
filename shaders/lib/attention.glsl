/* SPDX-License-Identifier: MIT */
/* Code shared by the passes of attention.  Include after types.glsl and attention-push.h.
 *
 * A workgroup has OWN rows of one head of one sample (queries, or keys in the pass of their
 * gradients) and goes through the rows on the other side, OTHERS at a time.  The operands
 * of the products are tiles in shared memory: scores [own][other] from two tiles of HEAD_DIM values
 * a row, then weights times the rows of the other side, added to sums in registers.
 *
 * Invocation (x, y) has ROWS rows, y * ROWS and the following ones, in both products; in the scores
 * it has the rows x, x + LOCAL_X, x + 2 LOCAL_X and x + 3 LOCAL_X of the other side, which are one
 * vec4; in the sums it has the quads x, x + LOCAL_X, ... of a row.  A quad is four neighbouring
 * values.
 * All sums are fp32, in an order that depends only on shapes. */
#ifndef DYNO_ATTENTION_GLSL
#define DYNO_ATTENTION_GLSL
#include "steps.glsl"

layout (constant_id = DYNO_ATTENTION_T) const uint T = 1;
layout (constant_id = DYNO_ATTENTION_HEADS) const uint HEADS = 1;
layout (constant_id = DYNO_ATTENTION_ITEMS) const uint ITEMS = 1;
layout (constant_id = DYNO_ATTENTION_SCALE) const float SCALE = 1.0;
layout (constant_id = DYNO_ATTENTION_STRIDE) const uint STRIDE = 1;

#define QUADS  (HEAD_DIM / 4) /* quads of a row */
#define PITCH  (QUADS + 1)    /* quads between rows of a tile; odd, for different banks */
#define OWN    (LOCAL_Y * ROWS)
#define OTHERS (LOCAL_X * 4)
#define BLOCKS ((T + OWN - 1) / OWN)
#define VECS   ((QUADS + LOCAL_X - 1) / LOCAL_X) /* quads of an invocation in a row of the sums */
/* the parts of a row of qkv */
#define PART_Q 0
#define PART_K 1
#define PART_V 2

#ifdef HALF
#define QUAD uvec2
DYNO_BUFFER_IN (QuadsIn, uint64_t, 8);
DYNO_BUFFER_OUT (QuadsOut, uint64_t, 8);
#else
#define QUAD vec4
DYNO_BUFFER_IN (QuadsIn, vec4, 16);
DYNO_BUFFER_OUT (QuadsOut, vec4, 16);
#endif
DYNO_BUFFER_IN (FloatsIn, float, 4);
DYNO_BUFFER_OUT (FloatsOut, float, 4);

shared QUAD tiles[TILE_ROWS * PITCH];
/* [own][x]: the weights of the four rows of the other side that invocation x has */
shared vec4 weights[N_WEIGHTS * OWN * LOCAL_X];

/* Loads a quad, without a conversion. */
QUAD
quad_load (uint64_t address, uint i)
{
#ifdef HALF
  return unpack32 (QuadsIn (address).v[i]);
#else
  return QuadsIn (address).v[i];
#endif
}

vec4
quad_unpack (QUAD quad)
{
#ifdef HALF
  return vec4 (vec2 (unpackFloat2x16 (quad.x)), vec2 (unpackFloat2x16 (quad.y)));
#else
  return quad;
#endif
}

void
quad_store (uint64_t address, uint i, vec4 x)
{
#ifdef ACCUMULATE
  x += quad_unpack (quad_load (address, i));
#endif
#ifdef HALF
  QuadsOut (address).v[i] =
      pack64 (uvec2 (packFloat2x16 (f16vec2 (x.xy)), packFloat2x16 (f16vec2 (x.zw))));
#else
  QuadsOut (address).v[i] = x;
#endif
}

/* The index of the workgroup's block. */
uint
attention_item ()
{
  return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

/* The index of the invocation's row i among the workgroup's own rows. */
uint
own_row (uint i)
{
  return gl_LocalInvocationID.y * ROWS + i;
}

/* Copies `rows` rows of a head, from row0 on, to the tile at `tile`; first and pitch count quads.
 * Rows past T are zero. */
void
tile_load (uint tile, uint rows, uint64_t source, uint first, uint pitch, uint row0)
{
  for (uint i = gl_LocalInvocationIndex; i < rows * QUADS; i += LOCAL_X * LOCAL_Y)
    {
      const uint row = i / QUADS, column = i % QUADS;
      tiles[tile + row * PITCH + column] =
          row0 + row < T ? quad_load (source, first + (row0 + row) * pitch + column) : QUAD (0);
    }
}

/* scores[own][other] of two tiles. */
void
tile_scores (uint own, uint others, out vec4 scores[ROWS])
{
  [[unroll]] for (uint i = 0; i < ROWS; i++)
    scores[i] = vec4 (0.0);
  for (uint column = 0; column < QUADS; column++)
    {
      vec4 b[4];
      [[unroll]] for (uint j = 0; j < 4; j++)
        b[j] = quad_unpack (tiles[others + (j * LOCAL_X + gl_LocalInvocationID.x) * PITCH
                                  + column]);
      [[unroll]] for (uint i = 0; i < ROWS; i++)
        {
          const vec4 a = quad_unpack (tiles[own + own_row (i) * PITCH + column]);
          scores[i] += vec4 (dot (a, b[0]), dot (a, b[1]), dot (a, b[2]), dot (a, b[3]));
        }
    }
}

/* sums[own] += the weights from `first` on times the rows of the other side's tile. */
void
tile_accumulate (uint first, uint others, inout vec4 sums[ROWS * VECS])
{
  for (uint k = 0; k < LOCAL_X; k++)
    {
      vec4 w[ROWS];
      [[unroll]] for (uint i = 0; i < ROWS; i++)
        w[i] = weights[first + own_row (i) * LOCAL_X + k];
      [[unroll]] for (uint j = 0; j < 4; j++)
        [[unroll]] for (uint v = 0; v < VECS; v++)
          {
            const uint column = min (v * LOCAL_X + gl_LocalInvocationID.x, QUADS - 1);
            const vec4 b = quad_unpack (tiles[others + (j * LOCAL_X + k) * PITCH + column]);
            [[unroll]] for (uint i = 0; i < ROWS; i++)
              sums[i * VECS + v] += w[i][j] * b;
          }
    }
}

/* Stores the rows from row0 on; first and pitch count quads. */
void
rows_store (uint64_t target, uint first, uint pitch, uint row0, vec4 sums[ROWS * VECS])
{
  [[unroll]] for (uint i = 0; i < ROWS; i++)
    [[unroll]] for (uint v = 0; v < VECS; v++)
      {
        const uint row = row0 + own_row (i), column = v * LOCAL_X + gl_LocalInvocationID.x;
        if (row < T && column < QUADS)
          quad_store (target, first + row * pitch + column, sums[i * VECS + v]);
      }
}
#endif
