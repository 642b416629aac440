/* SPDX-License-Identifier: MIT */
/* pixel_cross_entropy: PyTorch's CrossEntropyLoss with ignore_index over many rows of few classes.
 *     q[c] = (1 - s) w[t] (c = t) + s / C w[c],  loss[n] = sum over c of -q[c] log softmax (x[n])[c]
 *     batch = sum over n of loss[n] / sum over n of w[t[n]],  n over the pixels whose target t[n] is
 *     a class
 * With a focal loss as in crossentropy.c, and with a share of the Dice loss (ops.h), whose gradient
 * with respect to the softmax p of a pixel is (2 I[c] / U[c]^2 - 2 / U[c] (c = t)) / C for the
 * classes that occur: one pass adds up I and U by workgroup and class, one workgroup per class
 * joins them, and the rows read the table.  crossentropy.c has one workgroup per row, which suits a
 * thousand classes; here one invocation has a row, and a workgroup adds up its rows, so that no
 * memory is needed for each pixel.  Inputs x (N, H, W, C), targets (N, H, W; NULL: random classes)
 * and weights (C + 1 floats: w, then their sum; NULL: all 1); output in training dx (N, H, W, C).
 * Dispatches: the sums of weights (in training), the sums and the table of the Dice loss (in
 * training), the rows, and the sums of all to the step's output. */
#include "elementwise.h"
#include "intl.h"
#include "loss-push.h"
#include "loss.h"
#include "metric.h"
#include "ops.h"

/* loop iterations of an invocation; the software driver ends loops after twice as many */
#define MOST_LOOPS   32768
#define WORKGROUPS   1024
#define SOFTWARE_WGS 16
#define N_METRICS    2

typedef struct {
  float smoothing, focal, dice;
} PixelLoss;

const DynoMetricInfo dyno_pixel_metrics[DYNO_N_PIXEL_METRICS] = {
  { .name = "pixel_accuracy",
    .title = N_ ("Pixel accuracy"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { .name = "log_loss", /* of the target class only, without the smoothing */
    .title = N_ ("Log loss"),
    .unit = "bits",
    .output = -1,
    .format = DYNO_METRIC_NUMBER },
};
G_STATIC_ASSERT (DYNO_N_PIXEL_METRICS == N_METRICS);

static void
bind (DynoLowering *lowering, DynoNode *node, DynoDispatch *dispatch)
{
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  DynoTensor *targets = node->inputs[1], *weights = node->inputs[2];

  if (targets)
    DYNO_BIND (dispatch, DynoPixelLossPush, targets, targets, DYNO_ACCESS_READ);
  if (weights)
    DYNO_BIND (dispatch, DynoPixelLossPush, weights, weights, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, step_input, dyno_graph_step_input (graph),
             DYNO_ACCESS_READ);
}

/* Returns the table that the rows read, by class. */
static DynoTensor *
lower_dice (DynoLowering *lowering, DynoNode *node, const DynoKernelSpec *base, guint32 groups)
{
  DynoTensor *logits = node->inputs[0], *sums, *table;
  DynoKernelSpec spec = *base;
  DynoDispatch *dispatch;

  sums = dyno_lowering_workspace (lowering, "dice-sums",
                                  (guint64) groups * logits->c * sizeof (float[4]));
  table = dyno_lowering_workspace (lowering, "dice", logits->c * sizeof (float[4]));
  spec.shader = "loss/dice_sums.comp";
  dyno_elementwise_type (&spec, logits->dtype);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_CVECS, logits->cp / dyno_dtype_lanes (logits->dtype));
  dispatch = dyno_lowering_dispatch (lowering, node, "dice-sums", &spec, groups, 1, 1);
  dispatch->flops = 4 * dyno_tensor_elements (logits);
  dispatch->bytes = logits->size_bytes + (node->inputs[1] ? node->inputs[1]->size_bytes : 0);
  bind (lowering, node, dispatch);
  DYNO_BIND (dispatch, DynoPixelLossPush, logits, logits, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, dice_sums, sums, DYNO_ACCESS_WRITE);

  spec = (DynoKernelSpec){ .shader = "loss/dice_table.comp",
                           .push_bytes = sizeof (DynoPixelLossPush),
                           .local_size = { base->local_size[0] } };
  dyno_kernel_spec_set (&spec, DYNO_LOSS_C, logits->c);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_PARTS, groups);
  dispatch = dyno_lowering_dispatch (lowering, node, "dice", &spec, logits->c, 1, 1);
  dispatch->flops = 3 * (guint64) groups * logits->c;
  dispatch->bytes = sums->size_bytes;
  DYNO_BIND (dispatch, DynoPixelLossPush, dice_sums, sums, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, dice_table, table, DYNO_ACCESS_WRITE);
  return table;
}

