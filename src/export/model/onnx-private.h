/* SPDX-License-Identifier: MIT */
/* Declarations that the parts of the ONNX writer share.  Private to the export layer. */
#pragma once
#include "onnx.h"
#include "onnxfields.h"

G_BEGIN_DECLS

/* A value has the shape (N, C, H, W).  In a model over sequences it has the shape (N, C, T), as in
 * PyTorch, from the input or from `rows` on. */
typedef struct {
  const DynoSavedModel *model;
  const DynoOnnxParams *params;
  GByteArray *nodes, *initializers; /* fields of the graph's message */
  GByteArray *node;                 /* the node that is being written */
  GHashTable *values;               /* from a DynoTensor to the name of its value */
  GHashTable *folded;               /* from a DynoNode, a convolution, to its merged batch norm */
  GHashTable *inside;               /* a set of DynoNode: an LSTM's node does their work */
  GHashTable *sequences;            /* a set of DynoTensor whose values are (N, C, T) */
  GHashTable *lengths;              /* a set of the names of values that exist already */
  guint64 bytes;                    /* of initializers, counted as if they were written */
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
void dyno_onnx_parameter (DynoOnnxWriter *o, const DynoParameter *parameter, const float *values);

void dyno_onnx_set_value (DynoOnnxWriter *o, const DynoTensor *tensor, const char *name);
const char *dyno_onnx_value (DynoOnnxWriter *o, const DynoTensor *tensor);
guint32 dyno_onnx_attribute (DynoOnnxWriter *o, const DynoNode *node, const char *name);
double dyno_onnx_number (DynoOnnxWriter *o, const DynoNode *node, const char *name);

/* --- sequences (onnx-sequences.c) ------------------------------------------------------------- */

/* TRUE where the file has a second input, "length": int32 of (N), the number of valid steps of each
 * sample. */
gboolean dyno_onnx_has_lengths (const DynoOnnxWriter *o);
/* Marks the products over all steps that an LSTM's node computes itself. */
void dyno_onnx_find_inside (DynoOnnxWriter *o, GPtrArray *nodes);
gboolean dyno_onnx_emit_rows (DynoOnnxWriter *o, const DynoNode *node, const char *output);
gboolean dyno_onnx_emit_lstm (DynoOnnxWriter *o, const DynoNode *node, const char *output);
gboolean dyno_onnx_emit_last_step (DynoOnnxWriter *o, const DynoNode *node, const char *output);
gboolean dyno_onnx_emit_mean_step (DynoOnnxWriter *o, const DynoNode *node, const char *output);

G_END_DECLS
