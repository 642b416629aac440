/* SPDX-License-Identifier: MIT */
/* The product loop over the tile of gemm.glsl.  The including file first defines
 *   GemmChunk gemm_a (uint i), gemm_b (uint i)
 *       the chunks of the current K tile, zero outside of the matrices
 *   void gemm_next ()
 *       advances to the next K tile; with LANES gemm_next_group () advances by four K
 *   bool gemm_row (uint row)
 *       selects the row of the tile for the following gemm_store calls; TRUE: it is to be stored
 *   void gemm_store (uint column, vec4 v)
 *       stores four columns of the row of gemm_row; column, in the tile, is a multiple of 4
 *   void gemm_store2 (uint column, vec4 v, vec4 w)
 *       with matrix units and SUMS_OUT: stores eight columns
 *   u32vec4 gemm_old (uint column)
 *       with matrix units, without SUMS_OUT: eight columns in memory, to which the product is added
 *   void gemm_store_halves (uint column, u32vec4 chunk, u32vec4 old)
 *       likewise: stores eight columns, rounded to fp16, plus old
 *   AffineColumns gemm_affine_columns (uint column)
 *       with AFFINE: the batch norm's values of four columns
 *   void gemm_store_affine (uint column, vec4 v, AffineColumns columns)
 *       likewise, in place of gemm_store
 *   u32vec4 gemm_beside (uint64_t address, uint column)
 *       with AFFINE or NORM and matrix units: eight columns of another tensor of target's shape
 *   uint gemm_mask (uint column)
 *       with NORM and matrix units: the bits of eight columns (mask.glsl)
 *   void gemm_put_halves (uint column, u32vec4 chunk)
 *       with AFFINE or NORM and matrix units: stores eight columns without a conversion
 *   uint gemm_load_chunk ()
 *       with LOAD: see gemm-load.glsl
 * and calls gemm_run (number of K tiles); with LOAD, where A's chunks lie along M, it calls
 * load_fetch () first.
 *
 * Invariant of the loop: while one K tile is multiplied from shared memory, the next one is being
 * loaded into registers. */
#ifndef DYNO_GEMM_RUN_GLSL
#define DYNO_GEMM_RUN_GLSL

#ifndef STAGES
#define STAGES 1
#endif

#include "gemm-load.glsl"
/* Where A's chunks lie along K, each K tile has other channels, whose values LOAD needs. */
#if defined (LOAD) && A_ALONG_K
#define LOAD_FETCH() load_fetch ()
#else
#define LOAD_FETCH()
#endif

#ifdef LANES
#include "gemm-lanes.glsl"
#else
GemmChunk next_a[A_LOADS];
GemmChunk next_b[B_LOADS];
GemmValid valid_a[A_LOADS];
GemmValid valid_b[B_LOADS];

void
fetch_a ()
{
  LOAD_FETCH ();
  [[unroll]] for (uint i = 0; i < A_LOADS; i++)
    if (!A_PARTIAL || a_row (i) < A_ROWS)
      {
        next_a[i] = gemm_a (i);
        valid_a[i] = gathered;
      }
}

void
fetch_b ()
{
  [[unroll]] for (uint i = 0; i < B_LOADS; i++)
    if (!B_PARTIAL || b_row (i) < B_ROWS)
      {
        next_b[i] = gemm_b (i);
        valid_b[i] = gathered;
      }
}

#ifdef PATCH
#include "gemm-patch.glsl"
#else
void
fetch ()
{
  fetch_a ();
  fetch_b ();
}

/* Begins the loads of the next K tile, if there is one. */
void
fetch_next (bool more)
{
#if STRAIGHT
  gemm_more = more;
  gemm_next ();
  fetch ();
#else
  if (more)
    {
      gemm_next ();
      fetch ();
    }
#endif
}

#if USE_MATRIX
#include "gemm-matrix.glsl"
#else
#include "gemm-fma.glsl"
#endif
#endif
#endif

#endif
