/* SPDX-License-Identifier: MIT */
/* Networks: from plain parameters to a whole graph.
 *
 * Order: input preparation, model, loss, fusion, backward pass, optimizer.  Invariant: the
 * parameters are made by the model alone, so that a training and an evaluation graph of the same
 * model have them
 * at the same places. */
#include "network.h"
#include "graph-private.h"
#include "intl.h"
#include "models/models.h"
#include "plan-private.h"
#include "text.h"

#define MAX_SIDE 65536

const DynoModel *const *
dyno_model_list (void)
{
  static const DynoModel *const models[] = { &dyno_model_simplecnn, &dyno_model_resnet18,
                                             &dyno_model_resnet34,  &dyno_model_resnet50,
                                             &dyno_model_mlp,       NULL };
  return models;
}

const DynoModel *
dyno_model_find (const char *name, GError **error)
{
  const DynoModel *const *models = dyno_model_list ();
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  name = name ? name : "";
  for (guint i = 0; models[i]; i++)
    if (g_str_equal (models[i]->name, name))
      return models[i];
    else
      g_ptr_array_add (names, (gpointer) models[i]->name);
  g_ptr_array_add (names, NULL);
  g_autofree char *all = g_strjoinv (", ", (char **) names->pdata);
  const char *meant = dyno_text_nearest (name, (const char *const *) names->pdata, 2);
  if (meant)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                 _ ("There is no model “%s”; did you mean “%s”? There are %s"), name, meant, all);
  else
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                 _ ("There is no model “%s”; there are %s"), name, all);
  return NULL;
}

static gboolean
check_params (const DynoNetworkParams *params, const DynoModel *model, GError **error)
{
  if (!(params->model_width >= 0.0 && params->model_width <= 16.0))
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL, "%s: a width of %g is not in 0 to 16",
                 model->title, params->model_width);
  else if (params->n_outputs == 0 || params->n_outputs > 1u << 20)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s: %u outputs; give the number of classes or values", model->title,
                 params->n_outputs);
  else if (params->batch == 0 || params->channels == 0 || params->channels > 4096)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s: a batch of %u samples with %u channels", model->title, params->batch,
                 params->channels);
  else if (params->height < model->min_size || params->width < model->min_size
           || params->height > MAX_SIDE || params->width > MAX_SIDE)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s takes images from %u to %u pixels a side, not %u x %u", model->title,
                 model->min_size, MAX_SIDE, params->width, params->height);
  else
    return TRUE;
  return FALSE;
}

static DynoTensor *
build_input (DynoGraph *graph, const DynoNetworkParams *params)
{
  guint32 n = params->batch, h = params->height, w = params->width, c = params->channels;
  DynoPrepareParams prepare = { .scale_255 = params->raw == DYNO_RAW_U8 && params->normalise,
                                .normalise = params->normalise };
  memcpy (prepare.mean, params->mean, sizeof prepare.mean);
  memcpy (prepare.deviation, params->deviation, sizeof prepare.deviation);
  if (params->raw != DYNO_RAW_NOISE)
    {
      DynoDtype dtype = params->raw == DYNO_RAW_U8 ? DYNO_DTYPE_U8 : DYNO_DTYPE_F32;
      graph->pixels = dyno_graph_tensor (graph, "pixels", dtype, DYNO_SPACE_INPUT, n, h, w, c, c);
      prepare.flip = params->flip && params->training;
      if (prepare.flip)
        graph->flip_seeds = dyno_graph_tensor (graph, "flip_seeds", DYNO_DTYPE_I32,
                                               DYNO_SPACE_INPUT, n, 1, 1, 1, 1);
    }
  return dyno_prepare (graph, graph->pixels, graph->flip_seeds, h, w, c, &prepare);
}

static void
build_loss (DynoGraph *graph, const DynoNetworkParams *params)
{
  guint32 n = params->batch, values = params->n_outputs;
  if (params->loss == DYNO_LOSS_MSE)
    {
      graph->targets = dyno_graph_tensor (graph, "targets", DYNO_DTYPE_F32, DYNO_SPACE_INPUT, n, 1,
                                          1, values, values);
      if (params->standard_targets)
        {
          /* The same place in training and evaluation: their programs share memory. */
          graph->standard = dyno_graph_tensor (graph, "standard", DYNO_DTYPE_F32, DYNO_SPACE_SCALER,
                                               1, 1, 1, 2 * values, 2 * values);
          if (graph->standard)
            graph->standard->offset = DYNO_TENSOR_ALIGNMENT;
        }
      dyno_mse_loss (graph, graph->logits, graph->targets, graph->standard);
      return;
    }
  if (params->raw != DYNO_RAW_NOISE)
    graph->targets =
        dyno_graph_tensor (graph, "targets", DYNO_DTYPE_I32, DYNO_SPACE_INPUT, n, 1, 1, 1, 1);
  dyno_softmax_cross_entropy (graph, graph->logits, graph->targets, params->label_smoothing);
}

DynoGraph *
dyno_network_build (const DynoNetworkParams *params, GError **error)
{
  const DynoModel *model = dyno_model_find (params->model, error);
  if (!model || !check_params (params, model, error))
    return NULL;
  DynoGraphParams graph_params = { .batch = params->batch,
                                   .amp = params->amp,
                                   .training = params->training,
                                   .checkpointing = params->checkpointing,
                                   .optimizer = params->optimizer };
  g_autoptr (DynoGraph) graph = dyno_graph_new (&graph_params);
  DynoTensor *x = build_input (graph, params);
  graph->logits = model->build (graph, x, params->n_outputs,
                                params->model_width > 0.0 ? params->model_width : 1.0);
  if (graph->logits)
    {
      graph->logits->keep = !params->training;
      build_loss (graph, params);
    }
  if (!params->no_fusion)
    dyno_fuse_all (graph);
  if (params->training)
    {
      dyno_graph_backward (graph);
      dyno_optimizer_update (graph);
    }
  if (!dyno_graph_check (graph, error))
    return NULL;
  return g_steal_pointer (&graph);
}

DynoTensor *
dyno_network_get_pixels (DynoGraph *graph)
{
  return graph->pixels;
}

DynoTensor *
dyno_network_get_targets (DynoGraph *graph)
{
  return graph->targets;
}

DynoTensor *
dyno_network_get_flip_seeds (DynoGraph *graph)
{
  return graph->flip_seeds;
}

DynoTensor *
dyno_network_get_logits (DynoGraph *graph)
{
  return graph->logits;
}

gboolean
dyno_network_get_head (DynoGraph *graph, const DynoParameter **weight, const DynoParameter **bias)
{
  guint n = graph->parameters->len;
  *weight = n >= 2 ? g_ptr_array_index (graph->parameters, n - 2) : NULL;
  *bias = n >= 2 ? g_ptr_array_index (graph->parameters, n - 1) : NULL;
  return n >= 2 && (*weight)->n_dims == 2 && (*bias)->n_dims == 1 && !(*bias)->is_state
         && (*weight)->dims[0] == (*bias)->dims[0] && graph->logits
         && (*bias)->dims[0] == graph->logits->c;
}

const float *
dyno_network_get_target_scale (DynoGraph *graph)
{
  return graph->target_scale;
}

guint32
dyno_network_get_n_scaled (DynoGraph *graph)
{
  return graph->standard ? graph->standard->c / 2 : 0;
}
