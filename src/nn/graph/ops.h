/* SPDX-License-Identifier: MIT */
/* The ops that models are built from.  Each op is one file in ops/, which holds its builder, shape
 * rule, backward and lowering; kernels are in shaders/<op>/.  x is (N, H, W, C) of the graph's
 * compute type unless said otherwise.  Names give parameters: name "conv1" makes "conv1.weight"
 * and, with bias, "conv1.bias". */
#pragma once
#include "lowering.h"
#include "schema.h"

G_BEGIN_DECLS

typedef struct {
  guint32 out_channels;
  guint32 kernel_h, kernel_w;
  guint32 stride_h, stride_w; /* 0 reads as 1 */
  guint32 pad_h, pad_w;
  /* 0 reads as 1; divides the channels of x and y: an output reads only the channels of its
   * group */
  guint32 groups;
  guint32 dilation_h, dilation_w; /* pixels from tap to tap; 0 reads as 1 */
  gboolean bias;
  DynoInit init; /* of the weight */
} DynoConv2dParams;

/* (N, H, W, C) -> (N, OH, OW, out_channels), OH = (H + 2 pad_h - dilation_h (kernel_h - 1) - 1) /
 * stride_h + 1.
 * Cross-correlation, as PyTorch. */
DynoTensor *dyno_conv2d (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoConv2dParams *params);

/* The same over a sequence (N, 1, T, C) -> (N, 1, OT, out_channels); the members of the params for
 * the height are not read.  The weight's shape is (out, in, kernel), PyTorch's Conv1d. */
DynoTensor *dyno_conv1d (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoConv2dParams *params);

typedef struct {
  guint32 out_channels;
  guint32 kernel_h, kernel_w;
  guint32 stride_h, stride_w; /* 0 reads as 1 */
  guint32 pad_h, pad_w;       /* rows and columns of the result that are left out at each side */
  /* rows and columns that are added at the end; less than the stride or the dilation */
  guint32 more_h, more_w;
  guint32 groups;                 /* 0 reads as 1; divides the channels of x and y */
  guint32 dilation_h, dilation_w; /* pixels from tap to tap; 0 reads as 1 */
  gboolean bias;
  DynoInit init; /* of the weight */
} DynoConvTransposeParams;

/* PyTorch's ConvTranspose2d, more_h its output_padding: (N, H, W, C) -> (N, OH, OW, out_channels),
 * OH = (H - 1) stride_h - 2 pad_h + dilation_h (kernel_h - 1) + more_h + 1.  The weight's shape is
 * (C, out_channels / groups, kernel_h, kernel_w). */
DynoTensor *dyno_conv_transpose (DynoGraph *graph, DynoTensor *x, const char *name,
                                 const DynoConvTransposeParams *params);

/* A linear layer on the last axis: (N, H, W, C) -> (N, H, W, out), each of the N*H*W rows by
 * itself; a sequence (N, T, F) is (N, 1, T, F).  It has a bias, and is implemented as a 1x1
 * convolution. */
DynoTensor *dyno_linear (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out,
                         DynoInit init);

/* The same after PyTorch's flatten: (N, H, W, C) taken as N rows of C*H*W -> (N, 1, 1, out). */
DynoTensor *dyno_linear_flattened (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out,
                                   DynoInit init);

typedef struct {
  guint32 out;
  DynoInit init; /* of the weight */
  gboolean flattened;
  gboolean no_bias;   /* the only parameter is the weight */
  gboolean in_by_out; /* the weight's shape is (in, out), as a matrix product has it; not with
                         flattened */
  const char *weight_name, *bias_name; /* NULL: name.weight and name.bias */
} DynoLinearParams;

/* dyno_linear or dyno_linear_flattened, as the parameters select. */
DynoTensor *dyno_linear_with_params (DynoGraph *graph, DynoTensor *x, const char *name,
                                     const DynoLinearParams *params);

/* As in PyTorch: eps of the deviation sqrt (variance + eps), and the share of the new value in the
 * running statistics. */
typedef struct {
  double eps;      /* 0 reads as 1e-5 */
  double momentum; /* at most 1; 0 reads as 0.1 */
} DynoBatchNormParams;

