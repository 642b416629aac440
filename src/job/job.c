/* SPDX-License-Identifier: MIT */
/* A job, and the network that follows from it and a data set. */
#include "job.h"
#include "augment.h"
#include "classweights.h"
#include "intl.h"
#include "text.h"
#include <math.h>
#include <string.h>

/* size for images of different sizes, unless set: the size for which the models were designed */
#define MOST_SIZE 224

DynoJob *
dyno_job_new (void)
{
  DynoJob *job = g_atomic_rc_box_new0 (DynoJob);

  job->model = g_strdup ("simplecnn");
  job->device = -1;
  dyno_settings_init (&job->settings);
  return job;
}

DynoJob *
dyno_job_copy (const DynoJob *job)
{
  DynoJob *copy = g_atomic_rc_box_dup (sizeof *job, (gpointer) job);

  copy->data = g_strdup (job->data);
  copy->targets = g_strdup (job->targets);
  copy->model = g_strdup (job->model);
  copy->preset = g_strdup (job->preset);
  copy->weights_in = g_strdup (job->weights_in);
  copy->weights_out = g_strdup (job->weights_out);
  copy->resume = g_strdup (job->resume);
  copy->out_dir = g_strdup (job->out_dir);
  copy->name = g_strdup (job->name);
  copy->devices = g_strdup (job->devices);
  return copy;
}

const DynoJob *
dyno_job_ref (const DynoJob *job)
{
  return g_atomic_rc_box_acquire ((gpointer) job);
}

static void
clear (gpointer data)
{
  DynoJob *job = data;

  g_free (job->data);
  g_free (job->targets);
  g_free (job->model);
  g_free (job->preset);
  g_free (job->weights_in);
  g_free (job->weights_out);
  g_free (job->resume);
  g_free (job->out_dir);
  g_free (job->name);
  g_free (job->devices);
}

void
dyno_job_unref (const DynoJob *job)
{
  if (job)
    g_atomic_rc_box_release_full ((gpointer) job, clear);
}

void
dyno_job_get_dataset_params (const DynoJob *job, DynoDatasetParams *params)
{
  const DynoModel *model = job->model ? dyno_model_find (job->model, NULL) : NULL;
  const char *column = g_quark_to_string (job->settings.data_group_column);

  *params = (DynoDatasetParams){ .targets = job->targets,
                                 .axes = (DynoAxes) job->settings.data_layout,
                                 .task = (DynoTask) job->settings.data_task,
                                 .sequences = model && (model->reads_lengths || model->sequences),
                                 .links = job->settings.data_links,
                                 .one_class = job->settings.data_one_class,
                                 .group_column = column,
                                 .threads = (guint) job->settings.threads };
}

/* "cnn1d, cnnlstm": the models that read the valid length of a sequence. */
static char *
list_sequence_models (void)
{
  GString *names = g_string_new (NULL);

  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    if ((*model)->reads_lengths)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", (*model)->name);
  return g_string_free (names, FALSE);
}

/* The error for samples below the model's least size; for sequences, known by their kind or as
 * arrays of floats with one channel, it names the models for sequences. */
static gboolean
refuse_small (const DynoModel *model, const DynoDatasetInfo *info, guint32 width, guint32 height,
              GError **error)
{
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  guint32 least = model->min_size;
  g_autofree char *names = list_sequence_models ();

  if (input && input->n_axes == 2)
    return dyno_train_refuse_data (
        error,
        "%s is for images of at least %u x %u, these are sequences of %u %s of %u %s; "
        "models for sequences: %s",
        model->title, least, least, width, dyno_plural (width, "step", "steps"),
        dyno_field_axis (input, 'F'),
        dyno_plural (dyno_field_axis (input, 'F'), "feature", "features"), names);
  if (input && !info->resizable && input->element == DYNO_ELEMENT_F32
      && dyno_field_axis (input, 'C') == 1)
    return dyno_train_refuse_data (
        error,
        "%s needs images of at least %u x %u, these are %u x %u; take another model, for sequences "
        "of %u %s of %u %s: %s",
        model->title, least, least, width, height, height, dyno_plural (height, "step", "steps"),
        width, dyno_plural (width, "feature", "features"), names);
  return dyno_train_refuse_data (
      error, "%s needs images of at least %u x %u, these are %u x %u; %s", model->title, least,
      least, width, height, info->resizable ? "set a larger image_size" : "take another model");
}

