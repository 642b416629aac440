/* SPDX-License-Identifier: MIT */
/* A model without a device. */
#include "savedmodel.h"
#include "weightsfile.h"

static gboolean
check_info (const DynoWeightsInfo *info, const char *shown, GError **error)
{
  if (info->model && info->has_input && info->n_outputs > 0)
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT,
               "“%s” does not state its model, input and outputs, as the weights of a run do; "
               "start a run from it with --weights, and take the weights of that run",
               shown);
  return FALSE;
}

DynoSavedModel *
dyno_saved_model_open (const char *path, GPtrArray *notes, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, error);
  g_autoptr (DynoSavedModel) model = g_new0 (DynoSavedModel, 1);
  DynoNetworkParams params = { .batch = 1,
                               .precision = dyno_precision_of_amp (FALSE),
                               .mode = DYNO_MODE_PREDICT,
                               .no_fusion = TRUE };
  DynoWeights *weights;

  model->info = file ? dyno_weights_info_read (file, error) : NULL;
  if (!model->info || !check_info (model->info, shown, error))
    return NULL;
  params.model = model->info->model;
  params.model_width = model->info->model_width;
  params.n_outputs = model->info->n_outputs;
  dyno_schema_add (&params.schema, &model->info->input);
  if (model->info->input.variable)
    dyno_schema_add (&params.schema, &(DynoBatchField){ .name = "length",
                                                        .role = DYNO_FIELD_LENGTH,
                                                        .element = DYNO_ELEMENT_I32 });
  model->graph = dyno_network_build (&params, error);
  if (!model->graph)
    return NULL;
  model->logits = dyno_network_get_logits (model->graph);
  model->weights = weights = dyno_weights_new (model->graph, error);
  if (!weights
      || !dyno_weights_load (weights, model->graph, file, shown, DYNO_WEIGHTS_HEAD_FITS, NULL,
                             notes, error))
    return NULL;
  model->values = weights->values;
  return g_steal_pointer (&model);
}

void
dyno_saved_model_free (DynoSavedModel *model)
{
  if (!model)
    return;
  dyno_weights_free (model->weights);
  dyno_graph_free (model->graph);
  dyno_weights_info_free (model->info);
  g_free (model);
}

const float *
dyno_saved_model_get (const DynoSavedModel *model, const DynoTensor *tensor,
                      const DynoParameter **parameter)
{
  *parameter = tensor ? tensor->parameter : NULL;
  return *parameter ? model->values[(*parameter)->index] : NULL;
}
