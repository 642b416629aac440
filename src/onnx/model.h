/* SPDX-License-Identifier: MIT */
/* An ONNX file as data: its nodes, tensors and values, checked, but not interpreted.
 *
 * A model is immutable: once it is made, any thread may read it, and its tensors, without a lock.
 * All that its members point to belongs to it and lives as long; texts are valid UTF-8 and never
 * NULL, "" where the file has none.
 *
 * Sizes are bytes, shapes counts of elements, outermost axis first.  Errors: DYNO_ONNX_ERROR. */
#pragma once
#include "onnx-error.h"
#include "onnxfields.h"

G_BEGIN_DECLS

/* Limits, checked before memory is allocated: a message of two bytes becomes a struct of a hundred
 * or two hundred bytes.  Networks stay far below the limits.  A file that exceeds one is
 * DYNO_ONNX_ERROR_LIMIT. */

/* Bytes: of the file, which is Protocol Buffers' own limit; and of all tensors together, 64 GiB. */
#define DYNO_ONNX_MAX_BYTES ((guint64) G_MAXINT32)
#define DYNO_ONNX_MAX_DATA  (G_GUINT64_CONSTANT (1) << 36)

#define DYNO_ONNX_MAX_DIMS       16 /* axes of a tensor or a value */
#define DYNO_ONNX_MAX_NODES      1000000
#define DYNO_ONNX_MAX_TENSORS    1000000  /* initialisers, and tensors of attributes */
#define DYNO_ONNX_MAX_VALUES     4000000  /* inputs, outputs and other values with a shape */
#define DYNO_ONNX_MAX_ATTRIBUTES 4000000  /* of all nodes */
#define DYNO_ONNX_MAX_LINKS      16000000 /* inputs and outputs of all nodes */
#define DYNO_ONNX_MAX_NUMBERS \
  16000000 /* in the lists of all attributes, and rows of recurrent layers */
#define DYNO_ONNX_MAX_PAIRS  100000 /* of metadata */
#define DYNO_ONNX_MAX_OPSETS 100    /* searched for each node */

typedef struct {
  const char *domain; /* "": ONNX's own ("ai.onnx") */
  gint64 version;     /* 1 and more */
} DynoOnnxOpset;

typedef struct {
  const char *key, *value;
} DynoOnnxPair;

typedef enum {
  DYNO_ONNX_DATA_NONE,     /* no values: valid only for a shape with a 0 */
  DYNO_ONNX_DATA_RAW,      /* in the file, in the form that dyno_onnx_tensor_read returns */
  DYNO_ONNX_DATA_TYPED,    /* in the file as a list of numbers */
  DYNO_ONNX_DATA_EXTERNAL, /* in another file */
  DYNO_ONNX_DATA_MADE,     /* not in the file: the reader of the file made them */
  DYNO_ONNX_DATA_BLOCKS,   /* parts of another tensor */
} DynoOnnxStorage;

typedef struct _DynoOnnxTensor {
  const char *name; /* may be "" for an attribute's tensor */
  guint type;       /* of elements: DYNO_ONNX_FLOAT, ... */
  guint n_dims;     /* 0: a single element */
  guint64 dims[DYNO_ONNX_MAX_DIMS];
  DynoOnnxStorage storage;

  /* Where the values are; only this layer uses it. */
  const guint8 *data; /* RAW, MADE: the values; TYPED: the tensor's message */
  gsize data_bytes;
  const char *location; /* EXTERNAL: the file, from the folder of the model */
  guint64 offset;
  gint64 length; /* EXTERNAL: of the values in that file; -1: to its end */
  /* BLOCKS: the tensor is the blocks [0, n_blocks) of the source_blocks equal parts of its source,
   * by their positions. */
  const struct _DynoOnnxTensor *source;
  guint source_blocks, n_blocks, blocks[4];
} DynoOnnxTensor;

typedef struct {
  const char *name;
  guint type; /* DYNO_ONNX_IS_FLOAT, ..., by which some of the following members are set */
  float f;
  gint64 i;
  const char *s;
  const DynoOnnxTensor *t;
  guint n; /* of the list; the lists of other types are NULL */
  const float *floats;
  const gint64 *ints;
  const char *const *strings;
} DynoOnnxAttribute;

typedef struct {
  const char *name, *op_type;
  const char *domain;                  /* "": ONNX's own */
  const char *const *inputs;           /* names of values; "": an optional value that is left out */
  const char *const *outputs;          /* the same */
  const DynoOnnxAttribute *attributes; /* of different names */
  guint n_inputs, n_outputs, n_attributes;
} DynoOnnxNode;

typedef struct {
  gint64 value;     /* 0 and more; -1: it is not known */
  const char *name; /* the name of an axis of unknown size, "batch"; "": it has none */
} DynoOnnxDim;

typedef struct {
  const char *name;
  guint type;         /* of elements; 0: not known, or no tensor */
  gboolean has_shape; /* FALSE: not even the number of axes is known */
  guint n_dims;
  const DynoOnnxDim *dims;
} DynoOnnxValue;

