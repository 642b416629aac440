/* SPDX-License-Identifier: MIT */
/* Built-in data sets and the split into parts. */
#include "data-test.h"
#include "dataset-class.h"
#include "datafile.h"
#include "hash.h"
#include "listing/scanthreads.h"
#include "listing/shards.h"
#include "location.h"
#include "formats/drawing.h"
#include <math.h>
#include <string.h>

static guint64
fold_shapes (const char *location, guint32 size)
{
  g_autoptr (DynoDataset) dataset = test_open (location);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree guint8 *pixels = g_malloc ((gsize) size * size * 3);
  guint64 hash = DYNO_HASH_START;
  gint32 label;

  for (guint i = 0; i < 20; i++)
    {
      g_assert_true (dyno_dataset_decode (dataset, i, size, size, (gpointer[]){ pixels, &label },
                                          scratch, NULL));
      g_assert_cmpint (label, ==, dyno_dataset_get_label (dataset, i));
      hash = dyno_hash_bytes (hash, pixels, (gsize) size * size * 3);
    }
  return hash;
}

static void
test_shapes_are_the_same_everywhere (void)
{
  /* The hash is the same on every machine; a change of it would change users' training data. */
  g_assert_cmphex (fold_shapes ("builtin:shapes", 32), ==, G_GUINT64_CONSTANT (0x7c1b8a36a13fbb7c));
  g_assert_cmphex (fold_shapes ("builtin:shapes?seed=2", 32), !=,
                   G_GUINT64_CONSTANT (0x7c1b8a36a13fbb7c));
}

static void
test_shapes_facts (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?size=96&samples=25&classes=4");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_cmpstr (info->kind, ==, "shapes");
  g_assert_cmpstr (info->name, ==, "shapes");
  g_assert_cmpuint (info->n_samples, ==, 25);
  g_assert_cmpuint (info->n_classes, ==, 4);
  g_assert_cmpuint (info->class_counts[0], ==, 7);
  g_assert_cmpuint (info->class_counts[3], ==, 6);
  g_assert_cmpuint (info->max_width, ==, 96);
  g_assert_true (info->resizable && info->generated && !info->schema.generated);
}

static void
test_synthetic (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("synthetic:6x5x3?classes=7&samples=99");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 first[90], second[90];
  guint64 total = 0;
  gint32 label;

  g_assert_true (info->schema.generated);
  g_assert_cmpuint (info->max_height, ==, 6);
  g_assert_cmpuint (info->max_width, ==, 5);
  g_assert_cmpuint (dyno_schema_count_channels (&info->schema), ==, 3);
  for (guint i = 0; i < 7; i++)
    total += info->class_counts[i];
  g_assert_cmpuint (total, ==, 99);
  g_assert_true (
      dyno_dataset_decode (dataset, 5, 5, 6, (gpointer[]){ first, &label }, scratch, NULL));
  g_assert_true (
      dyno_dataset_decode (dataset, 5, 5, 6, (gpointer[]){ second, &label }, scratch, NULL));
  g_assert_cmpmem (first, 90, second, 90);
  g_assert_true (
      dyno_dataset_decode (dataset, 6, 5, 6, (gpointer[]){ second, &label }, scratch, NULL));
  g_assert_cmpint (memcmp (first, second, 90), !=, 0);
}

static void
test_options_are_checked (void)
{
  test_open_fails ("builtin:nothing", DYNO_DATA_ERROR_NOT_FOUND, "builtin:nothing|builtin:shapes");
  test_open_fails ("builtin:shapes?size=7", DYNO_DATA_ERROR_OPTION, "size|8 to 1024");
  test_open_fails ("builtin:shapes?size=x", DYNO_DATA_ERROR_OPTION, "size|“x”");
  test_open_fails ("builtin:shapes?colour=1", DYNO_DATA_ERROR_OPTION, "colour|samples");
  test_open_fails ("builtin:shapes?size", DYNO_DATA_ERROR_OPTION, "key=value");
  test_open_fails ("builtin:shapes?classes=11", DYNO_DATA_ERROR_OPTION, "classes");
  test_open_fails ("synthetic:224x224", DYNO_DATA_ERROR_OPTION, "HEIGHTxWIDTHxCHANNELS");
  test_open_fails ("synthetic:0x4x4", DYNO_DATA_ERROR_OPTION, "HEIGHTxWIDTHxCHANNELS");
  test_open_fails ("synthetic:16384x16384x65536", DYNO_DATA_ERROR_OPTION, "1 GB");
  test_open_fails ("/no/such/place", DYNO_DATA_ERROR_NOT_FOUND, "/no/such/place");
}

