/* SPDX-License-Identifier: MIT */
/* Matrix units, with the same macros for both extensions: 16x16x16, fp16 x fp16 + fp32, one tile
 * per subgroup.
 * A kernel that includes this (after types.glsl) is compiled with MATRIX_KHR=1 or MATRIX_NV=1.
 *
 *   MATRIX_A a; MATRIX_B b; MATRIX_C c = MATRIX_C (0.0);
 *   MATRIX_LOAD_ROWS (a, array, first, stride);    element (r, c) is array[first + r * stride + c]
 *   MATRIX_LOAD_COLUMNS (b, array, first, stride); element (r, c) is array[first + c * stride + r]
 *   c = MATRIX_MULTIPLY_ADD (a, b, c);
 *   MATRIX_STORE_ROWS (c, array, first, stride);
 *   c[i] for i < MATRIX_LENGTH (c): an invocation's elements, in an order that the driver defines.
 *
 * array is a shared array or the v[] of a buffer; first and stride count its elements. */
#ifndef DYNO_MATRIX_GLSL
#define DYNO_MATRIX_GLSL

#if defined (MATRIX_KHR)
#define MATRIX_A   coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define MATRIX_B   coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB>
#define MATRIX_C   coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>
#define MATRIX_C16 coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>
#define MATRIX_LOAD_ROWS(m, array, first, stride) \
  coopMatLoad (m, array, (first), (stride), gl_CooperativeMatrixLayoutRowMajor)
#define MATRIX_LOAD_COLUMNS(m, array, first, stride) \
  coopMatLoad (m, array, (first), (stride), gl_CooperativeMatrixLayoutColumnMajor)
#define MATRIX_STORE_ROWS(m, array, first, stride) \
  coopMatStore (m, array, (first), (stride), gl_CooperativeMatrixLayoutRowMajor)
#define MATRIX_STORE_COLUMNS(m, array, first, stride) \
  coopMatStore (m, array, (first), (stride), gl_CooperativeMatrixLayoutColumnMajor)
#define MATRIX_MULTIPLY_ADD(a, b, c) coopMatMulAdd (a, b, c)
#elif defined (MATRIX_NV)
#define MATRIX_A                                     fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define MATRIX_B                                     fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define MATRIX_C                                     fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>
#define MATRIX_C16                                   fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define MATRIX_LOAD_ROWS(m, array, first, stride) \
  coopMatLoadNV (m, array, (first), (stride), false)
#define MATRIX_LOAD_COLUMNS(m, array, first, stride) \
  coopMatLoadNV (m, array, (first), (stride), true)
#define MATRIX_STORE_ROWS(m, array, first, stride) \
  coopMatStoreNV (m, array, (first), (stride), false)
#define MATRIX_STORE_COLUMNS(m, array, first, stride) \
  coopMatStoreNV (m, array, (first), (stride), true)
#define MATRIX_MULTIPLY_ADD(a, b, c)                 coopMatMulAddNV (a, b, c)
#endif

#define MATRIX_LENGTH(m) m.length ()

#endif
