/* SPDX-License-Identifier: MIT */
/* Divides a data set into a training, a validation and a test part.
 *
 * Invariants: the same (data set, shares, seed) gives the same division on every machine; each
 * class gives the same share, with the rounding carried from class to class; a class never loses
 * its last training sample, and a class of two samples or more has at least one for validation, so
 * that with very many very small classes the validation part is larger than the fraction.  Samples
 * with several labels are grouped by the rarest of these, without these two guarantees.  All
 * parts are in an order by seed: the beginning of the validation part is a fair sample of it.
 *
 * The test part is drawn first, by the same rules, and the others divide the samples that it
 * leaves: it depends only on its share and the seed.
 *
 * Where samples have groups, groups.c decides the part of each group, and none of the above holds
 * but the orders by seed and the independence of the test part.
 *
 * Samples are assigned to the folds in turn, class after class, each class in an order by seed:
 * every sample that is not in the test part is in the validation part of one fold. */
#include "dataset-class.h"
#include "groups.h"
#include "rng.h"

/* Random streams of the seed, distinct from the streams of epochs, which are numbered from 0. */
#define STREAM_CLASS      (G_GUINT64_CONSTANT (0x7370) << 48)
#define STREAM_TRAIN      (G_GUINT64_CONSTANT (0x7371) << 48)
#define STREAM_VALIDATION (G_GUINT64_CONSTANT (0x7372) << 48)
#define STREAM_TEST       (G_GUINT64_CONSTANT (0x7373) << 48)
#define STREAM_TEST_CLASS (G_GUINT64_CONSTANT (0x7374) << 48)

static void
split_own (DynoDataset *dataset, const DynoDatasetParts *parts)
{
  GArray *const arrays[] = { [DYNO_PART_TRAIN] = parts->train,
                             [DYNO_PART_VALIDATION] = parts->validation,
                             [DYNO_PART_TEST] = parts->test };

  for (guint32 i = 0; i < dataset->info.n_samples; i++)
    g_array_append_val (arrays[dyno_dataset_get_part (dataset, i)], i);
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

/* The samples `among` by their groups, each group in an order by seed: starts has n_groups + 1
 * indices in members. */
static void
group_samples (DynoDataset *dataset, const GArray *among, guint64 seed, guint64 stream,
               guint32 n_groups, guint32 *starts, guint32 *members)
{
  guint32 n = among->len;
  g_autofree guint32 *next = g_new0 (guint32, n_groups), *groups = g_new (guint32, n);

  for (guint32 i = 0; i < n; i++)
    starts[(groups[i] = find_group (dataset, g_array_index (among, guint32, i), n_groups)) + 1]++;
  for (guint32 g = 0; g < n_groups; g++)
    {
      starts[g + 1] += starts[g];
      next[g] = starts[g];
    }
  for (guint32 i = 0; i < n; i++)
    members[next[groups[i]]++] = g_array_index (among, guint32, i);
  for (guint32 g = 0; g < n_groups; g++)
    {
      DynoRng rng = dyno_rng_init (seed, stream + g);

      dyno_rng_shuffle (&rng, members + starts[g], starts[g + 1] - starts[g]);
    }
}

static void
shuffle_part (guint64 seed, guint64 stream, GArray *part)
{
  DynoRng rng = dyno_rng_init (seed, stream);

  dyno_rng_shuffle (&rng, (guint32 *) (gpointer) part->data, part->len);
}

static guint32
count_groups (DynoDataset *dataset)
{
  const DynoDatasetInfo *info = &dataset->info;
  gboolean labels = dyno_schema_count_labels (&info->schema) > 0 && info->knows_values;

  return dyno_dataset_has_classes (info) ? info->n_classes : labels ? info->n_classes + 1 : 1;
}

/* Appends a share of the samples `among` to taken, and the others to rest, both by groups. */
static void
take_share (DynoDataset *dataset, const GArray *among, double share, guint64 seed, guint64 stream,
            GArray *rest, GArray *taken)
{
  guint32 n_groups = count_groups (dataset);
  gboolean labels = dyno_schema_count_labels (&dataset->info.schema) > 0;
  g_autofree guint32 *starts = g_new0 (guint32, (gsize) n_groups + 1),
                     *members = g_new (guint32, among->len);
  double due = 0;

  group_samples (dataset, among, seed, stream, n_groups, starts, members);
  for (guint32 g = 0; g < n_groups; g++)
    {
      guint32 count = starts[g + 1] - starts[g], least, n;

      if (count == 0)
        continue;
      due += count * share;
      least = labels ? 0 : 1;
      /* The addition of 0.5e-6 corrects sums that are whole except for rounding errors. */
      n = MIN (MAX ((guint32) MAX (due + 0.5e-6, 0), least), count - least);
      due -= n;
      g_array_append_vals (taken, members + starts[g], n);
      g_array_append_vals (rest, members + starts[g] + n, count - n);
    }
  if (taken->len == 0 && rest->len > 1)
    {
      g_array_append_val (taken, g_array_index (rest, guint32, rest->len - 1));
      g_array_set_size (rest, rest->len - 1);
    }
}

static void
take_fold (DynoDataset *dataset, const GArray *among, const DynoDivision *division,
           DynoDatasetParts *parts)
{
  guint32 n_groups = count_groups (dataset);
  g_autofree guint32 *starts = g_new0 (guint32, (gsize) n_groups + 1),
                     *members = g_new (guint32, among->len);

  group_samples (dataset, among, division->seed, STREAM_CLASS, n_groups, starts, members);
  /* The fold index continues from class to class, so that folds differ by one sample at most. */
  for (guint32 i = 0; i < among->len; i++)
    g_array_append_val (i % division->n_folds == division->fold ? parts->validation : parts->train,
                        members[i]);
}

static int
compare_indices (gconstpointer a, gconstpointer b)
{
  guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;

  return first < second ? -1 : first > second;
}

/* The samples that the test part leaves, in file order. */
static GArray *
take_test (DynoDataset *dataset, const DynoDivision *division, GArray *test)
{
  guint32 n = (guint32) dataset->info.n_samples;
  GArray *all = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n);
  GArray *rest;

  for (guint32 i = 0; i < n; i++)
    g_array_append_val (all, i);
  if (division->test_fraction == 0)
    return all;
  rest = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n);
  take_share (dataset, all, division->test_fraction, division->seed, STREAM_TEST_CLASS, rest, test);
  g_array_unref (all);
  g_array_sort (rest, compare_indices);
  shuffle_part (division->seed, STREAM_TEST, test);
  return rest;
}