/* The last of two values of an option counts; a key is the whole word before the sign. */
static void
test_options_have_whole_keys (void)
{
  static const char *const known[] = { "size", "siz", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoLocation) location =
      dyno_location_new ("builtin:shapes?size=9&siz=3&size=12", &error);
  guint64 size = 0, siz = 0, none = 0;

  g_assert_no_error (error);
  g_assert_cmpstr (location->scheme, ==, "builtin");
  g_assert_cmpstr (location->body, ==, "shapes");
  g_assert_true (dyno_location_check_options (location, known, NULL));
  g_assert_true (dyno_location_get_number (location, "size", 9, 12, 1, &size, NULL));
  g_assert_true (dyno_location_get_number (location, "siz", 3, 4, 1, &siz, NULL));
  g_assert_true (dyno_location_get_number (location, "seed", 3, 4, 77, &none, NULL));
  g_assert_true (size == 12 && siz == 3 && none == 77);
  g_assert_false (dyno_location_get_number (location, "siz", 4, 5, 1, &siz, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_OPTION);
  g_assert_null (dyno_location_new ("builtinshapes", NULL)); /* a file that is not there */
}

static void
assert_expands (const char *pattern, const char *expected)
{
  g_autoptr (GPtrArray) paths = dyno_location_expand (pattern);

  if (!expected)
    {
      g_assert_null (paths);
      return;
    }
  g_ptr_array_add (paths, NULL);
  g_autofree char *all = g_strjoinv (" ", (char **) paths->pdata);
  g_assert_cmpstr (all, ==, expected);
}

static void
test_patterns_are_expanded (void)
{
  assert_expands ("a-{08..11}.tar", "a-08.tar a-09.tar a-10.tar a-11.tar");
  assert_expands ("{0..2}", "0 1 2");
  assert_expands ("d/{7..7}b", "d/7b");
  assert_expands ("{000..1}x", "000x 001x");
  assert_expands ("{2..1}", NULL);
  assert_expands ("{1..x}", NULL);
  assert_expands ("{..3}", NULL);
  assert_expands ("a{1-3}", NULL);
  assert_expands ("a{1..3", NULL);
  assert_expands ("{0..100001}", NULL);
  g_autoptr (GPtrArray) most = dyno_location_expand ("{5..100005}");
  g_assert_cmpuint (most->len, ==, 100001);
  g_assert_cmpstr (most->pdata[100000], ==, "100005");
}

static void
test_parts_of_shards (void)
{
  static const struct {
    const char *path;
    DynoPart part;
  } rows[] = {
    { "/d/a-000.tar", DYNO_PART_NONE },      { "/d/a-val-000.tar", DYNO_PART_VALIDATION },
    { "/d/test_val.tar", DYNO_PART_TEST },   { "/d/val.train.tar", DYNO_PART_TRAIN },
    { "/d/train-val.tar", DYNO_PART_TRAIN }, { "/val/000.tar", DYNO_PART_VALIDATION },
    { "/val/a-test.tar", DYNO_PART_TEST },   { "/train/a-val.tar", DYNO_PART_TRAIN },
    { "/train/000.tar", DYNO_PART_TRAIN },   { "/test/train/a.tar", DYNO_PART_TRAIN },
    { "/train/d/a.tar", DYNO_PART_NONE }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (dyno_shard_get_part (rows[i].path), ==, rows[i].part);
}

/* Shards are in the order of their names: those of the folder, or else those of its folders for
 * training, validation and tests in turn. */
static void
test_shards_are_in_order (void)
{
  static const char *const files[] = { "b.tar",         "a.tar",       ".c.tar",      "d.txt",
                                       "test/1.tar",    "train/2.tar", "train/1.tar", "val/1.tar",
                                       ".hidden/3.tar", "other/4.tar" };
  g_autofree char *folder = test_folder_new ();

  for (guint first = 0; first <= 4; first += 4)
    {
      g_autofree char *root = g_build_filename (folder, first == 0 ? "all" : "parts", NULL);
      for (guint i = first; i < G_N_ELEMENTS (files); i++)
        g_free (test_write (root, files[i], "x", 1));
      g_autoptr (DynoLocation) location = dyno_location_new (root, NULL);
      g_autoptr (GPtrArray) paths = dyno_shards_list (location);
      g_autoptr (GString) names = g_string_new (NULL);
      for (guint i = 0; i < paths->len; i++)
        g_string_append_printf (names, "%s ", (const char *) paths->pdata[i] + strlen (root) + 1);
      g_assert_cmpstr (names->str, ==,
                       first == 0 ? "a.tar b.tar "
                                  : "train/1.tar train/2.tar val/1.tar test/1.tar ");
      g_autofree char *file = g_build_filename (root, files[first], NULL);
      g_autoptr (DynoLocation) one = dyno_location_new (file, NULL);
      g_autoptr (GPtrArray) only = dyno_shards_list (one);
      g_assert_cmpuint (only->len, ==, 1);
      g_assert_cmpstr (only->pdata[0], ==, file);
    }
  test_folder_remove (folder);
}

typedef struct {
  gint *visits;
  guint chunk;
  GCancellable *cancellable;
} Visited;

static void
visit (guint64 first, guint64 end, gpointer data)
{
  const Visited *visited = data;

  g_assert_true (first % visited->chunk == 0 && end > first && end - first <= visited->chunk);
  for (guint64 i = first; i < end; i++)
    g_atomic_int_inc (&visited->visits[i]);
  if (visited->cancellable)
    g_cancellable_cancel (visited->cancellable);
}

/* Each item is visited once, whatever the threads; after a cancellation no chunk is begun. */
static void
test_scans_visit_each_item (void)
{
  for (guint64 n = 0; n <= 65; n += 13)
    for (guint threads = 0; threads <= 32; threads += 8)
      {
        gint visits[66] = { 0 };
        Visited visited = { visits, 8, NULL };
        g_autoptr (GError) error = NULL;
        g_assert_true (
            dyno_scan_threads_run (n, 8, threads, visit, &visited, NULL, NULL, NULL, &error));
        for (guint i = 0; i < 66; i++)
          g_assert_cmpint (visits[i], ==, i < n);
      }
  gint visits[66] = { 0 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Visited visited = { visits, 8, cancellable };
  g_assert_false (
      dyno_scan_threads_run (66, 8, 1, visit, &visited, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  for (guint i = 0; i < 66; i++)
    g_assert_cmpint (visits[i], ==, i < 8);
}

typedef struct {
  GMutex lock;
  GCond told;
  guint n;     /* how often it was told */
  gint64 done; /* that was told last */
} Progress;

static void
wait_for_progress (guint64 first, guint64 end, gpointer data)
{
  Progress *progress = data;

  g_mutex_lock (&progress->lock);
  for (guint wanted = progress->n + 2; progress->n < wanted;) /* a number may be that of before */
    g_cond_wait (&progress->told, &progress->lock);
  g_assert_cmpint (progress->done, ==, (gint64) first);
  g_mutex_unlock (&progress->lock);
}

static void
note_progress (guint64 done, gpointer data)
{
  Progress *progress = data;

  g_assert_true (done == 0 || done == 8);
  g_mutex_lock (&progress->lock);
  progress->done = (gint64) done;
  progress->n++;
  g_cond_signal (&progress->told);
  g_mutex_unlock (&progress->lock);
}

/* Progress is of chunks that are done, not of those that are begun. */
static void
test_scans_tell_what_is_done (void)
{
  Progress progress = { .done = -1 };

  g_assert_true (dyno_scan_threads_run (16, 8, 1, wait_for_progress, &progress, note_progress,
                                        &progress, NULL, NULL));
  g_assert_cmpint (progress.done, ==, 8);
}

/* Sines of drawings: the same on every machine, odd, and near the true ones. */
static void
test_sines_of_drawings (void)
{
  for (gint64 angle = -2 * DYNO_DRAWING_TURN; angle <= 2 * DYNO_DRAWING_TURN; angle += 37)
    {
      gint64 sine = dyno_drawing_sine (angle);
      g_assert_cmpint (sine, ==, -dyno_drawing_sine (-angle));
      g_assert_cmpint (sine, ==, dyno_drawing_sine (angle + DYNO_DRAWING_TURN));
      g_assert_cmpfloat_with_epsilon ((double) sine / 65536,
                                      sin (2 * G_PI * (double) angle / DYNO_DRAWING_TURN), 0.002);
    }
}

static guint64
fold_oblong (const char *location)
{
  g_autoptr (DynoDataset) dataset = test_open (location);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree guint8 *pixels = g_malloc (72 * 40 * 3);
  guint64 hash = DYNO_HASH_START;
  float values[3];

  for (guint i = 0; i < 40; i++)
    {
      g_assert_true (dyno_dataset_decode (dataset, i, i % 2 ? 72 : 40, i % 2 ? 40 : 72,
                                          (gpointer[]){ pixels, values }, scratch, NULL));
      hash = dyno_hash_bytes (hash, pixels, 72 * 40 * 3);
    }
  return hash;
}

/* Stored values, as above, of samples that are wide or high. */
static void
test_oblong_drawings_are_the_same_everywhere (void)
{
  g_assert_cmphex (fold_oblong ("builtin:shapes"), ==, G_GUINT64_CONSTANT (0xb3b2535e8d035840));
  g_assert_cmphex (fold_oblong ("builtin:poses"), ==, G_GUINT64_CONSTANT (0x8c10fd6033f95693));
}

/* Facts that follow from the location, and words for a sample. */
static void
test_facts_of_drawings (void)
{
  static const struct {
    const char *location, *described; /* of sample 12 */
    guint width, height, channels;
  } rows[] = { { "builtin:shapes?size=9&samples=25&classes=4", "circle #12", 9, 9, 3 },
               { "builtin:shapes?size=9&samples=25", "triangle #12", 9, 9, 3 },
               { "builtin:shapes?size=9&samples=26", "triangle #12", 9, 9, 3 },
               { "builtin:shapes?size=9&samples=25&seed=2", "triangle #12", 9, 9, 3 },
               { "builtin:poses?size=8&samples=25", NULL, 8, 8, 3 },
               { "builtin:poses?size=8&samples=26", NULL, 8, 8, 3 },
               { "builtin:poses?size=8&samples=25&seed=2", NULL, 8, 8, 3 },
               { "synthetic:4x7x2?samples=25&classes=3", NULL, 7, 4, 2 } };
  guint64 hashes[G_N_ELEMENTS (rows)];

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoDataset) dataset = test_open (rows[i].location);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
      g_autofree char *described = dyno_dataset_describe_sample (dataset, 12), *expected = NULL;
      hashes[i] = info->content_hash;
      for (guint k = 0; k < i; k++)
        g_assert_cmphex (hashes[k], !=, hashes[i]);
      g_assert_true (info->min_width == rows[i].width && info->max_width == rows[i].width);
      g_assert_true (info->min_height == rows[i].height && info->max_height == rows[i].height);
      g_assert_cmpuint (dyno_schema_count_channels (&info->schema), ==, rows[i].channels);
      if (info->knows_values)
        {
          const float *values = dyno_dataset_get_values (dataset, 12);
          expected = g_strdup_printf ("#12 yaw %.0f pitch %.0f roll %.0f", (double) values[0],
                                      (double) values[1], (double) values[2]);
        }
      if (rows[i].described || expected)
        g_assert_cmpstr (described, ==, expected ? expected : rows[i].described);
      for (guint c = 0; c < info->n_classes; c++)
        {
          guint n = 0;
          for (guint64 k = 0; k < info->n_samples; k++)
            n += dyno_dataset_get_label (dataset, k) == (gint32) c;
          g_assert_cmpuint (info->class_counts[c], ==, n);
        }
    }
}

static void
check_sizes (const char *location, guint64 bytes)
{
  g_autoptr (DynoDataset) dataset = test_open (location);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_true (info->min_width == 20 && info->max_width == 45);
  g_assert_true (info->min_height == 12 && info->max_height == 50);
  g_assert_true (info->class_counts[0] == 2 && info->class_counts[1] == 3);
  g_assert_cmpuint (info->size_bytes, ==, bytes);
}

/* The limits of width and height are those of all images, in any order, and the bytes are those of
 * all that are used: of a folder, and of a list that names the same images. */
static void
test_sizes_are_of_all_images (void)
{
  static const guint sizes[][2] = { { 30, 40 }, { 20, 50 }, { 45, 12 }, { 33, 31 }, { 25, 28 } };
  g_autofree char *folder = test_folder_new (), *list = NULL;
  g_autoptr (GString) text = g_string_new ("path,label\na/9.jpg,a\n");
  guint64 bytes = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u.jpg", i % 2 ? "a" : "b", i);
      g_autoptr (GByteArray) file = test_jpeg (sizes[i][0], sizes[i][1], 50, 60, 70, FALSE);
      g_free (test_write (folder, name, file->data, file->len));
      g_string_append_printf (text, "%s,%c\n", name, name[0]);
      bytes += file->len;
    }
  g_free (test_write (folder, "a/9.jpg", "\xff\xd8\xff", 3)); /* it has no size */
  check_sizes (folder, bytes);
  list = test_write (folder, "list.csv", text->str, text->len);
  check_sizes (list, bytes);
  test_folder_remove (folder);
}

static void
test_split_is_stratified (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("synthetic:1x1x1?classes=9&samples=1000");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autoptr (GArray) train = NULL, validation = NULL;
  guint counts[9] = { 0 };
  gboolean seen[1000] = { FALSE };

  dyno_dataset_split (dataset, 0.2, 3, &train, &validation);
  g_assert_cmpuint (validation->len, ==, 200);
  g_assert_cmpuint (train->len, ==, 800);
  for (guint i = 0; i < 1000; i++)
    {
      guint32 index = i < 800 ? g_array_index (train, guint32, i)
                              : g_array_index (validation, guint32, i - 800);
      g_assert_false (seen[index]);
      seen[index] = TRUE;
      if (i >= 800)
        counts[dyno_dataset_get_label (dataset, index)]++;
    }
  for (guint i = 0; i < 9; i++)
    g_assert_cmpfloat_with_epsilon (counts[i], 0.2 * (double) info->class_counts[i], 1.0);
}

static void
test_split_follows_the_seed (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?samples=100");
  GArray *first[2], *same[2], *other[2];

  dyno_dataset_split (dataset, 0.3, 1, &first[0], &first[1]);
  dyno_dataset_split (dataset, 0.3, 1, &same[0], &same[1]);
  dyno_dataset_split (dataset, 0.3, 2, &other[0], &other[1]);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpmem (first[i]->data, first[i]->len * 4, same[i]->data, same[i]->len * 4);
      g_assert_cmpint (memcmp (first[i]->data, other[i]->data, first[i]->len * 4), !=, 0);
      g_array_unref (first[i]);
      g_array_unref (same[i]);
      g_array_unref (other[i]);
    }
}

static int
compare_indices (gconstpointer a, gconstpointer b)
{
  guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;
  return first < second ? -1 : first > second;
}

static GArray *
sorted (const GArray *part)
{
  GArray *copy = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_append_vals (copy, part->data, part->len);
  g_array_sort (copy, compare_indices);
  return copy;
}

/* The seed draws the validation samples of a class, whatever their order in the file. */
static void
test_split_draws_its_members (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?samples=200");
  GArray *drawn[3];

  for (guint seed = 0; seed < 3; seed++)
    {
      g_autoptr (GArray) train = NULL, validation = NULL;
      guint last_of_file = 0, first_of_file = 0;

      dyno_dataset_split (dataset, 0.3, seed, &train, &validation);
      drawn[seed] = sorted (validation);
      for (guint i = 0; i < validation->len; i++)
        {
          /* A class has 20 samples, 10 apart: its 6 validation samples are drawn from the whole
           * file. */
          first_of_file += g_array_index (validation, guint32, i) < 60;
          last_of_file += g_array_index (validation, guint32, i) >= 140;
        }
      g_assert_cmpuint (first_of_file, >, 6);
      g_assert_cmpuint (first_of_file, <, 40);
      g_assert_cmpuint (last_of_file, >, 6);
      for (guint other = 0; other < seed; other++)
        g_assert_cmpint (memcmp (drawn[seed]->data, drawn[other]->data, drawn[seed]->len * 4), !=,
                         0);
    }
  for (guint seed = 0; seed < 3; seed++)
    g_array_unref (drawn[seed]);
}

/* Neither part is sorted by class, so the beginning of a part is a fair sample. */
static void
test_split_mixes_each_part (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?samples=1000");
  GArray *parts[2];

  dyno_dataset_split (dataset, 0.3, 1, &parts[0], &parts[1]);
  for (guint p = 0; p < 2; p++)
    {
      guint counts[10] = { 0 };

      for (guint i = 0; i < 100; i++)
        counts[dyno_dataset_get_label (dataset, g_array_index (parts[p], guint32, i))]++;
      for (guint c = 0; c < 10; c++)
        {
          g_assert_cmpuint (counts[c], >, 1);
          g_assert_cmpuint (counts[c], <, 25);
        }
      g_array_unref (parts[p]);
    }
}

/* The parts of one fold. */
static void
split_fold (DynoDataset *dataset, guint n_folds, guint fold, guint64 seed, GArray **train,
            GArray **validation)
{
  DynoDivision division = { .seed = seed, .n_folds = n_folds, .fold = fold };
  g_auto (DynoDatasetParts) parts = { 0 };

  dyno_dataset_divide (dataset, &division, &parts);
  g_assert_cmpuint (parts.test->len, ==, 0);
  *train = g_steal_pointer (&parts.train);
  *validation = g_steal_pointer (&parts.validation);
}

/* Each sample is used for validation once; the sizes of folds, and of each class in them, differ by
 * at most one. */
static void
test_folds (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("synthetic:1x1x1?classes=4&samples=1003");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  guint times[1003] = { 0 };
  g_autoptr (GArray) first = NULL;

  for (guint fold = 0; fold < 7; fold++)
    {
      g_autoptr (GArray) train = NULL, validation = NULL, again = NULL, rest = NULL;
      guint counts[4] = { 0 }, early = 0;
      gboolean seen[1003] = { FALSE };

      split_fold (dataset, 7, fold, 3, &train, &validation);
      g_assert_cmpuint (validation->len, ==, 1003 / 7 + (fold < 1003 % 7));
      g_assert_cmpuint (train->len + validation->len, ==, 1003);
      for (guint i = 0; i < train->len; i++)
        seen[g_array_index (train, guint32, i)] = TRUE;
      for (guint i = 0; i < validation->len; i++)
        {
          guint32 index = g_array_index (validation, guint32, i);

          g_assert_false (seen[index]);
          seen[index] = TRUE;
          times[index]++;
          counts[dyno_dataset_get_label (dataset, index)]++;
          early += i < 40 && dyno_dataset_get_label (dataset, index) == 0;
        }
      for (guint i = 0; i < 1003; i++)
        g_assert_true (seen[i]);
      for (guint c = 0; c < 4; c++)
        {
          g_assert_cmpuint (counts[c], >=, info->class_counts[c] / 7);
          g_assert_cmpuint (counts[c], <=, info->class_counts[c] / 7 + 1);
        }
      g_assert_cmpuint (early, <, 30); /* the beginning is not of one class */
      split_fold (dataset, 7, fold, 3, &rest, &again);
      g_assert_cmpmem (validation->data, validation->len * 4, again->data, again->len * 4);
      g_assert_cmpmem (train->data, train->len * 4, rest->data, rest->len * 4);
      if (fold == 0)
        first = sorted (validation);
    }
  for (guint i = 0; i < 1003; i++)
    g_assert_cmpuint (times[i], ==, 1);
  {
    g_autoptr (GArray) train = NULL, validation = NULL, other = NULL;

    split_fold (dataset, 7, 0, 4, &train, &validation); /* another seed */
    other = sorted (validation);
    g_assert_cmpuint (other->len, ==, first->len);
    g_assert_cmpint (memcmp (other->data, first->data, first->len * 4), !=, 0);
  }
}

/* The test part is a share of each class, drawn over the whole file, and depends only on its share
 * and the seed; the other parts divide what it leaves, and all samples are in one part. */
static void
test_test_part (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?samples=400");
  const DynoDivision divisions[] = {
    { .seed = 3, .test_fraction = 0.15, .val_fraction = 0.2 },
    { .seed = 3, .test_fraction = 0.15 },
    { .seed = 3, .test_fraction = 0.15, .n_folds = 4, .fold = 1, .val_fraction = 0.5 },
    { .seed = 3, .test_fraction = 0.15, .n_folds = 4, .fold = 3 },
    { .seed = 4, .test_fraction = 0.15, .val_fraction = 0.2 },
    { .seed = 3, .test_fraction = 0.3, .val_fraction = 0.2 },
  };
  static const guint n_validation[] = { 68, 0, 85, 85, 68, 56 };
  g_auto (DynoDatasetParts) first = { 0 };

  for (guint d = 0; d < G_N_ELEMENTS (divisions); d++)
    {
      g_auto (DynoDatasetParts) parts = { 0 };
      gboolean seen[400] = { FALSE };
      guint counts[10] = { 0 }, late = 0;

      dyno_dataset_divide (dataset, &divisions[d], &parts);
      g_assert_cmpuint (parts.test->len, ==, d < 5 ? 60 : 120);
      g_assert_cmpuint (parts.validation->len, ==, n_validation[d]);
      g_assert_cmpuint (parts.train->len, ==, 400 - parts.test->len - parts.validation->len);
      for (guint p = 0; p < 3; p++)
        {
          const GArray *part = p == 0 ? parts.train : p == 1 ? parts.validation : parts.test;

          for (guint i = 0; i < part->len; i++)
            {
              guint32 index = g_array_index (part, guint32, i);

              g_assert_false (seen[index]);
              seen[index] = TRUE;
              counts[dyno_dataset_get_label (dataset, index)] += p == 2;
              late += p == 2 && index >= 200;
            }
        }
      for (guint c = 0; c < 10; c++)
        g_assert_cmpuint (counts[c], ==, parts.test->len / 10);
      g_assert_cmpuint (late, >, parts.test->len / 4);
      g_assert_cmpuint (late, <, 3 * parts.test->len / 4);
      if (d == 1) /* nothing is drawn from the rest, which stays in file order */
        for (guint i = 1; i < parts.train->len; i++)
          g_assert_cmpuint (g_array_index (parts.train, guint32, i - 1), <,
                            g_array_index (parts.train, guint32, i));
      if (d == 0)
        dyno_dataset_divide (dataset, &divisions[d], &first);
      else if (d < 4)
        g_assert_cmpmem (parts.test->data, 60 * 4, first.test->data, 60 * 4);
      else if (d == 4)
        g_assert_cmpint (memcmp (parts.test->data, first.test->data, 60 * 4), !=, 0);
    }
  g_autoptr (GArray) in_order = sorted (first.test);
  g_assert_cmpint (memcmp (first.test->data, in_order->data, 60 * 4), !=, 0);
}

static void
test_split_of_nothing_is_file_order (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?samples=50");
  g_autoptr (GArray) train = NULL, validation = NULL;

  dyno_dataset_split (dataset, 0, 1, &train, &validation);
  g_assert_cmpuint (validation->len, ==, 0);
  for (guint32 i = 0; i < 50; i++)
    g_assert_cmpuint (g_array_index (train, guint32, i), ==, i);
}

static void
test_split_keeps_one_to_train (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:shapes?samples=11");
  g_autoptr (GArray) train = NULL, validation = NULL;
  gboolean seen[10] = { FALSE };

  dyno_dataset_split (dataset, 0.9, 1, &train, &validation);
  for (guint i = 0; i < train->len; i++)
    seen[dyno_dataset_get_label (dataset, g_array_index (train, guint32, i))] = TRUE;
  for (guint i = 0; i < 10; i++)
    g_assert_true (seen[i]);
  g_assert_cmpuint (train->len + validation->len, ==, 11);
}

/* Fills in the facts of a data set with classes of the given sizes, whose samples have no data. */
static void
counts_open_done (DynoDataset *dataset, const guint64 *counts, guint32 n_classes)
{
  dataset->info.min_width = dataset->info.max_width = dataset->info.min_height =
      dataset->info.max_height = 1;
  dyno_dataset_info_set_classes (&dataset->info, n_classes);
  for (guint32 c = 0; c < n_classes; c++)
    {
      dataset->info.class_counts[c] = counts[c];
      dataset->info.n_samples += counts[c];
    }
}

static const guint64 *asked_counts;
static guint32 n_asked;
/* Samples from this one on are for validation; 0: the data set has no split. */
static guint64 first_validation;

static gboolean
counts_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  counts_open_done (dataset, asked_counts, n_asked);
  dataset->info.has_split = first_validation > 0;
  return TRUE;
}

