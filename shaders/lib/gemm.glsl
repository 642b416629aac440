/* SPDX-License-Identifier: MIT */
/* The tile of a matrix product, and the parts of it that each invocation loads.
 *
 * A workgroup makes one BM x BN tile of C = A B in K tiles of BK.  Macros by the kernel's spec:
 *   HALF           1: A and B are fp16 in memory, 0: fp32; sums are always fp32
 *   BM, BN, BK     the tile
 *   TM, TN         without matrix units: the part of one invocation, LOCAL_X = (BM / TM) * (BN /
 *                  TN)
 *   SM, SN         with MATRIX_KHR or MATRIX_NV: the part of one subgroup of 32, LOCAL_X = 32 *
 *                  (BM / SM) * (BN / SN)
 *   SLICES_K       with matrix units: 1, or the number of slices of a K tile, each of which has
 *                  subgroups of its own that make all of BM x BN; LOCAL_X is SLICES_K times larger
 *   STAGES         without matrix units: K tiles in shared memory at a time, 1 or 2; with two there
 *                  is one barrier per tile
 *   STRAIGHT       1: loads are issued after the last K tile too, from the start of memory, and
 *                  their values are not used; so there is no branch between loads and
 *                  multiplications, and the compiler mixes them.  Not for wgrad, which would run
 *                  out of registers
 *   PATCH, TAPS    with matrix units: see gemm-patch.glsl
 *   LANES          1: gemm-lanes.glsl, LOCAL_X = 8, fp32; a load is of four K
 *   LOAD           A is computed from the loaded values: gemm-load.glsl
 *   CHECK_M, CHECK_N, CHECK_K   0 where the tile divides this side, so that no bounds are checked
 * and by the file that includes this:
 *   A_ALONG_K      1: 16 bytes of A in memory lie along K, 0: along M
 *   B_ALONG_K      1: 16 bytes of B in memory lie along K, 0: along N
 *   GATHER_BRANCHES   1: see gather ()
 *   HALVES_APART   1: each half of a chunk of A may be valid or not
 *
 * Memory is read in chunks of 16 bytes (CHUNK elements).  An invocation moves chunk column a_column
 * (i) of the row a_row (i) of A's tile, i < A_LOADS; the same for B.  A row is a position on the K
 * axis where chunks lie along M or N, and a position on M or N where chunks lie along K. */
#ifndef DYNO_GEMM_GLSL
#define DYNO_GEMM_GLSL

#if defined (MATRIX_KHR) || defined (MATRIX_NV)
#define USE_MATRIX 1
#else
#define USE_MATRIX 0
#endif

#ifndef STRAIGHT
#define STRAIGHT 0
#endif

#if HALF
#define CHUNK 8
#else
#define CHUNK 4
#endif

#ifdef PATCH
#define A_ROWS    PATCH
#define A_COLUMNS (BK / CHUNK)
#if B_ALONG_K
#define B_ROWS    (TAPS * BN)
#define B_COLUMNS (BK / CHUNK)
#else
#define B_ROWS    (TAPS * BK)
#define B_COLUMNS (BN / CHUNK)
#endif
#else
#if A_ALONG_K
#define A_ROWS    BM
#define A_COLUMNS (BK / CHUNK)
#else
#define A_ROWS    BK
#define A_COLUMNS (BM / CHUNK)
#endif
#if B_ALONG_K
#define B_ROWS    BN
#define B_COLUMNS (BK / CHUNK)
#else
#define B_ROWS    BK
#define B_COLUMNS (BN / CHUNK)
#endif
#endif

