/* SPDX-License-Identifier: MIT */
/* What an op is to the passes that rewrite and lower a graph: its class.
 *
 * Fusion, autograd, rematerialisation and lowering know no op by name and include no op's header:
 * they ask the traits, and the hooks where an op must do something itself.  A new op is a file of
 * its own with one such class. */
#pragma once
#include "activation.h"
#include "graph.h"
#include <stddef.h>

G_BEGIN_DECLS

typedef struct _DynoLowering DynoLowering;

/* y[i] = f (x[i]); the functions are in shaders/shared/activation.h */
typedef enum {
  DYNO_ACTIVATION_NONE,
  DYNO_ACTIVATION_RELU = DYNO_ACTIVATION_ID_RELU,
  DYNO_ACTIVATION_RELU6 = DYNO_ACTIVATION_ID_RELU6,
  DYNO_ACTIVATION_SILU = DYNO_ACTIVATION_ID_SILU,
  DYNO_ACTIVATION_SIGMOID = DYNO_ACTIVATION_ID_SIGMOID,
} DynoActivation;

/* Output 0 has the shape of each of the inputs, and element i of it depends on element i of
 * these. */
typedef enum {
  DYNO_ELEMENTWISE_NONE, /* no such op */
  DYNO_ELEMENTWISE_MAP,  /* y = f (x) */
  DYNO_ELEMENTWISE_SUM,  /* y = a + b */
} DynoElementwise;

/* A window that slides over the pixels of an image. */
typedef struct {
  guint32 kernel, stride, pad; /* of both sides */
  gboolean flat;               /* of the width alone: it is one pixel high */
} DynoPoolWindow;

/* The sums over its rows that the backward pass of a batch norm begins with (norm.glsl): of dy, the
 * gradient of what it wrote, behind the activation's slope. */
typedef struct {
  DynoTensor *dy;
  DynoTensor *x, *mean, *invstd, *gamma, *beta; /* x of dy's shape */
  DynoTensor *mask;          /* the slope is found from it (mask.glsl); NULL: from x */
  DynoActivation activation; /* NONE, RELU or RELU6 */
} DynoGradientSums;

/* A gradient that is zero but at every step_w-th pixel of every step_h-th row. */
typedef struct {
  DynoTensor *gradient;
  guint32 step_h, step_w;
  DynoTensor *pixels; /* those alone, (N, ceil (H / step_h), ceil (W / step_w), C) */
} DynoSparseGradient;

/* A batch norm by running statistics, of whatever x the node before it makes:
 * y = activation ((x - mean) / sqrt (variance + eps) * gamma + beta + residual). */
typedef struct {
  DynoTensor *x, *mean, *variance, *gamma, *beta;
  DynoTensor *residual; /* of x's shape; NULL: none */
  DynoActivation activation;
} DynoRunningNorm;

/* What the output of a batch norm is, for those who make it of x in their loads. */
typedef struct {
  DynoTensor *x, *mean, *invstd, *gamma, *beta; /* x of the output's shape */
  /* the same of each channel, [4][channels] of x's type (lib/gemm-load.glsl); NULL: no reader has
   * the trait for it */
  DynoTensor *table;
  DynoActivation activation;
} DynoNormLoad;

typedef struct {
  DynoActivation activation; /* of input 0, which only this makes of it */
  DynoElementwise elementwise;
  gboolean reads_own_output; /* the backward pass may read output 0 */
  /* The outputs may be computed again later from the same inputs, to the same bit: activation
   * checkpointing drops and rematerialises them where their bytes are worth the time.  The node is then lowered a second time
   * with dyno_lowering_is_rematerialising TRUE: side effects (running statistics) are left out, and
   * an output that is cheap to keep (saved mean) may be bound READ instead of WRITE: it keeps its
   * first value. */
  gboolean restorable;
  gboolean emits_column_sums; /* its kernels can sum up the columns of output 0 for `absorb` */
  /* it reads the column sums of input 0, as distances from input 1, where there are some */
  gboolean reads_column_sums;
  gboolean loads_by_table; /* its `load_norm` reads the table */
  /* Output 0 is the largest value of each window of input 0, output 1 (NULL: no backward pass
   * follows) its place; the attributes begin with the DynoPoolWindow. */
  gboolean window_maximum;
} DynoOpTraits;

/* A member of an op's attributes, for print.c and whoever else reads them without knowing the
 * op. */
typedef enum {
  DYNO_ATTRIBUTE_UINT,  /* guint32, enums too */
  DYNO_ATTRIBUTE_BOOL,  /* gboolean */
  DYNO_ATTRIBUTE_FLOAT, /* float */
} DynoAttributeType;

typedef struct {
  const char *name;
  DynoAttributeType type;
  gsize offset;
} DynoAttribute;

