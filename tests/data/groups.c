/* SPDX-License-Identifier: MIT */
/* Groups of samples: whole groups are dealt out to the parts, evenly, by the seed alone; and the
 * columns of lists that name them. */
#include "convert.h"
#include "data-test.h"
#include "groups.h"
#include "masks-test.h"
#include "npyfile.h"
#include "rng.h"
#include <math.h>
#include <string.h>

/* --- dealing out ------------------------------------------------------------------------------ */

typedef struct {
  GArray *ids;   /* guint32: of each sample */
  GArray *marks; /* DynoGroupMark */
  guint32 n_classes;
} Samples;

static void
samples_init (Samples *samples, guint32 n_classes)
{
  samples->ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  samples->marks = g_array_new (FALSE, FALSE, sizeof (DynoGroupMark));
  samples->n_classes = n_classes;
}

static void
samples_clear (Samples *samples)
{
  g_array_unref (samples->ids);
  g_array_unref (samples->marks);
}

static void
add_sample (Samples *samples, guint32 id, guint32 class_id)
{
  DynoGroupMark mark = { .sample = samples->ids->len, .class_id = class_id };

  g_array_append_val (samples->ids, id);
  if (class_id < samples->n_classes)
    g_array_append_val (samples->marks, mark);
}

static DynoGroups *
make_groups (const Samples *samples)
{
  return dyno_groups_new ((const guint32 *) (gpointer) samples->ids->data, samples->ids->len,
                          samples->marks, samples->n_classes);
}

/* Groups of 1 to `most` samples, whose samples are mostly of one class. */
static void
fill (Samples *samples, guint32 n_groups, guint32 most, guint64 seed)
{
  DynoRng rng = dyno_rng_init (seed, 1);

  for (guint32 g = 0; g < n_groups; g++)
    {
      guint32 size = 1 + (guint32) dyno_rng_below (&rng, most),
              usual =
                  samples->n_classes > 0 ? (guint32) dyno_rng_below (&rng, samples->n_classes) : 0;

      for (guint32 i = 0; i < size; i++)
        add_sample (samples, 7 * g + 3,
                    samples->n_classes > 0 && dyno_rng_below (&rng, 4) == 0
                        ? (guint32) dyno_rng_below (&rng, samples->n_classes)
                        : usual);
    }
}

/* The samples of a part: of all classes, or of one. */
static guint64
count (const Samples *samples, const DynoGroups *groups, const guint8 *parts, guint8 part,
       gint64 class_id)
{
  guint64 n = 0;

  for (guint i = 0; class_id < 0 && i < samples->ids->len; i++)
    n += parts[dyno_groups_find (groups, i)] == part;
  for (guint i = 0; class_id >= 0 && i < samples->marks->len; i++)
    {
      const DynoGroupMark *mark = &g_array_index (samples->marks, DynoGroupMark, i);

      n += mark->class_id == class_id && parts[dyno_groups_find (groups, mark->sample)] == part;
    }
  return n;
}

static void
test_equal_ids_are_a_group (void)
{
  static const guint32 ids[] = { 9, 4, 9, 0, G_MAXUINT32, 4, 9 },
                       expected[] = { 0, 1, 0, 2, 3, 1, 0 }, sizes[] = { 3, 2, 1, 1 };
  g_autoptr (DynoGroups) groups = dyno_groups_new (ids, G_N_ELEMENTS (ids), NULL, 0);

  g_assert_cmpuint (dyno_groups_get_count (groups), ==, 4);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_cmpuint (dyno_groups_find (groups, i), ==, expected[i]);
  for (guint g = 0; g < G_N_ELEMENTS (sizes); g++)
    g_assert_cmpuint (dyno_groups_get_size (groups, g), ==, sizes[g]);
}

/* The shares of samples and of each class come near the wanted ones: for these groups within
 * `samples_off` of the samples, and `class_off` of each class. */
static void
assert_near (const Samples *samples, const DynoGroups *groups, const guint8 *parts, guint8 part,
             double share, double samples_off, double class_off)
{
  guint64 all = samples->ids->len;

  g_assert_cmpfloat (
      fabs ((double) count (samples, groups, parts, part, -1) / (double) all - share), <=,
      samples_off);
  for (guint32 c = 0; c < samples->n_classes; c++)
    {
      guint64 of_class = 0;

      for (guint8 p = DYNO_GROUP_TRAINS; p <= DYNO_GROUP_TESTS; p++)
        of_class += count (samples, groups, parts, p, c);
      g_assert_cmpfloat (
          fabs ((double) count (samples, groups, parts, part, c) / (double) of_class - share), <=,
          class_off);
    }
}

