#version 460
/* SPDX-License-Identifier: MIT */
/* The same as contract_sum, by tiles of a matrix product: the parts of the target in the set ROWS
 * are only a's, those in the set COLUMNS only b's, and the others are both's or neither's.  A
 * workgroup has a tile of SIDE x SIDE elements of the target and loads DEPTH summed indices of both
 * operands at a time into shared memory; an invocation has 4 x 4 of its elements.  A_DEEP=1,
 * B_DEEP=1: neighbours in memory are neighbours in the summed index, and neighbouring invocations
 * load them.  ACCUMULATE=1 adds to the target. */
#include "types.glsl"
#include "contract.glsl"

#ifdef HALF
#define VALUE float16_t
#define BYTES 2
#else
#define VALUE float
#define BYTES 4
#endif
#ifdef ACCUMULATE
DYNO_BUFFER_INOUT (Target, VALUE, BYTES);
#else
DYNO_BUFFER_OUT (Target, VALUE, BYTES);
#endif

#define SIDE      DYNO_CONTRACT_SIDE
#define DEPTH     DYNO_CONTRACT_DEPTH
#define TARGET_CP (CVECS * (16 / BYTES))

shared float rows[DEPTH][SIDE + 4], columns[DEPTH][SIDE + 4];

/* The number of values of the parts of the target in a set. */
uint
count_of (uint set)
{
  const uint extents[] = CONTRACT_LIST (EXTENT_);
  uint count = 1;
  [[unroll]] for (int i = 0; i < OUT; i++)
    count *= (set >> i & 1) != 0 ? extents[i] : 1;
  return count;
}

/* The indices in a, in b and in the target of an index of the parts in a set. */
uvec3
places_of (uint place, uint set)
{
  const uint extents[] = CONTRACT_LIST (EXTENT_), a[] = CONTRACT_LIST (STRIDE_A_),
             b[] = CONTRACT_LIST (STRIDE_B_);
  uvec3 places = uvec3 (0);
  uint stride = 1;
  [[unroll]] for (int i = OUT - 1; i >= 0; i--)
    {
      if ((set >> i & 1) != 0)
        {
          places += place % extents[i] * uvec3 (a[i], b[i], stride);
          place /= extents[i];
        }
      stride *= extents[i];
    }
  return places;
}

/* Element n of LOCAL_X * 4 of a tile (summed index, row or column). */
uvec2
tile_place (uint n, bool deep)
{
  const uint at = gl_LocalInvocationIndex + n * LOCAL_X;
  return deep ? uvec2 (at % DEPTH, at / DEPTH) : uvec2 (at / SIDE, at % SIDE);
}

/* The last channel of a pixel also writes the pads. */
void
store (Target target, uint place, float value)
{
  const uint c = place % C, at = place / C * TARGET_CP + c;
#ifdef ACCUMULATE
  target.v[at] = VALUE (float (target.v[at]) + value);
#else
  target.v[at] = VALUE (value);
  if (c == C - 1)
    for (uint i = 1; C - 1 + i < TARGET_CP; i++)
      target.v[at + i] = VALUE (0.0);
#endif
}

#ifdef A_DEEP
const bool a_deep = true;
#else
const bool a_deep = false;
#endif
#ifdef B_DEEP
const bool b_deep = true;
#else
const bool b_deep = false;
#endif

void
main ()
{
  const uint all = (1u << OUT) - 1, both = all & ~(uint (ROWS) | uint (COLUMNS));
  const uint high = count_of (ROWS), wide = count_of (COLUMNS), groups = count_of (both);
  const uint across = (wide + SIDE - 1) / SIDE, down = (high + SIDE - 1) / SIDE;
  const uint x = gl_LocalInvocationIndex % (SIDE / 4) * 4,
             y = gl_LocalInvocationIndex / (SIDE / 4) * 4;

  for (uint tile = gl_WorkGroupID.x; tile < COUNT; tile += gl_NumWorkGroups.x)
    {
      const uint left = tile % across * SIDE, top = tile / across % down * SIDE,
                 group = tile / across / down, item = group / groups;
      const uvec3 base = places_of (group % groups, both);
      uint a_first[4], b_first[4];
      [[unroll]] for (uint n = 0; n < 4; n++)
        {
          a_first[n] = base.x
                       + places_of (min (top + tile_place (n, a_deep).y, high - 1), ROWS).x;
          b_first[n] = base.y
                       + places_of (min (left + tile_place (n, b_deep).y, wide - 1), COLUMNS).y;
        }
      float sum[4][4];
      [[unroll]] for (uint i = 0; i < 4; i++)
        [[unroll]] for (uint j = 0; j < 4; j++)
          sum[i][j] = 0.0;
      for (uint s = 0; s < SAMPLES; s++)
        {
          AValues a = sample_of_a (item + s);
          BValues b = sample_of_b (item + s);
          for (uint start = 0; start < SUMMED; start += DEPTH)
            {
              [[unroll]] for (uint n = 0; n < 4; n++)
                {
                  const uvec2 in_a = tile_place (n, a_deep), in_b = tile_place (n, b_deep);
                  const uint k = start + in_a.x, l = start + in_b.x;
                  rows[in_a.x][in_a.y] =
                      k < SUMMED ? load_a (a, a_first[n] + summed_places (k).x) : 0.0;
                  columns[in_b.x][in_b.y] =
                      l < SUMMED ? load_b (b, b_first[n] + summed_places (l).y) : 0.0;
                }
              barrier ();
              [[unroll]] for (uint k = 0; k < DEPTH; k++)
                [[unroll]] for (uint i = 0; i < 4; i++)
                  [[unroll]] for (uint j = 0; j < 4; j++)
                    sum[i][j] += rows[k][y + i] * columns[k][x + j];
              barrier ();
            }
        }
      Target target = Target (p.target + uint64_t (item) * PIXELS * CVECS * 16);
      [[unroll]] for (uint i = 0; i < 4; i++)
        [[unroll]] for (uint j = 0; j < 4; j++)
          if (top + y + i < high && left + x + j < wide)
            store (target,
                   base.z + places_of (top + y + i, ROWS).z + places_of (left + x + j, COLUMNS).z,
                   sum[i][j] * SCALE);
    }
}
