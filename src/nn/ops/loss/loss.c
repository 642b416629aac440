/* SPDX-License-Identifier: MIT */
/* Code shared by the losses.  The results of rows are written to a workspace, and one workgroup
 * adds them up in a fixed order: there are no atomics, and equal inputs give equal bits.  The
 * kernel over rows writes the gradient, multiplied by the loss scale and divided by the step's
 * divisor. */
#include "loss.h"
#include "elementwise.h"
#include "metric.h"
#include "loss-push.h"

DynoTensor *
dyno_loss_gradient (DynoGraph *graph, DynoTensor *logits)
{
  gboolean accumulate;
  return dyno_graph_get_params (graph)->training
             ? dyno_graph_gradient_target (graph, logits, &accumulate)
             : NULL;
}

gboolean
dyno_loss_check (DynoGraph *graph, const char *name, const DynoTensor *logits,
                 const DynoTensor *targets, DynoDtype dtype, guint32 c)
{
  guint64 rows = (guint64) logits->n * logits->h * logits->w;
  if (rows > G_MAXINT32)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: (%u, %u, %u, %u) are too many; lower the batch", name, logits->n,
                     logits->h, logits->w, logits->c);
  else if (logits->c >= 1 << 24)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: %u outputs are too many", name, logits->c);
  else if (targets
           && (targets->n != logits->n || targets->dtype != dtype
               || targets->size_bytes != rows * c * 4))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: targets (%u, %u, %u, %u) do not fit (%u, %u, %u, %u)", name, targets->n,
                     targets->h, targets->w, targets->c, logits->n, logits->h, logits->w, c);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_class_loss (DynoGraph *graph, const DynoTensor *logits, const DynoClassLoss *loss,
                  const DynoTensor *weights)
{
  if (!(loss->smoothing >= 0 && loss->smoothing <= 1))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "a label smoothing of %g is not in [0, 1]",
                     loss->smoothing);
  else if (!(loss->focal >= 0 && loss->focal <= DYNO_MOST_FOCAL))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "a focal loss of exponent %g is not in [0, %d]",
                     loss->focal, DYNO_MOST_FOCAL);
  else if (!(loss->dice >= 0 && loss->dice <= 1))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "a share of %g of the Dice loss is not in [0, 1]",
                     loss->dice);
  else if (loss->focal > 0 && (loss->smoothing > 0 || dyno_mix_is_on (dyno_graph_get_mix (graph))))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "the focal loss excludes label smoothing and mixed targets");
  else if (weights
           && (weights->dtype != DYNO_DTYPE_F32 || weights->size_bytes < (logits->c + 1) * 4))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "the class weights are not fp32, or too few for %u classes", logits->c);
  else
    return TRUE;
  return FALSE;
}

gboolean
dyno_loss_check_classes (DynoGraph *graph, const char *name, const DynoTensor *logits,
                         const DynoTensor *targets, const DynoClassLoss *loss,
                         const DynoTensor *weights)
{
  return dyno_loss_check (graph, name, logits, targets, DYNO_DTYPE_I32, 1)
         && check_class_loss (graph, logits, loss, weights);
}

gboolean
dyno_loss_check_labels (DynoGraph *graph, const char *name, const DynoTensor *logits,
                        const DynoTensor *targets, const DynoClassLoss *loss,
                        const DynoTensor *weights)
{
  return dyno_loss_check (graph, name, logits, targets, DYNO_DTYPE_F32, logits->c)
         && check_class_loss (graph, logits, loss, weights);
}

void
dyno_loss_set_focal (DynoKernelSpec *spec, float focal)
{
  if (!(focal > 0))
    return;
  dyno_kernel_spec_macro (spec, "FOCAL_LOSS=1");
  dyno_kernel_spec_set_float (spec, DYNO_LOSS_FOCAL, focal);
}