static void
test_shares_are_near (void)
{
  static const struct {
    guint32 n_groups, most, n_classes;
    double samples_off, class_off;
  } cases[] = {
    { 60, 20, 0, 0.01, 0 },     { 60, 20, 2, 0.02, 0.02 },  { 200, 8, 5, 0.01, 0.02 },
    { 40, 100, 3, 0.03, 0.08 }, { 500, 1, 4, 0.005, 0.02 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint64 seed = 0; seed < 20; seed++)
      {
        DynoDivision division = { .seed = seed, .test_fraction = 0.2, .val_fraction = 0.25 };
        g_autoptr (DynoGroups) groups = NULL;
        g_autofree guint8 *parts = NULL;
        Samples samples;

        samples_init (&samples, cases[i].n_classes);
        fill (&samples, cases[i].n_groups, cases[i].most, seed);
        groups = make_groups (&samples);
        parts = dyno_groups_divide (groups, &division);
        for (guint8 part = DYNO_GROUP_VALIDATES; part <= DYNO_GROUP_TESTS; part++)
          assert_near (&samples, groups, parts, part, 0.2, cases[i].samples_off,
                       cases[i].class_off);
        samples_clear (&samples);
      }
}

/* Each group that is not in the test part validates in one fold and trains in the others, and folds
 * are alike. */
static void
test_each_group_validates_once (void)
{
  for (guint64 seed = 0; seed < 30; seed++)
    {
      guint n_folds = 2 + (guint) (seed % 6);
      Samples samples;
      g_autoptr (DynoGroups) groups = NULL;
      g_autofree guint *validated = NULL;
      guint32 n;

      samples_init (&samples, seed % 2 ? 3 : 0);
      fill (&samples, 60 + (guint32) seed, 12, seed);
      groups = make_groups (&samples);
      n = dyno_groups_get_count (groups);
      validated = g_new0 (guint, n);
      for (guint f = 0; f < n_folds; f++)
        {
          DynoDivision division = {
            .seed = seed, .test_fraction = seed % 3 ? 0 : 0.2, .n_folds = n_folds, .fold = f
          };
          double share = (1 - division.test_fraction) / n_folds;
          g_autofree guint8 *parts = dyno_groups_divide (groups, &division);

          for (guint32 g = 0; g < n; g++)
            validated[g] += parts[g] == DYNO_GROUP_VALIDATES ? 1
                            : parts[g] == DYNO_GROUP_TESTS   ? 100
                                                             : 0;
          assert_near (&samples, groups, parts, DYNO_GROUP_VALIDATES, share, 0.02, 0.07);
        }
      for (guint32 g = 0; g < n; g++)
        g_assert_true (validated[g] == 1 || (seed % 3 == 0 && validated[g] == 100 * n_folds));
      samples_clear (&samples);
    }
}

/* No fold, and no part that is asked for, is empty while there is a group for each: with equal
 * groups, with one that has nearly all samples, and with as many groups as folds. */
static void
test_no_part_is_empty (void)
{
  static const double shares[] = { 0.01, 0.1, 0.5, 0.9 };

  for (guint32 n_groups = 2; n_groups < 8; n_groups++)
    for (guint large = 0; large < 2; large++)
      {
        Samples samples;
        g_autoptr (DynoGroups) groups = NULL;

        samples_init (&samples, 2);
        for (guint32 g = 0; g < n_groups; g++)
          for (guint i = 0; i < (large && g == 1 ? 1000 : 10); i++)
            add_sample (&samples, g, g == 1);
        groups = make_groups (&samples);
        for (guint i = 0; i < G_N_ELEMENTS (shares) * G_N_ELEMENTS (shares); i++)
          {
            DynoDivision division = { .seed = i,
                                      .test_fraction = shares[i / G_N_ELEMENTS (shares)],
                                      .val_fraction = shares[i % G_N_ELEMENTS (shares)] };
            g_autofree guint8 *parts = dyno_groups_divide (groups, &division);
            guint64 n_test = count (&samples, groups, parts, DYNO_GROUP_TESTS, -1),
                    n_validation = count (&samples, groups, parts, DYNO_GROUP_VALIDATES, -1),
                    n_train = count (&samples, groups, parts, DYNO_GROUP_TRAINS, -1);

            g_assert_cmpuint (n_test, >, 0);
            g_assert_cmpuint (n_train, >, 0);
            g_assert_true (n_validation > 0 || division.test_fraction >= 0.5 || n_groups == 2);
          }
        for (guint f = 0; f < n_groups; f++)
          {
            DynoDivision division = { .seed = f, .n_folds = n_groups, .fold = f };
            g_autofree guint8 *parts = dyno_groups_divide (groups, &division);

            g_assert_cmpuint (count (&samples, groups, parts, DYNO_GROUP_VALIDATES, -1), ==,
                              large && parts[1] == DYNO_GROUP_VALIDATES ? 1000 : 10);
          }
        samples_clear (&samples);
      }
}

/* Groups of one size take turns, whatever the sizes of other groups are: of ten large groups a test
 * share of 0.2 has two, and not only small ones; also where all samples are of one class. */
static void
test_large_groups_are_spread (void)
{
  for (guint32 n_classes = 0; n_classes < 2; n_classes++)
    {
      DynoDivision division = { .test_fraction = 0.2 };
      g_autoptr (DynoGroups) groups = NULL;
      Samples samples;

      samples_init (&samples, n_classes);
      for (guint32 g = 0; g < 110; g++)
        for (guint i = 0; i < (g < 10 ? 40 : 2); i++)
          add_sample (&samples, g, 0);
      groups = make_groups (&samples);
      for (; division.seed < 10; division.seed++)
        {
          g_autofree guint8 *parts = dyno_groups_divide (groups, &division);
          guint n_large = 0, n_small = 0;

          for (guint32 g = 0; g < 110; g++)
            *(g < 10 ? &n_large : &n_small) += parts[g] == DYNO_GROUP_TESTS;
          g_assert_cmpuint (n_large, ==, 2);
          g_assert_cmpuint (n_small, ==, 20);
        }
      samples_clear (&samples);
    }
}

/* Another seed gives another division, also of groups whose sizes all differ; the same seed the
 * same one; and the test part depends only on its share and the seed. */
static void
test_the_seed_decides (void)
{
  Samples samples;
  g_autoptr (DynoGroups) groups = NULL, again = NULL;
  DynoDivision division = { .seed = 1, .test_fraction = 0.2, .val_fraction = 0.2 };
  guint32 n;

  samples_init (&samples, 2);
  for (guint32 g = 0; g < 31; g++)
    for (guint i = 0; i <= g; i++)
      add_sample (&samples, g, g % 2);
  groups = make_groups (&samples);
  again = make_groups (&samples);
  n = dyno_groups_get_count (groups);
  g_autofree guint8 *first = dyno_groups_divide (groups, &division),
                    *same = dyno_groups_divide (again, &division);
  g_assert_cmpmem (first, n, same, n);
  for (guint i = 0; i < 3; i++)
    {
      const DynoDivision others[] = { { .seed = 1, .test_fraction = 0.2, .n_folds = 5, .fold = 3 },
                                      { .seed = 1, .test_fraction = 0.2 },
                                      { .seed = 1, .test_fraction = 0.2, .val_fraction = 0.5 } };
      g_autofree guint8 *parts = dyno_groups_divide (groups, &others[i]);

      for (guint32 g = 0; g < n; g++)
        {
          g_assert_cmpint (first[g] == DYNO_GROUP_TESTS, ==, parts[g] == DYNO_GROUP_TESTS);
          g_assert_true (i != 1 || parts[g] != DYNO_GROUP_VALIDATES); /* no share is asked for */
        }
    }
  division.seed = 2;
  g_autofree guint8 *other = dyno_groups_divide (groups, &division);
  g_assert_true (memcmp (first, other, n) != 0);
  samples_clear (&samples);
}

/* Equal groups that do not divide evenly: the first folds get the rest, and of two halves the
 * training part, for any seed. */
static void
test_ties_go_to_the_first_part (void)
{
  for (guint64 seed = 0; seed < 8; seed++)
    for (guint32 n_groups = 5; n_groups < 12; n_groups++)
      {
        DynoDivision halves = { .seed = seed, .val_fraction = 0.5 };
        g_autoptr (DynoGroups) groups = NULL;
        g_autofree guint8 *parts = NULL;
        Samples samples;

        samples_init (&samples, 1);
        for (guint32 g = 0; g < n_groups; g++)
          for (guint i = 0; i < 4; i++)
            add_sample (&samples, g, 0);
        groups = make_groups (&samples);
        for (guint f = 0; f < 4; f++)
          {
            DynoDivision division = { .seed = seed, .n_folds = 4, .fold = f };
            g_autofree guint8 *folds = dyno_groups_divide (groups, &division);

            g_assert_cmpuint (count (&samples, groups, folds, DYNO_GROUP_VALIDATES, -1), ==,
                              4 * (n_groups / 4 + (f < n_groups % 4)));
          }
        parts = dyno_groups_divide (groups, &halves);
        g_assert_cmpuint (count (&samples, groups, parts, DYNO_GROUP_TRAINS, -1), ==,
                          4 * ((n_groups + 1) / 2));
        samples_clear (&samples);
      }
}

/* A rare label of samples with several labels is spread too: here each of four groups of many has
 * it, and each of four folds gets one of them. */
static void
test_rare_labels_are_spread (void)
{
  for (guint64 seed = 0; seed < 10; seed++)
    {
      Samples samples;
      g_autoptr (DynoGroups) groups = NULL;

      samples_init (&samples, 2);
      for (guint32 g = 0; g < 40; g++)
        for (guint i = 0; i < 5; i++)
          {
            add_sample (&samples, g, 0);
            if (g % 10 == 0 && i == 0)
              {
                DynoGroupMark mark = { .sample = samples.ids->len - 1, .class_id = 1 };
                g_array_append_val (samples.marks, mark);
              }
          }
      groups = make_groups (&samples);
      for (guint f = 0; f < 4; f++)
        {
          DynoDivision division = { .seed = seed, .n_folds = 4, .fold = f };
          g_autofree guint8 *parts = dyno_groups_divide (groups, &division);

          g_assert_cmpuint (count (&samples, groups, parts, DYNO_GROUP_VALIDATES, 1), ==, 1);
          g_assert_cmpuint (count (&samples, groups, parts, DYNO_GROUP_VALIDATES, -1), ==, 50);
        }
      samples_clear (&samples);
    }
}

/* The only group of a class is dealt out first, and so to the first of equal parts; that it is also
 * the first of all groups changes nothing. */
static void
test_group_of_a_class_alone (void)
{
  for (guint32 alone = 0; alone < 6; alone += 5)
    for (guint64 seed = 0; seed < 8; seed++)
      {
        DynoDivision division = { .seed = seed, .val_fraction = 0.5 };
        g_autoptr (DynoGroups) groups = NULL;
        g_autofree guint8 *parts = NULL;
        Samples samples;

        samples_init (&samples, 2);
        for (guint32 g = 0; g < 6; g++)
          for (guint i = 0; i < 4; i++)
            add_sample (&samples, g, g == alone);
        groups = make_groups (&samples);
        parts = dyno_groups_divide (groups, &division);
        g_assert_cmpuint (parts[alone], ==, DYNO_GROUP_TRAINS);
        g_assert_cmpuint (count (&samples, groups, parts, DYNO_GROUP_TRAINS, -1), ==, 4 * 3);
        samples_clear (&samples);
      }
}

/* A run that is resumed, and an evaluation of its weights, divide the samples again, maybe by a later
 * version: a seed gives the same division for ever.  Equal groups, and groups of 1 to 12 samples. */
static void
test_division_stays (void)
{
  static const char *const expected[][2] = { { "TVV---VV----", "T--V---V--V-" },
                                             { "-TV-VVV-----", "--TVV---V---" },
                                             { "-TV---V-V---", "-TVV-V------" } };

  for (guint64 seed = 0; seed < G_N_ELEMENTS (expected); seed++)
    for (guint equal = 0; equal < 2; equal++)
      {
        DynoDivision division = { .seed = seed, .test_fraction = 0.02, .val_fraction = 0.25 };
        g_autoptr (DynoGroups) groups = NULL;
        g_autofree guint8 *parts = NULL;
        char letters[13] = "";
        Samples samples;

        samples_init (&samples, 2);
        for (guint32 g = 0; g < 12; g++)
          for (guint i = 0; i < (equal ? 3 : g + 1); i++)
            add_sample (&samples, g, g % 3 == 0);
        groups = make_groups (&samples);
        parts = dyno_groups_divide (groups, &division);
        for (guint32 g = 0; g < 12; g++)
          letters[g] = "-VT"[parts[g]];
        g_assert_cmpstr (letters, ==, expected[seed][equal]);
        samples_clear (&samples);
      }
}

/* --- lists ------------------------------------------------------------------------------------ */

static void
put_images (const char *folder)
{
  for (guint i = 0; i < 6; i++)
    {
      g_autoptr (GByteArray) file = test_jpeg (16, 16, (guint8) (40 * i), 50, 50, FALSE);
      g_autofree char *name = g_strdup_printf ("%c.jpg", 'a' + i);

      g_free (test_write (folder, name, file->data, file->len));
    }
}

static char *
put_text (const char *folder, const char *name, const char *text)
{
  return test_write (folder, name, text, strlen (text));
}

static DynoDataset *
open_grouped (const char *path, DynoTask task, GError **error)
{
  DynoDatasetParams params = { .task = task, .group_column = "patient", .index_from = G_MAXUINT };

  return dyno_dataset_open (path, &params, NULL, NULL, NULL, error);
}

/* The groups of the samples as digits: "00121". */
static char *
spell (DynoDataset *dataset)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  GString *text = g_string_new (NULL);

  for (guint64 i = 0; info->groups && i < info->n_samples; i++)
    g_string_append_printf (text, "%u", dyno_groups_find (info->groups, i));
  return g_string_free (text, FALSE);
}

