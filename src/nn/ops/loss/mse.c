/* SPDX-License-Identifier: MIT */
/* mse_loss: PyTorch's MSELoss; smooth_l1_loss: its SmoothL1Loss, beta 1.
 *     loss[n] = sum over c of f (x[n][c] - t[n][c]) / C
 *     dx[n][c] = 1 / C * f' (x[n][c] - t[n][c]) * loss scale / loss divisor
 * with f (d) = d^2, or d^2 / 2 where |d| < 1 and |d| - 1/2 elsewhere.
 * Inputs x, the prediction (N, H, W, C), t, the targets (N, H, W, C) F32, and mean and deviation of
 * the targets (2 C F32), or none: with them x stands for x * deviation + mean in the loss, and dx
 * is the gradient of a scaled loss (mse_rows.comp); output in training dx (N, H, W, C).  n counts
 * the rows (N, H, W); the rows of a sample count as their mean.  Sums over n go to the step's
 * output. */
#include "loss.h"
#include "intl.h"
#include "metric.h"
#include "ops.h"

#define MOST_PER_OUTPUT (DYNO_MAX_METRICS - 1)
G_STATIC_ASSERT (MOST_PER_OUTPUT == 7);

/* TRUE: each output has a metric; with only one output its metric would equal the metric of all
 * outputs. */
static gboolean
is_per_output (const DynoTensor *prediction)
{
  return prediction->c > 1 && prediction->c <= MOST_PER_OUTPUT;
}

static void
lower (DynoLowering *lowering, DynoNode *node, gboolean smooth_l1)
{
  DynoKernelSpec spec = { .shader = "loss/mse_rows.comp" };
  if (is_per_output (node->inputs[0]))
    dyno_kernel_spec_macro (&spec, "PER_OUTPUT=1");
  if (smooth_l1)
    dyno_kernel_spec_macro (&spec, "SMOOTH_L1=1");
  if (node->n_inputs > 2)
    dyno_kernel_spec_macro (&spec, "STANDARD=1");
  dyno_loss_lower (lowering, node, &spec, 0.0f, NULL);
}

static void
mse_lower (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, FALSE);
}

static void
smooth_l1_lower (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, TRUE);
}

static const DynoOpClass mse_class = { .name = "mse_loss", .lower = mse_lower };
static const DynoOpClass smooth_l1_class = { .name = "smooth_l1_loss", .lower = smooth_l1_lower };

const DynoMetricInfo dyno_mse_metric = { .name = "mean_abs_error",
                                         .title = N_ ("Mean error"),
                                         .unit = "",
                                         .output = -1,
                                         .of_targets = TRUE,
                                         .format = DYNO_METRIC_NUMBER };

static void
declare_metrics (DynoGraph *graph, const DynoTensor *prediction)
{
  DynoMetricInfo metrics[DYNO_MAX_METRICS] = { dyno_mse_metric };
  guint n = is_per_output (prediction) ? 1 + prediction->c : 1;
  for (guint i = 1; i < n; i++)
    {
      g_autofree char *part = g_strdup_printf ("output %u", i - 1);
      g_autofree char *name = g_strdup_printf ("%s_%u", dyno_mse_metric.name, i - 1);
      metrics[i] = dyno_mse_metric;
      metrics[i].name = g_intern_string (name);
      metrics[i].part = g_intern_string (part);
      metrics[i].output = (int) i - 1;
    }
  dyno_graph_declare_metrics (graph, metrics, n);
}

static void
append (DynoGraph *graph, const DynoOpClass *op, const char *title, DynoTensor *prediction,
        DynoTensor *targets, DynoTensor *standard)
{
  if (!prediction)
    return;
  if (!targets)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "the %s needs targets", title);
      return;
    }
  if (!dyno_loss_check (graph, title, prediction, targets, DYNO_DTYPE_F32, prediction->c))
    return;
  declare_metrics (graph, prediction);
  DynoTensor *gradient = dyno_loss_gradient (graph, prediction);
  dyno_graph_node (graph, op, "loss", (DynoTensor *[]){ prediction, targets, standard },
                   standard ? 3 : 2, &gradient, 1, NULL, 0);
}

void
dyno_mse_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets, DynoTensor *standard)
{
  append (graph, &mse_class, "squared error", prediction, targets, standard);
}

void
dyno_smooth_l1_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets,
                     DynoTensor *standard)
{
  append (graph, &smooth_l1_class, "smooth L1 loss", prediction, targets, standard);
}