/* Normalises over N, H, W per channel; running mean and (unbiased) variance; parameters
 * name.weight, name.bias, states name.running_mean, name.running_var (and name.num_batches_tracked
 * on disk).  params NULL: the default values.
 * Evaluation graphs use the running statistics.  A fusion may add an activation, or a residual with
 * or without ReLU.  Errors: SHAPE, also for numbers that are no eps or no momentum. */
DynoTensor *dyno_batch_norm_with_params (DynoGraph *graph, DynoTensor *x, const char *name,
                                         const DynoBatchNormParams *params);
DynoTensor *dyno_batch_norm (DynoGraph *graph, DynoTensor *x, const char *name);

/* PyTorch's LayerNorm over the last axis: each row of C values by its own mean and variance;
 * parameters name.weight, name.bias.  eps 0 reads as 1e-5, which dyno_layer_norm uses.  Errors:
 * SHAPE, also for a number that is no eps. */
DynoTensor *dyno_layer_norm_with_eps (DynoGraph *graph, DynoTensor *x, const char *name,
                                      double eps);
DynoTensor *dyno_layer_norm (DynoGraph *graph, DynoTensor *x, const char *name);

/* PyTorch's GroupNorm without its parameters, which dyno_scale_channels and dyno_add_channels
 * apply: the channels of each sample form `groups` groups of equal size, and each group is
 * normalised by the mean and variance of its channels over all pixels.  With as many groups as
 * channels this is InstanceNorm.  eps 0 reads as 1e-5.  Errors: SHAPE, also for a number that is no
 * eps. */
DynoTensor *dyno_group_norm (DynoGraph *graph, DynoTensor *x, const char *name, guint32 groups,
                             double eps);

/* y = f (x), elementwise; NONE is not allowed.  parameter: the slope of LEAKY_RELU or the alpha of
 * ELU; other activations read none.  Without the parameter: PyTorch's values, 0.01 and 1.  Errors:
 * SHAPE for a parameter that is not finite. */
DynoTensor *dyno_activation_with_parameter (DynoGraph *graph, DynoTensor *x,
                                            DynoActivation activation, double parameter,
                                            const char *name);
DynoTensor *dyno_activation (DynoGraph *graph, DynoTensor *x, DynoActivation activation,
                             const char *name);
DynoTensor *dyno_relu (DynoGraph *graph, DynoTensor *x, const char *name);
DynoTensor *dyno_add (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name);
/* y = a * b, elementwise; a and b have the same shape, and may be the same tensor. */
DynoTensor *dyno_multiply (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name);
/* y = factor * x + offset, elementwise, with numbers that are not trained.  Errors: SHAPE for one
 * that is not finite. */
DynoTensor *dyno_affine (DynoGraph *graph, DynoTensor *x, double factor, double offset,
                         const char *name);
/* y[n][h][w][c] = x[n][h][w][c] * weight[c], with the parameter name.weight (C). */
DynoTensor *dyno_scale_channels (DynoGraph *graph, DynoTensor *x, const char *name, DynoInit init);
/* dyno_scale_channels with an existing parameter (C, 1, 1), for models that list the factors before
 * the preceding layers' parameters.  NULL: an earlier error. */
DynoParameter *dyno_factor_parameter (DynoGraph *graph, const char *name, guint32 channels,
                                      DynoInit init);
DynoTensor *dyno_scale_channels_by (DynoGraph *graph, DynoTensor *x, const char *name,
                                    const DynoParameter *factors);
/* y[n][h][w][c] = x[n][h][w][c] + bias[c], with the parameter name.bias (C). */
DynoTensor *dyno_add_channels (DynoGraph *graph, DynoTensor *x, const char *name, DynoInit init);
/* x (N, H, W, C) times factors (N, 1, 1, C): y[n][h][w][c] = x[n][h][w][c] * factors[n][c] */
DynoTensor *dyno_scale (DynoGraph *graph, DynoTensor *x, DynoTensor *factors, const char *name);
/* n tensors (N, H, W, C_i), in order -> (N, H, W, sum of the C_i): PyTorch's cat along the
 * channels; a single tensor is returned itself.  A tensor may occur twice. */