/* The column names the groups in every kind of list, and is not learned. */
static void
test_columns_of_lists (void)
{
  static const struct {
    const char *name, *text;
    DynoTask asked, task;
    const char *groups;
    guint32 n; /* classes or values */
  } cases[] = {
    { "m.csv", "file,patient,label\na.jpg,7,x\nb.jpg,7,y\nc.jpg,8,x\nd.jpg, 7 ,y\n", DYNO_TASK_AUTO,
      DYNO_TASK_CLASSES, "0010", 2 },
    { "m.tsv", "patient\tfile\tdisease\nA\ta.jpg\tx\nB\tb.jpg\ty\nA\tc.jpg\ty\n", DYNO_TASK_AUTO,
      DYNO_TASK_CLASSES, "010", 2 },
    /* without a usual name of the paths: the first column that is not the groups' */
    { "n.csv", "patient,scan,disease\nA,a.jpg,x\nB,b.jpg,y\nA,c.jpg,y\n", DYNO_TASK_AUTO,
      DYNO_TASK_CLASSES, "010", 2 },
    { "m.jsonl",
      "{\"file_name\": \"a.jpg\", \"label\": \"x\", \"patient\": 3}\n"
      "{\"file_name\": \"b.jpg\", \"label\": \"y\"}\n"
      "{\"file_name\": \"c.jpg\", \"label\": \"y\", \"patient\": \"3\"}\n"
      "{\"file_name\": \"d.jpg\", \"label\": \"x\", \"patient\": \"\"}\n",
      DYNO_TASK_AUTO, DYNO_TASK_CLASSES, "0102", 2 },
    { "values.csv", "file,patient,age,height\na.jpg,1,0.5,1.5\nb.jpg,1,2.5,1\nc.jpg,2,1,3\n",
      DYNO_TASK_AUTO, DYNO_TASK_VALUES, "001", 2 },
    { "flags.csv", "file,patient,red,green\na.jpg,1,1,1\nb.jpg,0,0,0\nc.jpg,1,0,1\nd.jpg,,1,0\n",
      DYNO_TASK_AUTO, DYNO_TASK_LABELS, "0102", 2 },
    { "labels.csv", "file,patient,tags\na.jpg,p|q,red|green\nb.jpg,p|q,red\nc.jpg,p,green\n",
      DYNO_TASK_LABELS, DYNO_TASK_LABELS, "001", 2 },
    { "one-hot.csv", "file,patient,cat,dog\na.jpg,1,1,0\nb.jpg,0,0,1\nc.jpg,1,0,1\n",
      DYNO_TASK_AUTO, DYNO_TASK_CLASSES, "010", 2 },
    { "pixels.csv",
      "patient,emotion,pixels\n5,0,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      ",1,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17\n,1,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 18\n"
      "5,0,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 19\n",
      DYNO_TASK_AUTO, DYNO_TASK_CLASSES, "0120", 2 },
  };
  g_autofree char *folder = test_folder_new ();

  put_images (folder);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = put_text (folder, cases[i].name, cases[i].text), *groups = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = open_grouped (path, cases[i].asked, &error);
      const DynoDatasetInfo *info;

      g_assert_no_error (error);
      info = dyno_dataset_get_info (dataset);
      groups = spell (dataset);
      g_assert_cmpstr (groups, ==, cases[i].groups);
      g_assert_cmpstr (info->group_column, ==, "patient");
      g_assert_cmpint (dyno_dataset_get_task (info), ==, cases[i].task);
      g_assert_cmpuint (cases[i].task == DYNO_TASK_VALUES ? dyno_schema_count_values (&info->schema)
                                                          : info->n_classes,
                        ==, cases[i].n);
      g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      for (guint k = 0; notes[k]; k++)
        g_assert_null (strstr (notes[k], "“patient”"));
    }
  test_folder_remove (folder);
}

