/* SPDX-License-Identifier: MIT */
/* Opening of a predictor.  Invariant: the input format of the network is that of the weights file,
 * whatever the data set advises. */
#include "predictor-private.h"
#include "autotune.h"
#include "cores.h"
#include "text.h"
#include "timmnames.h"
#include "weightsfile.h"
#include <math.h>
#include <string.h>

#define DEFAULT_BATCH    32
#define DEFAULT_SIZE     224
#define MOST_WORKERS     8
#define AUTOTUNE_SECONDS 3.0

static gboolean G_GNUC_PRINTF (3, 4)
    refuse (GError **error, DynoTrainError code, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, DYNO_TRAIN_ERROR, code, text);
  return FALSE;
}

static void G_GNUC_PRINTF (2, 3) note (GPtrArray *notes, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* --- facts that the file does not hold -------------------------------------------------------- */

/* Takes number, names and units of the values from the model, where the file does not have them. */
static void
complete_values (DynoWeightsInfo *info, const DynoModel *model)
{
  gboolean named = info->target_names != NULL;

  info->is_values = TRUE;
  if (info->n_outputs == 0)
    info->n_outputs = model->n_values;
  if (named || info->n_outputs != model->n_values)
    return;
  g_strfreev (info->target_units);
  info->target_names = g_new0 (char *, model->n_values + 1);
  info->target_units = g_new0 (char *, model->n_values + 1);
  for (guint i = 0; i < model->n_values; i++)
    {
      info->target_names[i] = g_strdup (model->value_names[i]);
      info->target_units[i] = g_strdup (model->value_unit);
    }
}

static gboolean
complete_model (DynoPredictor *p, const char *shown, GError **error)
{
  DynoWeightsInfo *info = p->info;
  const DynoModel *model;

  if (p->params.model)
    {
      g_free (info->model);
      info->model = g_strdup (p->params.model);
    }
  if (!info->model)
    return refuse (error, DYNO_TRAIN_ERROR_CHECKPOINT,
                   "“%s” does not state its model; name it with --model", shown);
  model = dyno_model_find (info->model, error);
  if (model && model->n_values)
    complete_values (info, model);
  if (model)
    info->of_pixels = model->of_pixels;
  return model != NULL;
}

/* Images need image input, and sequences sequence input; an image of one row is a sequence. */
static gboolean
check_kind (const DynoBatchField *input, const DynoBatchField *theirs, const char *data,
            const char *shown, GError **error)
{
  guint32 height, width, channels, own_height, own_width, own_channels;

  dyno_field_get_image (input, &height, &width, &channels);
  dyno_field_get_image (theirs, &own_height, &own_width, &own_channels);
  if (input->n_axes == 2 && (theirs->n_axes == 2 || own_height == 1))
    return channels == own_channels
           || refuse (error, DYNO_TRAIN_ERROR_DATA,
                      "The sequences of “%s” have %u %s a step; the weights of “%s” were made "
                      "for %u",
                      data, own_channels, dyno_plural (own_channels, "feature", "features"), shown,
                      channels);
  if (input->n_axes == 2)
    return refuse (
        error, DYNO_TRAIN_ERROR_DATA,
        "“%s” holds samples of %u x %u x %u; the weights of “%s” were made for sequences "
        "of %u %s a step, a .npy of (steps, features) each",
        data, own_height, own_width, own_channels, shown, channels,
        dyno_plural (channels, "feature", "features"));
  if (theirs->n_axes == 2 && height > 1)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "“%s” holds sequences of %u %s a step; the weights of “%s” were made for "
                   "samples of %u x %u x %u",
                   data, own_channels, dyno_plural (own_channels, "feature", "features"), shown,
                   height, width, channels);
  return channels == own_channels
         || refuse (error, DYNO_TRAIN_ERROR_DATA,
                    "The samples of “%s” have %u %s; the weights of “%s” were made for %u", data,
                    own_channels, dyno_plural (own_channels, "channel", "channels"), shown,
                    channels);
}

/* Takes the input from the data set where the file does not describe it, checks that both agree,
 * and sets the size at which samples are read. */
