/* SPDX-License-Identifier: MIT */
/* The graph: tensors and the ops between them, built once for one (model, batch, precision,
 * settings).
 *
 * Life of a graph: the builders of ops.h append forward nodes -> fusions/fusion.h rewrites them ->
 * dyno_graph_backward appends backward nodes -> the optimizer's nodes -> lowering.h turns every
 * node into dispatches -> plan.h gives every tensor an offset -> program.h records.  All but the
 * last run without a device.
 *
 * Invariants:
 * - Layout is NHWC, channels padded to a multiple of 8 (`cp`); the pad lanes of activations and
 *   gradients are zero, always: every op that writes a tensor writes its pad lanes as zero.
 * - Nodes run in list order; every tensor that a node reads was written by an earlier node.  An op
 *   may overlap with its neighbours only where their declared reads and writes allow.
 * - Parameter gradients accumulate (+=) and are cleared by the optimizer; activations overwrite;
 *   the gradient of an activation is overwritten by its first contributor and accumulated by the
 *   later ones (dyno_graph_gradient_target).
 * - Precision is the graph's DynoPrecision: no op looks at its name; each op reads the member that
 *   concerns it.
 * - The first error sticks to the graph (dyno_graph_fail); builders given NULL return NULL, so that
 *   a model is written without checks, and the error is checked once at the end.
 * A graph belongs to one thread while it is built and is immutable afterwards. */
#pragma once
#include "mix.h"
#include "nn-error.h"
#include "optimizers.h"

G_BEGIN_DECLS

typedef struct _DynoGraph DynoGraph;
typedef struct _DynoNode DynoNode;
typedef struct _DynoTensor DynoTensor;
typedef struct _DynoParameter DynoParameter;
typedef struct _DynoOpClass DynoOpClass;

typedef enum {
  DYNO_DTYPE_F32,
  DYNO_DTYPE_F16,
  DYNO_DTYPE_U8,
  DYNO_DTYPE_I32,
} DynoDtype;

static inline guint32
dyno_dtype_size (DynoDtype dtype)
{
  return dtype == DYNO_DTYPE_U8 ? 1 : dtype == DYNO_DTYPE_F16 ? 2 : 4;
}
const char *dyno_dtype_name (DynoDtype dtype); /* "f32", "f16", as in keys and prints */

/* Where a tensor lies.  Every space is one buffer, except that ARENA may consist of several
 * (plan.h); INPUT, STEP_IN and STEP_OUT exist once per slot (a step in flight). */
typedef enum {
  /* parameters, fp32, flat: element offset e is the same in MASTER, HALF, GRADIENT, MOMENT1,
   * MOMENT2; GRADIENT and the moments hold only the trained parameters; the frozen parameters
   * follow the trained ones in MASTER and HALF */
  DYNO_SPACE_MASTER,
  DYNO_SPACE_HALF,     /* fp16 copy of MASTER (AMP), then the fp16 copy of the averages */
  DYNO_SPACE_GRADIENT, /* gradients of the parameters, fp32 */
  DYNO_SPACE_MOMENT1,  /* momentum / first moment, fp32 */
  DYNO_SPACE_MOMENT2,  /* second moment, fp32; for optimizers that have one */
  /* running statistics, fp32; with an optimizer, a second copy follows, from which a skipped step
   * restores them */
  DYNO_SPACE_STATE,
  /* moving averages of the trained parameters, then of the running statistics, fp32 */
  DYNO_SPACE_AVERAGE,
  /* struct DynoScalerState of shared/step.h, then the mean and deviation of standardised targets or
   * the class weights, then the factors on the learning rate */
  DYNO_SPACE_SCALER,
  DYNO_SPACE_ARENA, /* activations, their gradients and the scratch of nodes, aliased by liveness */
  DYNO_SPACE_INPUT, /* the fields of a batch, as the host writes them */
  DYNO_SPACE_STEP_IN,  /* struct DynoStepInput */
  DYNO_SPACE_STEP_OUT, /* struct DynoStepOutput */
  DYNO_SPACE_CONSTANT, /* dyno_graph_constant */
  DYNO_SPACE_N
} DynoSpace;

