/* SPDX-License-Identifier: MIT */
/* mse_loss: PyTorch's MSELoss.
 *     loss[n] = sum over c of (x[n][c] - t[n][c])^2 / C
 *     dx[n][c] = 2 / C * (x[n][c] - t[n][c]) * loss scale / loss divisor
 * Inputs x, the prediction (N, H, W, C), t, the targets (N, H, W, C) F32, and mean and deviation of
 * the targets (2 C F32), or none: with them x stands for x * deviation + mean (mse_rows.comp);
 * output in training dx (N, H, W, C).  n counts the rows (N, H, W); those of a sample count as
 * their mean.  Sums over n go to the step's output. */
#include "loss.h"
#include "intl.h"
#include "metric.h"
#include "ops.h"

#define MOST_PER_OUTPUT (DYNO_MAX_METRICS - 1)
G_STATIC_ASSERT (MOST_PER_OUTPUT == 7);

/* Each output by itself: of one alone it would be the same as of all. */
static gboolean
is_per_output (const DynoTensor *prediction)
{
  return prediction->c > 1 && prediction->c <= MOST_PER_OUTPUT;
}

static void
mse_lower (DynoLowering *lowering, DynoNode *node)
{
  DynoKernelSpec spec = { .shader = "loss/mse_rows.comp" };
  if (is_per_output (node->inputs[0]))
    dyno_kernel_spec_macro (&spec, "PER_OUTPUT=1");
  dyno_loss_lower (lowering, node, &spec, 0.0f);
}

static const DynoOpClass mse_class = { .name = "mse_loss", .lower = mse_lower };

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

void
dyno_mse_loss (DynoGraph *graph, DynoTensor *prediction, DynoTensor *targets, DynoTensor *standard)
{
  if (!prediction)
    return;
  if (!targets)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "the squared error needs targets");
      return;
    }
  if (!dyno_loss_check (graph, "squared error", prediction, targets, DYNO_DTYPE_F32, prediction->c))
    return;
  declare_metrics (graph, prediction);
  DynoTensor *gradient = dyno_loss_gradient (graph, prediction);
  dyno_graph_node (graph, &mse_class, "loss", (DynoTensor *[]){ prediction, targets, standard },
                   standard ? 3 : 2, &gradient, 1, NULL, 0);
}