gboolean
dyno_job_get_size (const DynoJob *job, const DynoDatasetInfo *info, guint32 *width, guint32 *height,
                   GError **error)
{
  const DynoModel *model = dyno_model_find (job->model, error);
  guint32 wanted = (guint32) job->settings.image_size;
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  /* Sequences are padded up to the longest one. */
  gboolean uniform =
      (input && input->variable)
      || (info->min_width == info->max_width && info->min_height == info->max_height);

  if (!model)
    return FALSE;
  *width = info->max_width;
  *height = info->max_height;
  if (!info->resizable && !uniform)
    return dyno_train_refuse_data (
        error, "The samples of “%s” differ in size (%u x %u to %u x %u) and cannot be resized",
        info->name, info->min_width, info->min_height, info->max_width, info->max_height);
  if (!info->resizable && wanted && (wanted != *width || wanted != *height))
    return dyno_train_refuse_data (
        error, "The samples of “%s” are %u x %u and cannot be resized; set image_size to 0",
        info->name, *width, *height);
  if (info->resizable && wanted)
    *width = *height = wanted;
  else if (info->resizable && model->width > 0 && model->height > 0)
    {
      *width = model->width;
      *height = model->height;
    }
  else if (info->resizable && !uniform)
    *width = *height = MIN (MAX (info->max_width, info->max_height), MOST_SIZE);
  if (info->resizable && !wanted)
    {
      *width = MAX (*width, model->min_size);
      *height = MAX (*height, model->min_size);
    }
  if (*width < model->min_size || *height < model->min_size)
    return refuse_small (model, info, *width, *height, error);
  return TRUE;
}

/* The share of the remaining samples that may still be unreadable in the run: samples that the scan
 * has refused already count towards data.max_bad.  Negative: none. */
static double
get_bad_share (const DynoSettings *s, const DynoDatasetInfo *info)
{
  double refused = (double) info->n_refused, n = (double) info->n_samples;
  double left = n > 0 ? (s->data_max_bad * (n + refused) - refused) / n : 0;

  return left > 0 ? MIN (left, 1) : -1;
}

static gboolean
check_refused (const DynoSettings *s, const DynoDatasetInfo *info, GError **error)
{
  guint64 n = info->n_samples + info->n_refused;

  if ((double) info->n_refused <= ceil (s->data_max_bad * (double) n))
    return TRUE;
  return dyno_train_refuse_data (
      error,
      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s of “%s” cannot be read, more than "
      "the allowed share of %g %%; the first: %s; mend or remove them, or allow a larger share "
      "(data.max_bad)",
      info->n_refused, n, dyno_plural (n, "sample", "samples"), info->name, s->data_max_bad * 100,
      info->first_refused ? info->first_refused : "?");
}

guint
dyno_settings_count_workers (const DynoSettings *settings)
{
  gint64 threads = settings->threads;

  return (guint) (threads > 0 ? MIN (settings->workers, threads) : settings->workers);
}

