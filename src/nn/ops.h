/* SPDX-License-Identifier: MIT */
/* The ops a model is written with.  Each is one file in ops/, which holds its builder, shape rule,
 * backward, lowering and printing; kernels are in shaders/<op>/.  x is (N, H, W, C) of the graph's
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
  /* 0 reads as 1; else as many as x and y have channels (depthwise): output k reads channel k */
  guint32 groups;
  gboolean bias;
  DynoInit init; /* of the weight */
} DynoConv2dParams;

/* (N, H, W, C) -> (N, OH, OW, out_channels), OH = (H + 2 pad_h - kernel_h) / stride_h + 1.
 * Cross-correlation, as PyTorch. */
DynoTensor *dyno_conv2d (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoConv2dParams *params);

/* The same over a sequence (N, 1, T, C) -> (N, 1, OT, out_channels); of the params those of the
 * width are read.  The weight's shape is (out, in, kernel), PyTorch's Conv1d. */
DynoTensor *dyno_conv1d (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoConv2dParams *params);

/* On the last axis: (N, H, W, C) -> (N, H, W, out), each of the N*H*W rows by itself; a sequence
 * (N, T, F) is (N, 1, T, F).  With bias.  A 1x1 convolution underneath. */
DynoTensor *dyno_linear (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out,
                         DynoInit init);

/* The same behind PyTorch's flatten: (N, H, W, C) taken as N rows of C*H*W -> (N, 1, 1, out). */
DynoTensor *dyno_linear_flattened (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out,
                                   DynoInit init);

/* Normalises over N, H, W per channel; eps 1e-5; running mean and (unbiased) variance with momentum
 * 0.1; parameters name.weight, name.bias, states name.running_mean, name.running_var (and
 * name.num_batches_tracked on disk).
 * Evaluation graphs use the running statistics.  Can take on an activation by fusion, or a residual, with ReLU or without. */
DynoTensor *dyno_batch_norm (DynoGraph *graph, DynoTensor *x, const char *name);

/* y = f (x), each value by itself; NONE is a mistake. */
DynoTensor *dyno_activation (DynoGraph *graph, DynoTensor *x, DynoActivation activation,
                             const char *name);
DynoTensor *dyno_relu (DynoGraph *graph, DynoTensor *x, const char *name);
DynoTensor *dyno_add (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name);
/* x (N, H, W, C) times factors (N, 1, 1, C): y[n][h][w][c] = x[n][h][w][c] * factors[n][c] */
DynoTensor *dyno_scale (DynoGraph *graph, DynoTensor *x, DynoTensor *factors, const char *name);
DynoTensor *dyno_max_pool (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel,
                           guint32 stride, guint32 pad);
/* -> (N, 1, 1, C); PyTorch's AdaptiveAvgPool2d (1) */
DynoTensor *dyno_global_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name);
DynoTensor *dyno_dropout (DynoGraph *graph, DynoTensor *x, const char *name,
                          double probability); /* x itself in evaluation */

/* The field as the host gives it (space INPUT, dense C) -> a compute-type activation, normalised as
 * the field says; in training augmented from seeds (N uint32), where there are any.  raw NULL:
 * noise of the field's shape. */
DynoTensor *dyno_prepare (DynoGraph *graph, DynoTensor *raw, DynoTensor *seeds,
                          const DynoBatchField *field, const DynoAugmentation *augmentation);

/* Loss and its gradient in one: writes loss and metric sums to the step's output and, in training,
 * the scaled gradient of the logits.  targets: (N, H, W) int32 (cross entropy) or (N, H, W, C)
 * floats (MSE) for logits (N, H, W, C), space INPUT; NULL: class ids from the step's seed.  The
 * loss and the metrics of a sample are the mean over H and W; a sequence is (N, 1, T, C). */
void dyno_softmax_cross_entropy (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets,
                                 double label_smoothing);
/* PyTorch's MSELoss: the mean over samples and outputs of the squared error, gradient 2 (x - t) / C
 * a sample.  standard: 2 C floats, mean and deviation of the targets: the prediction x stands for
 * x * deviation + mean, loss and metrics are of that, and descended is an eighth of the squared
 * error of x itself, gradient (x - z) / (4 C) with z = (t - mean) / deviation: the learning rates
 * that suit cross entropy suit it, where the whole one overshoots.  NULL: the plain loss. */
void dyno_mse_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets,
                    DynoTensor *standard);

/* PyTorch's SmoothL1Loss, beta 1: a large error counts by its size, not by its square.  standard:
 * the bend is at the deviation (beta is the deviation, loss in the targets' unit), the gradient that
 * of x - z, a quarter of it. */
void dyno_smooth_l1_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets,
                          DynoTensor *standard);

/* The optimizer stage over flat memory: norm and Inf check, scaler update, clipping, update, fp16
 * copy, clearing of gradients. */
void dyno_optimizer_update (DynoGraph *graph);

/* Fusion rules, each a function over the forward nodes; each returns how often it applied. */
guint dyno_fuse_batch_norm_relu (DynoGraph *graph);     /* batch_norm -> relu */
guint dyno_fuse_batch_norm_add_relu (DynoGraph *graph); /* batch_norm -> add -> relu */
/* batch_norm -> add, where no relu follows */
guint dyno_fuse_batch_norm_add (DynoGraph *graph);
/* batch_norm, its relu taken on before -> max_pool */
guint dyno_fuse_batch_norm_max_pool (DynoGraph *graph);
/* of a batch norm, in the kernel of the convolution before it */
guint dyno_fuse_statistics (DynoGraph *graph);
void dyno_fuse_all (DynoGraph *graph);

G_END_DECLS