static gint32
counts_label (DynoDataset *dataset, guint64 index)
{
  gint32 label = 0;

  while (index >= dataset->info.class_counts[label])
    index -= dataset->info.class_counts[label++];
  return label;
}

static DynoPart
counts_part (DynoDataset *dataset, guint64 index)
{
  return index >= first_validation ? DYNO_PART_VALIDATION : DYNO_PART_TRAIN;
}

static const DynoDatasetClass counts_class = { .kind = "counts",
                                               .title = "Counts",
                                               .open = counts_open,
                                               .label = counts_label,
                                               .part = counts_part };

static DynoDataset *
open_counts (const guint64 *counts, guint32 n_classes, guint64 own_validation)
{
  DynoLocation location = { .text = (char *) "counts",
                            .scheme = (char *) "counts",
                            .body = (char *) "counts" };
  DynoDatasetParams params = { 0 };
  DynoOpenContext context = { .location = &location, .params = &params, .max_listed = 1 };
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset;

  asked_counts = counts;
  n_asked = n_classes;
  first_validation = own_validation;
  dataset = dyno_dataset_new (&counts_class, &context, &error);
  g_assert_no_error (error);
  return dataset;
}

/* A class of two or more samples has at least one in each part, and the sample of a class that has
 * only one is for training. */
