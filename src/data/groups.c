/* SPDX-License-Identifier: MIT */
/* Groups of samples and their division; groups.h has the rules.
 *
 * Invariants: groups are dealt out by their numbers of samples only, in whole numbers, so that
 * equal groups tie exactly, and a tie goes to the first part. */
#include "groups.h"
#include "rng.h"
#include <math.h>

/* Random streams of the seed, distinct from those of split.c and of the epochs. */
#define STREAM_GROUPS      (G_GUINT64_CONSTANT (0x7375) << 48)
#define STREAM_TEST_GROUPS (G_GUINT64_CONSTANT (0x7376) << 48)

/* The samples of a group that are of a class. */
typedef struct {
  guint32 class_id, count;
} ClassCount;

struct _DynoGroups {
  guint32 n_groups, n_samples, n_classes;
  guint32 *of_sample; /* (n_samples) */
  guint32 *sizes;     /* (n_groups) samples */
  guint32 *starts;    /* (n_groups + 1) indices in counts */
  GArray *counts;     /* ClassCount, group after group */
};

/* --- the groups ------------------------------------------------------------------------------- */

static void
number_groups (DynoGroups *groups, const guint32 *ids)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < groups->n_samples; i++)
    {
      gpointer id = GUINT_TO_POINTER (ids[i]), number;
      guint32 first = 0;

      if (!g_hash_table_lookup_extended (numbers, id, NULL, &number))
        {
          number = GUINT_TO_POINTER (sizes->len);
          g_hash_table_insert (numbers, id, number);
          g_array_append_val (sizes, first);
        }
      groups->of_sample[i] = GPOINTER_TO_UINT (number);
      g_array_index (sizes, guint32, groups->of_sample[i])++;
    }
  groups->n_groups = sizes->len;
  groups->sizes = g_memdup2 (sizes->data, (gsize) sizes->len * sizeof (guint32));
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  guint64 first = *(const guint64 *) a, second = *(const guint64 *) b;

  return first < second ? -1 : first > second;
}

static void
count_classes (DynoGroups *groups, const GArray *marks)
{
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (guint64)); /* group, class */

  for (guint i = 0; marks && i < marks->len; i++)
    {
      const DynoGroupMark *mark = &g_array_index (marks, DynoGroupMark, i);
      guint64 key = (guint64) groups->of_sample[mark->sample] << 32 | mark->class_id;

      g_array_append_val (keys, key);
    }
  g_array_sort (keys, compare_keys);
  for (guint i = 0; i < keys->len; i++)
    {
      guint64 key = g_array_index (keys, guint64, i);
      ClassCount count = { .class_id = (guint32) key, .count = 1 };

      if (i > 0 && g_array_index (keys, guint64, i - 1) == key)
        {
          g_array_index (groups->counts, ClassCount, groups->counts->len - 1).count++;
          continue;
        }
      g_array_append_val (groups->counts, count);
      groups->starts[(key >> 32) + 1]++;
    }
  for (guint32 g = 0; g < groups->n_groups; g++)
    groups->starts[g + 1] += groups->starts[g];
}

DynoGroups *
dyno_groups_new (const guint32 *ids, guint32 n_samples, const GArray *marks, guint32 n_classes)
{
  DynoGroups *groups = g_new0 (DynoGroups, 1);

  groups->n_samples = n_samples;
  groups->n_classes = n_classes;
  groups->of_sample = g_new (guint32, n_samples);
  number_groups (groups, ids);
  groups->starts = g_new0 (guint32, (gsize) groups->n_groups + 1);
  groups->counts = g_array_new (FALSE, FALSE, sizeof (ClassCount));
  count_classes (groups, marks);
  return groups;
}

void
dyno_groups_free (DynoGroups *groups)
{
  if (!groups)
    return;
  g_free (groups->of_sample);
  g_free (groups->sizes);
  g_free (groups->starts);
  g_array_unref (groups->counts);
  g_free (groups);
}

guint32
dyno_groups_get_count (const DynoGroups *groups)
{
  return groups->n_groups;
}

guint32
dyno_groups_get_size (const DynoGroups *groups, guint32 group)
{
  g_return_val_if_fail (group < groups->n_groups, 0);
  return groups->sizes[group];
}

guint32
dyno_groups_find (const DynoGroups *groups, guint64 sample)
{
  g_return_val_if_fail (sample < groups->n_samples, 0);
  return groups->of_sample[sample];
}

/* --- dealing out ------------------------------------------------------------------------------ */

