/* SPDX-License-Identifier: MIT */
/* Small convolutions that the self-test computes: their graphs, and the same convolutions in double
 * on the host.  The shapes cover products that are whole tiles and products that are not, strides,
 * channels that need padding, and few channels.  Private to selftest*.c. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

#define DYNO_CONV_MAX_CASES 15

typedef struct {
  guint32 n, h, w, c, k, kernel, stride, pad;
  guint32 groups;
  /* x first goes through a batch norm and this activation, which the convolution applies in its
   * loads */
  guint32 load;
} DynoConvCase;

/* A kind of convolution and its test shapes. */
typedef struct {
  const char *label; /* NULL: each tile in turn */
  guint n_cases;
  DynoConvCase cases[DYNO_CONV_MAX_CASES];
} DynoConvKind;

#define DYNO_CONV_N_KINDS 3
extern const DynoConvKind dyno_conv_kinds[DYNO_CONV_N_KINDS];
#define DYNO_CONV_TILED (&dyno_conv_kinds[0])

/* One case of the test, with its data on the host and its graph. */
typedef struct {
  DynoConvCase s;
  guint32 oh, ow;
  gsize n_x, n_y, n_weight;
  float *x, *dy, *weight; /* dense; weight in torchvision's order */
  float *norm[4];         /* gamma, beta, running mean and variance; NULL: there is no batch norm */
  double *y_want, *dx_want, *dw_want;
  const DynoPrecision *precision;
  DynoGraph *graph;
  DynoTensor *input, *output, *seed; /* x, y, dy */
  /* the tensor that the convolution reads, whose gradient is dx: x, or the batch norm's y */
  DynoTensor *behind;
} DynoConvTrial;

/* The most parameters of a graph; the weight is the last. */
#define DYNO_CONV_MAX_PARAMETERS 5

/* Fills values with all parameters, as dyno_program_write_parameters takes them; returns their
 * number. */
guint dyno_conv_trial_values (const DynoConvTrial *trial,
                              const float *values[DYNO_CONV_MAX_PARAMETERS]);

/* The caller clears the trial after an error too.  Errors: those of dyno_graph_check. */
gboolean dyno_conv_trial_init (DynoConvTrial *trial, const DynoConvCase *s,
                               const DynoPrecision *precision, GError **error);
/* A trial that is all zero has nothing to free. */
void dyno_conv_trial_clear (DynoConvTrial *trial);

G_END_DECLS
