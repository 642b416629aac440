/* SPDX-License-Identifier: MIT */
/* A model while it is read; private to the parts of its reader.  Callers call model.c, which calls
 * modelgraph.c, modelcheck.c, modelweights.c and modelrecurrent.c; all of these call modeltensor.c,
 * which calls external.c; and all parts call intake.c. */
#pragma once
#include "model.h"
#include "wire.h"

G_BEGIN_DECLS

typedef struct {
  DynoOnnxModel model; /* must be first: a pointer to it is also one to the store */
  GBytes *bytes;
  char *folder; /* or NULL */
  DynoOnnxParts parts;
  GStringChunk *texts;
  GPtrArray *blocks;        /* arrays; g_free */
  GHashTable *initializers; /* name to DynoOnnxTensor */

  /* Counts towards the limits. */
  guint64 n_tensors, n_attributes, n_links, n_numbers, n_values, data_bytes;
  /* Attributes that are not read: "If “a” (then_branch)", ...; the first few of them. */
  GString *refused;
  guint n_refused;
} DynoOnnxStore;

/* --- intake.c --------------------------------------------------------------------------------- */

gboolean dyno_onnx_fail (GError **error, DynoOnnxError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Adds n to a count.  FALSE with LIMIT: the count would exceed most.  things: the plural of the
 * counted things, for the message. */
gboolean dyno_onnx_count (guint64 *count, guint64 n, guint64 most, const char *things,
                          GError **error);
/* An array of n zeroed elements that lives as long as the model.  NULL: n is 0, or memory is short
 * (the error LIMIT). */
gpointer dyno_onnx_allocate (DynoOnnxStore *store, gsize n, gsize size, GError **error);
/* Counts the fields of a message by their numbers, for numbers below n_counts. */
gboolean dyno_onnx_count_fields (DynoProtoReader message, guint *counts, guint n_counts,
                                 GError **error);
/* Stores the text of a field in the model. */
gboolean dyno_onnx_take_text (DynoOnnxStore *store, const DynoProtoReader *reader,
                              const DynoProtoField *field, const char **text, GError **error);
/* Reads the number of a field that is signed in ONNX. */
gboolean dyno_onnx_take_int (const DynoProtoReader *reader, const DynoProtoField *field,
                             gint64 *value, GError **error);

/* --- modeltensor.c ---------------------------------------------------------------------------- */

gboolean dyno_onnx_take_tensor (DynoOnnxStore *store, DynoProtoReader message,
                                DynoOnnxTensor *tensor, GError **error);
/* Whether dyno_onnx_tensor_read would succeed now.  where: names the tensor in errors. */
gboolean dyno_onnx_check_tensor (DynoOnnxStore *store, const DynoOnnxTensor *tensor,
                                 const char *where, GError **error);

/* --- external.c ------------------------------------------------------------------------------- */

/* Opens the file of a tensor, and checks that size_bytes are at its place.  -1 with the error. */
int dyno_onnx_external_open (const char *folder, const DynoOnnxTensor *tensor, guint64 size_bytes,
                             GError **error);
/* Reads a whole range of a file.  FALSE: errno has the reason, 0 where the file ends before the
 * range does. */
gboolean dyno_onnx_read_range (int fd, guint8 *to, gsize size, guint64 offset);

/* --- modelgraph.c ----------------------------------------------------------------------------- */

gboolean dyno_onnx_take_graph (DynoOnnxStore *store, DynoProtoReader message, GError **error);
/* Describes a node in messages, Conv “stem.0”; the name is that of its first output where it has
 * none.  g_free. */
char *dyno_onnx_describe_node (const DynoOnnxNode *node);

/* --- modelcheck.c ----------------------------------------------------------------------------- */

/* Checks names and tensors, and sorts the nodes. */
gboolean dyno_onnx_check_model (DynoOnnxStore *store, GError **error);

/* --- modelweights.c --------------------------------------------------------------------------- */

/* Gives each node of a checked model weights of its own. */
gboolean dyno_onnx_split_weights (DynoOnnxStore *store, GError **error);
/* The names of all values; owns only the table. */
GHashTable *dyno_onnx_list_names (const DynoOnnxModel *model);
/* Fills the store's table after a change of the initialisers. */
void dyno_onnx_index_initializers (DynoOnnxStore *store);

/* --- modelrecurrent.c ------------------------------------------------------------------------- */

/* Gives the LSTM and GRU nodes, after dyno_onnx_split_weights, the weights of PyTorch's modules. */
gboolean dyno_onnx_split_recurrent (DynoOnnxStore *store, GError **error);

G_END_DECLS