static gboolean
complete_input (DynoPredictor *p, const char *shown, GPtrArray *notes, GError **error)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (p->dataset);
  const DynoBatchField *theirs = dyno_schema_find_role (&data->schema, DYNO_FIELD_INPUT);
  DynoBatchField *input = &p->info->input;
  guint32 height, width, channels, wanted, own_height, own_width, own_channels;

  if (data->schema.generated)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "“%s” is noise made on the device: there is "
                   "nothing to predict",
                   data->name);
  if (data->luma)
    note (
        notes,
        "the images are read as luma, 0.299 R + 0.587 G + 0.114 B of BT.601: the weights were made "
        "for one channel");
  dyno_field_get_image (theirs, &own_height, &own_width, &own_channels);
  if (!p->info->has_input)
    {
      g_autofree char *fed = dyno_normalisation_describe (theirs);
      *input = *theirs;
      if (data->resizable)
        input->shape[0] = input->shape[1] = DEFAULT_SIZE;
      p->info->has_input = TRUE;
      note (notes, "“%s” does not state how its input is normalised; it is fed %s", shown, fed);
    }
  if (!check_kind (input, theirs, data->name, shown, error))
    return FALSE;
  if (input->element != theirs->element)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "“%s” holds %s values; the weights of “%s” were made for %s", data->name,
                   dyno_element_name (theirs->element), shown, dyno_element_name (input->element));
  dyno_field_get_image (input, &height, &width, &channels);
  wanted = p->params.image_size;
  p->height = wanted ? wanted : height;
  p->width = wanted ? wanted : width;
  if (data->resizable)
    return TRUE;
  if (wanted && (wanted != own_height || wanted != own_width))
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "The samples of “%s” are %u x %u and cannot be resized", data->name, own_width,
                   own_height);
  if (theirs->variable && own_width > width)
    note (notes, "The longest sequence of “%s” has %u %s; the weights of “%s” were made for %u",
          data->name, own_width, dyno_plural (own_width, "step", "steps"), shown, width);
  else if (own_height != height || (own_width != width && !theirs->variable))
    note (notes, "The samples of “%s” are %u x %u; the weights of “%s” were made at %u x %u",
          data->name, own_width, own_height, shown, width, height);
  p->height = data->max_height;
  p->width = data->max_width;
  return TRUE;
}

/* Without a data set the file itself has to describe its input. */
static gboolean
complete_fed_input (DynoPredictor *p, const char *shown, GError **error)
{
  const DynoBatchField *input = &p->info->input;
  gboolean is_image = p->info->has_input && strcmp (input->axes, "HWC") == 0;
  guint32 wanted = p->params.image_size, channels;

  if (!p->info->has_input)
    return refuse (error, DYNO_TRAIN_ERROR_CHECKPOINT,
                   "“%s” does not state the element type, shape and normalisation of its input; "
                   "weights that Dyno trained state them",
                   shown);
  if (wanted && !is_image)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "The samples of “%s” are not images: they cannot be resized to %u x %u", shown,
                   wanted, wanted);
  dyno_field_get_image (input, &p->height, &p->width, &channels);
  if (wanted)
    p->height = p->width = wanted;
  return TRUE;
}

/* The fields of a sample, which depend on the data set where there is one. */
static void
get_schema (DynoPredictor *p, DynoBatchSchema *schema)
{
  DynoBatchField *input;

  if (p->dataset)
    {
      dyno_dataset_get_schema (dyno_dataset_get_info (p->dataset), p->width, p->height, schema);
      return;
    }
  *schema = (DynoBatchSchema){ 0 };
  input = dyno_schema_add (schema, &p->info->input);
  if (strcmp (input->axes, "HWC") == 0)
    {
      input->shape[0] = p->height;
      input->shape[1] = p->width;
    }
  if (input->variable)
    dyno_schema_add (schema, &(DynoBatchField){ .name = "length",
                                                .role = DYNO_FIELD_LENGTH,
                                                .element = DYNO_ELEMENT_I32 });
}

/* The number of outputs from the file's tensors: that of the last layer, whose name does not depend
 * on that number. */
