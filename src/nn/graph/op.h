/* SPDX-License-Identifier: MIT */
/* The class of an op: everything that the passes over a graph know about the op.
 *
 * Autograd, rematerialisation, lowering and reports know no op by name and include no op's header:
 * they read the traits and call the functions.  A new op is a file of its own with one such class.
 * Only a fusion (fusions/fusion.h) knows the two ops that it joins. */
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
  DYNO_ACTIVATION_TANH = DYNO_ACTIVATION_ID_TANH,
  DYNO_ACTIVATION_LEAKY_RELU = DYNO_ACTIVATION_ID_LEAKY_RELU,
  DYNO_ACTIVATION_ELU = DYNO_ACTIVATION_ID_ELU,
  DYNO_ACTIVATION_GELU = DYNO_ACTIVATION_ID_GELU,
  DYNO_ACTIVATION_GELU_TANH = DYNO_ACTIVATION_ID_GELU_TANH,
  DYNO_ACTIVATION_HARD_SWISH = DYNO_ACTIVATION_ID_HARD_SWISH,
  DYNO_ACTIVATION_HARD_SIGMOID = DYNO_ACTIVATION_ID_HARD_SIGMOID,
  DYNO_ACTIVATION_SOFTPLUS = DYNO_ACTIVATION_ID_SOFTPLUS,
  DYNO_ACTIVATION_MISH = DYNO_ACTIVATION_ID_MISH,
  DYNO_ACTIVATION_EXP = DYNO_ACTIVATION_ID_EXP,
  DYNO_ACTIVATION_SQRT = DYNO_ACTIVATION_ID_SQRT,
  DYNO_ACTIVATION_RECIPROCAL = DYNO_ACTIVATION_ID_RECIPROCAL,
  DYNO_ACTIVATION_LOG = DYNO_ACTIVATION_ID_LOG,
  DYNO_ACTIVATION_ABS = DYNO_ACTIVATION_ID_ABS,
  DYNO_ACTIVATION_SIN = DYNO_ACTIVATION_ID_SIN,
  DYNO_ACTIVATION_COS = DYNO_ACTIVATION_ID_COS,
  DYNO_N_ACTIVATIONS,
} DynoActivation;

/* Output 0 has the shape of each of the inputs, and its element i depends only on element i of the
 * inputs. */
typedef enum {
  DYNO_ELEMENTWISE_NONE, /* no such op */
  DYNO_ELEMENTWISE_MAP,  /* y = f (x) */
  DYNO_ELEMENTWISE_SUM,  /* y = a + b */
} DynoElementwise;

/* A window that slides over the pixels of an image.  The first window begins pad pixels before the
 * image; how far the last window goes past the end follows from the number of windows. */
typedef struct {
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
} DynoPoolWindow;

typedef struct {
  /* applied to input 0, as the only computation of the op; the activation's parameter, where it has
   * one, is the op's attribute "parameter" */
  DynoActivation activation;
  DynoElementwise elementwise;
  gboolean reads_own_output; /* the backward pass may read output 0 */
  /* The outputs may be computed again later from the same inputs, bit for bit: activation
   * checkpointing drops and rematerialises the outputs where the saved memory is worth the time.
   * The node is then lowered a second time with dyno_lowering_is_rematerialising TRUE: side effects
   * (running statistics) are left out, and an output that is cheap to keep (saved mean) may be
   * bound READ instead of WRITE: the output keeps its first value. */
  gboolean restorable;
  /* Output 0 is the largest value of each window of input 0, output 1 (NULL: no backward pass
   * follows) is that value's place; the attributes begin with the DynoPoolWindow. */
  gboolean window_maximum;
} DynoOpTraits;

/* A member of an op's attributes, for print.c and other code that reads attributes without knowing
 * the op. */
typedef enum {
  DYNO_ATTRIBUTE_UINT,  /* guint32, enums too */
  DYNO_ATTRIBUTE_INT,   /* gint64 */
  DYNO_ATTRIBUTE_BOOL,  /* gboolean */
  DYNO_ATTRIBUTE_FLOAT, /* float */
  DYNO_ATTRIBUTE_DOUBLE,
} DynoAttributeType;

typedef struct {
  const char *name;
  DynoAttributeType type;
  gsize offset;
} DynoAttribute;

/* A row of a schema; the attribute's type follows from the member's type. */
#define DYNO_ATTRIBUTE(Struct, member)                          \
  {                                                             \
    .name = #member, .offset = offsetof (Struct, member),       \
    .type = DYNO_ATTRIBUTE_TYPE_OF (((Struct *) NULL)->member), \
  }
/* clang-format off */
#define DYNO_ATTRIBUTE_TYPE_OF(member) \
  _Generic ((member), guint32: DYNO_ATTRIBUTE_UINT, \
                      gint64: DYNO_ATTRIBUTE_INT, \
                      gboolean: DYNO_ATTRIBUTE_BOOL, \
                      float: DYNO_ATTRIBUTE_FLOAT, \
                      double: DYNO_ATTRIBUTE_DOUBLE)
/* clang-format on */
/* Initialises `attributes` and `n_attributes` of a class. */
#define DYNO_OP_ATTRIBUTES(array) .attributes = (array), .n_attributes = G_N_ELEMENTS (array)

struct _DynoOpClass {
  const char *name; /* shown in logs and `dynoctl bench --kernels`; read by exporters */
  DynoOpTraits traits;
  /* schema: the members of the node's attributes that are worth reading */
  const DynoAttribute *attributes;
  guint n_attributes;
  /* Appends the nodes that compute the gradients of the node's inputs; NULL: gradients end here. */
  void (*backward) (DynoGraph *graph, DynoNode *node);
  /* Appends dispatches; may fail the graph (UNSUPPORTED). */
  void (*lower) (DynoLowering *lowering, DynoNode *node);
  /* Useful arithmetic operations of the node, a multiply-add counting two; NULL: one for each
   * value of its largest tensor. */
  guint64 (*flops) (const DynoNode *node);
  /* For a backward node: the activation that the node can write again at the cost of only the
   * write, since it reads the values that the activation was made from.  The activation is then
   * dropped after the forward pass if its readers can wait, and the node is lowered a second time
   * with dyno_lowering_get_rematerialised giving the tensor to write.  NULL: there is no such
   * activation. */
  DynoTensor *(*rematerialises) (const DynoNode *node);
};

/* The value of an attribute by its name in the schema; FALSE: the op has no attribute of that
 * name. */
gboolean dyno_node_get_attribute (const DynoNode *node, const char *name, double *value);

/* "kernel=3 stride=2": all attributes that are not zero; g_free. */
char *dyno_node_print_attributes (const DynoNode *node);

G_END_DECLS
