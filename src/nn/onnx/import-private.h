/* SPDX-License-Identifier: MIT */
/* The import of an ONNX model into a graph: the declarations that the files of this folder share.
 * A row of the table in operators.c names an ONNX operator and the function that reads its nodes;
 * the files hold one family of operators each.
 *
 * A reader takes the node's inputs as values, appends Dyno's ops, and gives each output a value.  A
 * node that cannot be read is refused by dyno_import_refuse, and reading goes on with the nodes
 * that do not depend on it, so that all refusals are reported together.
 *
 * Private to the nn layer.  An import belongs to one thread. */
#pragma once
#include "constant.h"
#include "model.h"
#include "network.h"
#include "ops.h"
#include "axisview.h"

G_BEGIN_DECLS

/* The largest total of constant numbers that the nodes of one import read and make.  Swin with
 * windows of 8 x 8 tokens needs ten million, with windows of 12 x 12 three times as many. */
#define DYNO_IMPORT_MAX_NUMBERS (1 << 26)

/* A value of the ONNX graph: a tensor of Dyno's graph with the view that ONNX has of it; a
 * constant; or a parameter, from which the consumer makes Dyno's parameter. */
typedef struct {
  DynoTensor *tensor; /* NULL: none */
  DynoView view;      /* of tensor */
  DynoConstant *constant;
  const DynoOnnxValue *parameter;
  /* Axes of the parameter as this value has them, after Reshape, Transpose and similar nodes. */
  guint n_dims;
  gint64 dims[DYNO_VIEW_MAX_DIMS];
  gboolean transposed;  /* the two axes of the parameter were exchanged */
  DynoOnnxValue vector; /* description of a parameter that is an initialiser */
  DynoOnnxDim vector_dim;
  /* the SplitToSequence, or the Expand of a tensor, that makes the value, which then has no
   * tensor */
  const DynoOnnxNode *sequence, *repeat;
  gboolean refused; /* its node was refused */
  /* the node that made it; NULL: an input or an initialiser of the graph */
  const DynoOnnxNode *node;
} DynoImportValue;

typedef struct {
  DynoGraph *graph;
  const DynoOnnxModel *model;
  guint32 n_outputs; /* of the head */
  /* batch of the views: the batch of the file's input, where the file states a number */
  guint32 batch;
  /* batch of the view of the shared tensor that was taken last as an input */
  guint32 shared_batch;
  /* gets n_outputs outputs instead of the file's number; NULL: none */
  const DynoOnnxNode *head;
  const DynoOnnxNode *added_head; /* likewise; its outputs are added to the head's */
  GHashTable *values;             /* name to DynoImportValue */
  GHashTable *readers;            /* name of a value to the number of its readers, the output too */
  GHashTable *needed;             /* DynoOnnxNode that the output depends on */
  GHashTable *absorbed;           /* DynoOnnxNode that a pattern includes */
  GHashTable *patterns; /* DynoOnnxNode to DynoImportPattern, the last node of a pattern */
  GHashTable *of_rows;  /* name of a value to the DynoOnnxNode that makes it (weightrows.c) */
  GPtrArray *refusals;  /* char * */
  GPtrArray *notes;     /* char *; NULL: notes are not wanted */
  /* tensors that were copied into another order (materialise.c), and the first node that needed
   * one */
  guint n_copies;
  const DynoOnnxNode *copied;

  guint64 n_numbers; /* constant numbers that were read and made */
} DynoImport;

/* --- the node that is being read (import.c) --------------------------------------------------- */