static gboolean
complete_outputs (DynoPredictor *p, DynoSafetensors *file, const DynoNetworkParams *params,
                  const char *shown, GError **error)
{
  DynoNetworkParams guess = *params;
  DynoHead head;
  g_autofree char *timm = NULL;

  if (p->info->n_outputs > 0)
    return TRUE;
  guess.n_outputs = 1;
  g_autoptr (DynoGraph) graph = dyno_network_build (&guess, error);
  if (!graph)
    return FALSE;
  if (dyno_network_get_head (graph, &head) && head.bias)
    timm = dyno_timm_find_tensor (head.bias->name);
  for (guint i = 0; i < dyno_safetensors_get_count (file) && head.bias; i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      if ((g_str_has_suffix (tensor->name, head.bias->name)
           || (timm && g_str_has_suffix (tensor->name, timm)))
          && tensor->n_dims == 1 && tensor->shape[0] >= 1 && tensor->shape[0] <= 1u << 20)
        p->info->n_outputs = (guint32) tensor->shape[0];
    }
  return p->info->n_outputs > 0
         || refuse (error, DYNO_TRAIN_ERROR_CHECKPOINT,
                    "“%s” does not fit %s: it has no last layer “%s”", shown, p->info->model,
                    head.weight ? head.weight->name : "?");
}

static void
get_network (DynoPredictor *p, DynoNetworkParams *params)
{
  *params = (DynoNetworkParams){
    .model = p->info->model,
    .model_width = p->info->model_width,
    .batch = p->params.batch,
    .n_outputs = p->info->n_outputs,
    .precision = dyno_precision_of_amp (p->params.amp),
    .mode = DYNO_MODE_PREDICT,
  };
  get_schema (p, &params->schema);
  for (guint i = 0; i < params->schema.n_fields; i++)
    if (params->schema.fields[i].role == DYNO_FIELD_INPUT)
      params->schema.fields[i].normalisation = p->info->input.normalisation;
}

/* --- building --------------------------------------------------------------------------------- */

static void
choose_batch (DynoPredictor *p)
{
  guint64 n_samples =
      p->dataset ? dyno_dataset_get_info (p->dataset)->n_samples : (guint64) G_MAXUINT32;
  guint32 asked = p->params.batch ? p->params.batch : DEFAULT_BATCH;

  p->params.batch = (guint32) MAX (1, MIN ((guint64) asked, n_samples));
  if (p->params.workers == 0)
    p->params.workers = MIN (dyno_cores_count (), MOST_WORKERS);
}

static const DynoVetWatch nobody;

/* As in a run, unknown kernels are measured for a short time on a GPU. */
static gboolean
tune (DynoPredictor *p, const DynoNetworkParams *params, GCancellable *cancellable, GError **error)
{
  const char *key = dyno_device_get_key (p->device);
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoBuild) build = NULL;

  if (!p->choices)
    p->choices = dyno_choices_load (key);
  if (dyno_device_get_info (p->device)->type == DYNO_DEVICE_TYPE_SOFTWARE)
    {
      dyno_choices_go_by_rule (p->choices);
      return TRUE;
    }
  build = dyno_build_new (params, error);
  if (!build)
    return FALSE;
  if (!dyno_build_tune (build, p->device, p->choices, &nobody, AUTOTUNE_SECONDS, NULL, NULL,
                        cancellable, &problem)
      || !dyno_autotune_settle (p->device, dyno_build_get_graph (build), p->choices, &problem))
    {
      if (!g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET)
          && !g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY))
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return FALSE;
        }
      g_info ("Kernels were not all measured: %s", problem->message);
    }
  dyno_choices_save (p->choices, key, NULL);
  return TRUE;
}

/* The batch sizes of a feeder's predictor, largest first: a small batch is not computed as a large
 * one of which most samples do not count. */
static void
choose_batches (DynoPredictor *p)
{
  p->batches[p->n_builds++] = p->params.batch;
  if (p->dataset)
    return;
  for (guint32 batch = 64; batch > 0; batch /= 8)
    if (batch < p->params.batch)
      p->batches[p->n_builds++] = batch;
}

