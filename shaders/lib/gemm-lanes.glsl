/* SPDX-License-Identifier: MIT */
/* The product loop for devices that are implemented on a CPU: a workgroup is one subgroup of 8,
 * without shared memory and barriers.
 *
 * On such a device a load costs about a hundred cycles whatever its pattern, and a
 * subgroupBroadcast no less, since each is a loop over the lanes; a shuffle of 32 bits is one
 * instruction, and so is arithmetic on 8 lanes.  So lanes load chunks, as two words of 64 bits, and
 * pass the elements that other lanes need by a shuffle.  Lanes lie along N where B's chunks do, and
 * A is broadcast; where both lie along K, lanes are rows of A and B is broadcast.  The broadcast
 * operand is loaded once per K tile, the other operand four K at a time, in a loop that is not
 * unrolled: the code must stay small, since compilation takes time too.  The loop supports only
 * fp32; BK is 32, but 4 where A lies along M.  gemm_next_group () advances by four K. */
#ifndef DYNO_GEMM_LANES_GLSL
#define DYNO_GEMM_LANES_GLSL

#if B_ALONG_K
#define LINES  BN       /* rows or columns of the broadcast operand */
#define NARROW next_b
#define WIDE   (BM / 8) /* vectors of lanes of the other operand */
#else
#define LINES  BM
#define NARROW next_a
#define WIDE   (BN / 8)
#endif

GemmChunk next_a[A_LOADS];
GemmChunk next_b[B_LOADS];

/* element: element e of a chunk; narrow: element e of the chunk of another lane; wide: the element
 * at (vector, k) of the operand that lies along the lanes. */
float
element (u64vec2 chunk, uint e)
{
  return uintBitsToFloat (unpack32 (chunk[e / 2])[e % 2]);
}

float
narrow (u64vec2 chunk, uint e, uint lane)
{
  return subgroupShuffle (element (chunk, e), lane);
}

float
wide (uint vector, uint k)
{
#if B_ALONG_K
  return element (next_a[vector], k);
#else
  return element (next_b[k * (BN / 32) + vector / 4], vector % 4);
#endif
}

void
gemm_run (uint trips)
{
  float sum[LINES][WIDE];

  [[unroll]] for (uint line = 0; line < LINES; line++)
    [[unroll]] for (uint v = 0; v < WIDE; v++)
      sum[line][v] = 0.0;

  for (uint trip = 0; trip < trips; trip++)
    {
#if B_ALONG_K
      [[unroll]] for (uint i = 0; i < B_LOADS; i++)
        next_b[i] = gemm_b (i);
#else
      LOAD_FETCH ();
      [[unroll]] for (uint i = 0; i < A_LOADS; i++)
        {
          const GemmChunk chunk = gemm_a (i);
          next_a[i] = load_put (chunk, gathered);
        }
#endif
#if CHECK_K && defined (DEPTH)
      const uint groups = min (DEPTH / 4 - trip * (BK / 4), BK / 4);
#else
      const uint groups = BK / 4;
#endif
      [[dont_unroll]] for (uint group = 0; group < groups; group++)
        {
#if B_ALONG_K
          [[unroll]] for (uint i = 0; i < A_LOADS; i++)
            next_a[i] = gemm_a (i);
#else
          [[unroll]] for (uint i = 0; i < B_LOADS; i++)
            next_b[i] = gemm_b (i);
#endif
          [[unroll]] for (uint line = 0; line < LINES; line++)
            [[unroll]] for (uint k = 0; k < 4; k++)
              {
#if A_ALONG_K
                float other = narrow (NARROW[line], k, group);
#else
                float other = narrow (next_a[k * (BM / 32) + line / 32], line % 4, line / 4 % 8);
#endif
                [[unroll]] for (uint v = 0; v < WIDE; v++)
                  sum[line][v] += other * wide (v, k);
              }
          gemm_next_group ();
        }
      gemm_next ();
    }

#if B_ALONG_K
  [[unroll]] for (uint v = 0; v < WIDE; v++)
    if (gemm_row (v * 8 + gl_LocalInvocationIndex))
      [[unroll]] for (uint n = 0; n < LINES; n += 4)
        gemm_store (n, vec4 (sum[n][v], sum[n + 1][v], sum[n + 2][v], sum[n + 3][v]));
#elif AFFINE
  AffineColumns columns[WIDE / 4];
  [[unroll]] for (uint v = 0; v < WIDE; v += 4)
    columns[v / 4] = gemm_affine_columns (b_column (v / 4) * 4);
  [[unroll]] for (uint m = 0; m < LINES; m++)
    if (gemm_row (m))
      [[unroll]] for (uint v = 0; v < WIDE; v += 4)
        gemm_store_affine (b_column (v / 4) * 4,
                           vec4 (sum[m][v], sum[m][v + 1], sum[m][v + 2], sum[m][v + 3]),
                           columns[v / 4]);
#else
  [[unroll]] for (uint m = 0; m < LINES; m++) if (gemm_row (m))
      [[unroll]] for (uint v = 0; v < WIDE; v += 4) gemm_store (
          b_column (v / 4) * 4, vec4 (sum[m][v], sum[m][v + 1], sum[m][v + 2], sum[m][v + 3]));
#endif
}

#endif