static void
test_split_gives_minorities_one_to_validate (void)
{
  static const guint64 counts[] = { 500, 2, 3, 1, 9, 485 };
  g_autoptr (DynoDataset) dataset = open_counts (counts, 6, 0);
  g_autoptr (GArray) train = NULL, validation = NULL;
  guint64 in_train[6] = { 0 }, in_validation[6] = { 0 };

  dyno_dataset_split (dataset, 0.1, 1, &train, &validation);
  for (guint i = 0; i < train->len; i++)
    in_train[dyno_dataset_get_label (dataset, g_array_index (train, guint32, i))]++;
  for (guint i = 0; i < validation->len; i++)
    in_validation[dyno_dataset_get_label (dataset, g_array_index (validation, guint32, i))]++;
  for (guint c = 0; c < 6; c++)
    {
      g_assert_cmpuint (in_train[c], >=, 1);
      g_assert_cmpuint (in_validation[c], >=, counts[c] > 1);
      g_assert_cmpuint (in_train[c] + in_validation[c], ==, counts[c]);
    }
  /* The large classes compensate for the validation samples of the small ones, so the total is the
   * requested share. */
  g_assert_cmpuint (validation->len, ==, 100);
}

/* Where no class can spare a sample, one sample is still used for validation, since an empty part
 * would give no result. */