#ifdef LANES
#if A_ALONG_K && B_ALONG_K
#define A_LOADS (BM / 8)
#elif A_ALONG_K
#define A_LOADS BM
#else
#define A_LOADS (4 * BM / 32)
#endif
#if B_ALONG_K
#define B_LOADS BN
#else
#define B_LOADS (4 * BN / 32)
#endif
#define A_PARTIAL false
#define B_PARTIAL false
#else
#define A_STEP  (LOCAL_X / A_COLUMNS)
#define B_STEP  (LOCAL_X / B_COLUMNS)
#define A_LOADS ((A_ROWS + A_STEP - 1) / A_STEP)
#define B_LOADS ((B_ROWS + B_STEP - 1) / B_STEP)
/* 1: some invocations have no chunk in the last load */
#define A_PARTIAL (A_ROWS % A_STEP != 0)
#define B_PARTIAL (B_ROWS % B_STEP != 0)
#endif

#ifdef LANES
DYNO_BUFFER_IN (GemmChunks, u64vec2, 16);
#define GemmChunk u64vec2
#else
DYNO_BUFFER_IN (GemmChunks, u32vec4, 16);
#define GemmChunk u32vec4
#endif

/* Chunk `index` of memory, zero where not `valid`: with LANES and GATHER_BRANCHES by a branch
 * around the load; else the load is always made, of the first chunk where not valid, and the zero
 * is inserted before the store to shared memory.  Which way is faster was measured, and depends on
 * registers.  wgrad, us on an H200 with branches and without: tiles of 64x64 per subgroup 193, 228;
 * of 64x32 290, 260. */
#if defined (LANES) || GATHER_BRANCHES
#define GEMM_ZERO(chunk, valid) (chunk)
#define GemmValid bool
#ifdef LOAD
bool gathered; /* the last chunk was valid: load_put must not map a zero to beta */
#else
const bool gathered = true;
#endif

GemmChunk
gather (uint64_t address, uint index, bool valid)
{
  GemmChunk chunk = GemmChunk (0);
#ifdef LOAD
  gathered = valid;
#endif
  if (valid)
    chunk = GemmChunks (address).v[index];
  return chunk;
}
#else
#if HALVES_APART
#define GemmValid bvec2
#define GEMM_ZERO(chunk, valid) \
  GemmChunk ((valid).x ? (chunk).xy : u32vec2 (0), (valid).y ? (chunk).zw : u32vec2 (0))
#else
#define GemmValid bool
#define GEMM_ZERO(chunk, valid) ((valid) ? (chunk) : GemmChunk (0))
#endif

#if STRAIGHT
bool gemm_more = true; /* TRUE: there is a K tile to load */
#endif
GemmValid gathered; /* the last chunk was valid */

GemmChunk
gather (uint64_t address, uint index, bool valid)
{
#if STRAIGHT
  valid = valid && gemm_more;
#endif
  gathered = GemmValid (valid);
  return GemmChunks (address).v[valid ? index : 0];
}
#endif

/* Chunk column and row of load i. */
#ifdef LANES
uint
a_column (uint i)
{
#if A_ALONG_K
  return gl_LocalInvocationIndex;
#else
  return i % (BM / 32) * 8 + gl_LocalInvocationIndex;
#endif
}

/* Where lanes are rows, i counts vectors of 8 rows, and all rows are at the same K. */
uint
a_row (uint i)
{
#if A_ALONG_K && B_ALONG_K
  return i * 8 + gl_LocalInvocationIndex;
#elif A_ALONG_K
  return i;
#else
  return i / (BM / 32);
#endif
}

uint
b_column (uint i)
{
#if B_ALONG_K
  return gl_LocalInvocationIndex;
#else
  return i % (BN / 32) * 8 + gl_LocalInvocationIndex;
#endif
}

uint
b_row (uint i)
{
#if B_ALONG_K
  return i;
#else
  return i / (BN / 32);
#endif
}
#else
uint
a_column (uint i)
{
  return gl_LocalInvocationIndex % A_COLUMNS;
}

uint
a_row (uint i)
{
  return gl_LocalInvocationIndex / A_COLUMNS + i * A_STEP;
}

uint
b_column (uint i)
{
  return gl_LocalInvocationIndex % B_COLUMNS;
}

uint
b_row (uint i)
{
  return gl_LocalInvocationIndex / B_COLUMNS + i * B_STEP;
}
#endif

#endif
