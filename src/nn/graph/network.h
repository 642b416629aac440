/* SPDX-License-Identifier: MIT */
/* A whole network as a graph: input preparation, model, loss, backward pass, optimizer; built from
 * plain parameters.  build.h takes the graph from there. */
#pragma once
#include "graph.h"
#include "ops.h"
#include "schema.h"

G_BEGIN_DECLS

/* The purpose that a network is built for. */
typedef enum {
  DYNO_MODE_EVALUATE, /* model and loss, with running statistics: needs labels */
  DYNO_MODE_TRAIN,    /* with backward pass and optimizer */
  DYNO_MODE_PREDICT,  /* only the model: no loss, no labels; the logits are the result */
} DynoMode;

typedef enum {
  DYNO_LOSS_CROSS_ENTROPY, /* targets: N int32, or a mask of U8 for each sample */
  DYNO_LOSS_MSE,           /* targets: (N, n_outputs) floats; metric: mean absolute error */
  DYNO_LOSS_SMOOTH_L1,     /* likewise */
  DYNO_LOSS_BCE, /* targets: (N, n_outputs) labels; metrics: labels and whole samples correct */
} DynoLoss;

typedef struct {
  const char *model;  /* as dyno_model_find reads it */
  double model_width; /* scales channels; 0 reads as 1 */
  /* probability of the dropout before the last layer, in training, for models that have dropout */
  double dropout;
  /* probability that a sample skips the last residual block, in training, for models that have
   * stochastic depth */
  double stochastic_depth;
  guint32 batch;
  /* The fields of a batch: an input of axes (H, W, C), (T, F) or (C) is read as (N, H, W, C), (N,
   * 1, T, F) or (N, 1, 1, C).  For a generated batch, the device makes normal noise and random
   * class ids from the step's seed. */
  DynoBatchSchema schema;
  DynoAugmentation augmentation; /* in training */
  guint32 n_outputs;             /* classes or values, > 0 */
  DynoLoss loss;
  /* MSE and smooth L1: standardise targets by mean and deviation, see
   * dyno_program_write_target_scale */
  gboolean standard_targets;
  DynoClassLoss class_loss; /* cross entropy, BCE */
  gboolean class_weights;   /* likewise: in training, see dyno_program_write_class_weights */
  DynoPrecision precision;
  DynoMode mode;
  gboolean checkpointing;
  gboolean no_fusion; /* all fusions off: for tests and comparison */
  DynoOptimizer optimizer;
  double head_lr_factor;      /* factor on the last layer's learning rate; 0 reads as 1 */
  double layer_decay;         /* as in DynoGraphParams */
  gboolean undecayed_vectors; /* as in DynoGraphParams, in evaluation too */
  double average_decay;       /* as in DynoGraphParams; evaluation uses the averages */
  guint ranks;                /* as in DynoGraphParams, in training */
  /* as in DynoGraphParams; interned, since the bytes of this struct are a key */
  const char *freeze;
} DynoNetworkParams;

/* Errors: MODEL, SHAPE. */
DynoGraph *dyno_network_build (const DynoNetworkParams *params, GError **error);

/* The tensor that the host fills with a field of the schema for each step, dense, in space INPUT;
 * NULL where the network does not read it. */
DynoTensor *dyno_network_get_input (DynoGraph *graph, guint field);
DynoTensor *dyno_network_find_input (DynoGraph *graph,
                                     DynoFieldRole role); /* the first field of a role */
/* (N, 1, 1, n_outputs), of a model of pixels (N, H, W, n_outputs); compute type or F32 */
DynoTensor *dyno_network_get_logits (DynoGraph *graph);
/* The tensor that the host reads after an evaluation or a prediction (`keep` is set): the logits;
 * for a model of pixels, in evaluation the counts of dyno_pixel_counts over the batch, and in
 * prediction the class of each pixel, (N, H, W, 1) U8.  NULL: none, in the training of a model of
 * pixels. */
DynoTensor *dyno_network_get_result (DynoGraph *graph);
/* In the evaluation of a model of pixels, also kept for the host: the class of each pixel of the
 * first samples of a batch, (MIN (N, DYNO_MOST_WATCHED), H, W, 1) U8, to show them to the user
 * during training.  NULL: there is none. */
#define DYNO_MOST_WATCHED 4
DynoTensor *dyno_network_get_watched (DynoGraph *graph);

/* Notes (char *) about a network that was read from a file, such as nodes that were left out. */
const GPtrArray *dyno_network_get_notes (DynoGraph *graph);

