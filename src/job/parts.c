/* SPDX-License-Identifier: MIT */
#include "parts.h"
#include "groups.h"
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

static double
get_test_share (const DynoSettings *settings, const DynoDatasetInfo *info)
{
  return info->has_split || info->schema.generated ? 0 : settings->data_test_split;
}

static DynoDivision
get_division (const DynoSettings *settings, const DynoDatasetInfo *info)
{
  gboolean folds = has_folds (settings, info);

  return (DynoDivision){ .seed = (guint64) settings->seed,
                         .test_fraction = get_test_share (settings, info),
                         .val_fraction = settings->data_val_split,
                         .n_folds = folds ? (guint) settings->data_folds : 0,
                         .fold = folds ? get_fold (settings) : 0 };
}

void
dyno_settings_divide (const DynoSettings *settings, DynoDataset *dataset, DynoDatasetParts *parts)
{
  DynoDivision division = get_division (settings, dyno_dataset_get_info (dataset));

  dyno_dataset_divide (dataset, &division, parts);
}

gboolean
dyno_settings_divide_alike (const DynoSettings *a, const DynoSettings *b)
{
  return a->data_test_split == b->data_test_split && a->data_val_split == b->data_val_split
         && a->data_folds == b->data_folds && a->data_fold == b->data_fold
         && a->data_group_column == b->data_group_column && a->seed == b->seed;
}

/* --- from the facts only ---------------------------------------------------------------------- */

/* Samples of each of n_groups, by which the data are divided: the classes, or one group of all
 * samples where they have no labels, or the labels were not counted.  g_free. */
static guint64 *
copy_groups (const DynoDatasetInfo *info, guint32 *n_groups)
{
  gboolean classes = dyno_dataset_has_classes (info) && info->class_counts;

  *n_groups = classes ? info->n_classes : 1;
  return g_memdup2 (classes ? info->class_counts : &info->n_samples, *n_groups * sizeof (guint64));
}

/* The number of samples that dyno_dataset_divide takes for a share of these, which are taken from
 * counts. */
static guint64
take_share (guint64 *counts, guint32 n_groups, double fraction)
{
  double due = 0;
  guint64 taken = 0, all = 0, n;
  guint32 last = 0;

  for (guint32 g = 0; g < n_groups; g++)
    {
      if (counts[g] == 0)
        continue;
      due += (double) counts[g] * fraction;
      n = MIN (MAX ((guint64) MAX (due + 0.5e-6, 0), 1), counts[g] - 1);
      due -= (double) n;
      taken += n;
      all += counts[g];
      counts[g] -= n;
      last = g;
    }
  if (taken > 0 || all < 2)
    return taken;
  counts[last]--;
  return 1;
}

/* Whether whole groups are dealt out: data with their own split keep it. */
static gboolean
divides_groups (const DynoDatasetInfo *info)
{
  return info->groups && !info->has_split;
}

static void
count_groups (const DynoSettings *settings, const DynoDatasetInfo *info, DynoPartCounts *counts)
{
  DynoDivision division = get_division (settings, info);
  g_autofree guint8 *parts = dyno_groups_divide (info->groups, &division);
  guint64 n[3] = { 0 };
  guint32 groups[3] = { 0 };

  for (guint32 g = 0; g < dyno_groups_get_count (info->groups); g++)
    {
      n[parts[g]] += dyno_groups_get_size (info->groups, g);
      groups[parts[g]]++;
    }
  *counts = (DynoPartCounts){ .n_train = n[DYNO_GROUP_TRAINS],
                              .n_validation = n[DYNO_GROUP_VALIDATES],
                              .n_test = n[DYNO_GROUP_TESTS],
                              .groups_train = groups[DYNO_GROUP_TRAINS],
                              .groups_validation = groups[DYNO_GROUP_VALIDATES],
                              .groups_test = groups[DYNO_GROUP_TESTS] };
}

