/* SPDX-License-Identifier: MIT */
/* softmax_cross_entropy: PyTorch's CrossEntropyLoss with label smoothing s.
 *     q[n][c] = (1 - s) * (c = targets[n]) + s / C
 *     loss[n] = log (sum over c of exp (x[n][c])) - sum over c of q[n][c] * x[n][c]
 *     dx[n][c] = (softmax (x[n])[c] - q[n][c]) * loss scale / loss divisor
 * and with weights w of the classes, as in PyTorch, where c' is the target:
 *     q[n][c] = (1 - s) * w[c'] * (c = c') + s / C * w[c],  Q = sum over c of q[n][c]
 *     loss[n] = (Q * log (...) - sum over c of q[n][c] * x[n][c]) * norm
 *     dx[n][c] = (Q * softmax (x[n])[c] - q[n][c]) * norm * loss scale / loss divisor
 *     norm = N / sum over n of w[c'], over the samples of one pass through the network
 * so that the mean over N samples is weighted, and a factor common to all weights changes nothing.
 * As in PyTorch's loops, micro-batches that are added up and ranks each have a mean of their own,
 * and these means are averaged.
 * With a focal loss of exponent g, l = -log softmax (x[n])[c'] and its softmax p:
 *     loss[n] = w[c'] (1 - p)^g l * norm
 *     dx[n][c] = w[c'] (1 - p)^g (1 + g p l / (1 - p)) (softmax (x[n])[c] - (c = c')) * norm * ...
 * Where the batch is mixed (mix.h), (c = targets[n]) becomes the mean of (c = targets[n]) and (c =
 * targets[n - 1]) by their shares in the step's input, and w[c'] the mean of their weights; the
 * metrics are of the target with the larger share.  If the target of the sample before is not a
 * class, its share is 0.
 * Inputs x, the logits (N, H, W, C), targets ((N, H, W) int32; NULL: random classes) and weights (C
 * + 1 floats: w, then their sum; NULL: all 1); output in training dx (N, H, W, C).  n counts the
 * rows (N, H, W); the rows of a sample count as their mean.  Sums over n go to the step's output.
 * A target outside [0, C) is treated as PyTorch's ignore_index: no loss and no gradient. */
#include "loss.h"
#include "elementwise.h"
#include "intl.h"
#include "loss-push.h"
#include "metric.h"
#include "ops.h"

#define TOP 5

typedef struct {
  float smoothing;
  guint32 mix; /* 1: targets are mixed by the step's input */
  float focal;
} CrossEntropy;

/* Appends the dispatch that computes norm.  One workgroup suffices, as for the sum of the rows,
 * since targets are one word per row. */
static DynoTensor *
lower_norm (DynoLowering *lowering, DynoNode *node, gboolean mix)
{
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  DynoTensor *logits = node->inputs[0], *targets = node->inputs[1], *weights = node->inputs[2];
  DynoTensor *norm = dyno_lowering_workspace (lowering, "norm", sizeof (float));
  guint32 per_sample = logits->h * logits->w, n = logits->n * per_sample;
  DynoKernelSpec spec = { .shader = "loss/weight_norm.comp",
                          .push_bytes = sizeof (DynoLossNormPush) };
  DynoDispatch *dispatch;

  spec.local_size[0] = dyno_info_is_software (dyno_lowering_get_info (lowering)) ? 8 : 64;
  if (!targets)
    dyno_kernel_spec_macro (&spec, "RANDOM_TARGETS=1");
  if (mix)
    dyno_kernel_spec_macro (&spec, "MIX=1");
  if (per_sample > 1)
    dyno_kernel_spec_macro (&spec, "PER_SAMPLE=%u", per_sample);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_ROWS, n);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_C, logits->c);
  dispatch = dyno_lowering_dispatch (lowering, node, "norm", &spec, 1, 1, 1);
  dispatch->flops = n;
  dispatch->bytes = (guint64) n * 4;
  if (targets)
    DYNO_BIND (dispatch, DynoLossNormPush, targets, targets, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossNormPush, step_input, dyno_graph_step_input (graph),
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossNormPush, weights, weights, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossNormPush, norm, norm, DYNO_ACCESS_WRITE);
  return norm;
}

static void
cross_entropy_lower (DynoLowering *lowering, DynoNode *node)
{
  const CrossEntropy *attributes = node->attributes;
  DynoKernelSpec spec = { .shader = "loss/crossentropy_rows.comp" };
  if (!node->inputs[1])
    dyno_kernel_spec_macro (&spec, "RANDOM_TARGETS=1");
  if (node->inputs[0]->c > TOP)
    dyno_kernel_spec_macro (&spec, "TOP5=1");
  if (node->n_inputs > 2)
    dyno_kernel_spec_macro (&spec, "WEIGHTS=1");
  if (attributes->mix)
    dyno_kernel_spec_macro (&spec, "MIX=1");
  dyno_loss_set_focal (&spec, attributes->focal);
  dyno_loss_lower (lowering, node, &spec, attributes->smoothing,
                   node->n_inputs > 2 ? lower_norm (lowering, node, attributes->mix != 0) : NULL);
}

static const DynoAttribute cross_entropy_attributes[] = { DYNO_ATTRIBUTE (CrossEntropy, smoothing),
                                                          DYNO_ATTRIBUTE (CrossEntropy, mix),
                                                          DYNO_ATTRIBUTE (CrossEntropy, focal) };

static const DynoOpClass cross_entropy_class = { .name = "softmax_cross_entropy",
                                                 DYNO_OP_ATTRIBUTES (cross_entropy_attributes),
                                                 .lower = cross_entropy_lower };

/* The metrics in the order in which the kernel writes them. */
const DynoMetricInfo dyno_cross_entropy_metrics[DYNO_N_CROSS_ENTROPY_METRICS] = {
  { .name = "accuracy",
    .title = N_ ("Accuracy"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .selects_best = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { .name = "log_loss", /* of the target class only, without the smoothing */
    .title = N_ ("Log loss"),
    .unit = "bits",
    .output = -1,
    .format = DYNO_METRIC_NUMBER },
  { .name = "top5", /* only where there are more than five classes */
    .title = N_ ("Top-5 accuracy"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .format = DYNO_METRIC_FRACTION },
};

void
dyno_softmax_cross_entropy (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets,
                            const DynoClassLoss *loss, DynoTensor *weights)
{
  const DynoClassLoss plain = { 0 };

  if (!loss)
    loss = &plain;
  if (!logits || !dyno_loss_check_classes (graph, "cross entropy", logits, targets, loss, weights))
    return;
  if (loss->dice > 0)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "the Dice loss needs a class for each pixel");
      return;
    }
  DynoTensor *gradient = dyno_loss_gradient (graph, logits);
  CrossEntropy attributes = { (float) loss->smoothing,
                              targets && dyno_mix_is_on (dyno_graph_get_mix (graph)),
                              (float) loss->focal };
  dyno_graph_declare_metrics (graph, dyno_cross_entropy_metrics, logits->c > TOP ? 3 : 2);
  dyno_graph_node (graph, &cross_entropy_class, "loss",
                   (DynoTensor *[]){ logits, targets, weights }, weights ? 3 : 2, &gradient, 1,
                   &attributes, sizeof attributes);
}
