/* SPDX-License-Identifier: MIT */
/* The activations of the kernels: the values of their macro ACTIVATION and of DynoActivation
 * (src/nn/graph/op.h). */
#ifndef DYNO_SHARED_ACTIVATION_H
#define DYNO_SHARED_ACTIVATION_H

#define DYNO_ACTIVATION_ID_RELU    1 /* max (x, 0) */
#define DYNO_ACTIVATION_ID_RELU6   2 /* min (max (x, 0), 6) */
#define DYNO_ACTIVATION_ID_SILU    3 /* x / (1 + exp (-x)) */
#define DYNO_ACTIVATION_ID_SIGMOID 4 /* 1 / (1 + exp (-x)) */

#endif