/* A number of parts that get groups in turn. */
typedef struct {
  const DynoGroups *groups;
  guint n_parts;
  const double *shares;  /* (n_parts) wanted, > 0 */
  guint64 n;             /* samples that are dealt out */
  guint64 *of_class;     /* (n_classes) those of each class */
  guint32 n_present;     /* classes with samples among these */
  guint64 *have;         /* (n_parts) samples that each part has got */
  guint64 *have_classes; /* (n_parts, n_classes) */
} Deal;

static void
deal_init (Deal *deal, const DynoGroups *groups, const GArray *among)
{
  deal->groups = groups;
  deal->of_class = g_new0 (guint64, (gsize) groups->n_classes + 1);
  deal->have = g_new0 (guint64, deal->n_parts);
  deal->have_classes = g_new0 (guint64, (gsize) deal->n_parts * groups->n_classes + 1);
  for (guint i = 0; i < among->len; i++)
    {
      guint32 g = g_array_index (among, guint32, i);

      deal->n += groups->sizes[g];
      for (guint32 k = groups->starts[g]; k < groups->starts[g + 1]; k++)
        {
          const ClassCount *count = &g_array_index (groups->counts, ClassCount, k);

          deal->n_present += deal->of_class[count->class_id] == 0;
          deal->of_class[count->class_id] += count->count;
        }
    }
}

static void
deal_clear (Deal *deal)
{
  g_free (deal->of_class);
  g_free (deal->have);
  g_free (deal->have_classes);
}

/* By how much (share - wanted)^2 / wanted grows where a part that has `have` of all gets `more`. */
static double
find_growth (guint64 have, guint64 more, guint64 all, double wanted)
{
  double share = (double) have / (double) all, step = (double) more / (double) all;

  return (2 * step * (share - wanted) + step * step) / wanted;
}

static double
find_cost (const Deal *deal, guint32 g, guint part)
{
  const DynoGroups *groups = deal->groups;
  const guint64 *have = deal->have_classes + (gsize) part * groups->n_classes;
  double cost = 0;

  for (guint32 k = groups->starts[g]; k < groups->starts[g + 1]; k++)
    {
      const ClassCount *count = &g_array_index (groups->counts, ClassCount, k);

      cost += find_growth (have[count->class_id], count->count, deal->of_class[count->class_id],
                           deal->shares[part]);
    }
  return cost / MAX (deal->n_present, 1)
         + find_growth (deal->have[part], groups->sizes[g], deal->n, deal->shares[part]);
}

static void
give (Deal *deal, guint32 g, guint part)
{
  const DynoGroups *groups = deal->groups;
  guint64 *have = deal->have_classes + (gsize) part * groups->n_classes;

  deal->have[part] += groups->sizes[g];
  for (guint32 k = groups->starts[g]; k < groups->starts[g + 1]; k++)
    {
      const ClassCount *count = &g_array_index (groups->counts, ClassCount, k);

      have[count->class_id] += count->count;
    }
}

/* The weight of a group: its share of all samples, and the mean of its shares of each class, so
 * that groups with samples of a rare class are dealt out early.  Returns the exponent of the power
 * of two above it. */
static int
find_weight (const Deal *deal, guint32 g)
{
  const DynoGroups *groups = deal->groups;
  double weight = 0;
  int exponent;

  for (guint32 k = groups->starts[g]; k < groups->starts[g + 1]; k++)
    {
      const ClassCount *count = &g_array_index (groups->counts, ClassCount, k);

      weight += (double) count->count / (double) deal->of_class[count->class_id];
    }
  weight = weight / MAX (deal->n_present, 1) + (double) groups->sizes[g] / (double) deal->n;
  frexp (weight, &exponent);
  return exponent;
}

/* Puts the groups into an order by seed, from heavy to light: weights with equal exponents count as
 * equal, so that another seed gives another division. */
static void
sort_groups (const Deal *deal, GArray *among, guint64 seed, guint64 stream)
{
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, FALSE, sizeof (guint32), among->len);
  g_autofree int *weights = g_new (int, (gsize) among->len + 1);
  DynoRng rng = dyno_rng_init (seed, stream);
  int least = 0, most = 0;

  dyno_rng_shuffle (&rng, (guint32 *) (gpointer) among->data, among->len);
  for (guint i = 0; i < among->len; i++)
    {
      weights[i] = find_weight (deal, g_array_index (among, guint32, i));
      least = MIN (least, weights[i]);
      most = MAX (most, weights[i]);
    }
  for (int weight = most; weight >= least; weight--)
    for (guint i = 0; i < among->len; i++)
      if (weights[i] == weight)
        g_array_append_val (sorted, g_array_index (among, guint32, i));
  g_array_set_size (among, 0);
  g_array_append_vals (among, sorted->data, sorted->len);
}