DynoTensor *dyno_concat (DynoGraph *graph, DynoTensor *const *tensors, guint n, const char *name);
/* (N, H, W, C) -> (N, H, W, count), the channels from `first` on; x itself where they are all
 * channels. */
DynoTensor *dyno_channels (DynoGraph *graph, DynoTensor *x, const char *name, guint32 first,
                           guint32 count);

typedef struct {
  gint32 top, bottom, left, right; /* rows and columns; a negative number crops */
  gint32 front, back;              /* channels */
  double value; /* may be -INFINITY; in half precision at most the largest finite value */
} DynoPadParams;

/* (N, H, W, C) -> (N, H + top + bottom, W + left + right, C + front + back): PyTorch's pad with a
 * constant; x itself where all pads are 0. */
DynoTensor *dyno_pad (DynoGraph *graph, DynoTensor *x, const char *name,
                      const DynoPadParams *params);

/* The value of a pixel of the resized image. */
typedef enum {
  DYNO_RESIZE_LINEAR,       /* linear interpolation between its neighbours */
  DYNO_RESIZE_PREFER_FLOOR, /* the nearest pixel; the first of two equally near pixels */
  DYNO_RESIZE_PREFER_CEIL,  /* the nearest pixel; the second of two equally near pixels */
  DYNO_RESIZE_FLOOR,        /* the pixel before */
  DYNO_RESIZE_CEIL,         /* the pixel after */
} DynoResizeMode;

/* The position in the image of pixel o of a side, as ONNX's coordinate_transformation_mode; f is
 * the factor of the side. */
typedef enum {
  DYNO_RESIZE_HALF_PIXEL,         /* (o + 1/2) / f - 1/2 */
  DYNO_RESIZE_PYTORCH_HALF_PIXEL, /* the same; 0 if the result has one pixel */
  DYNO_RESIZE_ALIGN_CORNERS,      /* o (extent - 1) / (extent of the result - 1) */
  DYNO_RESIZE_ASYMMETRIC,         /* o / f */
} DynoResizePlaces;

typedef struct {
  guint32 height, width; /* of the result: the image's size times the factors, rounded down */
  DynoResizeMode mode;
  DynoResizePlaces places;
  /* the factors up / down of height and width; up 0: the result's extent / the image's */
  guint32 up_h, down_h, up_w, down_w;
} DynoResizeParams;

/* (N, H, W, C) -> (N, height, width, C), PyTorch's interpolate; x itself where the result equals x.
 * Errors: SHAPE, also where a pixel would contribute to more than about 65,000 pixels of the
 * result. */
DynoTensor *dyno_resize (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoResizeParams *params);
/* ShuffleNet's channel shuffle: the channels of x, taken as (groups, C / groups), are transposed;
 * groups divide C.  x itself where there is one group, or one group for each channel. */
DynoTensor *dyno_channel_shuffle (DynoGraph *graph, DynoTensor *x, const char *name,
                                  guint32 groups);

#define DYNO_PERMUTE_MAX_PARTS 8

typedef struct {
  guint32 extent; /* > 0 */
  guint32 stride; /* from one element of the part to the next in x, in values of a dense sample */
} DynoPermutePart;

typedef struct {
  guint32 h, w, c; /* of the result, which has as many values as x */
  const DynoPermutePart *parts;
  guint n_parts;
} DynoPermuteParams;

/* Reorders the values of each sample, (N, H, W, C) -> (N, h, w, c): the parts are in the order of
 * the result, the last one fastest, and cover each value of x once.  Neighbouring parts that are
 * contiguous in x are joined; at most DYNO_PERMUTE_MAX_PARTS may be left.  x itself where the order
 * stays the same.  Errors: SHAPE. */
DynoTensor *dyno_permute (DynoGraph *graph, DynoTensor *x, const char *name,
                          const DynoPermuteParams *params);

#define DYNO_CONTRACT_MAX_PARTS 10

typedef struct {
  guint32 extent; /* > 0 */
  /* from one element of the part to the next in a and in b, in values of a dense sample; 0: the
   * operand lacks the part, and each of its values serves for all elements of it */
  guint32 a, b;
} DynoContractPart;