gboolean
dyno_job_get_loader_params (const DynoJob *job, const DynoDatasetInfo *info, gboolean training,
                            DynoLoaderParams *params, GError **error)
{
  const DynoSettings *s = &job->settings;

  *params = (DynoLoaderParams){
    .batch = (guint32) s->batch_size,
    .seed = (guint64) s->seed,
    .shuffle = training && s->data_shuffle,
    .balance = training && s->data_balance == DYNO_BALANCE_SAMPLING,
    .drop_last = training,
    .ranks = job->ranks,
    .rank = job->rank,
    .workers = dyno_settings_count_workers (s),
    .nice = (gint) s->loader_nice,
    .prefetch = (guint) s->prefetch,
    .persistent = s->persistent_workers,
    .crop = training ? dyno_augment_get_source_crop (job, info) : (DynoCrop){ 0 },
    .cache = s->cache,
    .max_bad_share = get_bad_share (s, info),
  };
  if (s->data_balance != DYNO_BALANCE_NONE && dyno_schema_count_values (&info->schema) > 0)
    return dyno_train_refuse_data (
        error,
        "“%s” has values to predict, and no classes to balance; set data.balance "
        "to none",
        info->name);
  if (s->data_balance != DYNO_BALANCE_NONE && dyno_schema_count_labels (&info->schema) > 0)
    return dyno_train_refuse_data (
        error,
        "The samples of “%s” have several labels each, and cannot be balanced by them; set "
        "data.balance to none, and loss.class_weights to balanced to weigh the rare labels instead",
        info->name);
  if (s->data_balance != DYNO_BALANCE_NONE && dyno_schema_find_mask (&info->schema))
    return dyno_train_refuse_data (
        error,
        "The masks of “%s” have several classes each, and its samples cannot be balanced by them; "
        "set data.balance to none, and loss.class_weights to balanced to weigh the pixels instead",
        info->name);
  return dyno_job_get_size (job, info, &params->width, &params->height, error);
}

static gboolean
check_class_weights (const DynoSettings *s, const DynoDatasetInfo *info, gboolean training,
                     GError **error)
{
  gboolean balanced = s->loss_class_weights != DYNO_CLASS_WEIGHTS_NONE;
  g_autofree float *weights = NULL;

  if (!balanced && !s->loss_weights)
    return TRUE;
  if (dyno_schema_count_values (&info->schema) > 0)
    return dyno_train_refuse_data (error,
                                   "“%s” has values to predict, and no classes to weigh; set "
                                   "loss.class_weights to none and loss.weights to nothing",
                                   info->name);
  if (balanced && s->loss_weights)
    return dyno_train_refuse_data (error, "loss.class_weights is balanced, and loss.weights gives "
                                          "weights too; set the first to none or the second to "
                                          "nothing");
  if (balanced && s->data_balance != DYNO_BALANCE_NONE)
    return dyno_train_refuse_data (
        error,
        "data.balance and loss.class_weights both even out the classes of “%s”, "
        "and together favour the rare ones; set one of them to none",
        info->name);
  if (balanced || !training)
    return TRUE;
  weights = dyno_class_weights_parse (g_quark_to_string (s->loss_weights), info, error);
  return weights != NULL;
}

/* The focal loss is defined for one class a sample or pixel, and for labels that are 0 or 1. */
static gboolean
check_focal (const DynoSettings *s, gboolean labels, GError **error)
{
  const char *other = s->label_smoothing > 0  ? "label_smoothing"
                      : s->augment_mixup > 0  ? "augment.mixup"
                      : s->augment_cutmix > 0 ? "augment.cutmix"
                                              : NULL;

  return !(s->loss_focal > 0) || !other
         || dyno_train_refuse_data (error,
                                    labels
                                        ? "loss.focal needs labels that are 0 or 1, and %s moves "
                                          "them; set one of the two settings to 0"
                                        : "loss.focal needs one class per sample, and %s gives "
                                          "each sample several; set one of them to 0",
                                    other);
}

static void
set_normalisation (const DynoJob *job, DynoBatchSchema *schema)
{
  gint by = job->settings.data_normalise;

  for (guint i = 0; i < schema->n_fields; i++)
    if (by == DYNO_NORMALISE_NO)
      schema->fields[i].normalisation = (DynoNormalisation){ 0 };
    else if (by == DYNO_NORMALISE_WEIGHTS && job->knows_normalisation
             && schema->fields[i].role == DYNO_FIELD_INPUT)
      schema->fields[i].normalisation = job->normalisation;
}