/* Of samples with several labels those count that a sample has: here each of four groups of many has
 * a rare one, and each of four folds gets one of them. */
static void
test_labels_of_a_list_are_spread (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (GString) text = g_string_new ("file,patient,red,green\n");
  g_autoptr (GError) error = NULL;

  put_images (folder);
  for (guint g = 0; g < 12; g++)
    for (guint i = 0; i < 4; i++)
      g_string_append_printf (text, "%c.jpg,%u,%d,%d\n", 'a' + (int) i, g, i % 2 == 0,
                              g % 3 == 0 && i == 0);
  path = put_text (folder, "flags.csv", text->str);
  g_autoptr (DynoDataset) dataset = open_grouped (path, DYNO_TASK_AUTO, &error);
  g_assert_no_error (error);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_assert_cmpint (dyno_dataset_get_task (info), ==, DYNO_TASK_LABELS);
  for (guint64 seed = 0; seed < 10; seed++)
    for (guint f = 0; f < 4; f++)
      {
        DynoDivision division = { .seed = seed, .n_folds = 4, .fold = f };
        g_autofree guint8 *parts = dyno_groups_divide (info->groups, &division);
        guint n_green = 0;

        for (guint i = 0; i < info->n_samples; i++)
          n_green += parts[dyno_groups_find (info->groups, i)] == DYNO_GROUP_VALIDATES
                     && dyno_dataset_get_values (dataset, i)[1] > 0;
        g_assert_cmpuint (n_green, ==, 1);
      }
  test_folder_remove (folder);
}

