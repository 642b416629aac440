/* SPDX-License-Identifier: MIT */
/* The product loop for devices that are a CPU underneath: a workgroup is one subgroup of 8, no shared memory, no barriers.
 *
 * There a load costs about a hundred cycles whatever its pattern, and a subgroupBroadcast no less, for each is a loop over the
 * lanes; a shuffle of 32 bits is one instruction, and so is arithmetic on 8 lanes.  So lanes load chunks, as two words of 64
 * bits, and what the others need of them goes to all by a shuffle.  Lanes lie along N where B's chunks do, and A is
 * broadcast; where both lie along K, lanes are rows of A and B is broadcast.  What is broadcast is loaded once a K tile, the
 * other operand four K at a time, in a loop that is not unrolled: the code must stay small, since compiling takes time
 * too.  fp32 only; BK is 32, but 4 where A lies along M.  gemm_next_group () is on by four K. */
#ifndef DYNO_GEMM_LANES_GLSL
#define DYNO_GEMM_LANES_GLSL

#if B_ALONG_K
#define LINES  BN       /* of the operand that is broadcast */
#define NARROW next_b
#define WIDE   (BM / 8) /* vectors of lanes of the other */
#else
#define LINES  BM
#define NARROW next_a
#define WIDE   (BN / 8)
#endif

GemmChunk next_a[A_LOADS];
GemmChunk next_b[B_LOADS];

/* Two elements of the operand that is broadcast, as they lie in a chunk; and one of the other at (vector, k). */
vec2
narrow (u64vec2 chunk, uint pair, uint lane)
{
  uvec2 two = unpack32 (chunk[pair]);
  return uintBitsToFloat (uvec2 (subgroupShuffle (two.x, lane), subgroupShuffle (two.y, lane)));
}

float
element (u64vec2 chunk, uint e)
{
  return uintBitsToFloat (unpack32 (chunk[e / 2])[e % 2]);
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
      [[unroll]] for (uint i = 0; i < A_LOADS; i++)
        next_a[i] = gemm_a (i);
#endif
      [[dont_unroll]] for (uint group = 0; group < BK / 4; group++)
        {
#if B_ALONG_K
          [[unroll]] for (uint i = 0; i < A_LOADS; i++)
            next_a[i] = gemm_a (i);
#else
          [[unroll]] for (uint i = 0; i < B_LOADS; i++)
            next_b[i] = gemm_b (i);
#endif
#if A_ALONG_K
          [[unroll]] for (uint line = 0; line < LINES; line++)
            [[unroll]] for (uint k = 0; k < 4; k += 2)
              {
                vec2 other = narrow (NARROW[line], k / 2, group);
                [[unroll]] for (uint v = 0; v < WIDE; v++)
                  sum[line][v] += other.x * wide (v, k);
                [[unroll]] for (uint v = 0; v < WIDE; v++)
                  sum[line][v] += other.y * wide (v, k + 1);
              }
#else
          [[unroll]] for (uint line = 0; line < LINES; line += 2)
            [[unroll]] for (uint k = 0; k < 4; k++)
              {
                vec2 other = narrow (next_a[k * (BM / 32) + line / 32], line / 2 % 2, line / 4 % 8);
                [[unroll]] for (uint v = 0; v < WIDE; v++)
                  sum[line][v] += other.x * wide (v, k);
                [[unroll]] for (uint v = 0; v < WIDE; v++)
                  sum[line + 1][v] += other.y * wide (v, k);
              }
#endif
          gemm_next_group ();
        }
      gemm_next ();
    }

#if B_ALONG_K
  [[unroll]] for (uint v = 0; v < WIDE; v++)
    if (gemm_row (v * 8 + gl_LocalInvocationIndex))
      [[unroll]] for (uint n = 0; n < LINES; n += 4)
        gemm_store (n, vec4 (sum[n][v], sum[n + 1][v], sum[n + 2][v], sum[n + 3][v]));
#else
  [[unroll]] for (uint m = 0; m < LINES; m++)
    if (gemm_row (m))
      [[unroll]] for (uint v = 0; v < WIDE; v += 4)
        gemm_store (b_column (v / 4) * 4, vec4 (sum[m][v], sum[m][v + 1], sum[m][v + 2], sum[m][v + 3]));
#endif
}

#endif