/* Each part in file order, but the test part in an order by seed. */
static void
divide_groups (DynoDataset *dataset, const DynoDivision *division, DynoDatasetParts *parts)
{
  const DynoGroups *groups = dataset->info.groups;
  g_autofree guint8 *of_group = dyno_groups_divide (groups, division);

  for (guint32 i = 0; i < dataset->info.n_samples; i++)
    {
      guint8 part = of_group[dyno_groups_find (groups, i)];

      g_array_append_val (part == DYNO_GROUP_TESTS       ? parts->test
                          : part == DYNO_GROUP_VALIDATES ? parts->validation
                                                         : parts->train,
                          i);
    }
  shuffle_part (division->seed, STREAM_TEST, parts->test);
}

/* The same without groups, with training and validation part in no order. */
static void
divide_samples (DynoDataset *dataset, const DynoDivision *division, DynoDatasetParts *parts)
{
  g_autoptr (GArray) rest = take_test (dataset, division, parts->test);

  if (division->n_folds > 0)
    take_fold (dataset, rest, division, parts);
  else if (division->val_fraction > 0)
    take_share (dataset, rest, division->val_fraction, division->seed, STREAM_CLASS, parts->train,
                parts->validation);
  else
    g_array_append_vals (parts->train, rest->data, rest->len);
}

void
dyno_dataset_parts_clear (DynoDatasetParts *parts)
{
  g_clear_pointer (&parts->train, g_array_unref);
  g_clear_pointer (&parts->validation, g_array_unref);
  g_clear_pointer (&parts->test, g_array_unref);
}

void
dyno_dataset_divide (DynoDataset *dataset, const DynoDivision *division, DynoDatasetParts *parts)
{
  g_return_if_fail (division->val_fraction >= 0 && division->val_fraction < 1);
  g_return_if_fail (division->test_fraction >= 0 && division->test_fraction < 1);
  g_return_if_fail (division->n_folds == 0
                    || (division->n_folds >= 2 && division->fold < division->n_folds));
  parts->train =
      g_array_sized_new (FALSE, FALSE, sizeof (guint32), (guint) dataset->info.n_samples);
  parts->validation = g_array_new (FALSE, FALSE, sizeof (guint32));
  parts->test = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (division->n_folds == 0 && dataset->info.has_split && dataset->klass->part)
    {
      split_own (dataset, parts);
      return;
    }
  if (dataset->info.groups)
    divide_groups (dataset, division, parts);
  else
    divide_samples (dataset, division, parts);
  if (division->n_folds == 0 && division->val_fraction == 0)
    return; /* the training part stays in file order */
  shuffle_part (division->seed, STREAM_TRAIN, parts->train);
  shuffle_part (division->seed, STREAM_VALIDATION, parts->validation);
}

void
dyno_dataset_split (DynoDataset *dataset, double val_fraction, guint64 seed, GArray **train,
                    GArray **validation)
{
  DynoDivision division = { .seed = seed, .val_fraction = val_fraction };
  g_auto (DynoDatasetParts) parts = { 0 };

  dyno_dataset_divide (dataset, &division, &parts);
  *train = g_steal_pointer (&parts.train);
  *validation = g_steal_pointer (&parts.validation);
}
