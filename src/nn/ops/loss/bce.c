/* SPDX-License-Identifier: MIT */
/* bce_loss: PyTorch's BCEWithLogitsLoss, for samples with any number of labels.
 *     t'[n][c] = (1 - s) t[n][c] + s / 2, with the label smoothing s
 *     loss[n] = sum over c of w[c] t' log (1 + exp (-x)) + (1 - t') log (1 + exp (x)), over C
 *     dx[n][c] = ((1 - t') sigmoid (x) - w[c] t' sigmoid (-x)) / C * loss scale / loss divisor
 * A target that is NaN is not known: it has no loss and no gradient, and C stays the same.  Weights
 * are PyTorch's pos_weight.  With a focal loss of exponent g, each of both losses is multiplied by
 * sigmoid (x)^g or sigmoid (-x)^g, the probability of the wrong answer, as in torchvision's
 * sigmoid_focal_loss.  Where the batch is mixed (mix.h), t is the mean of t[n] and t[n - 1] by
 * their shares in the step's input; the metrics are of the target with the larger share. Inputs x,
 * the logits (N, H, W, C), t, the targets (N, H, W, C) F32, and weights (C + 1 floats, of which the
 * last is not read; NULL: all 1); output in training dx (N, H, W, C).  n counts the rows (N, H, W);
 * the rows of a sample count as their mean.  Sums over n go to the step's output. */
#include "intl.h"
#include "loss.h"
#include "metric.h"
#include "ops.h"

typedef struct {
  float smoothing;
  guint32 mix; /* 1: targets are mixed by the step's input */
  float focal;
} Bce;

static void
bce_lower (DynoLowering *lowering, DynoNode *node)
{
  const Bce *attributes = node->attributes;
  DynoKernelSpec spec = { .shader = "loss/bce_rows.comp" };

  if (node->n_inputs > 2)
    dyno_kernel_spec_macro (&spec, "WEIGHTS=1");
  if (attributes->mix)
    dyno_kernel_spec_macro (&spec, "MIX=1");
  dyno_loss_set_focal (&spec, attributes->focal);
  dyno_loss_lower (lowering, node, &spec, attributes->smoothing, NULL);
}

static const DynoAttribute bce_attributes[] = { DYNO_ATTRIBUTE (Bce, smoothing),
                                                DYNO_ATTRIBUTE (Bce, mix),
                                                DYNO_ATTRIBUTE (Bce, focal) };

static const DynoOpClass bce_class = { .name = "bce_loss",
                                       DYNO_OP_ATTRIBUTES (bce_attributes),
                                       .lower = bce_lower };

/* The metrics in the order in which the kernel writes them. */
const DynoMetricInfo dyno_label_metrics[DYNO_N_LABEL_METRICS] = {
  { .name = "label_accuracy",
    .title = N_ ("Label accuracy"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { .name = "exact_match",
    .title = N_ ("Exact match"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .format = DYNO_METRIC_FRACTION },
};

void
dyno_bce_loss (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets, const DynoClassLoss *loss,
               DynoTensor *weights)
{
  const DynoClassLoss plain = { 0 };

  if (!loss)
    loss = &plain;
  if (!logits)
    return;
  if (!targets)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "the loss of several labels needs targets");
      return;
    }
  if (!dyno_loss_check_labels (graph, "loss of several labels", logits, targets, loss, weights))
    return;
  if (loss->dice > 0)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "the Dice loss needs a class for each pixel");
      return;
    }
  DynoTensor *gradient = dyno_loss_gradient (graph, logits);
  Bce attributes = { (float) loss->smoothing, dyno_mix_is_on (dyno_graph_get_mix (graph)),
                     (float) loss->focal };
  dyno_graph_declare_metrics (graph, dyno_label_metrics, DYNO_N_LABEL_METRICS);
  dyno_graph_node (graph, &bce_class, "loss", (DynoTensor *[]){ logits, targets, weights },
                   weights ? 3 : 2, &gradient, 1, &attributes, sizeof attributes);
}
