/* SPDX-License-Identifier: MIT */
/* Networks: from plain parameters to a whole graph.
 *
 * Order: input preparation, model, loss, fusion, backward pass, optimizer.  Invariant: only the
 * model makes parameters, so that a training and an evaluation graph of the same model have them at
 * the same places. */
#include "network.h"
#include "fusion.h"
#include "graph-private.h"
#include "ops.h"
#include "plan-private.h"

#define MAX_SIDE 65536

/* The names of the models that have a class for each pixel; g_free. */
static char *
list_models_of_pixels (void)
{
  const DynoModel *const *models = dyno_model_list ();
  GString *names = g_string_new (NULL);

  for (guint i = 0; models[i]; i++)
    if (models[i]->of_pixels)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", models[i]->name);
  return g_string_free (names, FALSE);
}

/* TRUE: model and data both have a class for each pixel, or neither has. */
static gboolean
check_pixels (const DynoNetworkParams *params, const DynoModel *model, GError **error)
{
  gboolean masks = dyno_schema_find_mask (&params->schema) != NULL;

  if (params->schema.generated || masks == model->of_pixels)
    return TRUE;
  if (masks)
    {
      g_autofree char *names = list_models_of_pixels ();
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                   "%s has one answer for a whole image, and the data has a mask for each image; "
                   "choose a model with a class for each pixel: %s, or a network from a file",
                   model->title, names);
    }
  else
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                 "%s predicts a class for each pixel, and the data has no masks; choose data with "
                 "masks, or a model with one answer for an image",
                 model->title);
  return FALSE;
}

/* TRUE: the target field fits the loss. */
static gboolean
check_target (const DynoNetworkParams *params, GError **error)
{
  const DynoBatchField *target = dyno_schema_find_role (&params->schema, DYNO_FIELD_TARGET);
  gboolean floats = params->loss != DYNO_LOSS_CROSS_ENTROPY;

  if (dyno_schema_find_mask (&params->schema))
    return TRUE;
  if (!target || target->element != (floats ? DYNO_ELEMENT_F32 : DYNO_ELEMENT_I32)
      || dyno_field_count (target) != (floats ? params->n_outputs : 1)
      || (floats && params->schema.generated)
      || (params->loss == DYNO_LOSS_BCE) != (dyno_schema_count_labels (&params->schema) > 0))
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                   "%s: the loss needs %s as the target of each sample", params->model,
                   params->loss == DYNO_LOSS_BCE ? "a label for each output"
                   : floats                      ? "a float for each output"
                                                 : "a class id");
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_params (const DynoNetworkParams *params, const DynoModel *model, GError **error)
{
  const DynoBatchField *input = dyno_schema_find_role (&params->schema, DYNO_FIELD_INPUT);
  guint32 height = 0, width = 0, channels = 0;
  /* A network that predicts has no loss. */
  gboolean of_classes =
      params->mode != DYNO_MODE_PREDICT
      && (params->loss == DYNO_LOSS_CROSS_ENTROPY || params->loss == DYNO_LOSS_BCE);
  if (input)
    dyno_field_get_image (input, &height, &width, &channels);
  if (!(params->model_width >= 0.0 && params->model_width <= 16.0))
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL, "%s: a width of %g is not in 0 to 16",
                 model->title, params->model_width);
  else if (params->n_outputs == 0 || params->n_outputs > 1u << 20)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s: %u outputs; give the number of classes or values", model->title,
                 params->n_outputs);
  else if (model->n_values && (of_classes || params->n_outputs != model->n_values))
    {
      g_autofree char *names = g_strjoinv (", ", (char **) model->value_names);
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                   "%s is made for %u values a sample (%s, in %s); the data has %u %s",
                   model->title, model->n_values, names, model->value_unit, params->n_outputs,
                   of_classes ? "classes" : "values");
    }
  else if (params->batch == 0 || channels == 0 || channels > 4096)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s: a batch of %u samples with %u channels", model->title, params->batch,
                 channels);
  else if (height < model->min_size || width < model->min_size || height > MAX_SIDE
           || width > MAX_SIDE)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s takes images from %u to %u pixels a side, not %u x %u", model->title,
                 model->min_size, MAX_SIDE, width, height);
  else if (model->channels > 0 && channels != model->channels)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                 "%s takes samples of %u channels, the data has %u", model->title, model->channels,
                 channels);
  else
    return params->mode == DYNO_MODE_PREDICT
           || (check_pixels (params, model, error) && check_target (params, error));
  return FALSE;
}

