/* SPDX-License-Identifier: MIT */
/* Settings without an effect.  Most are found by the table of settings, which has their
 * dependencies and needs; the others by separate rules.
 *
 * Invariant: a setting that has its default value, or is switched off, is never reported for its
 * dependencies. */
#include "idlesettings.h"
#include "intl.h"
#include "planjob.h"
#include <inttypes.h>
#include <math.h>

static void G_GNUC_PRINTF (2, 3) add (GPtrArray *list, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (list, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static gboolean
is_given (const DynoSettingInfo *info, const DynoSettings *settings)
{
  DynoSettings defaults;
  double value = dyno_settings_get_number (settings, info->key);

  dyno_settings_init (&defaults);
  return value != dyno_settings_get_number (&defaults, info->key)
         && !(info->type == DYNO_SETTING_BOOL && value == 0);
}

/* --- by the table ----------------------------------------------------------------------------- */

/* Settings that have no effect while another setting is 0. */
static const char *const parts_of[][2] = {
  { "early_stop.min_delta", "early_stop.patience" },
  { "schedule_epochs", "schedule" },
  { "loader.nice", "workers" },
  { "augment.crop_ratio", "augment.crop" },
  { "augment.crop_from", "augment.crop" },
  { "data.fold", "data.folds" },
};

static const char *
find_whole (const char *key, const DynoSettings *settings)
{
  for (guint i = 0; i < G_N_ELEMENTS (parts_of); i++)
    if (g_str_equal (parts_of[i][0], key)
        && dyno_settings_get_number (settings, parts_of[i][1]) == 0)
      return parts_of[i][1];
  return NULL;
}

static const char *
describe_need (DynoSettingNeed need)
{
  switch (need)
    {
    case DYNO_SETTING_NEEDS_DROPOUT:
      return _ ("the model has no dropout layer");
    case DYNO_SETTING_NEEDS_STOCHASTIC_DEPTH:
      return _ ("the model has no stochastic depth");
    case DYNO_SETTING_NEEDS_CLASSES:
      return _ ("the data set has values to predict, and no classes");
    case DYNO_SETTING_NEEDS_VALUES:
      return _ ("the data set has classes, and no values to predict");
    case DYNO_SETTING_NEEDS_MASKS:
      return _ ("the data set has no masks");
    case DYNO_SETTING_NEEDS_NOTHING:
    default:
      return "";
    }
}

static void
add_by_table (GPtrArray *list, const DynoJob *job, const DynoDatasetInfo *data)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      const DynoSettingInfo *info = &table[i];
      const char *whole = find_whole (info->key, &job->settings);
      g_autofree char *value = dyno_settings_get (&job->settings, info->key), *other = NULL;

      if (!is_given (info, &job->settings))
        continue;
      if (!dyno_setting_counts (info, &job->settings))
        add (list, _ ("%s=%s has no effect: it applies only with %s"), info->key, value,
             info->depends_on);
      else if (!dyno_job_meets (info, job->model, data))
        add (list, _ ("%s=%s has no effect: %s"), info->key, value, describe_need (info->needs));
      else if (whole)
        {
          other = dyno_settings_get (&job->settings, whole);
          add (list, _ ("%s=%s has no effect: %s is %s"), info->key, value, whole, other);
        }
    }
}

/* --- rules ------------------------------------------------------------------------------------ */

static void
add_of_validation (GPtrArray *list, const DynoSettings *s, guint64 n_validation, gboolean by_epochs)
{
  if (n_validation == 0 && s->early_stop_patience > 0)
    add (list,
         _ ("early_stop.patience=%" PRId64 " has no effect: nothing is kept out to validate on; "
            "set data.val_split"),
         s->early_stop_patience);
  else if (by_epochs && s->early_stop_patience > 0 && s->early_stop_patience + 1 >= s->epochs)
    add (list,
         ngettext ("early_stop.patience=%" PRId64
                   " has no effect: the run ends before, after its %" PRId64 " epoch",
                   "early_stop.patience=%" PRId64
                   " has no effect: the run ends before, after its %" PRId64 " epochs",
                   (gulong) s->epochs),
         s->early_stop_patience, s->epochs);
  if (n_validation == 0 && s->best_metric)
    add (list,
         _ ("best_metric=%s has no effect: nothing is kept out to validate on; set "
            "data.val_split"),
         g_quark_to_string (s->best_metric));
}

static void
add_of_folds (GPtrArray *list, const DynoSettings *s)
{
  DynoSettings defaults;

  dyno_settings_init (&defaults);
  if (s->data_group_column && s->data_folds == 0 && s->data_val_split == 0
      && s->data_test_split == 0)
    add (list, _ ("data.group_column=%s has no effect: all samples train; set data.val_split"),
         g_quark_to_string (s->data_group_column));
  if (s->data_folds > 0 && s->data_val_split != defaults.data_val_split)
    add (list, _ ("data.val_split=%g has no effect: the folds say which samples validate"),
         s->data_val_split);
}

static void
add_of_rate (GPtrArray *list, const DynoSettings *s, guint64 per_epoch)
{
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) s->optimizer);
  gint64 span = s->schedule_epochs > 0 ? s->schedule_epochs : s->epochs;

  if (s->lr == 0)
    add (list, _ ("lr is 0: no step changes the weights; usual for %s is %g"), optimizer->title,
         optimizer->usual_lr);
  else if (per_epoch > 0
           && floor (s->warmup_epochs * (double) per_epoch) >= (double) per_epoch * (double) span)
    add (list,
         ngettext ("The warm-up of %g epoch is no shorter than the schedule of %" PRId64
                   ": lr=%g is never reached; set a shorter warmup_epochs",
                   "The warm-up of %g epochs is no shorter than the schedule of %" PRId64
                   ": lr=%g is never reached; set a shorter warmup_epochs",
                   s->warmup_epochs == 1 ? 1 : 2),
         s->warmup_epochs, span, s->lr);
}

static void
add_of_batches (GPtrArray *list, const DynoJob *job, guint64 n_train)
{
  const DynoSettings *s = &job->settings;
  guint64 ranks = MAX (job->ranks, 1), batches = n_train / ((guint64) s->batch_size * ranks);

  if (batches > 0 && batches < (guint64) s->accumulate)
    add (list,
         _ ("accumulate=%" PRId64 " is reduced to %" PRIu64
            ": an epoch has no more batches, and a step does not continue in the next one"),
         s->accumulate, batches);
  if (dyno_settings_count_workers (s) < (guint) s->workers)
    add (list, _ ("workers=%" PRId64 " is reduced to %u: threads=%" PRId64 " allows no more"),
         s->workers, dyno_settings_count_workers (s), s->threads);
  if (s->batch_size == 1 && (s->loss_weights || s->loss_class_weights != DYNO_CLASS_WEIGHTS_NONE))
    add (
        list,
        _ ("%s has no effect: the loss of a batch is a mean over its weights, and batch_size is 1"),
        s->loss_weights ? "loss.weights" : "loss.class_weights");
}

GPtrArray *
dyno_settings_list_idle (const DynoJob *job, const DynoDatasetInfo *info, guint64 n_train,
                         guint64 n_validation)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  const DynoSettings *s = &job->settings;

  add_by_table (list, job, info);
  add_of_validation (list, s, n_validation, job->max_steps == 0);
  add_of_folds (list, s);
  add_of_rate (list, s, dyno_job_count_steps (s, n_train, job->ranks));
  add_of_batches (list, job, n_train);
  return list;
}