/* Lists of images with masks, of sequences, and of a folder with a list in each of its parts. */
static void
test_other_lists (void)
{
  static const char *const names[] = { "a", "b", "c" };
  g_autofree char *masks = test_folder_new (), *sequences = test_folder_new (),
                  *parts = test_folder_new (), *list = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *array = g_strdup_printf ("%s/%s.npy", sequences, names[i]);

      masks_put_pair (masks, names[i], 0, 1);
      g_assert_true (dyno_npy_write (array, "f4", 2, (guint64[]){ 2 + i, 2 },
                                     (float[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, NULL));
    }
  list = put_text (masks, "m.csv",
                   "image,mask,patient\nimages/a.png,masks/a.png,1\nimages/b.png,masks/b.png,2\n"
                   "images/c.png,masks/c.png,1\n");
  g_free (
      put_text (sequences, "labels.csv", "file,patient,label\na.npy,1,x\nb.npy,2,y\nc.npy,1,x\n"));
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GByteArray) file = test_jpeg (16, 16, 40, 50, 50, FALSE);

      g_free (
          test_write (parts, i == 0 ? "train/a.jpg" : "validation/b.jpg", file->data, file->len));
      g_free (
          test_write (parts, i == 0 ? "train/c.jpg" : "validation/d.jpg", file->data, file->len));
    }
  g_free (
      put_text (parts, "train/metadata.csv", "file_name,patient,label\na.jpg,1,x\nc.jpg,2,y\n"));
  g_free (put_text (parts, "validation/metadata.csv", "file_name,patient,label\nb.jpg,1,x\n"));
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = open_grouped (i == 0   ? list
                                                      : i == 1 ? sequences
                                                               : parts,
                                                      DYNO_TASK_AUTO, &error);
      g_autofree char *groups = NULL;

      g_assert_no_error (error);
      groups = spell (dataset);
      g_assert_cmpstr (groups, ==, "010");
      g_assert_cmpint (dyno_dataset_get_info (dataset)->has_split, ==, i == 2);
    }
  test_folder_remove (masks);
  test_folder_remove (sequences);
  test_folder_remove (parts);
}