/* The tensor that holds a field of the batch as the host writes it. */
static DynoTensor *
add_input (DynoGraph *graph, DynoFieldRole role)
{
  static const DynoDtype dtypes[] = { [DYNO_ELEMENT_U8] = DYNO_DTYPE_U8,
                                      [DYNO_ELEMENT_I32] = DYNO_DTYPE_I32,
                                      [DYNO_ELEMENT_F32] = DYNO_DTYPE_F32 };
  int i = dyno_schema_find_index (&graph->schema, role);
  if (i < 0)
    return NULL;
  const DynoBatchField *field = &graph->schema.fields[i];
  guint32 h, w, c;
  dyno_field_get_image (field, &h, &w, &c);
  if (field == dyno_schema_find_mask (&graph->schema))
    {
      h = field->shape[0];
      w = field->shape[1];
      c = 1;
    }
  return graph->inputs[i] =
             dyno_graph_tensor (graph, field->name, dtypes[field->element], DYNO_SPACE_INPUT,
                                dyno_graph_get_params (graph)->batch, h, w, c, c);
}

static DynoTensor *
build_input (DynoGraph *graph, const DynoNetworkParams *params)
{
  DynoBatchField field = *dyno_schema_find_role (&params->schema, DYNO_FIELD_INPUT);
  DynoTensor *raw = NULL, *seeds = NULL;
  if (params->schema.generated)
    field.normalisation = (DynoNormalisation){ 0 };
  else
    {
      raw = add_input (graph, DYNO_FIELD_INPUT);
      if (params->mode == DYNO_MODE_TRAIN && dyno_augmentation_is_on (&params->augmentation))
        seeds = add_input (graph, DYNO_FIELD_SEED);
    }
  return dyno_prepare (graph, raw, seeds, &field, &params->augmentation);
}

/* The loss of a class for each pixel; in evaluation with the counts of targets and classes, and the
 * classes of the first samples. */
static void
build_pixel_loss (DynoGraph *graph, const DynoNetworkParams *params, DynoTensor *masks)
{
  DynoTensor *targets =
      dyno_prepare_mask (graph, masks, dyno_network_find_input (graph, DYNO_FIELD_SEED),
                         dyno_schema_count_channels (&params->schema), &params->augmentation);

  if (dyno_mix_is_on (dyno_graph_get_mix (graph)))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "mixup and cutmix mix the classes of images, not those of pixels");
  dyno_pixel_cross_entropy (graph, graph->logits, targets, &params->class_loss,
                            params->mode == DYNO_MODE_TRAIN ? graph->class_weights : NULL);
  if (params->mode != DYNO_MODE_EVALUATE)
    return;
  graph->result = dyno_pixel_counts (graph, graph->logits, targets);
  graph->watched = dyno_pixel_classes (graph, graph->logits, DYNO_MOST_WATCHED);
}