static gboolean
build_programs (DynoPredictor *p, GCancellable *cancellable, GError **error)
{
  DynoNetworkParams params;
  DynoBuildParams plan = { .info = dyno_device_get_info (p->device),
                           .choices = p->choices,
                           .n_slots = DYNO_PIPE_SLOTS,
                           .device = p->device,
                           .watch = &nobody,
                           .cancellable = cancellable };

  get_network (p, &params);
  for (guint i = 0; i < p->n_builds; i++)
    {
      params.batch = p->batches[i];
      p->builds[i] = dyno_build_new (&params, error);
      if (!p->builds[i] || !dyno_build_plan (p->builds[i], &plan, error))
        return FALSE;
    }
  if (!dyno_build_allocate (p->device, p->builds, p->n_builds, error))
    return FALSE;
  for (guint i = 0; i < p->n_builds; i++)
    if (!dyno_build_record (p->builds[i], p->device, 1u << DYNO_COMMAND_FORWARD, cancellable,
                            error))
      return FALSE;
  return TRUE;
}

static gboolean
build_readbacks (DynoPredictor *p, GError **error)
{
  const DynoTensor *logits = dyno_network_get_logits (dyno_build_get_graph (p->builds[0]));

  if (!p->info->of_pixels && (logits->h != 1 || logits->w != 1 || logits->c != p->info->n_outputs))
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "%s gives %u x %u x %u values per sample; what is predicted is one row",
                   p->info->model, logits->h, logits->w, logits->c);
  for (guint i = 0; i < p->n_builds; i++)
    if (!(p->readbacks[i] = dyno_readback_new (p->device, p->builds[i], error)))
      return FALSE;
  return TRUE;
}

static gboolean
load_weights (DynoPredictor *p, DynoSafetensors *file, const char *shown, GPtrArray *notes,
              GError **error)
{
  DynoGraph *graph = dyno_build_get_graph (p->builds[0]);
  g_autoptr (DynoWeights) weights = dyno_weights_new (graph, error);

  return weights
         && dyno_weights_load (weights, graph, file, shown, DYNO_WEIGHTS_HEAD_FITS, NULL, notes,
                               error)
         && dyno_program_write_parameters (dyno_build_get_program (p->builds[0]), DYNO_SPACE_MASTER,
                                           (const float *const *) weights->values, error);
}

/* Adds the notes of a data set without labels. */
static void
note_data (DynoPredictor *p, GPtrArray *notes)
{
  const DynoDatasetInfo *data = p->dataset ? dyno_dataset_get_info (p->dataset) : NULL;
  g_auto (GStrv) theirs = NULL;

  if (!data || data->schema.n_fields == 0
      || dyno_schema_find_role (&data->schema, DYNO_FIELD_TARGET))
    return;
  theirs = dyno_dataset_list_notes (p->dataset, NULL, NULL);
  /* The first note is on unreadable files, which the caller lists itself. */
  for (guint i = data->n_unreadable > 0 ? 1 : 0; theirs[i]; i++)
    g_ptr_array_add (notes, g_strdup (theirs[i]));
}

