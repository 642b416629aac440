/* SPDX-License-Identifier: MIT */
/* The product loop for devices that are a CPU underneath: a workgroup is one subgroup of 8, without shared memory and barriers.
 *
 * There a load costs about a hundred cycles, whatever its pattern, a broadcast a dozen, and an arithmetic instruction on 8 lanes
 * one: each lane loads chunks of 16 bytes, as two words of 64 bits, and what the others need is broadcast.  Lanes lie along N
 * where B's chunks do, and A is broadcast; else (both along K) they lie along M and B is broadcast. fp32 only. */
#ifndef DYNO_GEMM_LANES_GLSL
#define DYNO_GEMM_LANES_GLSL

#define SHARE(chunk, k) subgroupBroadcast (uintBitsToFloat (chunk[(k) % CHUNK]), (k) / CHUNK)

#if A_ALONG_K && B_ALONG_K
#define LINES BN           /* broadcast */
#define WIDE  (BM / 8)     /* vectors of lanes */
#else
#define LINES BM
#define WIDE  (BN / 8)
#endif

/* The element of the broadcast operand at (line, k), and of the other at (k, vector). */
float
narrow (uint line, uint k)
{
#if B_ALONG_K
  return SHARE (next_b[line], k);
#elif A_ALONG_K
  return SHARE (next_a[line], k);
#else
  return SHARE (next_a[k], line);
#endif
}

float
wide (uint vector, uint k)
{
#if B_ALONG_K
  return uintBitsToFloat (next_a[vector * A_COLUMNS + k / CHUNK][k % CHUNK]);
#else
  return uintBitsToFloat (next_b[k * (B_COLUMNS / 8) + vector / CHUNK][vector % CHUNK]);
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
      fetch ();
      [[unroll]] for (uint line = 0; line < LINES; line++)
        [[unroll]] for (uint k = 0; k < BK; k++)
          {
            float shared_value = narrow (line, k);
            [[unroll]] for (uint v = 0; v < WIDE; v++)
              sum[line][v] += shared_value * wide (v, k);
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
      [[unroll]] for (uint v = 0; v < WIDE; v += CHUNK)
        gemm_store (b_column (v / CHUNK) * CHUNK, vec4 (sum[m][v], sum[m][v + 1], sum[m][v + 2], sum[m][v + 3]));
#endif
}

#endif