static void
test_refusals (void)
{
  static const struct {
    const char *name, *text, *words; /* of the error, separated by '/' */
  } cases[] = {
    { "m.csv", "file,person,label\na.jpg,7,x\nb.jpg,8,y\n",
      "“m.csv” has no column “patient”, which data.group_column names/its columns: “file”, "
      "“person”, “label”" },
    { "Patient.csv", "file,Patient,label\na.jpg,7,x\nb.jpg,8,y\n",
      "no column “patient”/“Patient”" },
    { "bare.csv", "a.jpg,7\nb.jpg,8\n", "columns without names/add a first line" },
    { "path.csv", "patient\na.jpg\nb.jpg\n", "its paths in the column “patient”" },
    { "bare-path.csv", "file,patient\na.jpg,1\nb.jpg,2\n",
      "the column that data.group_column names, and nothing to learn" },
    { "pixels.csv",
      "emotion,pixels\n0,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "1,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17\n",
      "“pixels.csv” has no column “patient”/its columns: “emotion”, “pixels”" },
  };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GError) problem = NULL;

  put_images (folder);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = put_text (folder, cases[i].name, cases[i].text);
      g_auto (GStrv) words = g_strsplit (cases[i].words, "/", -1);
      g_autoptr (GError) error = NULL;

      g_assert_null (open_grouped (path, DYNO_TASK_AUTO, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
      for (guint w = 0; words[w]; w++)
        test_has_words (error, words[w]);
    }
  g_assert_null (open_grouped ("builtin:shapes?size=16&samples=9", DYNO_TASK_AUTO, &problem));
  g_assert_error (problem, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (problem, "“shapes” has no columns");
  test_folder_remove (folder);
}

/* Data that may lack the column are opened without groups. */
static void
test_column_that_may_be_missing (void)
{
  DynoDatasetParams params = { .group_column = "patient", .may_lack_groups = TRUE };
  g_autofree char *folder = test_folder_new (), *with = NULL, *without = NULL;

  put_images (folder);
  with = put_text (folder, "with.csv", "file,disease,patient\na.jpg,x,p\nb.jpg,y,q\n");
  without = put_text (folder, "without.csv", "file,disease\na.jpg,x\nb.jpg,y\n");
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset =
          dyno_dataset_open (i == 0   ? with
                             : i == 1 ? without
                                      : "builtin:shapes?size=16&samples=9",
                             &params, NULL, NULL, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (dyno_dataset_get_info (dataset)->groups != NULL, ==, i == 0);
    }
  test_folder_remove (folder);
}

static gboolean
has_note (DynoDataset *dataset, const char *words)
{
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);

  for (guint i = 0; notes[i]; i++)
    if (strstr (notes[i], words))
      return TRUE;
  return FALSE;
}