static void
test_split_of_single_samples_validates_one (void)
{
  static const guint64 counts[] = { 1, 1, 1, 1, 1 };

  for (guint32 n_classes = 2; n_classes <= 5; n_classes++)
    {
      g_autoptr (DynoDataset) dataset = open_counts (counts, n_classes, 0);
      g_autoptr (GArray) train = NULL, validation = NULL;

      dyno_dataset_split (dataset, 0.1, 1, &train, &validation);
      g_assert_cmpuint (validation->len, ==, 1);
      g_assert_cmpuint (train->len, ==, n_classes - 1);
    }
}

static gboolean
has_note (char **notes, const char *words)
{
  g_auto (GStrv) parts = g_strsplit (words, "|", -1);

  for (guint i = 0; notes[i]; i++)
    {
      gboolean all = TRUE;
      for (guint k = 0; parts[k]; k++)
        all = all && strstr (notes[i], parts[k]);
      if (all)
        return TRUE;
    }
  return FALSE;
}

static void
test_notes_tell_what_may_be_a_mistake (void)
{
  static const guint64 fair[] = { 40, 30, 50 }, holes[] = { 40, 0, 1, 30 }, uneven[] = { 999, 1 },
                       many[] = { 40, 0, 0, 30, 0, 0, 0, 0, 0 },
                       wrong[] = { 40, 30, 40, 0, 0, 0, 0, 0, 1, 0, 2 },
                       late[] = { 0, 0, 0, 0, 0, 40, 50 }, near[] = { 40, 30, 50, 0, 0, 0, 0, 20 },
                       five[] = { 40, 0, 0, 30, 0, 0, 0 }, fifty[] = { 3, 100, 2 },
                       below[] = { 3, 99, 2 }, split[] = { 40, 0, 30 };
  static const struct {
    const guint64 *counts;
    guint32 n_classes;
    guint64 own_validation;
    guint n_notes;
    const char *words, *more;
  } cases[] = {
    { fair, 3, 0, 0, NULL, NULL },
    { holes, 4, 0, 2, "no sample of class “1”", "no validation sample of class “2”" },
    { many, 9, 0, 1, "of class “1”, “2”, “4”, “5”, “6” and 2 more: it stays", NULL },
    { fair, 3, 60, 2, "no training sample of class “2”", "no validation sample of class “0”" },
    { wrong, 11, 0, 2, "a label from 3 to 7|3 of 113|up to 10|the first is #110|11 classes",
      "no validation sample of class “8”" },
    { late, 7, 0, 1, "a label from 0 to 4|90 of 90|up to 6|the first is #0|7 classes", NULL },
    { near, 8, 0, 1, "no sample of class “3”, “4”, “5”, “6”: it stays", NULL },
    { uneven, 2, 0, 2, "“0” has 999 samples and “1” has 1|99.9 %",
      "no validation sample of class “1”" },
    { five, 7, 0, 1, "of class “1”, “2”, “4”, “5”, “6”: it stays", NULL },
    { fifty, 3, 0, 1, "“1” has 100 samples and “2” has 2:|95.2 %", NULL },
    { below, 3, 0, 0, NULL, NULL },
    /* A class without a sample is in one note only, and so is one that is not trained. */
    { split, 3, 40, 3, "no training sample of class “2”:", "no validation sample of class “0”:" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoDataset) dataset =
          open_counts (cases[i].counts, cases[i].n_classes, cases[i].own_validation);
      g_autoptr (GArray) train = NULL, validation = NULL;
      g_auto (GStrv) notes = NULL;

      dyno_dataset_split (dataset, 0.1, 1, &train, &validation);
      notes = dyno_dataset_list_notes (dataset, train, validation);
      g_assert_cmpuint (g_strv_length (notes), ==, cases[i].n_notes);
      g_assert_true (!cases[i].words || has_note (notes, cases[i].words));
      g_assert_true (!cases[i].more || has_note (notes, cases[i].more));
    }
}