static void
lower_rows (DynoLowering *lowering, DynoNode *node, const DynoKernelSpec *base, guint32 groups,
            DynoTensor *parts, DynoTensor *table, DynoTensor *rows)
{
  const PixelLoss *attributes = node->attributes;
  DynoTensor *logits = node->inputs[0], *targets = node->inputs[1], *gradient = node->outputs[0];
  DynoKernelSpec spec = *base;
  DynoDispatch *dispatch;

  spec.shader = "loss/pixel_rows.comp";
  dyno_elementwise_type (&spec, logits->dtype);
  if (gradient)
    dyno_kernel_spec_macro (&spec, "GRADIENT=1");
  if (parts)
    dyno_kernel_spec_macro (&spec, "NORM=1");
  dyno_kernel_spec_set (&spec, DYNO_LOSS_CVECS, logits->cp / dyno_dtype_lanes (logits->dtype));
  dyno_kernel_spec_set_float (&spec, DYNO_LOSS_SMOOTHING, attributes->smoothing);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_PARTS, groups);
  dyno_loss_set_focal (&spec, attributes->focal);
  if (table)
    {
      dyno_kernel_spec_macro (&spec, "DICE_LOSS=1");
      dyno_kernel_spec_set_float (&spec, DYNO_LOSS_DICE, attributes->dice);
    }
  dispatch = dyno_lowering_dispatch (lowering, node, "rows", &spec, groups, 1, 1);
  dispatch->flops = 6 * dyno_tensor_elements (logits);
  dispatch->bytes = logits->size_bytes * (gradient ? 2 : 1) + (targets ? targets->size_bytes : 0);
  bind (lowering, node, dispatch);
  DYNO_BIND (dispatch, DynoPixelLossPush, logits, logits, DYNO_ACCESS_READ);
  if (gradient)
    DYNO_BIND (dispatch, DynoPixelLossPush, gradient, gradient, DYNO_ACCESS_WRITE);
  if (parts)
    DYNO_BIND (dispatch, DynoPixelLossPush, parts, parts, DYNO_ACCESS_READ);
  if (table)
    DYNO_BIND (dispatch, DynoPixelLossPush, dice_table, table, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, rows, rows, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoPixelLossPush, scaler,
             dyno_graph_scaler (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
}

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *logits = node->inputs[0], *weights = node->inputs[2], *gradient = node->outputs[0];
  gboolean software = dyno_info_is_software (info);
  guint32 per_sample = logits->h * logits->w, n = logits->n * per_sample;
  guint32 cvecs = logits->cp / dyno_dtype_lanes (logits->dtype);
  guint64 local = software ? 8 : dyno_elementwise_local (info);
  gboolean dice = ((const PixelLoss *) node->attributes)->dice > 0 && gradient;
  guint64 most = MAX (MOST_LOOPS / ((dice ? 3 : 2) * cvecs + 2), 1),
          least = (n - 1) / (local * most) + 1;
  guint32 groups =
      (guint32) MAX (least, MIN (software ? SOFTWARE_WGS : WORKGROUPS, (n - 1) / local + 1));
  DynoTensor *rows = dyno_lowering_workspace (lowering, "rows", groups * 4 * sizeof (float));
  DynoTensor *parts = NULL;
  DynoKernelSpec spec = { .shader = "loss/pixel_weights.comp",
                          .push_bytes = sizeof (DynoPixelLossPush),
                          .local_size = { (guint32) local } };

  if (!node->inputs[1])
    dyno_kernel_spec_macro (&spec, "RANDOM_TARGETS=1");
  if (weights)
    dyno_kernel_spec_macro (&spec, "WEIGHTS=1");
  if (per_sample > 1)
    dyno_kernel_spec_macro (&spec, "PER_SAMPLE=%u", per_sample);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_ROWS, n);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_C, logits->c);
  if (gradient)
    {
      parts = dyno_lowering_workspace (lowering, "parts", groups * 2 * sizeof (float));
      DynoDispatch *dispatch =
          dyno_lowering_dispatch (lowering, node, "weights", &spec, groups, 1, 1);
      dispatch->flops = n;
      dispatch->bytes = node->inputs[1] ? node->inputs[1]->size_bytes : 0;
      bind (lowering, node, dispatch);
      DYNO_BIND (dispatch, DynoPixelLossPush, parts, parts, DYNO_ACCESS_WRITE);
    }
  lower_rows (lowering, node, &spec, groups, parts,
              dice ? lower_dice (lowering, node, &spec, groups) : NULL, rows);
  dyno_loss_lower_sum (lowering, node, rows, groups, logits->n, N_METRICS);
}

static const DynoAttribute attributes[] = { DYNO_ATTRIBUTE (PixelLoss, smoothing),
                                            DYNO_ATTRIBUTE (PixelLoss, focal),
                                            DYNO_ATTRIBUTE (PixelLoss, dice) };

static const DynoOpClass pixel_loss_class = { .name = "pixel_cross_entropy",
                                              DYNO_OP_ATTRIBUTES (attributes),
                                              .lower = lower };

void
dyno_pixel_cross_entropy (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets,
                          const DynoClassLoss *loss, DynoTensor *weights)
{
  const DynoClassLoss plain = { 0 };

  if (!loss)
    loss = &plain;
  if (!logits || !dyno_loss_check_classes (graph, "pixels", logits, targets, loss, weights))
    return;
  if (logits->c > DYNO_MASK_IGNORED)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "a mask has at most %u classes, not %u",
                       DYNO_MASK_IGNORED, logits->c);
      return;
    }
  DynoTensor *gradient = dyno_loss_gradient (graph, logits);
  dyno_graph_declare_metrics (graph, dyno_pixel_metrics, N_METRICS);
  dyno_graph_node (graph, &pixel_loss_class, "loss", (DynoTensor *[]){ logits, targets, weights },
                   3, &gradient, 1,
                   &(PixelLoss){ (float) loss->smoothing, (float) loss->focal, (float) loss->dice },
                   sizeof (PixelLoss));
}