static void
lower_sum (DynoLowering *lowering, DynoNode *node, DynoTensor *rows, guint32 n, const char *samples,
           guint n_metrics)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  DynoKernelSpec spec = { .shader = "loss/loss_sum.comp", .push_bytes = sizeof (DynoLossSumPush) };
  spec.local_size[0] = dyno_info_is_software (info) ? 8 : 64;
  if (samples)
    dyno_kernel_spec_macro (&spec, "%s", samples);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_SUM_ROWS, n);
  dyno_kernel_spec_set (&spec, DYNO_LOSS_SUM_METRICS, n_metrics);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "sum", &spec, 1, 1, 1);
  dispatch->flops = (1 + n_metrics) * (guint64) n;
  dispatch->bytes = rows->size_bytes;
  DYNO_BIND (dispatch, DynoLossSumPush, rows, rows, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossSumPush, step_input, dyno_graph_step_input (graph),
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossSumPush, scaler, dyno_graph_scaler (graph), DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossSumPush, step_output, dyno_graph_step_output (graph),
             DYNO_ACCESS_WRITE);
}

void
dyno_loss_lower_sum (DynoLowering *lowering, DynoNode *node, DynoTensor *rows, guint32 n,
                     guint32 n_samples, guint n_metrics)
{
  g_autofree char *samples = g_strdup_printf ("SAMPLES=%u", n_samples);

  lower_sum (lowering, node, rows, n, samples, n_metrics);
}

void
dyno_loss_lower (DynoLowering *lowering, DynoNode *node, DynoKernelSpec *spec, float smoothing,
                 DynoTensor *norm)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  DynoTensor *logits = node->inputs[0], *targets = node->inputs[1], *gradient = node->outputs[0];
  DynoTensor *scale = node->n_inputs > 2 ? node->inputs[2] : NULL;
  guint32 cvecs = logits->cp / dyno_dtype_lanes (logits->dtype);
  guint32 per_sample = logits->h * logits->w, n = logits->n * per_sample;
  const DynoMetricInfo *metrics;
  guint n_metrics = dyno_network_get_metrics (graph, &metrics);
  guint64 row_bytes = (1 + n_metrics + 3) / 4 * 4 * sizeof (float);
  DynoTensor *rows = dyno_lowering_workspace (lowering, "rows", n * row_bytes);
  spec->push_bytes = sizeof (DynoLossRowsPush);
  spec->local_size[0] = dyno_info_is_software (info) ? 8 : cvecs <= 32 ? 32 : 64;
  dyno_elementwise_type (spec, logits->dtype);
  if (gradient)
    dyno_kernel_spec_macro (spec, "GRADIENT=1");
  if (per_sample > 1)
    dyno_kernel_spec_macro (spec, "PER_SAMPLE=%u", per_sample);
  dyno_kernel_spec_set (spec, DYNO_LOSS_ROWS, n);
  dyno_kernel_spec_set (spec, DYNO_LOSS_CVECS, cvecs);
  dyno_kernel_spec_set (spec, DYNO_LOSS_C, logits->c);
  dyno_kernel_spec_set_float (spec, DYNO_LOSS_SMOOTHING, smoothing);

  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "rows", spec, MIN (n, info->max_groups_x), 1, 1);
  dispatch->flops = 6 * dyno_tensor_elements (logits);
  dispatch->bytes = logits->size_bytes * (gradient ? 2 : 1) + (targets ? targets->size_bytes : 0);
  DYNO_BIND (dispatch, DynoLossRowsPush, logits, logits, DYNO_ACCESS_READ);
  if (targets)
    DYNO_BIND (dispatch, DynoLossRowsPush, targets, targets, DYNO_ACCESS_READ);
  if (gradient)
    DYNO_BIND (dispatch, DynoLossRowsPush, gradient, gradient, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoLossRowsPush, rows, rows, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoLossRowsPush, step_input, dyno_graph_step_input (graph),
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLossRowsPush, scaler, dyno_graph_scaler (graph), DYNO_ACCESS_READ);
  if (scale)
    DYNO_BIND (dispatch, DynoLossRowsPush, scale, scale, DYNO_ACCESS_READ);
  if (norm)
    DYNO_BIND (dispatch, DynoLossRowsPush, norm, norm, DYNO_ACCESS_READ);
  g_autofree char *samples = per_sample > 1 ? g_strdup_printf ("PER_SAMPLE=%u", per_sample) : NULL;
  lower_sum (lowering, node, rows, n, samples, n_metrics);
}