/* The layer that computes the outputs; FALSE: the model does not end in a linear layer or a
 * convolution. */
gboolean dyno_network_get_head (DynoGraph *graph, DynoHead *head);

/* With standard_targets: mean, then deviation, of each target, as dyno_program_write_target_scale
 * has set them; else NULL. */
const float *dyno_network_get_target_scale (DynoGraph *graph);
/* number of targets that have a mean and a deviation; 0: none */
guint32 dyno_network_get_n_scaled (DynoGraph *graph);

/* The number of classes that have weights in the loss; 0: none. */
guint32 dyno_network_get_n_weighted (DynoGraph *graph);

/* Models. */
typedef struct _DynoModel DynoModel;

typedef struct {
  const DynoModel *model; /* the model that is built */
  guint32 n_outputs;
  double width, dropout, stochastic_depth;
  DynoTensor *lengths; /* of the input's sequences; NULL: there are none */
} DynoModelParams;

struct _DynoModel {
  const char *name;     /* "resnet18" */
  const char *title;    /* "ResNet-18" */
  const char *summary;  /* what the model is and is for, in English; translated where it is shown */
  guint32 min_size;     /* least height and width */
  gboolean has_dropout; /* the dropout of DynoModelParams has an effect */
  gboolean has_stochastic_depth; /* likewise */
  /* For a model that is made for certain values: their number, the name of each (for its metric)
   * and their unit.  0: the model takes the values of the data set. */
  guint32 n_values;
  const char *const *value_names;
  const char *value_unit;
  gboolean reads_lengths; /* steps of a sequence past the sequence's length do not count */
  gboolean of_pixels;     /* a row of logits for each pixel, not one for each sample */
  /* Appends the model from the prepared input (N, H, W, C) to the logits (N, 1, 1, n_outputs), or,
   * with of_pixels, (N, H, W, n_outputs). */
  DynoTensor *(*build) (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params);

  /* Of a network that was read from an ONNX file; 0 or NULL for others. */
  gconstpointer network;           /* DynoOnnxModel */
  gboolean sequences;              /* the input is a sequence */
  guint32 height, width, channels; /* of the input, where the file states them; 0: not stated */
  /* outputs of the file's last layer; 0: no layer's outputs can be changed to the data's number */
  guint32 n_file_outputs;
};

/* Models live as long as the process, and are immutable.  The functions may be called from any
 * thread. */

/* The built-in models, NULL-terminated. */
const DynoModel *const *dyno_model_list (void);
/* A model by its name, or a network by its name ("net@0123456789abcdef") or by the path of its
 * file, which has a slash or ends in .onnx.  NULL reads as "".  Errors: MODEL; the message names
 * the model that was probably meant, and all models. */
const DynoModel *dyno_model_find (const char *name, GError **error);
/* Reads a network from an ONNX file, and keeps it without its weights in the user's folder of
 * networks, where later processes find it by its name.  has_weights, which may be NULL, becomes
 * TRUE where the file holds weights too.
 * Errors: MODEL: the file cannot be read or is corrupt; or operators are not supported, which the
 * message lists. */
const DynoModel *dyno_model_open (const char *path, gboolean *has_weights, GError **error);
/* TRUE: dyno_model_find treats the name as a path. */
gboolean dyno_model_is_path (const char *name);
/* The file of a network without the weights, as a run keeps it; NULL: the model was not read from a
 * file.  Owned by the model. */
GBytes *dyno_model_get_file (const DynoModel *model);
/* Registers a network from a file that dyno_model_get_file has returned; name is the name of the
 * model.  Errors: MODEL. */
const DynoModel *dyno_model_adopt (const char *name, GBytes *file, GError **error);

/* Converts parameters between torchvision's layout (float32, dense) and the layout in memory
 * (packed, pads zero).  torch: n floats, the product of dims.  packed: n_elements floats. */
void dyno_parameter_pack (const DynoParameter *parameter, const float *torch, float *packed);
void dyno_parameter_unpack (const DynoParameter *parameter, const float *packed, float *torch);
/* places: n numbers, the index in memory of each element in torchvision's order */
void dyno_parameter_places (const DynoParameter *parameter, guint32 *places);
guint64 dyno_parameter_count (const DynoParameter *parameter);
/* Start values by the parameter's init, in torchvision's layout; they depend only on (seed,
 * name). */
void dyno_parameter_initialise (const DynoParameter *parameter, guint64 seed, float *torch);

G_END_DECLS