/* A row of a schema; the type follows from the member's. */
#define DYNO_ATTRIBUTE(Struct, member)                          \
  {                                                             \
    .name = #member, .offset = offsetof (Struct, member),       \
    .type = DYNO_ATTRIBUTE_TYPE_OF (((Struct *) NULL)->member), \
  }
/* clang-format off */
#define DYNO_ATTRIBUTE_TYPE_OF(member) \
  _Generic ((member), guint32: DYNO_ATTRIBUTE_UINT, \
                      gboolean: DYNO_ATTRIBUTE_BOOL, \
                      float: DYNO_ATTRIBUTE_FLOAT)
/* clang-format on */
/* Initialises `attributes` and `n_attributes` of a class. */
#define DYNO_OP_ATTRIBUTES(array) .attributes = (array), .n_attributes = G_N_ELEMENTS (array)

struct _DynoOpClass {
  const char *name; /* for people: logs, `dynoctl bench --kernels`, exporters */
  DynoOpTraits traits;
  const DynoAttribute *attributes; /* what is worth reading of the node's attributes */
  guint n_attributes;
  /* Appends the nodes of its gradient; NULL: gradients end here. */
  void (*backward) (DynoGraph *graph, DynoNode *node);
  /* Appends dispatches; may fail the graph (UNSUPPORTED). */
  void (*lower) (DynoLowering *lowering, DynoNode *node);
  /* Fusion: `next` reads output 0 of this node, and where it does more than reading column sums
   * nobody else does.  TRUE: this node does on its way what next does by its traits (an activation,
   * adding its other input, the maximum of windows, column sums); its attributes, inputs and
   * further outputs were changed for that, output 0 is the caller's.  NULL or FALSE: it cannot. */
  gboolean (*absorb) (DynoGraph *graph, DynoNode *node, const DynoNode *next);
  /* Of a backward node: the activation that it can write again while it reads what that was made
   * of, for no more than the write: it is dropped after the forward pass then, if its readers can
   * wait.  NULL: none.  The node is then lowered a second time with
   * dyno_lowering_get_rematerialised giving the tensor to write. */
  DynoTensor *(*rematerialises) (const DynoNode *node);
  /* Of a backward node: the sums that it begins with, if the node that is the last to write dy may
   * make them, and store dy behind the slope; lowered, that leaves them with
   * dyno_lowering_set_column_sums for `mean`.  NULL or FALSE: there are none. */
  gboolean (*gradient_sums) (const DynoNode *node, DynoGradientSums *sums);
  /* Of two backward nodes, next behind node, none of those between touches what they write: next makes
   * the gradient of input 0 of both from now on, from what they share.  NULL or FALSE: it cannot. */
  gboolean (*join_gradients) (DynoGraph *graph, DynoNode *node, DynoNode *next);
  /* Of a backward node that writes sums->dy: it makes these sums from now on, where its kernel
   * can.  NULL or FALSE: it cannot. */
  gboolean (*make_gradient_sums) (DynoNode *node, const DynoGradientSums *sums);
  /* Of a backward node, the first to write output 0: what that is; with sparse->pixels it writes those
   * alone from now on.  NULL or FALSE: it is no such gradient. */
  gboolean (*sparse_gradient) (DynoNode *node, DynoSparseGradient *sparse);
  /* Of a backward node that adds to sparse->gradient: with sparse->pixels it writes the sum with
   * those from now on, without: whether it could.  NULL or FALSE: it cannot. */
  gboolean (*add_sparse_gradient) (DynoNode *node, const DynoSparseGradient *sparse);
  /* The node does nothing but this.  NULL or FALSE: it does something else. */
  gboolean (*running_norm) (const DynoNode *node, DynoRunningNorm *norm);
  /* Fusion: norm->x is output 0 of this node, which nobody else reads.  TRUE: the node stores what
   * the norm makes of it from now on; output 0 is the caller's.  NULL or FALSE: it cannot. */
  gboolean (*apply_running_norm) (DynoNode *node, const DynoRunningNorm *norm);
  /* Of a forward node: output 0 as what its only readers can make of x, the same for all of them.
   * NULL or FALSE: they cannot. */
  gboolean (*norm_load) (const DynoNode *node, DynoNormLoad *load);
  /* Of one that has norm_load: lets the table be written from now on, before the node; NULL: the
   * graph failed. */
  DynoTensor *(*norm_table) (DynoGraph *graph, const DynoNode *node);
  /* Of a node that reads the output of a batch norm as this input: it reads x from now on and makes
   * that output in its loads, not rounded; not `apply`: whether it can.  NULL or FALSE: it cannot. */
  gboolean (*load_norm) (DynoNode *node, guint input, const DynoNormLoad *load, gboolean apply);
};

/* The value of an attribute by its name in the schema; FALSE: the op has none of that name. */
gboolean dyno_node_get_attribute (const DynoNode *node, const char *name, double *value);

/* "kernel=3 stride=2": all that are not zero; g_free. */
char *dyno_node_print_attributes (const DynoNode *node);

G_END_DECLS