void
dyno_job_count_parts (const DynoJob *job, const DynoDatasetInfo *info, DynoPartCounts *counts)
{
  const DynoSettings *s = &job->settings;
  guint64 folds = (guint64) s->data_folds, left;
  double test_share = get_test_share (s, info);
  guint32 n_groups;
  g_autofree guint64 *groups = NULL;

  if (divides_groups (info))
    {
      count_groups (s, info, counts);
      return;
    }
  groups = copy_groups (info, &n_groups);
  *counts = (DynoPartCounts){ .n_validation = info->n_validation, .n_test = info->n_test };
  if (test_share > 0)
    counts->n_test = take_share (groups, n_groups, test_share);
  left = info->n_samples - counts->n_test;
  if (has_folds (s, info))
    counts->n_validation = left / folds + (get_fold (s) < left % folds);
  else if (!info->has_split && s->data_val_split > 0 && !info->schema.generated)
    counts->n_validation = take_share (groups, n_groups, s->data_val_split);
  counts->n_train = left - counts->n_validation;
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
refuse_small (const DynoDatasetInfo *info, const char *class_name, guint64 count,
              const DynoSettings *s, GError **error)
{
  gint64 folds = s->data_folds;
  const char *without =
      s->data_test_split > 0 ? _ ("; those of the test part (data.test_split) do not count") : "";
  g_autofree char *step =
      count < 2 ? g_strdup ("data.folds=0") : g_strdup_printf ("data.folds=%" PRIu64, count);

  if (!class_name)
    return dyno_train_refuse_data (
        error,
        ngettext ("“%s” has only %" PRIu64 " sample, too few for %" PRId64
                  " folds: set %s, or add samples%s",
                  "“%s” has only %" PRIu64 " samples, too few for %" PRId64
                  " folds: set %s, or add samples%s",
                  (gulong) count),
        info->name, count, folds, step, without);
  return dyno_train_refuse_data (
      error,
      ngettext ("“%s” has only %" PRIu64 " sample of the class “%s”, too few for %" PRId64
                " folds: set %s, or add samples%s",
                "“%s” has only %" PRIu64 " samples of the class “%s”, too few for %" PRId64
                " folds: set %s, or add samples%s",
                (gulong) count),
      info->name, count, class_name, folds, step, without);
}

/* Errors: DATA.  key: a setting that divides data. */
static gboolean
check_divisible (const DynoDatasetInfo *info, const char *key, GError **error)
{
  if (info->has_split)
    return dyno_train_refuse_data (
        error,
        _ ("“%s” brings its own validation part, and %s would train on it or divide it anew: name "
           "the folder of its training part, or set %s=0"),
        info->name, key, key);
  if (info->schema.generated)
    return dyno_train_refuse_data (
        error, _ ("“%s” is made by the device and has no parts: set %s=0"), info->name, key);
  return TRUE;
}

static gboolean
check_folds (const DynoSettings *s, const DynoDatasetInfo *info, GError **error)
{
  guint32 smallest = 0, n_groups;
  g_autofree guint64 *counts = copy_groups (info, &n_groups);
  guint64 least = G_MAXUINT64;

  if (s->data_folds == 1)
    return refuse_setting (error, "data.folds", 1,
                           _ ("a single fold leaves nothing to train on; it is 0, which is off, or "
                              "2 and more"));
  if (s->data_fold > s->data_folds)
    return refuse_setting (error, "data.fold", s->data_fold,
                           _ ("there is no such fold; it is at most data.folds"));
  if (!check_divisible (info, "data.folds", error))
    return FALSE;
  if (info->groups)
    return TRUE; /* check_groups counts them, and a class may be in one group only */
  if (s->data_test_split > 0)
    take_share (counts, n_groups, s->data_test_split);
  for (guint32 g = 0; g < n_groups; g++)
    if (counts[g] > 0 && counts[g] < least)
      {
        least = counts[g];
        smallest = g;
      }
  if (least >= (guint64) s->data_folds)
    return TRUE;
  return refuse_small (info, n_groups > 1 ? info->class_names[smallest] : NULL, least, s, error);
}

/* Errors: DATA.  n: the groups that are divided into training and validation. */
static gboolean
refuse_few_groups (const DynoSettings *s, const DynoDatasetInfo *info, guint32 n, GError **error)
{
  const char *column = info->group_column;
  guint32 all = dyno_groups_get_count (info->groups);
  g_autofree char *folds = n < 2 ? g_strdup ("data.folds=0") : g_strdup_printf ("data.folds=%u", n);

  if (s->data_folds > 0)
    return dyno_train_refuse_data (
        error,
        ngettext ("“%s” has only %u group by the column “%s” for %" PRId64
                  " folds, and a fold needs one of its own: set %s, or name another column in "
                  "data.group_column%s",
                  "“%s” has only %u groups by the column “%s” for %" PRId64
                  " folds, and a fold needs one of its own: set %s, or name another column in "
                  "data.group_column%s",
                  n),
        info->name, n, column, s->data_folds, folds,
        s->data_test_split > 0 ? _ ("; those of the test part (data.test_split) do not count")
                               : "");
  return dyno_train_refuse_data (
      error,
      ngettext ("“%s” has only %u group by the column “%s”, and the training and each other part "
                "need one of their own: set %s, or name another column in data.group_column",
                "“%s” has only %u groups by the column “%s”, and the training and each other part "
                "need one of their own: set %s, or name another column in data.group_column",
                all),
      info->name, all, column,
      s->data_val_split > 0 && s->data_test_split > 0 ? _ ("a smaller data.test_split, or "
                                                           "data.val_split=0")
      : s->data_val_split > 0                         ? "data.val_split=0"
                                                      : "data.test_split=0");
}

/* Errors: DATA. */
static gboolean
check_groups (const DynoSettings *s, const DynoDatasetInfo *info, GError **error)
{
  const char *column = g_quark_to_string (s->data_group_column);
  DynoPartCounts counts;
  guint32 left;

  if (g_strcmp0 (column, info->group_column) != 0)
    return dyno_train_refuse_data (
        error,
        _ ("“%s” was not opened with the groups that data.group_column=%s asks for: set it to one "
           "of its columns, or to nothing, and open the data again"),
        info->name, column ? column : "");
  if (!info->groups || info->has_split)
    return TRUE;
  count_groups (s, info, &counts);
  left = counts.groups_train + counts.groups_validation;
  if (s->data_folds > 0 ? left < (guint64) s->data_folds
                        : counts.n_train == 0 || (s->data_test_split > 0 && counts.n_test == 0)
                              || (s->data_val_split > 0 && counts.n_validation == 0))
    return refuse_few_groups (s, info, left, error);
  return TRUE;
}

gboolean
dyno_job_check_parts (const DynoJob *job, const DynoDatasetInfo *info, GError **error)
{
  const DynoSettings *s = &job->settings;

  if (s->data_test_split > 0 && !check_divisible (info, "data.test_split", error))
    return FALSE;
  return (s->data_folds == 0 || check_folds (s, info, error)) && check_groups (s, info, error);
}