typedef struct {
  guint32 h, w, c; /* of the result */
  /* n_out parts of the result, the last one fastest, then the summed ones */
  const DynoContractPart *parts;
  guint n_out, n_summed;
  guint32 samples; /* of the result, where the operands are shared; 0: those of the operands */
  double scale;    /* factor of the sums; 0 reads as 1 */
  gboolean has_b;  /* FALSE: b is NULL, and reads as 1 */
} DynoContractParams;

/* Products of two tensors, summed over some of their indices (Einstein's sum): (N, H, W, C) or
 * (1, H, W, C), which all samples share, and (N, H', W', C') or (1, H', W', C') or NULL ->
 * (N, h, w, c).  The parts of an operand cover each of its values once.  Neighbouring parts that
 * both operands have contiguous are joined; at most DYNO_CONTRACT_MAX_PARTS may be left.  Sums are
 * fp32.  Errors: SHAPE; in lowering UNSUPPORTED (sums too long for a software driver). */
DynoTensor *dyno_contract (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name,
                           const DynoContractParams *params);

typedef struct {
  guint32 h, w, c; /* of the result */
  /* h * w * c: the index of each value in a dense sample (h, w, c) of x, or in the array of a
   * parameter in torchvision's order; -1: the value is 0 */
  const gint32 *from;
} DynoGatherParams;

/* (N, H, W, C) -> (N, h, w, c): y[i] = x[from[i]] in each sample; a value may be read several times
 * or never.  x itself where from keeps all values in place.  Errors: SHAPE. */
DynoTensor *dyno_gather (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoGatherParams *params);
/* The same for a parameter: (1, h, w, c) in the storage type.  Errors: SHAPE. */
DynoTensor *dyno_gather_parameter (DynoGraph *graph, const DynoParameter *parameter,
                                   const char *name, const DynoGatherParams *params);
/* The indices of a node that dyno_gather or dyno_gather_parameter has appended, one for each value
 * of its output.  FALSE: one is -1. */
gboolean dyno_gather_get_indices (const DynoGraph *graph, const DynoNode *node, gint64 *indices);

typedef struct {
  DynoPoolWindow window; /* at most 256 positions; a pad is at most half the kernel */
  guint32 end_h, end_w;  /* pads at the end, less than the kernel */
  gboolean round_up;     /* PyTorch's ceil_mode: the last window may reach past the pad */
} DynoMaxPoolParams;

/* (N, H, W, C) -> (N, OH, OW, C), OH = (H + pad_h + end_h - kernel_h) / stride_h + 1; pads do not
 * take part in the maximum. */
DynoTensor *dyno_max_pool_with_params (DynoGraph *graph, DynoTensor *x, const char *name,
                                       const DynoMaxPoolParams *params);
/* The same with a square window: PyTorch's MaxPool2d. */
DynoTensor *dyno_max_pool (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel,
                           guint32 stride, guint32 pad);
/* The same along a sequence (N, 1, T, C): PyTorch's MaxPool1d. */
DynoTensor *dyno_max_pool1d (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel,
                             guint32 stride, guint32 pad);
/* -> (N, 1, 1, C); PyTorch's AdaptiveMaxPool2d (1).  An image larger than the largest window takes
 * two pooling nodes. */
DynoTensor *dyno_global_max_pool (DynoGraph *graph, DynoTensor *x, const char *name);
/* -> (N, 1, 1, C); PyTorch's AdaptiveAvgPool2d (1) */
DynoTensor *dyno_global_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name);

typedef struct {
  guint32 kernel_h, kernel_w;
  guint32 stride_h, stride_w; /* 0 reads as the kernel, PyTorch's default */
  guint32 pad_h, pad_w;       /* at the beginning; at most half the kernel */
  guint32 end_h, end_w;       /* pads at the end, less than the kernel */
  gboolean exclude_pad;       /* PyTorch's count_include_pad=False */
  gboolean round_up;          /* PyTorch's ceil_mode: the last window may reach past the pad */
} DynoAvgPoolParams;

/* (N, H, W, C) -> (N, OH, OW, C), OH = (H + pad_h + end_h - kernel_h) / stride_h + 1; PyTorch's
 * AvgPool2d. */