gboolean
dyno_job_get_network (const DynoJob *job, const DynoDatasetInfo *info, DynoMode mode,
                      DynoNetworkParams *params, GError **error)
{
  const DynoSettings *s = &job->settings;
  guint32 n_values = dyno_schema_count_values (&info->schema), width, height;
  gboolean classes = n_values == 0, training = mode == DYNO_MODE_TRAIN,
           pixels = dyno_schema_find_mask (&info->schema) != NULL,
           labels = dyno_schema_count_labels (&info->schema) > 0;

  if (!dyno_job_get_size (job, info, &width, &height, error)
      || (training && !check_refused (s, info, error)))
    return FALSE;
  if (classes && info->n_classes < (s->data_one_class || labels ? 1 : 2))
    return dyno_train_refuse_data (error, "“%s” has %u class; training needs two or more",
                                   info->name, info->n_classes);
  *params = (DynoNetworkParams){
    .model = job->model,
    .model_width = s->model_width,
    .dropout = training ? s->model_dropout : 0,
    .stochastic_depth = training ? s->model_stochastic_depth : 0,
    .batch = (guint32) s->batch_size,
    .n_outputs = classes ? info->n_classes : n_values,
    .loss = labels              ? DYNO_LOSS_BCE
            : classes           ? DYNO_LOSS_CROSS_ENTROPY
            : s->loss_smooth_l1 ? DYNO_LOSS_SMOOTH_L1
                                : DYNO_LOSS_MSE,
    .standard_targets = !classes && info->knows_values && s->data_normalise != DYNO_NORMALISE_NO,
    /* Validation measures the plain loss, so that runs with different losses can be compared. */
    .class_loss = { classes && training ? s->label_smoothing : 0,
                    classes && training ? s->loss_focal : 0,
                    pixels && training ? s->loss_dice : 0 },
    .class_weights =
        classes && (s->loss_class_weights != DYNO_CLASS_WEIGHTS_NONE || s->loss_weights),
    .precision = dyno_precision_of_amp (s->amp),
    .mode = mode,
    .checkpointing = training && s->checkpointing,
    .optimizer = (DynoOptimizer) s->optimizer,
    /* Training and evaluation share the weights' memory, whose layout depends on this. */
    .freeze = mode != DYNO_MODE_PREDICT ? g_quark_to_string (s->model_freeze) : NULL,
    .head_lr_factor = training ? s->head_lr_factor : 0,
    .layer_decay = training ? s->layer_decay : 0,
    .undecayed_vectors = mode != DYNO_MODE_PREDICT && !s->weight_decay_norms,
    .average_decay = mode != DYNO_MODE_PREDICT ? s->ema_decay : 0,
    .ranks = training ? job->ranks : 0,
  };
  dyno_dataset_get_schema (info, width, height, &params->schema);
  if (!check_class_weights (s, info, training, error)
      || (classes && training && !check_focal (s, labels, error)))
    return FALSE;
  if (training && !dyno_augment_get (job, info, &params->schema, &params->augmentation, error))
    return FALSE;
  set_normalisation (job, &params->schema);
  return TRUE;
}

gboolean
dyno_job_meets (const DynoSettingInfo *info, const char *model, const DynoDatasetInfo *data)
{
  const DynoModel *found = model ? dyno_model_find (model, NULL) : NULL;

  switch (info->needs)
    {
    case DYNO_SETTING_NEEDS_DROPOUT:
      return !found || found->has_dropout;
    case DYNO_SETTING_NEEDS_STOCHASTIC_DEPTH:
      return !found || found->has_stochastic_depth;
    case DYNO_SETTING_NEEDS_CLASSES:
      return !data || dyno_schema_count_values (&data->schema) == 0;
    case DYNO_SETTING_NEEDS_VALUES:
      return !data || dyno_schema_count_values (&data->schema) > 0;
    case DYNO_SETTING_NEEDS_MASKS:
      return !data || dyno_schema_find_mask (&data->schema) != NULL;
    case DYNO_SETTING_NEEDS_NOTHING:
    default:
      return TRUE;
    }
}
