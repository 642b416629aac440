/* SPDX-License-Identifier: MIT */
/* Divides a data set into a training and a validation part.
 *
 * Invariants: the same (data set, fraction, seed) gives the same division on every machine; each
 * class gives the same share, with the rounding carried from class to class; a class never loses
 * its last training sample, and a class of two samples or more has at least one for validation, so
 * that with very many very small classes the validation part is larger than the fraction.  Samples
 * with several labels are grouped by the rarest of these, without these two guarantees.  Both
 * parts are in an order by seed: the beginning of the validation part is a fair sample of it.
 *
 * Samples are assigned to the folds in turn, class after class, each class in an order by seed:
 * every sample is in the validation part of one fold. */
#include "dataset-class.h"
#include "rng.h"

/* Random streams of the seed, distinct from the streams of epochs, which are numbered from 0. */
#define STREAM_CLASS      (G_GUINT64_CONSTANT (0x7370) << 48)
#define STREAM_TRAIN      (G_GUINT64_CONSTANT (0x7371) << 48)
#define STREAM_VALIDATION (G_GUINT64_CONSTANT (0x7372) << 48)

static void
split_own (DynoDataset *dataset, GArray *train, GArray *validation)
{
  for (guint32 i = 0; i < dataset->info.n_samples; i++)
    g_array_append_val (dataset->klass->is_validation (dataset, i) ? validation : train, i);
}

/* The group of a sample: its class; of several labels the rarest, of equally rare ones the first,
 * and the last group where it has none. */
static guint32
find_group (DynoDataset *dataset, guint64 index, guint32 n_groups)
{
  const DynoDatasetInfo *info = &dataset->info;
  guint32 group = n_groups - 1;

  if (dyno_dataset_has_classes (info))
    return (guint32) dataset->klass->label (dataset, index);
  for (guint32 c = 0; c + 1 < n_groups; c++)
    if (dyno_dataset_get_values (dataset, index)[c] > 0
        && (group == n_groups - 1 || info->class_counts[c] < info->class_counts[group]))
      group = c;
  return group;
}

/* Samples by their groups, each group in an order by seed: starts has n_groups + 1 indices in
 * members. */
static void
group_samples (DynoDataset *dataset, guint64 seed, guint32 n_groups, guint32 *starts,
               guint32 *members)
{
  guint32 n = (guint32) dataset->info.n_samples;
  g_autofree guint32 *next = g_new0 (guint32, n_groups), *groups = g_new (guint32, n);

  for (guint32 i = 0; i < n; i++)
    starts[(groups[i] = find_group (dataset, i, n_groups)) + 1]++;
  for (guint32 g = 0; g < n_groups; g++)
    {
      starts[g + 1] += starts[g];
      next[g] = starts[g];
    }
  for (guint32 i = 0; i < n; i++)
    members[next[groups[i]]++] = i;
  for (guint32 g = 0; g < n_groups; g++)
    {
      DynoRng rng = dyno_rng_init (seed, (STREAM_CLASS) + g);

      dyno_rng_shuffle (&rng, members + starts[g], starts[g + 1] - starts[g]);
    }
}

/* Both parts get an order by seed. */
static void
shuffle_parts (guint64 seed, GArray *train, GArray *validation)
{
  DynoRng train_rng = dyno_rng_init (seed, STREAM_TRAIN);
  DynoRng validation_rng = dyno_rng_init (seed, STREAM_VALIDATION);

  dyno_rng_shuffle (&train_rng, (guint32 *) (gpointer) train->data, train->len);
  dyno_rng_shuffle (&validation_rng, (guint32 *) (gpointer) validation->data, validation->len);
}

static guint32
count_groups (DynoDataset *dataset)
{
  const DynoDatasetInfo *info = &dataset->info;
  gboolean labels = dyno_schema_count_labels (&info->schema) > 0 && info->knows_values;

  return dyno_dataset_has_classes (info) ? info->n_classes : labels ? info->n_classes + 1 : 1;
}

void
dyno_dataset_split (DynoDataset *dataset, double val_fraction, guint64 seed, GArray **train,
                    GArray **validation)
{
  guint32 n = (guint32) dataset->info.n_samples, n_groups = count_groups (dataset);
  gboolean labels = dyno_schema_count_labels (&dataset->info.schema) > 0;
  g_autofree guint32 *starts = NULL, *members = NULL;
  double due = 0;

  g_return_if_fail (val_fraction >= 0 && val_fraction < 1);
  *train = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n);
  *validation = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (dataset->info.has_split && dataset->klass->is_validation)
    {
      split_own (dataset, *train, *validation);
      return;
    }
  if (val_fraction == 0)
    {
      for (guint32 i = 0; i < n; i++)
        g_array_append_val (*train, i);
      return;
    }

  starts = g_new0 (guint32, (gsize) n_groups + 1);
  members = g_new (guint32, n);
  group_samples (dataset, seed, n_groups, starts, members);
  for (guint32 g = 0; g < n_groups; g++)
    {
      guint32 count = starts[g + 1] - starts[g], least, taken;

      if (count == 0)
        continue;
      due += count * val_fraction;
      least = labels ? 0 : 1;
      /* The addition of 0.5e-6 corrects sums that are whole except for rounding errors. */
      taken = MIN (MAX ((guint32) MAX (due + 0.5e-6, 0), least), count - least);
      due -= taken;
      g_array_append_vals (*validation, members + starts[g], taken);
      g_array_append_vals (*train, members + starts[g] + taken, count - taken);
    }
  if ((*validation)->len == 0 && (*train)->len > 1)
    {
      g_array_append_val (*validation, g_array_index (*train, guint32, (*train)->len - 1));
      g_array_set_size (*train, (*train)->len - 1);
    }
  shuffle_parts (seed, *train, *validation);
}

void
dyno_dataset_split_fold (DynoDataset *dataset, guint n_folds, guint fold, guint64 seed,
                         GArray **train, GArray **validation)
{
  guint32 n = (guint32) dataset->info.n_samples, n_groups = count_groups (dataset);
  g_autofree guint32 *starts = g_new0 (guint32, (gsize) n_groups + 1),
                     *members = g_new (guint32, n);

  g_return_if_fail (n_folds >= 2 && fold < n_folds);
  *train = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n);
  *validation = g_array_new (FALSE, FALSE, sizeof (guint32));
  group_samples (dataset, seed, n_groups, starts, members);
  /* The fold index continues from class to class, so that folds differ by one sample at most. */
  for (guint32 i = 0; i < n; i++)
    g_array_append_val (i % n_folds == fold ? *validation : *train, members[i]);
  shuffle_parts (seed, *train, *validation);
}