static gboolean
tune_all (DynoPredictor *p, DynoNetworkParams *params, GCancellable *cancellable, GError **error)
{
  for (guint i = 0; i < p->n_builds; i++)
    {
      params->batch = p->batches[i];
      if (!tune (p, params, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
open_mirrored (DynoPredictor *p, const char *shown, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (!p->params.mirror)
    return TRUE;
  if (!p->dataset || p->info->of_pixels)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "“%s” gives a class for each pixel, which is not averaged with the mirror image",
                   shown);
  p->mirrored = dyno_dataset_new_mirrored (p->dataset, &problem);
  return p->mirrored || refuse (error, DYNO_TRAIN_ERROR_DATA, "%s", problem->message);
}

static gboolean
open_all (DynoPredictor *p, GPtrArray *notes, GCancellable *cancellable, GError **error)
{
  DynoDeviceParams device = { .index = p->params.device };
  const char *path = p->params.weights;
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, error);
  DynoNetworkParams params;

  p->info = file ? dyno_weights_info_read (file, error) : NULL;
  if (p->info)
    dyno_weights_info_complete (p->info, path, notes);
  if (!p->info || !complete_model (p, shown, error)
      || !(p->dataset ? complete_input (p, shown, notes, error)
                      : complete_fed_input (p, shown, error)))
    return FALSE;
  if (!open_mirrored (p, shown, error))
    return FALSE;
  note_data (p, notes);
  choose_batch (p);
  get_network (p, &params);
  if (!complete_outputs (p, file, &params, shown, error)
      || !(p->device = dyno_device_open (&device, error)))
    return FALSE;
  if (p->params.amp && !dyno_device_get_info (p->device)->fp16)
    {
      note (notes, "%s has no fp16: predicting in fp32", dyno_device_get_info (p->device)->name);
      p->params.amp = FALSE;
    }
  get_network (p, &params);
  choose_batches (p);
  if (!tune_all (p, &params, cancellable, error) || !build_programs (p, cancellable, error)
      || !build_readbacks (p, error) || !load_weights (p, file, shown, notes, error))
    return FALSE;
  p->schema = params.schema;
  p->logits = g_new0 (float, p->info->n_outputs);
  p->shares = g_new0 (float, p->info->n_outputs);
  p->logits_before = p->mirrored ? g_new0 (float, p->info->n_outputs) : NULL;
  return TRUE;
}

/* The facts of the file, and of the config.json beside it. */
static DynoWeightsInfo *
read_info (const char *weights, GError **error)
{
  g_autoptr (GPtrArray) unheard = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (weights, 0, error);
  DynoWeightsInfo *info = file ? dyno_weights_info_read (file, error) : NULL;

  if (info)
    dyno_weights_info_complete (info, weights, unheard);
  return info;
}

DynoDataset *
dyno_predictor_open_data (const char *weights, const char *const *paths, GCancellable *cancellable,
                          GError **error)
{
  g_autoptr (DynoWeightsInfo) info = read_info (weights, error);

  if (!info)
    return NULL;
  return dyno_dataset_open_unlabelled (paths, info->has_input ? &info->input : NULL, NULL, NULL,
                                       NULL, cancellable, error);
}

DynoDataset *
dyno_predictor_open_labelled (const char *weights, const char *location,
                              const DynoDatasetParams *params, GCancellable *cancellable,
                              GError **error)
{
  g_autoptr (DynoWeightsInfo) info = read_info (weights, error);
  DynoDatasetParams own = *params;

  if (!info)
    return NULL;
  own.wanted = info->has_input ? &info->input : NULL;
  if (info->is_labels && own.task == DYNO_TASK_AUTO)
    own.task = DYNO_TASK_LABELS;
  return dyno_dataset_open (location, &own, NULL, NULL, cancellable, error);
}

DynoPredictor *
dyno_predictor_new (const DynoPredictorParams *params, DynoDataset *dataset, GPtrArray *notes,
                    GCancellable *cancellable, GError **error)
{
  g_autoptr (DynoPredictor) p = g_new0 (DynoPredictor, 1);

  g_return_val_if_fail (params->weights && notes, NULL);
  p->params = *params;
  p->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
  if (!open_all (p, notes, cancellable, error))
    return NULL;
  p->params.weights = p->params.model = NULL;
  return g_steal_pointer (&p);
}

void
dyno_predictor_free (DynoPredictor *p)
{
  if (!p)
    return;
  for (guint i = 0; i < p->n_builds; i++)
    {
      dyno_readback_free (p->readbacks[i]);
      dyno_build_free (p->builds[i]);
    }
  dyno_choices_free (p->choices);
  dyno_device_unref (p->device);
  dyno_weights_info_free (p->info);
  g_clear_pointer (&p->dataset, dyno_dataset_unref);
  g_free (p->logits);
  g_free (p->shares);
  g_free (p->logits_before);
  dyno_dataset_unref (p->mirrored);
  g_free (p);
}

const DynoWeightsInfo *
dyno_predictor_get_info (DynoPredictor *p)
{
  return p->info;
}

guint32
dyno_predictor_get_batch (DynoPredictor *p)
{
  return p->params.batch;
}

void
dyno_predictor_get_mask_size (DynoPredictor *p, guint32 *width, guint32 *height)
{
  *width = p->info->of_pixels ? p->width : 0;
  *height = p->info->of_pixels ? p->height : 0;
}

const char *
dyno_predictor_get_device (DynoPredictor *p)
{
  return dyno_device_get_info (p->device)->name;
}