DynoTensor *dyno_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name,
                           const DynoAvgPoolParams *params);
/* (N, H, W, C) -> (N, out_h, out_w, C), larger or smaller: PyTorch's AdaptiveAvgPool2d; x itself
 * where x already has that size. */
DynoTensor *dyno_adaptive_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name,
                                    guint32 out_h, guint32 out_w);
DynoTensor *dyno_dropout (DynoGraph *graph, DynoTensor *x, const char *name,
                          double probability); /* x itself in evaluation */
/* The same for whole samples, as torchvision's StochasticDepth with mode "row": each sample skips a
 * branch of a residual block with the probability p, which is in [0, 1).  Errors: SHAPE. */
DynoTensor *dyno_stochastic_depth (DynoGraph *graph, DynoTensor *x, const char *name,
                                   double probability);

/* Sequences (N, 1, T, C).  Their lengths are N int32; NULL: each sequence has all T steps.  Lengths
 * count steps of the input that x was made from, and `stride` steps of the input are one step of x
 * (0 reads as 1): max (1, length / stride) steps of x count, at most T. */
typedef struct {
  DynoTensor *lengths;
  guint32 stride;
} DynoSequence;

typedef struct {
  guint32 hidden;
  guint32 layers; /* 0 reads as 1 */
  gboolean bidirectional;
  DynoSequence sequence;
} DynoRecurrentParams;

/* PyTorch's LSTM with batch_first, from zero initial states: (N, 1, T, C) -> (N, 1, T, hidden), or
 * 2 hidden with both directions, the forward one first.  Steps that do not count are 0, as in a
 * packed sequence that was padded again.  Parameters name.weight_ih_l0, .weight_hh_l0, .bias_ih_l0,
 * .bias_hh_l0, with _l1 and so on for further layers and the suffix _reverse for the other
 * direction; gates i, f, g, o.  Errors: SHAPE; at lowering UNSUPPORTED, where a state exceeds the
 * device's workgroup memory. */
DynoTensor *dyno_lstm (DynoGraph *graph, DynoTensor *x, const char *name,
                       const DynoRecurrentParams *params);
/* The same for PyTorch's GRU; gates r, z, n. */
DynoTensor *dyno_gru (DynoGraph *graph, DynoTensor *x, const char *name,
                      const DynoRecurrentParams *params);

/* The names of the parameters of one direction of a layer: weights (G hidden, C) and (G hidden,
 * hidden) and biases (G hidden), of G gates. */
typedef struct {
  const char *weight_ih, *weight_hh;
  const char *bias_ih, *bias_hh; /* NULL: the layer has no such bias */
} DynoRecurrentNames;

/* A single layer of that kind, with its own name and those of its parameters; names has as many
 * elements as the layer has directions, params->layers is not read. */
DynoTensor *dyno_lstm_layer (DynoGraph *graph, DynoTensor *x, const char *name,
                             const DynoRecurrentParams *params, const DynoRecurrentNames *names);
DynoTensor *dyno_gru_layer (DynoGraph *graph, DynoTensor *x, const char *name,
                            const DynoRecurrentParams *params, const DynoRecurrentNames *names);

typedef struct {
  guint32 heads;
  DynoSequence sequence; /* tokens that count as keys; lengths need h = 1 */
  double scale;          /* of the scores; 0: 1 / sqrt (D) */
  gboolean by_row;       /* tokens attend only to tokens of their row h; not with lengths */
} DynoAttentionParams;

/* Softmax attention without dropout over T = H * W tokens: (N, H, W, 3 C) -> (N, H, W, C), C =
 * heads * D, D a multiple of 8 up to 128.  A token's values are q, k and v, each [head][D], as one
 * linear layer makes them (timm's qkv, PyTorch's in_proj); scores are q . k * scale.  With by_row
 * it is the attention of (N * H, 1, W, 3 C): each row is a group of T = W tokens, such as a window.
 * Memory grows linearly with the number of tokens, the work of each token with T.  Tokens that do
 * not count are not keys; their own rows of the output are computed as for other tokens, as in
 * PyTorch with key_padding_mask.  Errors: SHAPE; at lowering UNSUPPORTED, where a CPU cannot run
 * this number of tokens. */