/* A file may have as many bytes as the limit; one more is refused. */
static void
test_limit_of_a_file (void)
{
  g_autofree char *folder = test_folder_new (),
                  *path = test_write (folder, "ten", "0123456789", 10);

  for (guint limit = 9; limit <= 11; limit++)
    {
      g_autoptr (GByteArray) bytes = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      gsize size = 0;

      g_assert_cmpint (dyno_datafile_read (path, limit, bytes, &size, &error), ==, limit >= 10);
      if (limit >= 10)
        g_assert_cmpmem (bytes->data, size, "0123456789", 10);
      else
        test_has_words (error, "ten|10 bytes|limit of 9");
    }
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/shapes/same-everywhere", test_shapes_are_the_same_everywhere);
  g_test_add_func ("/data/shapes/facts", test_shapes_facts);
  g_test_add_func ("/data/synthetic/noise-by-index", test_synthetic);
  g_test_add_func ("/data/location/options-are-checked", test_options_are_checked);
  g_test_add_func ("/data/location/options-have-whole-keys", test_options_have_whole_keys);
  g_test_add_func ("/data/location/patterns-are-expanded", test_patterns_are_expanded);
  g_test_add_func ("/data/shards/parts-by-words", test_parts_of_shards);
  g_test_add_func ("/data/shards/are-in-order", test_shards_are_in_order);
  g_test_add_func ("/data/scan/visits-each-item-once", test_scans_visit_each_item);
  g_test_add_func ("/data/scan/tells-what-is-done", test_scans_tell_what_is_done);
  g_test_add_func ("/data/drawings/sines", test_sines_of_drawings);
  g_test_add_func ("/data/drawings/oblong-ones-are-the-same-everywhere",
                   test_oblong_drawings_are_the_same_everywhere);
  g_test_add_func ("/data/images/sizes-are-of-all", test_sizes_are_of_all_images);
  g_test_add_func ("/data/drawings/facts", test_facts_of_drawings);
  g_test_add_func ("/data/split/is-stratified", test_split_is_stratified);
  g_test_add_func ("/data/split/follows-the-seed", test_split_follows_the_seed);
  g_test_add_func ("/data/split/draws-its-members", test_split_draws_its_members);
  g_test_add_func ("/data/split/mixes-each-part", test_split_mixes_each_part);
  g_test_add_func ("/data/split/of-nothing-is-file-order", test_split_of_nothing_is_file_order);
  g_test_add_func ("/data/split/folds", test_folds);
  g_test_add_func ("/data/split/test-part-depends-on-share-and-seed", test_test_part);
  g_test_add_func ("/data/split/keeps-one-to-train", test_split_keeps_one_to_train);
  g_test_add_func ("/data/split/gives-minorities-one-to-validate",
                   test_split_gives_minorities_one_to_validate);
  g_test_add_func ("/data/split/of-single-samples-validates-one",
                   test_split_of_single_samples_validates_one);
  g_test_add_func ("/data/notes/tell-what-may-be-a-mistake", test_notes_tell_what_may_be_a_mistake);
  g_test_add_func ("/data/datafile/limit", test_limit_of_a_file);
  return g_test_run ();
}