typedef struct {
  gint64 ir_version;
  const char *producer, *producer_version, *graph_name;
  const DynoOnnxOpset *opsets; /* of different domains */
  const DynoOnnxPair *metadata;
  /* Each node follows the nodes whose outputs it reads.  The order of the file is kept where it
     meets this. */
  const DynoOnnxNode *nodes;
  const DynoOnnxTensor *initializers; /* of different names */
  /* An input that is also an initialiser has the values of the initialiser as default. */
  const DynoOnnxValue *inputs, *outputs;
  /* types and shapes of intermediate values, where the file has them */
  const DynoOnnxValue *values;
  guint n_opsets, n_metadata, n_nodes, n_initializers, n_inputs, n_outputs, n_values;
} DynoOnnxModel;

typedef enum {
  /* The whole file is read and checked: names are unique (of initialisers, of inputs of the graph,
   * and of outputs of nodes, where an input may be an initialiser), every value that a node or the
   * graph's outputs name has a producer, the graph has no cycle, and every tensor has exactly as
   * many bytes as its shape requires. */
  DYNO_ONNX_READ_ALL,
  /* The same, and each node gets weights of its own.  An Identity of an initialiser, which
   * exporters write for equal weights, becomes an initialiser with the name of its output.  A
   * vector that several nodes read is copied for each of them but the first, as "name@2", unless a
   * node takes a part of it.  The weights of an LSTM or a GRU, of which ONNX has one tensor for all
   * directions with gates in an order of its own, become those of PyTorch's modules, from which
   * nodes compute ONNX's: "lstm.weight_ih_l0" where the file has the module's name.  In a
   * file without weights (dyno_onnx_model_write_network) the inputs after the first are the
   * weights. */
  DYNO_ONNX_READ_NETWORK,
  /* The initialisers, producer and metadata only, for weights.  Nodes and values are not read, so
   * that files with parts that Dyno does not know are read; names may be repeated, and a tensor is
   * checked when it is read. */
  DYNO_ONNX_READ_TENSORS,
} DynoOnnxParts;

/* Reads a model from the bytes of a file, of which it takes a reference; no tensor is copied.
 * folder: the folder of the model, in which external files with the values of tensors lie; NULL:
 * such tensors are refused.
 * Errors: CORRUPT; UNSUPPORTED: graphs and other such things in attributes, functions, sparse
 * tensors, element types (texts, complex numbers, less than a byte); LIMIT; IO: an external file of
 * values. */
DynoOnnxModel *dyno_onnx_model_parse (GBytes *bytes, const char *folder, DynoOnnxParts parts,
                                      GError **error);
/* The same for the file at path and its folder; the file is read into memory as a whole.  Messages
 * begin with its path.  Errors: as above, IO. */
DynoOnnxModel *dyno_onnx_model_open (const char *path, DynoOnnxParts parts, GError **error);

/* The model without weights, as a file: nodes, sizes, and an input for each weight with its shape,
 * after the inputs of the model.  Floats of more than four elements, or of several axes, are
 * weights, unless an operator that makes masks or tables reads them and their names do not end in
 * ".weight" or ".bias", or they are masks, of 0 and one number of -10 or less, or their names are
 * those of buffers in PyTorch's modules; other initialisers stay.  The same network always gives
 * the same names and descriptive texts.  g_bytes_unref.  model: was read with READ_NETWORK. Errors:
 * those of dyno_onnx_tensor_read. */
GBytes *dyno_onnx_model_write_network (const DynoOnnxModel *model, GError **error);
/* TRUE: dyno_onnx_model_write_network wrote the file. */
gboolean dyno_onnx_model_is_network (const DynoOnnxModel *model);

DynoOnnxModel *dyno_onnx_model_ref (DynoOnnxModel *model);
void dyno_onnx_model_unref (DynoOnnxModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoOnnxModel, dyno_onnx_model_unref)

/* The version of a domain's operators ("" for ONNX's own); 0: the file does not import the
 * domain. */
gint64 dyno_onnx_model_get_opset (const DynoOnnxModel *model, const char *domain);
/* NULL: there is none with this name. */
const DynoOnnxTensor *dyno_onnx_model_find_initializer (const DynoOnnxModel *model,
                                                        const char *name);
const DynoOnnxAttribute *dyno_onnx_node_find_attribute (const DynoOnnxNode *node, const char *name);

/* "float16", and bytes of an element; NULL and 0 for types that are not read. */
const char *dyno_onnx_type_get_name (guint type);
gsize dyno_onnx_type_get_bytes (guint type);
/* TRUE: DYNO_ONNX_FLOAT and the like, else integers or booleans. */
gboolean dyno_onnx_type_is_float (guint type);

/* The elements and bytes of a tensor.  FALSE: their number does not fit 64 bits, or their type is
 * not supported. */
gboolean dyno_onnx_tensor_get_size (const DynoOnnxTensor *tensor, guint64 *n_elements,
                                    guint64 *size_bytes);
/* The values of a tensor of the model, little-endian, in C order, exactly as many bytes as its
 * shape requires; they may be unaligned, so memcpy them.  Values that lie in the model's file in
 * this form are not copied; values in external files are read at each call.  g_bytes_unref.
 * Errors: CORRUPT: the values do not fit shape or type; UNSUPPORTED: the type; LIMIT: memory; IO:
 * an external file, which may have changed since the model was read. */
GBytes *dyno_onnx_tensor_read (const DynoOnnxModel *model, const DynoOnnxTensor *tensor,
                               GError **error);

G_END_DECLS