DynoTensor *dyno_attention (DynoGraph *graph, DynoTensor *qkv, const char *name,
                            const DynoAttentionParams *params);
/* TRUE: its heads may have that number of channels. */
gboolean dyno_attention_has_dim (guint64 channels);

/* PyTorch's softmax over the channels of each pixel, in fp32: (N, H, W, C) both.  Errors: SHAPE. */
DynoTensor *dyno_softmax (DynoGraph *graph, DynoTensor *x, const char *name);

/* A parameter (1, count, channels) for dyno_tokens; the graph owns it. */
DynoParameter *dyno_token_parameter (DynoGraph *graph, const char *name, guint32 count,
                                     guint32 channels, DynoInit init);
/* An image's pixels as tokens after a class token, each plus its position embedding, as in vision
 * transformers: (N, H, W, C) -> (N, 1, 1 + H * W, C), W fastest.  Parameters class_token (1, 1, C)
 * and positions (1, 1 + H * W, C); NULL: an earlier error.  Errors: SHAPE. */
DynoTensor *dyno_tokens (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoParameter *class_token, const DynoParameter *positions);
/* The same without a class token: (N, H, W, C) plus positions (1, H * W, C).  Errors: SHAPE. */
DynoTensor *dyno_add_positions (DynoGraph *graph, DynoTensor *x, const char *name,
                                const DynoParameter *positions);
/* The same without positions: a class token (1, 1, C) before x (N, H, W, C): (N, 1, 1 + H * W, C).
 * Errors: SHAPE. */
DynoTensor *dyno_prepend_token (DynoGraph *graph, DynoTensor *x, const char *name,
                                const DynoParameter *class_token);

/* (N, 1, T, C) -> (N, 1, 1, C): the first step; the last step that counts; the mean of the steps
 * that count. */
DynoTensor *dyno_first_step (DynoGraph *graph, DynoTensor *x, const char *name);
DynoTensor *dyno_last_step (DynoGraph *graph, DynoTensor *x, const char *name,
                            const DynoSequence *sequence);
DynoTensor *dyno_mean_step (DynoGraph *graph, DynoTensor *x, const char *name,
                            const DynoSequence *sequence);

/* An image as a sequence of its rows: (N, H, W, C) -> (N, 1, H, W * C), W slowest; x itself where H
 * is 1, since it is a sequence already. */
DynoTensor *dyno_rows (DynoGraph *graph, DynoTensor *x, const char *name);

/* The field as the host writes it (space INPUT, dense C) -> an activation of the compute type,
 * normalised as the field specifies; in training augmented by seeds (N uint32), if not NULL.  raw
 * NULL: noise of the field's shape. */
DynoTensor *dyno_prepare (DynoGraph *graph, DynoTensor *raw, DynoTensor *seeds,
                          const DynoBatchField *field, const DynoAugmentation *augmentation);

/* A mask (N, H, W, 1) U8 as the host writes it -> its class ids (N, H, W, 1) int32, transformed as
 * dyno_prepare transforms an image of as many channels with the same seeds and augmentation. */
DynoTensor *dyno_prepare_mask (DynoGraph *graph, DynoTensor *raw, DynoTensor *seeds,
                               guint32 channels, const DynoAugmentation *augmentation);

/* The target values (N, H, W, C) F32; values that the augmentation lists as `negated` are negated
 * where it mirrors the sample; targets itself where it mirrors nothing or lists none. */
DynoTensor *dyno_flip_targets (DynoGraph *graph, DynoTensor *targets, DynoTensor *seeds,
                               const DynoAugmentation *augmentation);

typedef struct {
  double smoothing; /* of the labels, in [0, 1] */
  double focal;     /* exponent of the focal loss, in [0, DYNO_MOST_FOCAL]; 0: there is none */
  double dice;      /* share of the Dice loss, in [0, 1]; only for pixels */
} DynoClassLoss;
#define DYNO_MOST_FOCAL 10