static void
build_loss (DynoGraph *graph, const DynoNetworkParams *params, const DynoModel *model)
{
  guint32 values = params->n_outputs;
  DynoTensor *targets = params->schema.generated ? NULL : add_input (graph, DYNO_FIELD_TARGET);
  gboolean of_values = params->loss == DYNO_LOSS_MSE || params->loss == DYNO_LOSS_SMOOTH_L1;
  if (of_values && dyno_mix_is_on (dyno_graph_get_mix (graph)))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "mixup and cutmix mix classes, not values");
  if (of_values)
    {
      if (params->mode == DYNO_MODE_TRAIN)
        targets =
            dyno_flip_targets (graph, targets, dyno_network_find_input (graph, DYNO_FIELD_SEED),
                               &params->augmentation);
      /* Mean and deviation are folded into the last layer when weights are saved. */
      if (params->standard_targets && graph->head_layer.bias && graph->head_layer.is_linear)
        {
          /* The offset is the same in training and evaluation: their programs share memory. */
          graph->standard = dyno_graph_tensor (graph, "standard", DYNO_DTYPE_F32, DYNO_SPACE_SCALER,
                                               1, 1, 1, 2 * values, 2 * values);
          if (graph->standard)
            graph->standard->offset = DYNO_TENSOR_ALIGNMENT;
        }
      if (params->loss == DYNO_LOSS_SMOOTH_L1)
        dyno_smooth_l1_loss (graph, graph->logits, targets, graph->standard);
      else
        dyno_mse_loss (graph, graph->logits, targets, graph->standard);
      return;
    }
  if (params->class_weights)
    {
      graph->class_weights = dyno_graph_tensor (graph, "class_weights", DYNO_DTYPE_F32,
                                                DYNO_SPACE_SCALER, 1, 1, 1, values + 1, values + 1);
      if (graph->class_weights)
        graph->class_weights->offset = DYNO_TENSOR_ALIGNMENT;
    }
  if (model->of_pixels)
    build_pixel_loss (graph, params, targets);
  else
    (params->loss == DYNO_LOSS_BCE ? dyno_bce_loss : dyno_softmax_cross_entropy) (
        graph, graph->logits, targets, &params->class_loss,
        params->mode == DYNO_MODE_TRAIN ? graph->class_weights : NULL);
}

/* Declares the metrics of the model's values under the model's names; code that shows the metrics
 * prefers the data set's names. */
static void
name_values (DynoGraph *graph, const DynoModel *model)
{
  for (guint i = 0; i < graph->n_metrics && model->n_values; i++)
    {
      DynoMetricInfo *metric = &graph->metrics[i];
      metric->unit = model->value_unit;
      if (metric->output < 0)
        continue;
      g_autofree char *name =
          g_strdup_printf ("%s_%s", dyno_mse_metric.name, model->value_names[metric->output]);
      metric->name = g_intern_string (name);
      metric->part = model->value_names[metric->output];
    }
}

/* TRUE: the last two of the first n parameters belong to a layer that computes logits. */
static gboolean
ends_in_layer (DynoGraph *graph, guint n, guint n_dims, const DynoParameter **weight,
               const DynoParameter **bias)
{
  const DynoParameter *w = n >= 2 ? g_ptr_array_index (graph->parameters, n - 2) : NULL,
                      *b = n >= 2 ? g_ptr_array_index (graph->parameters, n - 1) : NULL;

  if (!graph->logits || !w || w->n_dims != n_dims || b->n_dims != 1 || b->is_state
      || w->dims[0] != b->dims[0] || b->dims[0] != graph->logits->c)
    return FALSE;
  *weight = w;
  *bias = b;
  return TRUE;
}

/* A built-in model ends in a linear layer; a model of pixels ends in a convolution or in the sum of
 * two.  The parameters of these layers are the last ones. */
static void
find_head (DynoGraph *graph, gboolean of_pixels)
{
  DynoHead *head = &graph->head_layer;
  guint n = graph->parameters->len;

  if (ends_in_layer (graph, n, of_pixels ? 4 : 2, &head->weight, &head->bias))
    head->is_linear =
        !of_pixels || !ends_in_layer (graph, n - 2, 4, &head->added_weight, &head->added_bias);
}

/* The factor on the head's learning rate applies to the trained parameters from the head on. */
static void
set_head_factor (DynoGraph *graph)
{
  const DynoHead *head = &graph->head_layer;
  const DynoParameter *last = head->bias ? head->bias : head->weight,
                      *parts[] = { head->added_weight, head->added_bias, head->weight, last };

  if (!last || last->is_frozen || last->index + 1 != graph->parameters->len)
    return;
  for (guint i = G_N_ELEMENTS (parts); i-- > 0;)
    if (parts[i] && !parts[i]->is_frozen)
      dyno_graph_set_head (graph, parts[i]);
}