struct _DynoTensor {
  guint id; /* index in the graph */
  char *name;
  DynoDtype dtype;
  DynoSpace space;
  /* logical shape; matrices are (n, 1, 1, c), flat memory is (1, 1, 1, count) */
  guint32 n, h, w, c;
  /* channels in memory: c rounded up to 8 for activations and parameters; = c where dense */
  guint32 cp;
  guint64 size_bytes; /* n * h * w * cp * dtype size, or the size that the op requested */
  /* offset in its space: set at once for parameters and state, by the plan for other tensors */
  guint64 offset;
  gboolean needs_gradient;
  gboolean keep;        /* the host reads its value after the run: it lives to the last dispatch */
  DynoTensor *gradient; /* of an activation, after a contributor has asked for it */
  DynoNode *producer;   /* NULL for inputs, parameters, state */
  DynoParameter *parameter; /* of MASTER, HALF and GRADIENT tensors */
};

/* The layout of a parameter in memory, compared with torchvision's array.  The array has up to four
 * axes; memory has the same axes in another order, and some axes are padded with zeros. */
#define DYNO_LAYOUT_N_AXES 4

typedef struct {
  /* torchvision's axes; the last axis covers all the remaining extents, as for a linear layer that
   * reads a flattened (C, H, W) */
  guint n_dims;
  guint32 extent[DYNO_LAYOUT_N_AXES]; /* slowest first; 1 where there are fewer */
  guint32 padded[DYNO_LAYOUT_N_AXES]; /* extent of each axis in memory, >= extent */
  guint8 order[DYNO_LAYOUT_N_AXES];   /* axes in the order of memory, slowest first */
  /* With groups, axis 1 holds the inputs of `merged` neighbouring groups one after the other, and
   * an output has zeros at the inputs of the other groups; 0: there are no groups. */
  guint32 merged, group_outputs;
  /* a bias, a parameter of a normalisation, or a transformer's class token or positions, which
   * weight decay may leave out (undecayed_vectors) */
  gboolean is_vector;
} DynoParameterLayout;

/* [cp] <- [c] */
DynoParameterLayout dyno_layout_vector (guint32 c);
/* [kh][kw][in_p][out_p] <- [out][in][kh][kw] */
DynoParameterLayout dyno_layout_conv (guint32 out, guint32 in, guint32 kernel_h, guint32 kernel_w);
/* [h][w][c_p][out_p] <- [out][c * h * w], for rows that are a flattened (H, W, C); h = w = 1 for a
 * plain linear layer */
DynoParameterLayout dyno_layout_linear (guint32 out, guint32 h, guint32 w, guint32 c);

typedef enum {
  DYNO_INIT_ZERO,
  DYNO_INIT_ONE,
  /* a = sqrt(5): U(-1/sqrt(fan_in), 1/sqrt(fan_in)): PyTorch's default of conv and linear weights
   * and biases */
  DYNO_INIT_KAIMING_UNIFORM,
  /* N(0, sqrt(2 / fan_out)): torchvision's ResNet and MobileNet convolutions */
  DYNO_INIT_KAIMING_NORMAL_OUT,
  DYNO_INIT_KAIMING_NORMAL_IN, /* N(0, sqrt(2 / fan_in)): torchvision's DenseNet */
  DYNO_INIT_NORMAL_001,        /* N(0, 0.01): MobileNetV2's classifier */
  DYNO_INIT_NORMAL_002,        /* N(0, 0.02): timm's vision transformers */
  DYNO_INIT_QUARTER,           /* 0.25: PyTorch's PReLU */
  DYNO_INIT_MILLIONTH,         /* 1e-6: ConvNeXt's layer scale */
} DynoInit;

