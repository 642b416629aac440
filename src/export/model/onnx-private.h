/* SPDX-License-Identifier: MIT */
/* Declarations that the parts of the ONNX writer share.  Private to the export layer. */
#pragma once
#include "onnx.h"
#include "onnxfields.h"

G_BEGIN_DECLS

/* The axes of a value in the file that holds a tensor (N, H, W, C). */
typedef enum {
  DYNO_ONNX_IMAGE,    /* (N, C, H, W) */
  DYNO_ONNX_SEQUENCE, /* (N, C, H W), PyTorch's (N, C, T) */
  DYNO_ONNX_ROW,      /* (N, C H W), PyTorch's flatten */
  DYNO_ONNX_LAST,     /* (N, H, W, C), for ops along the last axis */
  DYNO_ONNX_N_FORMS
} DynoOnnxForm;

typedef struct {
  const DynoSavedModel *model;
  const DynoOnnxParams *params;
  GByteArray *nodes, *initializers; /* fields of the graph's message */
  GByteArray *node;                 /* the node that is being written */
  GHashTable *names;                /* a set: of nodes, values and initialisers; owns them */
  GHashTable *values;               /* from a DynoTensor to its values (onnx-forms.c) */
  GHashTable *folded;               /* from a DynoNode, a convolution, to its merged batch norm */
  GHashTable *inside;               /* a set of DynoNode that an LSTM or GRU of the file includes */
  /* a set of the names of values of lengths that are written already */
  GHashTable *lengths;
  const char *stem; /* of the names of the op that is being written */
  guint64 bytes;    /* of initializers, including those past the limit, which are not written */
  GError *error;
} DynoOnnxWriter;

/* --- nodes and initialisers (onnx-nodes.c) ---------------------------------------------------- */