/* A list's own split stays, with a note that says whether it divides groups. */
static void
test_own_split_stays (void)
{
  g_autofree char *folder = test_folder_new ();

  put_images (folder);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path =
          put_text (folder, "m.csv",
                    i == 0 ? "file,split,patient,label\na.jpg,train,1,x\nb.jpg,val,2,y\n"
                             "c.jpg,train,1,y\n"
                           : "file,split,patient,label\na.jpg,train,1,x\nb.jpg,val,1,y\n"
                             "c.jpg,train,2,y\nd.jpg,val,,y\n");
      g_autoptr (DynoDataset) dataset = open_grouped (path, DYNO_TASK_AUTO, NULL);
      DynoDivision division = { .test_fraction = 0.5, .val_fraction = 0.5 };
      g_auto (DynoDatasetParts) parts = { 0 };

      g_assert_nonnull (dataset);
      dyno_dataset_divide (dataset, &division, &parts);
      g_assert_cmpuint (parts.train->len, ==, 2);
      g_assert_cmpuint (parts.validation->len, ==, 1 + i);
      g_assert_cmpuint (parts.test->len, ==, 0);
      g_assert_true (has_note (dataset, i == 0 ? "no group has samples in both parts"
                                               : ": 1 group has samples in both parts"));
    }
  test_folder_remove (folder);
}

/* The same with a test part: a group may be in any two of three parts. */
static void
test_own_three_parts_stay (void)
{
  static const struct {
    const char *groups, *words; /* the group of each sample: train, train, val, test, test */
  } cases[] = {
    { "11234", "no group has samples in two parts" },
    { "12233", ": 1 group has samples in several parts" },
    { "12341", ": 1 group has samples in several parts" },
    { "12334", ": 1 group has samples in several parts" },
    { "12212", ": 2 groups have samples in several parts" },
  };
  g_autofree char *folder = test_folder_new ();

  put_images (folder);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *g = cases[i].groups;
      g_autofree char *text = g_strdup_printf (
                          "file,split,patient,label\na.jpg,train,%c,x\nb.jpg,train,%c,y\n"
                          "c.jpg,val,%c,y\nd.jpg,test,%c,x\ne.jpg,test,%c,y\n",
                          g[0], g[1], g[2], g[3], g[4]),
                      *path = put_text (folder, "m.csv", text);
      g_autoptr (DynoDataset) dataset = open_grouped (path, DYNO_TASK_AUTO, NULL);

      g_assert_nonnull (dataset);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_test, ==, 2);
      g_assert_true (has_note (dataset, cases[i].words));
    }
  test_folder_remove (folder);
}

/* Rows that cannot be used leave no empty group; and a group of another sample is other content. */
static void
test_groups_of_the_rows_that_are_used (void)
{
  g_autofree char *folder = test_folder_new ();
  guint64 hashes[3];

  put_images (folder);
  for (guint i = 0; i < 3; i++)
    {
      static const char *const texts[] = {
        "file,patient,label\na.jpg,1,x\ngone.jpg,2,y\nc.jpg,3,y\nd.jpg,1,\ne.jpg,3,x\n",
        "file,patient,label\na.jpg,p,x\ngone.jpg,2,y\nc.jpg,q,y\nd.jpg,1,\ne.jpg,q,x\n",
        "file,patient,label\na.jpg,1,x\ngone.jpg,2,y\nc.jpg,3,y\nd.jpg,1,\ne.jpg,1,x\n"
      };
      g_autofree char *path = put_text (folder, "m.csv", texts[i]), *groups = NULL;
      g_autoptr (DynoDataset) dataset = open_grouped (path, DYNO_TASK_AUTO, NULL);

      groups = spell (dataset);
      g_assert_cmpstr (groups, ==, i == 2 ? "010" : "011");
      hashes[i] = dyno_dataset_get_info (dataset)->content_hash;
    }
  g_assert_cmpuint (hashes[0], ==, hashes[1]); /* the names of groups do not matter */
  g_assert_cmpuint (hashes[0], !=, hashes[2]);
  test_folder_remove (folder);
}