struct _DynoParameter {
  guint index;
  char *name; /* torchvision's: "layer1.0.conv1.weight" */
  DynoParameterLayout layout;
  guint32 dims[4]; /* torchvision's shape: conv O, I, KH, KW; linear O, I; vector C */
  guint n_dims;
  DynoInit init;
  guint32 fan_in, fan_out; /* from dims; a bias' fan_in is set by its op to the weight's */
  guint64 element_offset;  /* in MASTER, HALF, GRADIENT, MOMENTs; a multiple of 64 */
  guint64 n_elements;      /* in memory, pads included */
  guint layer;             /* for the decay of the learning rate by layers (layerrates.h) */
  gboolean is_state;       /* running statistic: lies in STATE at element_offset, has no gradient */
  /* under one of the graph's frozen prefixes: has no gradient, and lies after the trained
   * parameters */
  gboolean is_frozen;
  DynoTensor *master;   /* F32; for a state, the state's tensor */
  DynoTensor *compute;  /* read by matrix ops: F16 copy with AMP, else master */
  DynoTensor *gradient; /* F32; NULL for state, where frozen, and in an evaluation graph */
};

typedef enum {
  DYNO_STAGE_FORWARD,
  DYNO_STAGE_BACKWARD,
  DYNO_STAGE_OPTIMIZER,
  DYNO_N_STAGES
} DynoStage;

struct _DynoNode {
  const DynoOpClass *op;
  char *name; /* "layer1.0.conv1", "layer1.0.conv1.dgrad" */
  DynoStage stage;
  /* each index is a role, which the head of the op's file names */
  DynoTensor **inputs, **outputs;
  guint n_inputs, n_outputs;
  gpointer attributes; /* the op's own struct, g_free'd with the node */
};

/* The types in which numbers are stored and computed: a row of the table in precision.c; all zero
 * is fp32. */
typedef struct {
  const char *name;  /* "fp32", "amp" */
  DynoDtype storage; /* of activations, their gradients and the weights of matrix ops */
  DynoDtype compute; /* type of the factors of products */
  /* type in which products are summed up; also of batch norm's parameters, statistics, losses,
   * gradients of parameters and master weights */
  DynoDtype accumulate;
  gboolean loss_scaling; /* the loss scale follows the gradients' overflows */
} DynoPrecision;

/* The row for the setting `amp`. */
DynoPrecision dyno_precision_of_amp (gboolean amp);

typedef struct {
  guint32 batch;
  DynoPrecision precision;
  gboolean training; /* FALSE: evaluation: running statistics, no gradients, no dropout */
  /* drop outputs after the forward pass and compute them again in the backward pass, where this
   * saves memory (rematerialise.c) */
  gboolean checkpointing;
  DynoOptimizer optimizer;
  /* Prefixes of names, separated by commas: the parameters under them are frozen.  NULL: none.  The
   * graph keeps a copy of the string. */
  const char *freeze;
  /* factor on the learning rate of the head (dyno_graph_set_head); 0 reads as 1 */
  double head_lr_factor;
  /* factor on the learning rate of each layer over that of the layer after it (layerrates.h), 0 to
   * 1; 0 reads as 1 */
  double layer_decay;
  /* Weight decay leaves out vectors (biases and the parameters of normalisations), and the class
   * token and positions of a transformer.  These parameters are contiguous in the flat memory. */
  gboolean undecayed_vectors;
  /* Decay of the exponential moving averages of the trained parameters and of the running
   * statistics.  Training keeps the averages, and evaluation reads them in place of the values; 0:
   * there are no averages. */
  double average_decay;
  /* Number of processes, each with its own graph, whose running statistics are averaged after each
   * update (0 reads as 1): in one step each graph moves its statistics as far as this number of
   * successive batches would. */
  guint ranks;
} DynoGraphParams;

DynoGraph *dyno_graph_new (const DynoGraphParams *params);
void dyno_graph_free (DynoGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoGraph, dyno_graph_free)

const DynoGraphParams *dyno_graph_get_params (DynoGraph *graph);
DynoDtype dyno_graph_get_storage (DynoGraph *graph); /* of activations */

/* The lists, in order; their elements DynoNode*, DynoTensor*, DynoParameter* are owned by the
 * graph. */
GPtrArray *dyno_graph_get_nodes (DynoGraph *graph);
GPtrArray *dyno_graph_get_tensors (DynoGraph *graph);
/* in torchvision's order, including states */
GPtrArray *dyno_graph_get_parameters (DynoGraph *graph);

/* For ops/ and models/. ------------------------------------------------------------------------ */

