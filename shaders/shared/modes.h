/* SPDX-License-Identifier: MIT */
/* The values of macros by which an op selects a mode of a kernel, for C and GLSL. */
#ifndef DYNO_SHARED_MODES_H
#define DYNO_SHARED_MODES_H

/* NORM: the batch norm for whose backward pass a kernel computes the sums (lib/norm.glsl) */
#define DYNO_NORM_ID_PLAIN      1 /* no activation follows it */
#define DYNO_NORM_ID_SLOPE_X    2 /* ACTIVATION follows; its slope is computed from x */
#define DYNO_NORM_ID_SLOPE_MASK 3 /* the slope is in the output's mask: a residual was added */

/* AFFINE: the batch norm with running statistics that is applied to a product (lib/affine.glsl) */
#define DYNO_AFFINE_ID_PLAIN    1
#define DYNO_AFFINE_ID_RESIDUAL 2 /* a residual is added to its output */

/* ADDED: the residual that is added to a batch norm (batchnorm/added.glsl) */
#define DYNO_ADDED_ID_TENSOR 1
#define DYNO_ADDED_ID_NORM   2 /* another batch norm's output, computed from its input */

/* RESIDUAL, DX, DS: how a gradient is stored */
#define DYNO_STORE_ID_PLAIN 1
#define DYNO_STORE_ID_SUM   2 /* added to the present values */
#define DYNO_STORE_ID_PARTS 3 /* parts of it in fp32, which another kernel adds up */

#endif