/* Notes that the node cannot be read, with the reason; returns FALSE. */
gboolean dyno_import_refuse (DynoImport *import, const DynoOnnxNode *node, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
void dyno_import_note (DynoImport *import, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* TRUE: the graph has a parameter of that name. */
gboolean dyno_import_has_parameter (const DynoImport *import, const char *name);

/* Input i; NULL: it is left out. */
DynoImportValue *dyno_import_input (DynoImport *import, const DynoOnnxNode *node, guint i);
/* TRUE: input i is a constant, of which an operator makes a constant again (dyno_import_fold). */
gboolean dyno_import_is_constant (DynoImport *import, const DynoOnnxNode *node, guint i);
/* NULL: no value has the name. */
DynoImportValue *dyno_import_find_value (DynoImport *import, const char *name);
/* Input i as a tensor; NULL: there is none, and the node was refused.  A parameter or a constant
 * becomes a tensor of one sample, which all samples share.  A run of channels that was sliced off
 * is copied to a tensor of its own. */
DynoImportValue *dyno_import_tensor (DynoImport *import, const DynoOnnxNode *node, guint i);
/* The same for readers that only change the view: a run of channels is not copied. */
DynoImportValue *dyno_import_viewed (DynoImport *import, const DynoOnnxNode *node, guint i);
/* Copies such a run of channels to a tensor of its own; FALSE: the graph has failed. */
gboolean dyno_import_settle (DynoImport *import, DynoImportValue *value);
/* Input i as a tensor in one of the forms (dyno_view_is; NULL-terminated), whose index is *form:
 * the first form that the view has, else the first form that a copy of the tensor can have. */
DynoImportValue *dyno_import_tensor_as (DynoImport *import, const DynoOnnxNode *node, guint i,
                                        const char *const *forms, guint *form);
/* Input i as a parameter of n_dims axes, whose extents are copied to dims; FALSE: it is not such a
 * parameter, another node uses it, or its axes were transposed, and the node was refused. */
gboolean dyno_import_parameter (DynoImport *import, const DynoOnnxNode *node, guint i, guint n_dims,
                                guint32 *dims);
/* The same for a matrix; *transposed: its two axes are exchanged in the file. */
gboolean dyno_import_matrix (DynoImport *import, const DynoOnnxNode *node, guint i, guint32 *dims,
                             gboolean *transposed);
/* TRUE: input i is a parameter and not also a constant, as in a file without weights. */
gboolean dyno_import_is_parameter (DynoImport *import, const DynoOnnxNode *node, guint i);
/* Gives output 0 the parameter of input i with other axes. */
gboolean dyno_import_output_parameter (DynoImport *import, const DynoOnnxNode *node, guint i,
                                       const gint64 *dims, guint n_dims, gboolean transposed);

/* Attributes; `otherwise` if the node has no attribute of that name and type. */
gint64 dyno_import_int (const DynoOnnxNode *node, const char *name, gint64 otherwise);
/* The attribute `axis`, counted from the front; FALSE: it is out of range, and the node was
 * refused. */
gboolean dyno_import_axis (DynoImport *import, const DynoOnnxNode *node, guint n_dims,
                           gint64 otherwise, guint *axis);
double dyno_import_float (const DynoOnnxNode *node, const char *name, double otherwise);
const char *dyno_import_text (const DynoOnnxNode *node, const char *name, const char *otherwise);
/* The list, n numbers; NULL: there is none. */
const gint64 *dyno_import_ints (const DynoOnnxNode *node, const char *name, guint *n);
/* The constant of input i, or, where the node has fewer inputs, of the attribute; NULL: there is
 * none.  Owned by the import. */
const DynoConstant *dyno_import_numbers (DynoImport *import, const DynoOnnxNode *node, guint i,
                                         const char *attribute);

/* Sets output k.  view NULL: the view of the tensor in the form.  A NULL tensor means that the
 * graph has failed.  Returns TRUE. */
gboolean dyno_import_output (DynoImport *import, const DynoOnnxNode *node, guint k,
                             DynoTensor *tensor, const DynoView *view, const char *form);
gboolean dyno_import_output_constant (DynoImport *import, const DynoOnnxNode *node,
                                      DynoConstant *constant);
/* Sets output k to the elements [begin, end) of an axis of x (runs.c). */
gboolean dyno_import_append_run (DynoImport *import, const DynoOnnxNode *node, guint k,
                                 DynoImportValue *x, guint axis, guint64 begin, guint64 end);
/* The view with another number of channels, at an axis that is all of the channels. */
DynoView dyno_import_view_of_channels (const DynoImportValue *value, guint axis, guint32 channels);

gboolean dyno_import_output_constant_at (DynoImport *import, const DynoOnnxNode *node, guint k,
                                         DynoConstant *constant);
/* Mark output 0 as the sequence that the node makes, or as the repeated tensor, which a Mul may
 * read. */
gboolean dyno_import_output_sequence (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_output_repeat (DynoImport *import, const DynoOnnxNode *node);
/* Counts constant numbers; FALSE: the total exceeds DYNO_IMPORT_MAX_NUMBERS, and the node was
 * refused. */
gboolean dyno_import_count_numbers (DynoImport *import, const DynoOnnxNode *node, guint64 n);
/* Gives output 0 the value of input i. */
gboolean dyno_import_pass (DynoImport *import, const DynoOnnxNode *node, guint i);
/* TRUE: output 0 is the network's output. */
gboolean dyno_import_is_last (const DynoImport *import, const DynoOnnxNode *node);

/* --- windows (window.c) ----------------------------------------------------------------------- */

/* A window that slides over an image, height first; over a sequence the height has a window of
 * 1. */
typedef struct {
  guint n; /* axes in the file: 1 or 2 */
  guint32 kernel[2], stride[2], dilation[2], before[2], after[2];
} DynoImportWindow;

/* Reads the node's window over x; n is set.  kernel: the kernel of a weight, n numbers; NULL: the
 * kernel is an attribute. */
gboolean dyno_import_window (DynoImport *import, const DynoOnnxNode *node, const DynoTensor *x,
                             const guint32 *kernel, DynoImportWindow *w);
/* The same for a ConvTranspose over an image, whose pads are cut off the result; more: its
 * output_padding. */
gboolean dyno_import_transposed_window (DynoImport *import, const DynoOnnxNode *node,
                                        const DynoTensor *x, const guint32 kernel[2],
                                        DynoImportWindow *w, guint32 more[2]);

/* --- names ------------------------------------------------------------------------------------ */

/* The node's name, or the name of its first output; "": it has neither. */
const char *dyno_import_shown_name (const DynoOnnxNode *node);
/* The name of the op that a node becomes: where parameter i is named "module.weight", as PyTorch
 * names it, and no other op has parameters of that module's name, the module's name; else the
 * node's name; g_free. */
char *dyno_import_name (DynoImport *import, const DynoOnnxNode *node, guint i);
/* Gives the graph's parameters from index `first` on the names and shapes of inputs i, i + 1, ...
 * of the node, which dyno_import_parameter has checked. */
void dyno_import_name_parameters (DynoImport *import, const DynoOnnxNode *node, guint first,
                                  guint i);
/* The same for one parameter, which has this index in the graph. */
void dyno_import_name_parameter (DynoImport *import, const DynoOnnxNode *node, guint index,
                                 guint i);

/* --- patterns (patterns.c) -------------------------------------------------------------------- */

#define DYNO_IMPORT_MAX_FACTORS 4
#define DYNO_IMPORT_MAX_INSIDE  12 /* nodes of a pattern besides the last */

/* Several nodes that one op of Dyno replaces. */
typedef struct _DynoImportPattern DynoImportPattern;
struct _DynoImportPattern {
  const char *input;         /* the value that the pattern begins with */
  DynoActivation activation; /* for a pattern that is an activation */
  /* for a layer: the nodes that have its weight and its bias */
  const DynoOnnxNode *weight_node, *bias_node;
  guint weight, bias; /* the indices of the inputs of these nodes */
  double eps;
  /* for an attention: names of its keys and values, and of the factors of its scores; for tokens:
   * names of the class token and of the positions */
  const char *keys, *values;
  struct {
    const char *name;
    gboolean divides;
  } factors[DYNO_IMPORT_MAX_FACTORS];
  guint n_factors;
  /* the value that is added to the scores; where it is not one number for all scores, the nodes are
   * read one by one.  NULL: nothing is added */
  const char *mask;
  const DynoOnnxNode *inside[DYNO_IMPORT_MAX_INSIDE]; /* the nodes besides the last */
  guint n_inside;
  gint64 axis;         /* axis of an attention's softmax */
  gboolean keeps_runs; /* x may be a run of channels that was sliced off */
  double probability;  /* of a dropout */
  /* Sets the output of the pattern's last node; x: the value of input. */
  gboolean (*read) (DynoImport *import, const DynoOnnxNode *node, const DynoImportPattern *pattern,
                    DynoImportValue *x);
};

gboolean dyno_import_biased_matmul (DynoImport *import, const DynoOnnxNode *node,
                                    const DynoImportPattern *pattern, DynoImportValue *x);
gboolean dyno_import_layer_norm_pattern (DynoImport *import, const DynoOnnxNode *node,
                                         const DynoImportPattern *pattern, DynoImportValue *x);
gboolean dyno_import_attention (DynoImport *import, const DynoOnnxNode *node,
                                const DynoImportPattern *pattern, DynoImportValue *q);
gboolean dyno_import_tokens (DynoImport *import, const DynoOnnxNode *node,
                             const DynoImportPattern *pattern, DynoImportValue *x);
gboolean dyno_import_starts_with_tokens (DynoImport *import, const DynoOnnxNode *node);
/* A Concat of such tokens and a tensor. */
gboolean dyno_import_class_token (DynoImport *import, const DynoOnnxNode *node);
/* TRUE: the parameter has a value for each element of a sample of x. */
gboolean dyno_import_are_positions (const DynoImportValue *parameter, const DynoImportValue *x);
/* An Add of x and of such positions, which are its input `parameter`. */
gboolean dyno_import_positions (DynoImport *import, const DynoOnnxNode *node, guint parameter,
                                DynoImportValue *x);

/* Finds the patterns of the model: fills `patterns` and `absorbed`. */
void dyno_import_find_patterns (DynoImport *import);
/* The same for random masks, after the other patterns (patterns-depth.c). */
void dyno_import_find_depth (DynoImport *import);

/* --- LSTM and GRU (rnn.c, weightrows.c) ------------------------------------------------------- */

/* Finds the LSTM and GRU nodes, as patterns, and the nodes that compute their weights. */
void dyno_import_find_recurrent (DynoImport *import);

/* A row of a matrix (rows, columns), or an element of a vector. */
typedef struct {
  const DynoOnnxValue *parameter;
  guint32 row;
} DynoWeightRow;

/* The rows of a value that nodes compute from parameters. */
typedef struct {
  guint n_dims;
  gint64 dims[DYNO_VIEW_MAX_DIMS]; /* without the columns */
  gint64 columns;                  /* 0: rows of vectors */
  GArray *list;                    /* DynoWeightRow, the last axis fastest */
} DynoWeightRows;

void dyno_weight_rows_clear (DynoWeightRows *rows);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoWeightRows, dyno_weight_rows_clear)

/* Marks the nodes that compute input i of an LSTM or GRU from parameters as absorbed.  producers:
 * name of a value to the node that makes it. */
void dyno_import_absorb_rows (DynoImport *import, GHashTable *producers, const DynoOnnxNode *node,
                              guint i);
/* The rows of input i, of matrices or of vectors, for dyno_weight_rows_clear.  FALSE: the input has
 * none. */
gboolean dyno_import_get_rows (DynoImport *import, const DynoOnnxNode *node, guint i,
                               gboolean matrix, DynoWeightRows *rows);

/* --- values in another order (materialise.c) -------------------------------------------------- */

/* TRUE: axis `axis` of the value is all of its channels. */
gboolean dyno_import_is_channels (const DynoImportValue *x, guint axis);
/* The following functions return x itself if it has the wanted layout, else a copy for the node,
 * which the import owns; NULL: there is no such copy, since the batch would not be outermost or the
 * permutation would have too many parts.
 *
 * x in the form */
DynoImportValue *dyno_import_as_form (DynoImport *import, const DynoOnnxNode *node,
                                      DynoImportValue *x, const char *form);
/* x with the axis as all of its channels */
DynoImportValue *dyno_import_with_channels (DynoImport *import, const DynoOnnxNode *node,
                                            DynoImportValue *x, guint axis);
/* x with the axis `steps` as the width and the last axis, `dim`, as the channels of a head: the
 * parts of the other axes that are channels become the heads, and their other parts the height */
DynoImportValue *dyno_import_as_groups (DynoImport *import, const DynoOnnxNode *node,
                                        DynoImportValue *x, guint steps, guint dim);
/* x in the layout of a view, which has the same extents, over a tensor of that shape */
DynoImportValue *dyno_import_laid_out_as (DynoImport *import, const DynoOnnxNode *node,
                                          DynoImportValue *x, const DynoTensor *shape,
                                          const DynoView *view);
/* x with its elements in the order of its view, and the view of the copy with the axes `dims` */
DynoImportValue *dyno_import_copy_in_order (DynoImport *import, const DynoOnnxNode *node,
                                            DynoImportValue *x, const gint64 *dims, guint n_dims,
                                            DynoView *view);
/* Adds a note with the number of copies. */
void dyno_import_note_copies (DynoImport *import);

/* --- parameters, constants and picked elements as tensors (gather.c) -------------------------- */

/* Input i, a parameter, as a tensor (1, h, w, c) with a view of the axes that the value has and of
 * batch 1; it is made once for each parameter and axes.  NULL: it is no such parameter, or a node
 * with a parameter of its own has it, and the node was refused; or the graph has failed. */
DynoImportValue *dyno_import_parameter_tensor (DynoImport *import, const DynoOnnxNode *node,
                                               guint i);
/* The same for a constant, which is fp32 in the space CONSTANT whatever the precision is. */
DynoImportValue *dyno_import_constant_tensor (DynoImport *import, const DynoOnnxNode *node,
                                              guint i);
/* --- products and sums (contract.c, products.c) ----------------------------------------------- */

#define DYNO_IMPORT_NO_LABEL G_MAXUINT /* of an axis of one element */

typedef enum {
  DYNO_IMPORT_NATURAL, /* the last axis as the channels, the one before as the width */
  /* an operand's layout, where axes that it lacks take the place of the one that is summed; natural
   * where there is no such layout */
  DYNO_IMPORT_LIKE_A,
  DYNO_IMPORT_LIKE_B,
} DynoImportLike;

typedef struct {
  DynoImportLike like;
  double scale;         /* factor of the sums; 0 reads as 1 */
  const guint64 *dims;  /* of the result; NULL: those of the operands */
  guint32 samples;      /* of the result; 0: those of the operands */
  gboolean layout_only; /* b gives the layout and is no factor */
} DynoImportContraction;

/* The contraction (dyno_contract) of a and b, or of a alone: each axis has a label below
 * 2 DYNO_VIEW_MAX_DIMS; axes of equal labels have equal extents, or 1, and labels that the result
 * lacks are summed.  *view gets the view of the result.  NULL: it does not fit the views, or the
 * graph has failed. */
DynoTensor *dyno_import_append_contraction (DynoImport *import, const char *name,
                                            DynoImportValue *a, const guint *labels_a,
                                            DynoImportValue *b, const guint *labels_b,
                                            const guint *labels, guint n_labels,
                                            const DynoImportContraction *options, DynoView *view);
/* Input i as a tensor, which for a parameter or a constant has one sample; NULL: the node was
 * refused. */
DynoImportValue *dyno_import_operand (DynoImport *import, const DynoOnnxNode *node, guint i);
/* The same, in the type of activations. */
DynoImportValue *dyno_import_stored (DynoImport *import, const DynoOnnxNode *node, guint i);
/* x with all samples of the graph, where it is one that all samples share; NULL: the graph has
 * failed. */
DynoImportValue *dyno_import_spread (DynoImport *import, const DynoOnnxNode *node,
                                     DynoImportValue *x);
/* TRUE: no other node reads input i, nor the parameter that it is. */
gboolean dyno_import_is_read_once (DynoImport *import, const DynoOnnxNode *node, guint i);
/* The readers of nodes whose operands the ops for channels, layers and attention do not take. */
gboolean dyno_import_product (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_broadcast_mul (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_broadcast_add (DynoImport *import, const DynoOnnxNode *node, double sign);
gboolean dyno_import_broadcast_div (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_reduce_axes (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_reduce_sum (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_repeat (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_scatter (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_tile (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_einsum (DynoImport *import, const DynoOnnxNode *node);
/* Attention of any axes: products, a softmax, products.  keys has its values before its steps. */
gboolean dyno_import_general_attention (DynoImport *import, const DynoOnnxNode *node, double scale,
                                        DynoImportValue *q, DynoImportValue *keys,
                                        DynoImportValue *v);

/* The elements of an axis that are picked: n indices, of which a negative one gives 0; at NULL: the
 * whole axis. */
typedef struct {
  const gint64 *at;
  guint32 n;
} DynoImportPick;

/* TRUE: the elements of x, a tensor or a parameter, can be picked by one pick for each of its axes:
 * samples stay, and the batch is outermost in its axis. */
gboolean dyno_import_can_pick (const DynoImportValue *x, const DynoImportPick *picks);
/* Sets output k to the picked elements; dims: the axes that the output then has, NULL: those of
 * x. */
gboolean dyno_import_pick (DynoImport *import, const DynoOnnxNode *node, guint k,
                           const DynoImportValue *x, const DynoImportPick *picks,
                           const gint64 *dims, guint n_dims);
/* Where the view of a tensor lacks elements of the tensor, copies the others to a tensor of their
 * own; FALSE: the node that made x was refused, or the graph has failed. */
gboolean dyno_import_cover (DynoImport *import, DynoImportValue *x);
/* A Gather: picks the elements of an axis of x by an index, whose axes replace that axis. */
gboolean dyno_import_gather_axis (DynoImport *import, const DynoOnnxNode *node,
                                  const DynoImportValue *x, guint axis, const DynoConstant *index);

/* --- rows ------------------------------------------------------------------------------------- */

typedef gboolean (*DynoImportRead) (DynoImport *import, const DynoOnnxNode *node);

typedef struct {
  const char *op_type;
  DynoImportRead read;
} DynoImportRow;

/* NULL: the operator is not supported. */
const DynoImportRow *dyno_import_find_row (const DynoOnnxNode *node);

gboolean dyno_import_conv (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_conv_transpose (DynoImport *import, const DynoOnnxNode *node);
/* TRUE: input 2 of a convolution is a bias that is trained. */
gboolean dyno_import_takes_bias (DynoImport *import, const DynoOnnxNode *node);
/* TRUE: a convolution has a constant kernel that dyno_import_blur reads. */
gboolean dyno_import_is_blur (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_blur (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_gemm (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_matmul (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_batch_norm (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_layer_norm (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_group_norm (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_instance_norm (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_recurrent (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_activation (DynoImport *import, const DynoOnnxNode *node);
/* Activations that are folded where their input is a constant. */
gboolean dyno_import_function (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_pow (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_leaky_relu (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_elu (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_gelu (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_hard_sigmoid (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_selu (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_celu (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_prelu (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_clip (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_bound (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_softmax (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_dropout (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_pad (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_resize (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_max_pool (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_average_pool (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_global_pool (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_reduce (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_add (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_sum (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_sub (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_mul (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_div (DynoImport *import, const DynoOnnxNode *node);
/* TRUE: one input is a number, or a constant of equal numbers, and the other one is a tensor. */
gboolean dyno_import_has_number (DynoImport *import, const DynoOnnxNode *node);
/* TRUE: input i is such a constant, which broadcasts to the view of a tensor. */
gboolean dyno_import_number (DynoImport *import, const DynoOnnxNode *node, guint i,
                             const DynoView *view, double *number);
/* Add, Sub and Mul of such inputs. */
gboolean dyno_import_by_number (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_neg (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_concat (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_split (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_split_to_sequence (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_sequence_at (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_slice (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_gather (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_gather_nd (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_identity (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_cast (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_expand (DynoImport *import, const DynoOnnxNode *node);
/* TRUE: an Expand to the shape leaves the tensor unchanged. */
gboolean dyno_import_keeps_shape (const DynoImportValue *x, const DynoConstant *shape);
gboolean dyno_import_flatten (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_reshape (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_squeeze (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_unsqueeze (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_transpose (DynoImport *import, const DynoOnnxNode *node);
/* Operators over constants, such as shapes. */
gboolean dyno_import_shape (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_size (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_constant (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_import_fold (DynoImport *import, const DynoOnnxNode *node);

/* --- the whole -------------------------------------------------------------------------------- */

/* Builds the model's graph on x (N, H, W, C) up to the logits (N, 1, 1, n_outputs), or, with
 * of_pixels, (N, H, W, n_outputs), which are returned; NULL: the graph has failed (MODEL, with all
 * refusals, or SHAPE). */
DynoTensor *dyno_import_build (DynoGraph *graph, DynoTensor *x, const DynoOnnxModel *model,
                               guint32 n_outputs, gboolean of_pixels, GPtrArray *notes);
/* TRUE: the output is a row of numbers for each pixel of the input. */
gboolean dyno_import_is_of_pixels (const DynoOnnxModel *model);
/* The layer that gets the number of outputs of the data. NULL: the model does not end in a layer
 * that can be replaced.  *added: a second layer before it, whose outputs are added to its own; or
 * NULL.  *is_linear: the outputs of the model, except for a softmax, are the layer's outputs, or
 * weighted means or maxima of them. */
const DynoOnnxNode *dyno_import_find_head (const DynoOnnxModel *model, const DynoOnnxNode **added,
                                           gboolean *is_linear);
/* TRUE: the output is the node's output, possibly with other axes or of another type. */
gboolean dyno_import_ends_network (const DynoOnnxModel *model, const DynoOnnxNode *node);
/* Sets the head of the graph, after its layers have been read. */
void dyno_import_note_head (DynoImport *import, gboolean is_linear);
/* The number of outputs of the head; 0: the model does not end in a layer that can be replaced. */
guint32 dyno_import_count_outputs (const DynoOnnxModel *model);
/* The operators of the model that are not supported, "3 GridSample (first: “/warp/GridSample”)";
 * g_free.  NULL: there are none. */
char *dyno_import_list_unknown (const DynoOnnxModel *model);

G_END_DECLS
