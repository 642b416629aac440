/* SPDX-License-Identifier: MIT */
/* The product loop with fused multiply-adds: shared memory holds both tiles as fp32 with K
 * outermost, an invocation keeps TM x TN sums in registers, as blocks of 4 x 4 at distances of BM /
 * (TM / 4) rows and BN / (TN / 4) columns, so that neighbouring invocations read neighbouring 16
 * bytes. */
#ifndef DYNO_GEMM_FMA_GLSL
#define DYNO_GEMM_FMA_GLSL

/* Rows have one vec4 of padding, so that a transposing store uses different banks. */
#define A_STRIDE (BM / 4 + 1)
#define B_STRIDE (BN / 4 + 1)
#define BLOCKS_M (TM / 4)
#define BLOCKS_N (TN / 4)
#define GROUPS_N (BN / TN)

shared vec4 tile_a[STAGES * BK * A_STRIDE];
shared vec4 tile_b[STAGES * BK * B_STRIDE];
#if STAGES == 1
const uint stage = 0;
#else
uint stage = 0; /* first K of the tile that is stored or multiplied */
#endif

/* Store a chunk into a tile: PUT_ALONG_K a chunk that lies along K in memory, PUT_ALONG_LINE a
 * chunk that lies along M or N. */
#if HALF
#define PUT_ALONG_K(tile, stride, chunk, k, line)                      \
  {                                                                    \
    vec2 h0 = unpackHalf2x16 (chunk.x), h1 = unpackHalf2x16 (chunk.y); \
    vec2 h2 = unpackHalf2x16 (chunk.z), h3 = unpackHalf2x16 (chunk.w); \
    tile[((k) + 0) * stride + (line) / 4][(line) % 4] = h0.x;          \
    tile[((k) + 1) * stride + (line) / 4][(line) % 4] = h0.y;          \
    tile[((k) + 2) * stride + (line) / 4][(line) % 4] = h1.x;          \
    tile[((k) + 3) * stride + (line) / 4][(line) % 4] = h1.y;          \
    tile[((k) + 4) * stride + (line) / 4][(line) % 4] = h2.x;          \
    tile[((k) + 5) * stride + (line) / 4][(line) % 4] = h2.y;          \
    tile[((k) + 6) * stride + (line) / 4][(line) % 4] = h3.x;          \
    tile[((k) + 7) * stride + (line) / 4][(line) % 4] = h3.y;          \
  }
#define PUT_ALONG_LINE(tile, stride, chunk, k, line)                                             \
  {                                                                                              \
    tile[(k) * stride + (line) / 4] =                                                            \
        vec4 (unpackHalf2x16 (chunk.x), unpackHalf2x16 (chunk.y));                               \
    tile[(k) * stride + (line) / 4 + 1] =                                                        \
        vec4 (unpackHalf2x16 (chunk.z), unpackHalf2x16 (chunk.w));                               \
  }
#else
#define PUT_ALONG_K(tile, stride, chunk, k, line)            \
  {                                                          \
    vec4 f = uintBitsToFloat (chunk);                        \
    tile[((k) + 0) * stride + (line) / 4][(line) % 4] = f.x; \
    tile[((k) + 1) * stride + (line) / 4][(line) % 4] = f.y; \
    tile[((k) + 2) * stride + (line) / 4][(line) % 4] = f.z; \
    tile[((k) + 3) * stride + (line) / 4][(line) % 4] = f.w; \
  }
#define PUT_ALONG_LINE(tile, stride, chunk, k, line) \
  tile[(k) * stride + (line) / 4] = uintBitsToFloat (chunk);
#endif

void
put ()
{
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    if (!A_PARTIAL || a_row (i) < A_ROWS)
      {
        GemmChunk chunk = load_put (next_a[i], valid_a[i]);
#if A_ALONG_K
        PUT_ALONG_K (tile_a, A_STRIDE, chunk, stage + a_column (i) * CHUNK, a_row (i))
#else
        PUT_ALONG_LINE (tile_a, A_STRIDE, chunk, stage + a_row (i), a_column (i) * CHUNK)
#endif
      }
  [[unroll]] for (uint i = 0; i < B_LOADS; i++)
    if (!B_PARTIAL || b_row (i) < B_ROWS)
      {
        GemmChunk chunk = GEMM_ZERO (next_b[i], valid_b[i]);
#if B_ALONG_K
        PUT_ALONG_K (tile_b, B_STRIDE, chunk, stage + b_column (i) * CHUNK, b_row (i))
#else
        PUT_ALONG_LINE (tile_b, B_STRIDE, chunk, stage + b_row (i), b_column (i) * CHUNK)
#endif
      }
}

#if STATISTICS || NORM
/* Sums over the columns and rows that this invocation stored. */
vec4 column_sum[BLOCKS_N], column_square[BLOCKS_N];

