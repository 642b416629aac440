#version 460
/* SPDX-License-Identifier: MIT */
/* c = (a b + c) * scale, one tile of 16 x 16 per workgroup of one subgroup.  The kernel is compiled
 * to find out which matrix extensions the shader compiler supports.  Without a matrix macro it is
 * an empty kernel. */
#include "types.glsl"
#include "matrix.glsl"
#include "probe.h"

DYNO_BUFFER_IN (Half, float16_t, 16);
DYNO_BUFFER_INOUT (Single, float, 16);
DYNO_PUSH (DynoProbePush, p);

#if defined (MATRIX_KHR) || defined (MATRIX_NV)
shared float16_t tile[16 * 24];
#endif

void
main ()
{
#if defined (MATRIX_KHR) || defined (MATRIX_NV)
  Half a = Half (p.a), b = Half (p.b);
  Single c = Single (p.c);
  MATRIX_A ma;
  MATRIX_B mb;
  MATRIX_C mc;

  for (uint i = gl_LocalInvocationIndex; i < 256; i += LOCAL_X)
    tile[(i / 16) * 24 + i % 16] = a.v[i];
  barrier ();
  MATRIX_LOAD_ROWS (ma, tile, 0, 24);
  MATRIX_LOAD_ROWS (mb, b.v, 0, 16);
  MATRIX_LOAD_ROWS (mc, c.v, 0, 16);
  mc = MATRIX_MULTIPLY_ADD (ma, mb, mc);
  for (uint i = 0; i < MATRIX_LENGTH (mc); i++)
    mc[i] *= p.scale;
  MATRIX_STORE_ROWS (mc, c.v, 0, 16);
#endif
}
