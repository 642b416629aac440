/* SPDX-License-Identifier: MIT */
/* The activations of the kernels: the values of their macro ACTIVATION and of DynoActivation
 * (src/nn/graph/op.h).  They are PyTorch's; a is the macro ACTIVATION_PARAMETER. */
#ifndef DYNO_SHARED_ACTIVATION_H
#define DYNO_SHARED_ACTIVATION_H

#define DYNO_ACTIVATION_ID_RELU         1  /* max (x, 0) */
#define DYNO_ACTIVATION_ID_RELU6        2  /* min (max (x, 0), 6) */
#define DYNO_ACTIVATION_ID_SILU         3  /* x / (1 + exp (-x)) */
#define DYNO_ACTIVATION_ID_SIGMOID      4  /* 1 / (1 + exp (-x)) */
#define DYNO_ACTIVATION_ID_TANH         5
#define DYNO_ACTIVATION_ID_LEAKY_RELU   6  /* x where x > 0, else a x */
#define DYNO_ACTIVATION_ID_ELU          7  /* x where x > 0, else a (exp (x) - 1) */
#define DYNO_ACTIVATION_ID_GELU         8  /* x P (x), P the normal distribution function */
/* x (1 + tanh (sqrt (2 / pi) (x + 0.044715 x^3))) / 2 */
#define DYNO_ACTIVATION_ID_GELU_TANH    9
#define DYNO_ACTIVATION_ID_HARD_SWISH   10 /* x min (max (x + 3, 0), 6) / 6 */
#define DYNO_ACTIVATION_ID_HARD_SIGMOID 11 /* min (max (x / 6 + 1 / 2, 0), 1) */
#define DYNO_ACTIVATION_ID_SOFTPLUS     12 /* log (1 + exp (x)) */
#define DYNO_ACTIVATION_ID_MISH         13 /* x tanh (softplus (x)) */
#define DYNO_ACTIVATION_ID_EXP          14
/* the square root; its derivative at 0 is 0, as that of PyTorch's norms */
#define DYNO_ACTIVATION_ID_SQRT         15
#define DYNO_ACTIVATION_ID_RECIPROCAL   16 /* 1 / x */
#define DYNO_ACTIVATION_ID_LOG          17 /* the natural logarithm */
#define DYNO_ACTIVATION_ID_ABS          18
#define DYNO_ACTIVATION_ID_SIN          19
#define DYNO_ACTIVATION_ID_COS          20

#endif
