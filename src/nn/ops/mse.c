/* SPDX-License-Identifier: MIT */
/* mse_loss: PyTorch's MSELoss, the mean over samples and outputs of the squared error.  Inputs
 * prediction (N, 1, 1, C) and targets (N, C floats), and mean and deviation of the targets (2 C
 * floats), or none; output in training: the scaled gradient of the prediction.  Sums go to the
 * step's output. */
#include "loss.h"
#include "ops.h"

static void
mse_lower (DynoLowering *lowering, DynoNode *node)
{
  DynoKernelSpec spec = { .shader = "loss/mse_rows.comp" };
  dyno_loss_lower (lowering, node, &spec, 0.0f);
}

static const DynoOpClass mse_class = { .name = "mse_loss", .lower = mse_lower };

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
  DynoTensor *gradient = dyno_loss_gradient (graph, prediction);
  dyno_graph_node (graph, &mse_class, "loss", (DynoTensor *[]){ prediction, targets, standard },
                   standard ? 3 : 2, &gradient, 1, NULL, 0);
}