void
statistics_store (uint tile_column, uint group)
{
  uint across = gl_LocalInvocationIndex % GROUPS_N, down = gl_LocalInvocationIndex / GROUPS_N;
  [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
    {
      tile_a[down * 2 * (BN / 4) + j * GROUPS_N + across] = column_sum[j];
      tile_a[(down * 2 + 1) * (BN / 4) + j * GROUPS_N + across] = column_square[j];
    }
  barrier ();
  for (uint i = gl_LocalInvocationIndex; i < 2 * (BN / 4); i += LOCAL_X)
    {
      vec4 total = vec4 (0.0);
      for (uint part = 0; part < BM / TM; part++)
        total += tile_a[part * 2 * (BN / 4) + i];
      statistics_put (group, i / (BN / 4), tile_column, i % (BN / 4) * 4, total);
    }
}
#endif

void
gemm_run (uint trips)
{
  uint across = gl_LocalInvocationIndex % GROUPS_N, down = gl_LocalInvocationIndex / GROUPS_N;
  vec4 sum[TM][BLOCKS_N];

  [[unroll]] for (uint i = 0; i < TM; i++)
    [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
      sum[i][j] = vec4 (0.0);

  if (trips > 0)
    fetch ();
#if STAGES == 2
  if (trips > 0)
    put ();
  barrier ();
#endif
  for (uint trip = 0; trip < trips; trip++)
    {
#if STAGES == 1
      put ();
      barrier ();
#endif
      fetch_next (trip + 1 < trips);
      [[unroll]] for (uint k = 0; k < BK; k++)
        {
          vec4 a[BLOCKS_M], b[BLOCKS_N];
          [[unroll]] for (uint i = 0; i < BLOCKS_M; i++)
            a[i] = tile_a[(stage + k) * A_STRIDE + i * (BM / TM) + down];
          [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
            b[j] = tile_b[(stage + k) * B_STRIDE + j * GROUPS_N + across];
          [[unroll]] for (uint i = 0; i < TM; i++)
            [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
              sum[i][j] = fma (vec4 (a[i / 4][i % 4]), b[j], sum[i][j]);
        }
#if STAGES == 2
      stage = BK - stage;
      if (trip + 1 < trips)
        put ();
#endif
      barrier ();
    }

#if STATISTICS
  vec4 pivot[BLOCKS_N];
  [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
    {
      pivot[j] = statistics_pivot (tile_column, j * (BN / BLOCKS_N) + across * 4);
      column_sum[j] = vec4 (0.0);
      column_square[j] = vec4 (0.0);
    }
#endif
#if NORM
  /* Four rows at a time: the loads for all four are issued before the first is stored. */
  NormColumns columns[BLOCKS_N];
  [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
    {
      columns[j] = gemm_norm_columns (j * (BN / BLOCKS_N) + across * 4);
      column_sum[j] = vec4 (0.0);
      column_square[j] = vec4 (0.0);
    }
  [[unroll]] for (uint i = 0; i < TM; i += 4)
    {
      vec4 x[4][BLOCKS_N];
      uint mask[4][BLOCKS_N];
      [[unroll]] for (uint e = 0; e < 4; e++)
        if (gemm_row (i * (BM / TM) + down * 4 + e))
          [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
            gemm_norm_load (j * (BN / BLOCKS_N) + across * 4, x[e][j], mask[e][j]);
      [[unroll]] for (uint e = 0; e < 4; e++)
        if (gemm_row (i * (BM / TM) + down * 4 + e))
          [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
            gemm_norm_store (j * (BN / BLOCKS_N) + across * 4, sum[i + e][j], columns[j], x[e][j],
                             mask[e][j], column_sum[j], column_square[j]);
    }
#elif AFFINE
  AffineColumns columns[BLOCKS_N];
  [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
    columns[j] = gemm_affine_columns (j * (BN / BLOCKS_N) + across * 4);
  [[unroll]] for (uint i = 0; i < TM; i++)
    if (gemm_row ((i / 4) * (BM / BLOCKS_M) + down * 4 + i % 4))
      [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
        gemm_store_affine (j * (BN / BLOCKS_N) + across * 4, sum[i][j], columns[j]);
#else
  [[unroll]] for (uint i = 0; i < TM; i++)
    if (gemm_row ((i / 4) * (BM / BLOCKS_M) + down * 4 + i % 4))
      [[unroll]] for (uint j = 0; j < BLOCKS_N; j++)
        {
          gemm_store (j * (BN / BLOCKS_N) + across * 4, sum[i][j]);
#if STATISTICS
          vec4 stored = sum[i][j];
#if HALF
          stored = vec4 (unpackHalf2x16 (packHalf2x16 (stored.xy)),
                         unpackHalf2x16 (packHalf2x16 (stored.zw)));
#endif
          vec4 d = stored - pivot[j];
          column_sum[j] += d;
          column_square[j] += d * d;
#endif
        }
#endif
}

#endif