/* Keeps the first error; always returns NULL, so that `return dyno_graph_fail (...)` works. */
gpointer dyno_graph_fail (DynoGraph *graph, DynoNnError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* FALSE and the first error, if there was one */
gboolean dyno_graph_check (DynoGraph *graph, GError **error);

/* A tensor of shape (n, h, w, c) in a space, pads counted; sizes are checked, NULL on overflow
 * (graph failed). */
DynoTensor *dyno_graph_tensor (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space,
                               guint32 n, guint32 h, guint32 w, guint32 c, guint32 cp);
/* The usual tensor: storage type, ARENA, cp = c rounded up to 8. */
DynoTensor *dyno_graph_activation (DynoGraph *graph, const char *name, guint32 n, guint32 h,
                                   guint32 w, guint32 c);

/* A tensor (1, h, w, c) of numbers that the graph is built with, F32 with cp = c rounded up to 8,
 * or I32 with cp = c.  values: h * w * c of them, which are copied; tensors of equal values share
 * their memory.  The programs of one memory write the same constants: their graphs are built in the
 * same way.  NULL: the graph failed. */
DynoTensor *dyno_graph_constant (DynoGraph *graph, const char *name, DynoDtype dtype, guint32 h,
                                 guint32 w, guint32 c, gconstpointer values);

/* The values of such a tensor as they lie in memory; owned by the graph, valid until it gets a
 * further constant. */
gconstpointer dyno_graph_get_constant (const DynoGraph *graph, const DynoTensor *tensor);

/* TRUE: the tensor is made from parameters and constants alone, so that it has one sample, which
 * all samples of a batch share. */
gboolean dyno_tensor_is_shared (const DynoTensor *tensor);

/* A parameter (or, with is_state, a running statistic) and its tensors. */
DynoParameter *dyno_graph_parameter (DynoGraph *graph, const char *name,
                                     const DynoParameterLayout *layout, DynoInit init,
                                     gboolean is_state);

/* Places the parameters, after all of them exist: the frozen parameters follow the others, so that
 * gradients and moments cover only the trained ones; in evaluation with averages, the averages take
 * the place of the parameters.  Every prefix must name a parameter, and a parameter must be left to
 * train (MODEL). */
void dyno_graph_place_parameters (DynoGraph *graph);

/* The last layer with parameters, a linear layer or a convolution, whose outputs are those of the
 * network. */
typedef struct {
  const DynoParameter *weight, *bias; /* bias NULL: the layer has none */
  /* of a second layer, just before the last one, whose outputs are added to those of the last one;
   * NULL: there is no such layer */
  const DynoParameter *added_weight, *added_bias;
  guint axis;         /* the axis of the weight's dims that counts the outputs */
  gboolean is_linear; /* the logits are the layer's outputs, or weighted means or maxima of them */
} DynoHead;

/* The trained parameters from this one on are the head: no other parameter may follow the head. */
void dyno_graph_set_head (DynoGraph *graph, const DynoParameter *first);
/* The elements of the flat memory, from start to before end, that weight decay leaves out; none
 * without undecayed_vectors. */
void dyno_graph_get_undecayed (DynoGraph *graph, guint64 *start, guint64 *end);

/* Appends a node to the graph in the stage being built: FORWARD at first, OPTIMIZER after
 * dyno_graph_backward; attributes are copied (size 0: none).  NULL inputs and outputs stand for
 * optional roles that are not used.  Sets outputs' producer and, in forward, needs_gradient from
 * the inputs and parameters. */
DynoNode *dyno_graph_node (DynoGraph *graph, const DynoOpClass *op, const char *name,
                           DynoTensor *const *inputs, guint n_inputs, DynoTensor *const *outputs,
                           guint n_outputs, gconstpointer attributes, gsize attributes_size);

/* Appends the node NAME.backward of a node, for its op's backward. */
DynoNode *dyno_graph_backward_node (DynoGraph *graph, const DynoNode *node, const DynoOpClass *op,
                                    DynoTensor *const *inputs, guint n_inputs,
                                    DynoTensor *const *outputs, guint n_outputs,
                                    gconstpointer attributes, gsize attributes_size);

/* Puts a tensor into a role of a node; roles that are added before this one are NULL.  For fusions:
 * the caller sets the producer of an output. */
void dyno_node_set_input (DynoNode *node, guint role, DynoTensor *tensor);
void dyno_node_set_output (DynoNode *node, guint role, DynoTensor *tensor);

/* For an op's backward: the gradient of one of its outputs (NULL: nothing depends on the output),
 * and the tensor to write an input's gradient into (NULL: the input needs none).  *accumulate is
 * TRUE when an earlier contributor has written that tensor; the op adds to it then. */
DynoTensor *dyno_graph_gradient (DynoGraph *graph, DynoTensor *output);
DynoTensor *dyno_graph_gradient_target (DynoGraph *graph, DynoTensor *input, gboolean *accumulate);
/* Makes `gradient` itself the gradient of input when input has none yet; FALSE: the caller adds it
 * (dyno_sum_accumulate).  The two tensors then share the memory, and the caller must not write it;
 * a later contributor to either gradient gets its own copy where that matters. */
gboolean dyno_graph_gradient_alias (DynoGraph *graph, DynoTensor *input, DynoTensor *gradient);

/* Combines the two functions above: input's gradient += source, by sharing, by dyno_sum_accumulate
 * or by a sum in fresh memory.  For ops that pass their output's gradient on unchanged (add,
 * flatten). */
void dyno_graph_gradient_add (DynoGraph *graph, DynoTensor *input, DynoTensor *source);

/* For an op's backward: TRUE: the op may overwrite its output's gradient; FALSE when another tensor
 * shares the gradient and the producer of that tensor has not read it yet. */
gboolean dyno_graph_gradient_is_own (DynoGraph *graph, const DynoTensor *output);

/* Makes the gradient of output the gradient of input too, to be written in place by the op's
 * backward: the op that made output is the last to read the gradient, and from then on the memory
 * holds the gradient of the op's input.  FALSE: the op must write into dyno_graph_gradient_target.
 * input needs a gradient. */
gboolean dyno_graph_gradient_in_place (DynoGraph *graph, DynoTensor *input, DynoTensor *output);
/* The gradient of output where input's gradient may overwrite it in place; else as
 * dyno_graph_gradient_target. */
DynoTensor *dyno_graph_gradient_target_over (DynoGraph *graph, DynoTensor *input,
                                             DynoTensor *output, gboolean *accumulate);

/* Walks the forward nodes backwards and lets each op append its backward nodes. */
void dyno_graph_backward (DynoGraph *graph);

/* The shared scalars, in every graph. */
DynoTensor *dyno_graph_step_input (DynoGraph *graph);  /* struct DynoStepInput */
DynoTensor *dyno_graph_step_output (DynoGraph *graph); /* struct DynoStepOutput */
DynoTensor *dyno_graph_scaler (DynoGraph *graph);      /* struct DynoScalerState */
/* The flat memory of the trained parameters as one tensor: MASTER, HALF, GRADIENT, MOMENT1,
 * MOMENT2.  To be called after all parameters exist. */
DynoTensor *dyno_graph_flat (DynoGraph *graph, DynoSpace space);
/* The averages of the trained parameters, their fp16 copy (AMP; else NULL), and the averages of the
 * running statistics (NULL where there are none), each as one tensor.  FALSE: there are no
 * averages, or the graph failed. */
gboolean dyno_graph_flat_averages (DynoGraph *graph, DynoTensor **weights, DynoTensor **half,
                                   DynoTensor **states);
/* All running statistics as one tensor, and their values after the last step that was not skipped;
 * FALSE: there are none, or the graph failed. */
gboolean dyno_graph_flat_states (DynoGraph *graph, DynoTensor **states, DynoTensor **kept);

/* The mix that the preparation of the input applies: the loss mixes the targets by the same mix,
 * and the program draws the share for each step; zeros: nothing is mixed. */
void dyno_graph_set_mix (DynoGraph *graph, const DynoMix *mix);
const DynoMix *dyno_graph_get_mix (const DynoGraph *graph);

/* A table of nodes with shapes, for logs and tests; g_free. */
char *dyno_graph_print (DynoGraph *graph);

G_END_DECLS