DynoGraph *
dyno_network_build (const DynoNetworkParams *params, GError **error)
{
  const DynoModel *model = dyno_model_find (params->model, error);
  if (!model || !check_params (params, model, error))
    return NULL;
  DynoGraphParams graph_params = { .batch = params->batch,
                                   .precision = params->precision,
                                   .training = params->mode == DYNO_MODE_TRAIN,
                                   .checkpointing = params->checkpointing,
                                   .optimizer = params->optimizer,
                                   .head_lr_factor = params->head_lr_factor,
                                   .layer_decay = params->layer_decay,
                                   .undecayed_vectors = params->undecayed_vectors,
                                   .average_decay = params->average_decay,
                                   .ranks = params->ranks,
                                   .freeze = params->freeze };
  g_autoptr (DynoGraph) graph = dyno_graph_new (&graph_params);
  graph->schema = params->schema;
  DynoTensor *x = build_input (graph, params);
  DynoTensor *lengths = model->reads_lengths && !params->schema.generated
                            ? add_input (graph, DYNO_FIELD_LENGTH)
                            : NULL;
  graph->logits = model->build (
      graph, x,
      &(DynoModelParams){ .model = model,
                          .lengths = lengths,
                          .n_outputs = params->n_outputs,
                          .width = params->model_width > 0.0 ? params->model_width : 1.0,
                          .dropout = params->dropout,
                          .stochastic_depth = params->stochastic_depth });
  if (!model->network)
    find_head (graph, model->of_pixels);
  set_head_factor (graph);
  dyno_graph_place_parameters (graph);
  if (graph->logits)
    {
      graph->result = model->of_pixels ? NULL : graph->logits;
      if (params->mode != DYNO_MODE_PREDICT)
        {
          build_loss (graph, params, model);
          name_values (graph, model);
        }
      else if (model->of_pixels)
        graph->result = dyno_pixel_classes (graph, graph->logits, params->batch);
      if (graph->result)
        graph->result->keep = params->mode != DYNO_MODE_TRAIN;
      if (graph->watched)
        graph->watched->keep = TRUE;
    }
  if (!params->no_fusion)
    dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  if (params->mode == DYNO_MODE_TRAIN)
    {
      dyno_graph_backward (graph);
      if (!params->no_fusion)
        dyno_fusion_apply_stage (DYNO_FUSION_BACKWARD, graph);
      dyno_optimizer_update (graph);
    }
  if (!dyno_graph_check (graph, error))
    return NULL;
  return g_steal_pointer (&graph);
}

DynoTensor *
dyno_network_get_input (DynoGraph *graph, guint field)
{
  return field < graph->schema.n_fields ? graph->inputs[field] : NULL;
}

DynoTensor *
dyno_network_find_input (DynoGraph *graph, DynoFieldRole role)
{
  int i = dyno_schema_find_index (&graph->schema, role);
  return i < 0 ? NULL : graph->inputs[i];
}

const GPtrArray *
dyno_network_get_notes (DynoGraph *graph)
{
  return graph->notes;
}

DynoTensor *
dyno_network_get_logits (DynoGraph *graph)
{
  return graph->logits;
}

DynoTensor *
dyno_network_get_result (DynoGraph *graph)
{
  return graph->result;
}

DynoTensor *
dyno_network_get_watched (DynoGraph *graph)
{
  return graph->watched;
}

gboolean
dyno_network_get_head (DynoGraph *graph, DynoHead *head)
{
  *head = graph->head_layer;
  return head->weight != NULL;
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

guint32
dyno_network_get_n_weighted (DynoGraph *graph)
{
  return graph->class_weights ? graph->class_weights->c - 1 : 0;
}

const DynoMetricInfo *
dyno_network_get_validation_metrics (DynoGraph *graph)
{
  const DynoTensor *logits = graph->logits;

  if (graph->n_metrics == 0 || !logits || !dyno_network_find_input (graph, DYNO_FIELD_TARGET))
    return NULL;
  if (dyno_schema_find_mask (&graph->schema))
    return dyno_pixel_validation_metrics;
  if (logits->h != 1 || logits->w != 1)
    return NULL;
  if (dyno_schema_count_labels (&graph->schema) > 0)
    return dyno_label_validation_metrics;
  return graph->metrics[0].of_targets ? dyno_value_validation_metrics
                                      : dyno_class_validation_metrics;
}