/* Deals out the groups `among`, which are sorted by it; parts: (n_groups), the part of each. */
static void
deal_out (const DynoGroups *groups, GArray *among, const double *shares, guint n_parts,
          guint64 seed, guint64 stream, guint8 *parts)
{
  Deal deal = { .n_parts = n_parts, .shares = shares };

  deal_init (&deal, groups, among);
  sort_groups (&deal, among, seed, stream);
  for (guint i = 0; i < among->len; i++)
    {
      guint32 g = g_array_index (among, guint32, i);
      double least = find_cost (&deal, g, 0);

      parts[g] = 0;
      for (guint p = 1; p < n_parts; p++)
        {
          double cost = find_cost (&deal, g, p);

          if (cost >= least)
            continue;
          least = cost;
          parts[g] = (guint8) p;
        }
      give (&deal, g, parts[g]);
    }
  deal_clear (&deal);
}

/* Of two parts, the one that got nothing takes the smallest group of the other, which keeps one; a
 * single group is the first part's. */
static void
fill_empty (const DynoGroups *groups, const GArray *among, guint8 *parts)
{
  guint n[2] = { 0 };
  guint32 smallest;

  if (among->len == 0)
    return;
  smallest = g_array_index (among, guint32, 0);
  for (guint i = 0; i < among->len; i++)
    {
      guint32 g = g_array_index (among, guint32, i);

      n[parts[g]]++;
      if (groups->sizes[g] < groups->sizes[smallest])
        smallest = g;
    }
  if (n[0] == 0)
    parts[smallest] = 0;
  else if (n[1] == 0 && among->len > 1)
    parts[smallest] = 1;
}

/* Gives `part` a share of the groups `among`, and leaves the others in it. */
static void
take_share (const DynoGroups *groups, GArray *among, double share, guint64 seed, guint64 stream,
            guint8 part, guint8 *parts)
{
  const double shares[2] = { 1 - share, share };
  g_autofree guint8 *taken = g_new0 (guint8, (gsize) groups->n_groups + 1);
  guint left = 0;

  deal_out (groups, among, shares, 2, seed, stream, taken);
  fill_empty (groups, among, taken);
  for (guint i = 0; i < among->len; i++)
    {
      guint32 g = g_array_index (among, guint32, i);

      if (taken[g])
        parts[g] = part;
      else
        g_array_index (among, guint32, left++) = g;
    }
  g_array_set_size (among, left);
}

static void
take_fold (const DynoGroups *groups, GArray *among, const DynoDivision *division, guint8 *parts)
{
  g_autofree double *shares = g_new (double, division->n_folds);
  g_autofree guint8 *folds = g_new0 (guint8, (gsize) groups->n_groups + 1);

  for (guint f = 0; f < division->n_folds; f++)
    shares[f] = 1.0 / division->n_folds;
  deal_out (groups, among, shares, division->n_folds, division->seed, STREAM_GROUPS, folds);
  for (guint i = 0; i < among->len; i++)
    {
      guint32 g = g_array_index (among, guint32, i);

      if (folds[g] == division->fold)
        parts[g] = DYNO_GROUP_VALIDATES;
    }
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;

  return first < second ? -1 : first > second;
}

guint8 *
dyno_groups_divide (const DynoGroups *groups, const DynoDivision *division)
{
  guint8 *parts = g_new0 (guint8, (gsize) groups->n_groups + 1);
  g_autoptr (GArray) among = g_array_sized_new (FALSE, FALSE, sizeof (guint32), groups->n_groups);

  g_return_val_if_fail (division->n_folds <= G_MAXUINT8, parts);
  for (guint32 g = 0; g < groups->n_groups; g++)
    g_array_append_val (among, g);
  if (division->test_fraction > 0)
    take_share (groups, among, division->test_fraction, division->seed, STREAM_TEST_GROUPS,
                DYNO_GROUP_TESTS, parts);
  g_array_sort (among, compare_numbers); /* the seed alone decides their order from here on */
  if (division->n_folds > 0)
    take_fold (groups, among, division, parts);
  else if (division->val_fraction > 0)
    take_share (groups, among, division->val_fraction, division->seed, STREAM_GROUPS,
                DYNO_GROUP_VALIDATES, parts);
  return parts;
}