/* A packed file would lose the groups, and with them the division. */
static void
test_packing_is_refused (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL,
                  *packed = g_build_filename (folder, "packed.tar", NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  put_images (folder);
  path = put_text (folder, "m.csv", "file,patient,label\na.jpg,1,x\nb.jpg,1,y\n");
  dataset = open_grouped (path, DYNO_TASK_AUTO, NULL);
  g_assert_false (
      dyno_dataset_convert (dataset, packed, 0, NULL, NULL, NULL, NULL, &converted, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "groups of samples by the column “patient”");
  g_assert_false (g_file_test (packed, G_FILE_TEST_EXISTS));
  test_folder_remove (folder);
}

/* Samples of a list that is opened: whole groups in each part, which have an order by seed. */
static void
test_list_is_divided (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GString) text = g_string_new ("patient,label,pixels\n");
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetInfo *info;

  for (guint i = 0; i < 120; i++)
    g_string_append_printf (text, "%u,%u,%u 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", i * 7 % 24,
                            i % 2, i);
  path = put_text (folder, "m.csv", text->str);
  dataset = open_grouped (path, DYNO_TASK_AUTO, NULL);
  g_assert_nonnull (dataset);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (dyno_groups_get_count (info->groups), ==, 24);
  for (guint f = 0; f <= 4; f++)
    {
      DynoDivision division = { .seed = 3, .test_fraction = 0.25, .val_fraction = 1.0 / 3 };
      g_auto (DynoDatasetParts) parts = { 0 };
      guint8 of_group[24] = { 0 };
      gboolean sorted = TRUE;

      if (f > 0)
        division = (DynoDivision){ .seed = 3, .n_folds = 4, .fold = f - 1 };
      dyno_dataset_divide (dataset, &division, &parts);
      g_assert_cmpuint (parts.test->len, ==, f > 0 ? 0 : 30);
      g_assert_cmpuint (parts.validation->len, ==, 30);
      g_assert_cmpuint (parts.train->len + parts.validation->len + parts.test->len, ==, 120);
      for (guint p = 0; p < 3; p++)
        {
          const GArray *part = p == 0 ? parts.train : p == 1 ? parts.validation : parts.test;

          for (guint i = 0; i < part->len; i++)
            of_group[dyno_groups_find (info->groups, g_array_index (part, guint32, i))] |= 1u << p;
        }
      for (guint g = 0; g < 24; g++)
        g_assert_true (of_group[g] == 1 || of_group[g] == 2 || of_group[g] == 4);
      for (guint i = 1; i < parts.train->len; i++)
        sorted = sorted
                 && g_array_index (parts.train, guint32, i - 1)
                        < g_array_index (parts.train, guint32, i);
      g_assert_false (sorted);
    }
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/groups/equal-ids-are-a-group", test_equal_ids_are_a_group);
  g_test_add_func ("/data/groups/shares-are-near", test_shares_are_near);
  g_test_add_func ("/data/groups/each-group-validates-once", test_each_group_validates_once);
  g_test_add_func ("/data/groups/no-part-is-empty", test_no_part_is_empty);
  g_test_add_func ("/data/groups/large-groups-are-spread", test_large_groups_are_spread);
  g_test_add_func ("/data/groups/the-seed-decides", test_the_seed_decides);
  g_test_add_func ("/data/groups/rare-labels-are-spread", test_rare_labels_are_spread);
  g_test_add_func ("/data/groups/ties-go-to-the-first-part", test_ties_go_to_the_first_part);
  g_test_add_func ("/data/groups/division-stays", test_division_stays);
  g_test_add_func ("/data/groups/group-of-a-class-alone", test_group_of_a_class_alone);
  g_test_add_func ("/data/groups/columns-of-lists", test_columns_of_lists);
  g_test_add_func ("/data/groups/labels-of-a-list-are-spread", test_labels_of_a_list_are_spread);
  g_test_add_func ("/data/groups/other-lists", test_other_lists);
  g_test_add_func ("/data/groups/refusals", test_refusals);
  g_test_add_func ("/data/groups/column-that-may-be-missing", test_column_that_may_be_missing);
  g_test_add_func ("/data/groups/own-split-stays", test_own_split_stays);
  g_test_add_func ("/data/groups/own-three-parts-stay", test_own_three_parts_stay);
  g_test_add_func ("/data/groups/rows-that-are-used", test_groups_of_the_rows_that_are_used);
  g_test_add_func ("/data/groups/list-is-divided", test_list_is_divided);
  g_test_add_func ("/data/groups/packing-is-refused", test_packing_is_refused);
  return g_test_run ();
}