/* Keeps the first reason for a refusal.  Returns FALSE. */
gboolean dyno_onnx_refuse (DynoOnnxWriter *o, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Writes a node: its op and name, inputs and attributes, then its output. */
void dyno_onnx_begin (DynoOnnxWriter *o, const char *op, const char *name);
void dyno_onnx_input (DynoOnnxWriter *o, const char *name);
void dyno_onnx_ints (DynoOnnxWriter *o, const char *name, const gint64 *values, guint n);
void dyno_onnx_int (DynoOnnxWriter *o, const char *name, gint64 value);
void dyno_onnx_float (DynoOnnxWriter *o, const char *name, float value);
void dyno_onnx_text (DynoOnnxWriter *o, const char *name, const char *value);
void dyno_onnx_end (DynoOnnxWriter *o, const char *output);
/* Writes a whole node without attributes; b NULL: there is no second input. */
void dyno_onnx_plain (DynoOnnxWriter *o, const char *op, const char *name, const char *a,
                      const char *b, const char *output);
void dyno_onnx_cast (DynoOnnxWriter *o, const char *input, guint type, const char *output);

void dyno_onnx_initializer (DynoOnnxWriter *o, const char *name, guint type, const gint64 *dims,
                            guint n_dims, const void *data, gsize size);
/* n_dims 0: one value without axes. */
void dyno_onnx_indices (DynoOnnxWriter *o, const char *name, const gint64 *dims, guint n_dims,
                        const gint64 *values, gsize count);
void dyno_onnx_floats (DynoOnnxWriter *o, const char *name, const gint64 *dims, guint n_dims,
                       const float *values, gsize count);
void dyno_onnx_number_of (DynoOnnxWriter *o, const char *name, double value); /* without axes */
/* Writes the values as an initialiser under the parameter's own name, in its own shape. */
void dyno_onnx_parameter (DynoOnnxWriter *o, const DynoParameter *parameter, const float *values);
/* Writes the parameter that a tensor belongs to, an input of a node, and returns its name; "": the
 * tensor belongs to no parameter, which is refused. */
const char *dyno_onnx_write_parameter (DynoOnnxWriter *o, const DynoTensor *tensor);

guint32 dyno_onnx_attribute (DynoOnnxWriter *o, const DynoNode *node, const char *name);
double dyno_onnx_number (DynoOnnxWriter *o, const DynoNode *node, const char *name);

/* --- names, and the values of tensors (onnx-forms.c) -------------------------------------------- */

GHashTable *dyno_onnx_values_new (void);

/* Reserves the name, or a similar one where it is taken, and returns it; owned by the writer. */
const char *dyno_onnx_unique (DynoOnnxWriter *o, const char *name);
/* The same for the name "<stem>/<part>". */
const char *dyno_onnx_name (DynoOnnxWriter *o, const char *part);

/* Records the name and the form of the value of a tensor.  Returns TRUE. */
gboolean dyno_onnx_set_value (DynoOnnxWriter *o, const DynoTensor *tensor, const char *name,
                              DynoOnnxForm form);
/* The form that a tensor's value was made in. */
DynoOnnxForm dyno_onnx_form (DynoOnnxWriter *o, const DynoTensor *tensor);
/* The name of a tensor's value in a form; at the first request for that form, the nodes that change
 * the axes are written. */
const char *dyno_onnx_value (DynoOnnxWriter *o, const DynoTensor *tensor, DynoOnnxForm form);
void dyno_onnx_transpose (DynoOnnxWriter *o, const char *input, const gint64 *perm, guint n,
                          const char *output);
/* shape[0] is 0, the batch. */
void dyno_onnx_reshape (DynoOnnxWriter *o, const char *input, const gint64 *shape, guint n,
                        const char *output);
/* TRUE: a sample of the tensor is one pixel. */
gboolean dyno_onnx_is_pixel (const DynoTensor *tensor);

/* --- ops -------------------------------------------------------------------------------------- */

/* Each writes an op under the names of o->stem, and sets the value of its output. */
typedef gboolean (*DynoOnnxEmit) (DynoOnnxWriter *o, const DynoNode *node);

/* layers: ops with parameters (onnx-layers.c) */
gboolean dyno_onnx_emit_conv (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_conv_transpose (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_linear (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_batch_norm (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_layer_norm (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_group_norm (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_scale_channels (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_add_channels (DynoOnnxWriter *o, const DynoNode *node);

/* onnx-activations.c: every op with an activation as its trait */
gboolean dyno_onnx_emit_activation (DynoOnnxWriter *o, const DynoNode *node);

/* onnx-plain.c */
gboolean dyno_onnx_emit_add (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_multiply (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_softmax (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_affine (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_scale (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_concat (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_channels (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_channel_shuffle (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_permute (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_pad (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_resize (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_max_pool (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_avg_pool (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_global_avg_pool (DynoOnnxWriter *o, const DynoNode *node);

/* --- products and picked elements (onnx-products.c) ------------------------------------------- */

gboolean dyno_onnx_emit_contract (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_gather (DynoOnnxWriter *o, const DynoNode *node);
/* Writes a constant of the graph, at its first request. */
void dyno_onnx_write_constant (DynoOnnxWriter *o, const DynoTensor *tensor);

/* --- sequences (onnx-sequences.c) ------------------------------------------------------------- */

/* TRUE where the file has a second input, "length": int32 of (N), the number of valid steps of each
 * sample. */
gboolean dyno_onnx_has_lengths (const DynoOnnxWriter *o);
/* Finds the nodes of matrix products over all steps that an LSTM or a GRU of the file includes. */
void dyno_onnx_find_inside (DynoOnnxWriter *o, GPtrArray *nodes);
gboolean dyno_onnx_emit_rows (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_recurrent (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_last_step (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_mean_step (DynoOnnxWriter *o, const DynoNode *node);

/* --- transformers (onnx-tokens.c) ------------------------------------------------------------- */

gboolean dyno_onnx_emit_tokens (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_attention (DynoOnnxWriter *o, const DynoNode *node);
gboolean dyno_onnx_emit_first_step (DynoOnnxWriter *o, const DynoNode *node);

G_END_DECLS
