/* SPDX-License-Identifier: MIT */
#include "parts.h"
#include "intl.h"
#include "train-error.h"
#include <inttypes.h>

static gboolean
has_folds (const DynoSettings *settings, const DynoDatasetInfo *info)
{
  return settings->data_folds >= 2 && !info->has_split && !info->schema.generated;
}

static guint
get_fold (const DynoSettings *settings)
{
  return (guint) (MIN (settings->data_fold, settings->data_folds) - 1);
}

void
dyno_settings_divide (const DynoSettings *settings, DynoDataset *dataset, GArray **training,
                      GArray **validation)
{
  if (has_folds (settings, dyno_dataset_get_info (dataset)))
    dyno_dataset_split_fold (dataset, (guint) settings->data_folds, get_fold (settings),
                             (guint64) settings->seed, training, validation);
  else
    dyno_dataset_split (dataset, settings->data_val_split, (guint64) settings->seed, training,
                        validation);
}

gboolean
dyno_settings_divide_alike (const DynoSettings *a, const DynoSettings *b)
{
  return a->data_val_split == b->data_val_split && a->data_folds == b->data_folds
         && a->data_fold == b->data_fold && a->seed == b->seed;
}

/* --- from the facts only ---------------------------------------------------------------------- */

/* Samples of each of n_groups, by which the data are divided: the classes, or one group of all
 * samples where they have no labels, or the labels were not counted. */
static const guint64 *
get_groups (const DynoDatasetInfo *info, guint32 *n_groups)
{
  gboolean classes = dyno_dataset_has_classes (info) && info->class_counts;

  *n_groups = classes ? info->n_classes : 1;
  return classes ? info->class_counts : &info->n_samples;
}

/* The number of validation samples that dyno_dataset_split chooses. */
static guint64
count_share (const DynoDatasetInfo *info, double fraction)
{
  guint32 n_groups;
  const guint64 *counts = get_groups (info, &n_groups);
  double due = 0;
  guint64 taken = 0, n;

  for (guint32 g = 0; g < n_groups; g++)
    {
      if (counts[g] == 0)
        continue;
      due += (double) counts[g] * fraction;
      n = MIN (MAX ((guint64) MAX (due + 0.5e-6, 0), 1), counts[g] - 1);
      due -= (double) n;
      taken += n;
    }
  return taken == 0 && info->n_samples > 1 ? 1 : MIN (taken, info->n_samples);
}

void
dyno_job_count_parts (const DynoJob *job, const DynoDatasetInfo *info, guint64 *n_train,
                      guint64 *n_validation)
{
  const DynoSettings *s = &job->settings;
  guint64 folds = (guint64) s->data_folds;

  *n_validation = info->n_validation;
  if (has_folds (s, info))
    *n_validation = info->n_samples / folds + (get_fold (s) < info->n_samples % folds);
  else if (!info->has_split && s->data_val_split > 0 && !info->schema.generated)
    *n_validation = count_share (info, s->data_val_split);
  *n_train = info->n_samples - *n_validation;
}

/* --- checks ----------------------------------------------------------------------------------- */

static gboolean
refuse_setting (GError **error, const char *key, gint64 value, const char *why)
{
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, "%s=%" PRId64 ": %s", key, value,
               why);
  return FALSE;
}

/* A fold without a sample of a class cannot validate it.  class_name: NULL where there are no
 * classes. */
static gboolean
refuse_small (const DynoDatasetInfo *info, const char *class_name, guint64 count, gint64 folds,
              GError **error)
{
  g_autofree char *step =
      count < 2 ? g_strdup ("data.folds=0") : g_strdup_printf ("data.folds=%" PRIu64, count);

  if (!class_name)
    return dyno_train_refuse_data (
        error,
        ngettext ("“%s” has only %" PRIu64 " sample, too few for %" PRId64
                  " folds: set %s, or add samples",
                  "“%s” has only %" PRIu64 " samples, too few for %" PRId64
                  " folds: set %s, or add samples",
                  (gulong) count),
        info->name, count, folds, step);
  return dyno_train_refuse_data (
      error,
      ngettext ("“%s” has only %" PRIu64 " sample of the class “%s”, too few for %" PRId64
                " folds: set %s, or add samples",
                "“%s” has only %" PRIu64 " samples of the class “%s”, too few for %" PRId64
                " folds: set %s, or add samples",
                (gulong) count),
      info->name, count, class_name, folds, step);
}

gboolean
dyno_job_check_parts (const DynoJob *job, const DynoDatasetInfo *info, GError **error)
{
  const DynoSettings *s = &job->settings;
  guint32 smallest = 0, n_groups;
  const guint64 *counts = get_groups (info, &n_groups);
  guint64 least = G_MAXUINT64;

  if (s->data_folds == 0)
    return TRUE;
  if (s->data_folds == 1)
    return refuse_setting (error, "data.folds", 1,
                           _ ("a single fold leaves nothing to train on; it is 0, which is off, or "
                              "2 and more"));
  if (s->data_fold > s->data_folds)
    return refuse_setting (error, "data.fold", s->data_fold,
                           _ ("there is no such fold; it is at most data.folds"));
  if (info->has_split)
    return dyno_train_refuse_data (
        error,
        _ ("“%s” brings its own validation part, which data.folds would train on: name the folder "
           "of its training part, or set data.folds=0"),
        info->name);
  if (info->schema.generated)
    return dyno_train_refuse_data (
        error, _ ("“%s” is made by the device and has no parts: set data.folds=0"), info->name);
  for (guint32 g = 0; g < n_groups; g++)
    if (counts[g] > 0 && counts[g] < least)
      {
        least = counts[g];
        smallest = g;
      }
  if (least >= (guint64) s->data_folds)
    return TRUE;
  return refuse_small (info, n_groups > 1 ? info->class_names[smallest] : NULL, least,
                       s->data_folds, error);
}