/* Loss and its gradient in one op: writes loss and metric sums to the step's output and, in
 * training, the scaled gradient of the logits.  targets: (N, H, W) int32 (cross entropy) or (N, H,
 * W, C) floats (MSE) for logits (N, H, W, C), space INPUT; NULL: class ids from the step's seed.
 * The loss and the metrics of a sample are the mean over H and W; a sequence is (N, 1, T, C).
 * weights (C + 1 floats, space SCALER): a weight for each class, as in PyTorch's CrossEntropyLoss,
 * then their sum; NULL: all weights are 1.  The metrics count each sample once.  loss (NULL: all
 * 0): with focal g each row's cross entropy l = -log p of its class counts (1 - p)^g l, before it
 * is weighted, as Lin et al. define it (2017); then label smoothing and mixed classes are
 * errors. */
void dyno_softmax_cross_entropy (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets,
                                 const DynoClassLoss *loss, DynoTensor *weights);
/* PyTorch's BCEWithLogitsLoss, for samples with any number of the C classes: targets (N, H, W, C)
 * floats in [0, 1], NaN where a label is not known, which then has no loss; the mean over all C.
 * weights (C + 1 floats, space SCALER, the last is not read) are its pos_weight, NULL: all 1.  loss
 * (NULL: all 0): smoothing s moves a target t to t (1 - s) + s / 2; with focal g the loss of each
 * label is that of torchvision's sigmoid_focal_loss without alpha. */
void dyno_bce_loss (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets,
                    const DynoClassLoss *loss, DynoTensor *weights);
/* Cross entropy for models that classify each pixel: logits (N, H, W, C), C <= 255, targets (N, H,
 * W) int32, where an id from C on (DYNO_MASK_IGNORED) does not count.  As in PyTorch with
 * ignore_index, the loss of a batch in training is the mean over the pixels that count, weighted by
 * weights, and the metrics are likewise; in evaluation a pixel that does not count has a loss of 0
 * and the mean is over all pixels, so that the sums of all batches can be divided by the counts of
 * dyno_pixel_counts.  With dice s the loss of a batch in training is (1 - s) times the cross
 * entropy plus s times the mean over the C classes of 1 - 2 I / U.  I is the sum of the softmax of
 * the class over the pixels whose target is the class; U is the sum of that softmax over all pixels
 * that count, plus the number of pixels whose target is the class.  A class without a target in the
 * batch contributes 0, and weights apply only to the cross entropy.  The second term is DiceLoss of
 * segmentation_models_pytorch in mode multiclass. */
void dyno_pixel_cross_entropy (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets,
                               const DynoClassLoss *loss, DynoTensor *weights);

/* The class of each pixel of the first n_samples of logits (N, H, W, C), C <= 255: the first of the
 * largest logits -> (MIN (n_samples, N), H, W, 1) U8. */
DynoTensor *dyno_pixel_classes (DynoGraph *graph, DynoTensor *logits, guint32 n_samples);

/* The number of pixels of the batch with each pair of target and class -> (1, 1, C, C) int32,
 * [target][class]. */
DynoTensor *dyno_pixel_counts (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets);

/* PyTorch's MSELoss: the mean over samples and outputs of the squared error, gradient 2 (x - t) / C
 * per sample.  standard: 2 C floats, mean and deviation of the targets: the prediction x stands for
 * x * deviation + mean, from which loss and metrics are computed.  The gradient is then that of an
 * eighth of the squared error of x itself, (x - z) / (4 C) with z = (t - mean) / deviation:
 * learning rates that suit cross entropy suit this gradient, and overshoot with the gradient of the
 * full squared error.  NULL: the plain loss. */
void dyno_mse_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets,
                    DynoTensor *standard);

/* PyTorch's SmoothL1Loss, beta 1: a large error counts linearly, not by its square.  standard: the
 * transition from square to linear is at the deviation (beta is the deviation, and the loss is in
 * the targets' unit), and the gradient is a quarter of the gradient with respect to x - z. */
void dyno_smooth_l1_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets,
                          DynoTensor *standard);

/* The optimizer stage over flat memory: norm and Inf check, scaler update, clipping, update, fp16
 * copy, clearing of gradients. */
void dyno_optimizer_update (DynoGraph *graph);

G_END_DECLS
