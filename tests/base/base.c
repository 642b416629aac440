/* SPDX-License-Identifier: MIT */
/* The lowest layer: sizes, random numbers, rings, hashes, atomic files. */
#include "amount.h"
#include "base-error.h"
#include "checked.h"
#include "cores.h"
#include "csvcell.h"
#include "csvlines.h"
#include "file.h"
#include "hash.h"
#include "log.h"
#include "median.h"
#include "modulefile.h"
#include "outfile.h"
#include "parallel.h"
#include "ring.h"
#include "rng.h"
#include "room.h"
#include "text.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
test_sizes_refuse_overflow (void)
{
  guint64 size = 7;

  g_assert_false (dyno_size_mul (G_MAXUINT64 / 2, 3, &size));
  g_assert_false (dyno_size_add (G_MAXUINT64, 1, &size));
  g_assert_cmpuint (size, ==, 7);
  g_assert_true (dyno_size_mul (1 << 20, 1 << 20, &size));
  g_assert_cmpuint (size, ==, G_GUINT64_CONSTANT (1) << 40);
  g_assert_cmpuint (dyno_align_up (65537, 65536), ==, 131072);
  g_assert_cmpuint (dyno_div_up (9, 8), ==, 2);
}

static void
test_rng_depends_on_place_alone (void)
{
  DynoRng rng = dyno_rng_init (5, 6);

  for (guint64 i = 0; i < 20; i++)
    g_assert_cmpuint (dyno_rng_next (&rng), ==, dyno_rng_at (5, 6, i));
  g_assert_cmpuint (dyno_rng_at (5, 6, 0), !=, dyno_rng_at (5, 7, 0));
  g_assert_cmpuint (dyno_rng_at (5, 6, 0), !=, dyno_rng_at (6, 6, 0));
  /* A stored value, since a seed in a settings file must give the same numbers in later
   * versions. */
  g_assert_cmpuint (dyno_rng_at (1, 2, 3), ==, G_GUINT64_CONSTANT (6571900310324351548));
}

static void
test_rng_is_uniform_and_normal (void)
{
  DynoRng rng = dyno_rng_init (1, 1);
  double sum = 0, square = 0, mean = 0;
  guint n = 20000;

  for (guint i = 0; i < n; i++)
    {
      double u = dyno_rng_uniform (&rng), v = dyno_rng_normal (&rng);
      g_assert_cmpfloat (u, >=, 0.0);
      g_assert_cmpfloat (u, <, 1.0);
      mean += u / n;
      sum += v / n;
      square += v * v / n;
    }
  g_assert_cmpfloat_with_epsilon (mean, 0.5, 0.02);
  g_assert_cmpfloat_with_epsilon (sum, 0.0, 0.03);
  g_assert_cmpfloat_with_epsilon (square, 1.0, 0.05);
}

static void
test_shuffle_is_a_permutation (void)
{
  guint32 values[257], seen[257] = { 0 };
  DynoRng rng = dyno_rng_init (3, 4);
  guint moved = 0;

  for (guint i = 0; i < 257; i++)
    values[i] = i;
  dyno_rng_shuffle (&rng, values, 257);
  for (guint i = 0; i < 257; i++)
    {
      seen[values[i]]++;
      moved += values[i] != i;
    }
  for (guint i = 0; i < 257; i++)
    g_assert_cmpuint (seen[i], ==, 1);
  g_assert_cmpuint (moved, >, 200);
}

static gpointer
produce (gpointer data)
{
  for (guintptr i = 1; i <= 10000; i++)
    g_assert_true (dyno_ring_push (data, (gpointer) i));
  dyno_ring_close (data);
  return NULL;
}

static void
test_ring_keeps_order_across_threads (void)
{
  g_autoptr (DynoRing) ring = dyno_ring_new (7, NULL);
  GThread *thread = g_thread_new ("producer", produce, ring);
  guintptr expected = 1;
  gpointer item;

  while ((item = dyno_ring_pop (ring, -1)))
    g_assert_cmpuint ((guintptr) item, ==, expected++);
  g_assert_cmpuint (expected, ==, 10001);
  g_thread_join (thread);
}

static gpointer
put_one (gpointer data)
{
  g_assert_true (dyno_ring_push (data, (gpointer) "one"));
  return NULL;
}

/* A wait of 0 ends at once, a long one with the next item. */
static void
test_ring_waits_for_an_item (void)
{
  g_autoptr (DynoRing) ring = dyno_ring_new (1, NULL);

  g_assert_null (dyno_ring_pop (ring, 0));
  for (guint i = 0; i < 20; i++)
    {
      GThread *thread = g_thread_new ("producer", put_one, ring);

      g_assert_cmpstr (dyno_ring_pop (ring, 600 * G_USEC_PER_SEC), ==, "one");
      g_thread_join (thread);
    }
  g_assert_null (dyno_ring_try_pop (ring));
}

static void
test_ring_is_bounded_and_times_out (void)
{
  g_autoptr (DynoRing) ring = dyno_ring_new (2, g_free);

  g_assert_null (dyno_ring_pop (ring, 1000));
  g_assert_true (dyno_ring_try_push (ring, g_strdup ("a")));
  g_assert_true (dyno_ring_try_push (ring, g_strdup ("b")));
  g_assert_false (dyno_ring_try_push (ring, (gpointer) "c"));
  g_assert_cmpuint (dyno_ring_length (ring), ==, 2);
}

static void
test_hash_sees_every_byte (void)
{
  guint8 data[37] = { 0 };
  guint64 whole = dyno_hash_bytes (DYNO_HASH_START, data, sizeof data);

  for (guint i = 0; i < sizeof data; i++)
    {
      data[i] ^= 1;
      g_assert_cmpuint (dyno_hash_bytes (DYNO_HASH_START, data, sizeof data), !=, whole);
      data[i] ^= 1;
    }
  g_assert_cmpuint (dyno_hash_bytes (DYNO_HASH_START, data, 36), !=, whole);
}

static void
test_atomic_write_replaces_whole (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-file-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "f", NULL),
                  *target = g_build_filename (folder, "t", NULL);
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = NULL;
  guint files = 0;

  g_assert_true (dyno_file_write_atomic (path, "old", 3, &error));
  g_assert_true (dyno_file_write_atomic (path, "newer", 5, &error));
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "newer");

  /* A symbolic link is replaced; its target is left as it was. */
  g_assert_cmpint (symlink (path, target), ==, 0);
  g_assert_true (dyno_file_write_atomic (target, "x", 1, &error));
  g_clear_pointer (&content, g_free);
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "newer");

  g_assert_false (dyno_file_write_atomic ("/nonexistent/folder/f", "x", 1, &error));
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO);
  g_assert_nonnull (strstr (error->message, "/nonexistent/folder/f"));

  dir = g_dir_open (folder, 0, NULL);
  while (g_dir_read_name (dir))
    files++;
  g_assert_cmpuint (files, ==, 2);
  g_unlink (path);
  g_unlink (target);
  g_rmdir (folder);
}

/* The check creates nothing, and reports only the errors that can be known without writing. */
static void
test_folder_may_be_writable (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-file-XXXXXX", NULL),
                  *file = g_build_filename (folder, "file", NULL),
                  *deep = g_build_filename (folder, "one", "two", NULL),
                  *one = g_build_filename (folder, "one", NULL),
                  *below = g_build_filename (folder, "file", "two", NULL);

  g_assert_true (g_file_set_contents (file, "", 0, NULL));
  g_assert_true (dyno_dir_may_be_writable (folder));
  g_assert_true (dyno_dir_may_be_writable (deep));
  g_assert_false (g_file_test (one, G_FILE_TEST_EXISTS));
  g_assert_false (dyno_dir_may_be_writable (file));
  g_assert_cmpint (errno, ==, ENOTDIR);
  g_assert_false (dyno_dir_may_be_writable (below));
  g_assert_cmpint (errno, ==, ENOTDIR);
  g_assert_true (dyno_dir_test_writable (deep));
  g_assert_true (dyno_dir_may_be_writable (deep));
  g_remove (file);
  g_rmdir (deep);
  g_rmdir (one);
  g_rmdir (folder);
}

static void
test_full_disk_keeps_the_old_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-file-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "f", NULL), *big = g_malloc0 (1 << 16),
                  *content = NULL;
  g_autoptr (GError) error = NULL;
  struct rlimit old, small;

  g_assert_true (dyno_file_write_atomic (path, "old", 3, NULL));
  dyno_file_ignore_size_signal ();
  getrlimit (RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 1 << 12;
  setrlimit (RLIMIT_FSIZE, &small);
  g_assert_false (dyno_file_write_atomic (path, big, 1 << 16, &error));
  setrlimit (RLIMIT_FSIZE, &old);
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_DISK);
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "old");
  g_unlink (path);
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* empty, so no temporary file is left */
}

/* The temporary file of a process that was killed while it wrote is recognised by its name; a file
 * of the user is not taken for one. */
static void
test_temporaries_have_a_prefix_of_their_own (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-file-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "weights.safetensors", NULL), *temporary = NULL,
                  *name = NULL;
  int fd = dyno_file_open_temporary (path, &temporary);

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  name = g_path_get_basename (temporary);
  g_assert_true (dyno_file_is_temporary (name));
  g_assert_false (dyno_file_is_temporary ("weights.safetensors.backup"));
  g_assert_false (dyno_file_is_temporary (".dyno-notes.txt"));
  g_assert_false (dyno_file_is_temporary (".dyno-a.b.c."));
  g_assert_false (dyno_file_is_temporary (".dyno-"));
  g_assert_true (dyno_file_replace (temporary, path, NULL));
  g_assert_false (g_file_test (temporary, G_FILE_TEST_EXISTS));
  g_unlink (path);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
count_visit (guint index, gpointer data)
{
  g_atomic_int_inc (&((gint *) data)[index]);
}

static void
test_parallel (void)
{
  gint visits[1000] = { 0 };
  dyno_parallel_for (0, count_visit, visits);
  dyno_parallel_for (999, count_visit, visits);
  dyno_parallel_for (1, count_visit, visits);
  for (guint i = 0; i < 1000; i++)
    g_assert_cmpint (visits[i], ==, i == 0 ? 2 : i < 999);
}

static void
test_text_visible (void)
{
  static const struct {
    const char *text, *shown;
  } cases[] = {
    { "", "" },
    { "gr\303\274n \346\274\242", "gr\303\274n \346\274\242" },
    { "a\nb\tc\rd", "a\\nb\\tc\\rd" },
    { "\033[31m\177\302\205", "\\x1b[31m\\x7f\\x85" },
    { "\342\200\256txt\342\200\251", "\\u202etxt\\u2029" },
    { "\377", "\357\277\275" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = dyno_text_visible (cases[i].text);
      g_assert_cmpstr (shown, ==, cases[i].shown);
    }
}

/* A text that a spreadsheet would compute as a formula gets an apostrophe, a number does not; both
 * are read back unchanged. */
static void
test_csv_cells (void)
{
  static const struct {
    const char *text, *cell;
  } cases[] = {
    { "plain", "plain" },
    { "=1+1", "'=1+1" },
    { "+1+1", "'+1+1" },
    { "-a/b.png", "'-a/b.png" },
    { "@SUM(A1)", "'@SUM(A1)" },
    { "\t=1", "'\t=1" },
    { "\t5", "'\t5" },
    { "\r=1", "\"'\r=1\"" },
    { "\n=1", "\"'\n=1\"" },
    { "=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\"" },
    { "'=1+1", "''=1+1" },
    { "''-", "'''-" },
    { "'twas", "'twas" },
    { "'", "'" },
    { "a=b", "a=b" },
    { "-1.5", "-1.5" },
    { "+1e-5", "+1e-5" },
    { "'-1.5", "''-1.5" },
    { "-1.5 ", "'-1.5 " },
    { "-", "'-" },
    { "-inf", "-inf" },
    { "a,b", "\"a,b\"" },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) line = g_string_new ("x"), first = g_string_new ("\n");
      g_autofree char *whole = g_strconcat ("x,", cases[i].cell, NULL);

      dyno_csv_add_cell (line, cases[i].text);
      g_assert_cmpstr (line->str, ==, whole);
      if (!strpbrk (cases[i].text, ",\"\r\n"))
        g_assert_cmpstr (dyno_csv_cell_text (cases[i].cell), ==, cases[i].text);
      dyno_csv_add_cell (first, cases[i].text);
      g_assert_cmpstr (first->str + 1, ==, *cases[i].text ? cases[i].cell : "\"\"");
    }
  g_autoptr (GString) numbers = g_string_new (NULL);
  dyno_csv_add_number (numbers, -0.125);
  dyno_csv_add_number (numbers, -INFINITY);
  dyno_csv_add_number (numbers, 1e9);
  g_assert_cmpstr (numbers->str, ==, "-0.125,,1e+09");
}

/* The nearest text has the fewest edits, ignoring case; the first of equally near texts is taken,
 * and none where all are too far. */
static void
test_titles_in_sentences (void)
{
  static const char *const cases[][2] = {
    { "Accuracy", "accuracy" },       { "Macro F1", "macro F1" },
    { "ROC AUC", "ROC AUC" },         { "Mean IoU", "mean IoU" },
    { "RMS error", "RMS error" },     { "R2", "R2" },
    { "log loss", "log loss" },       { "", "" },
    { "Mean  Error", "mean  error" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = dyno_text_title (cases[i][0]);
      g_assert_cmpstr (text, ==, cases[i][1]);
    }
}

static void
test_text_nearest (void)
{
  const char *const words[] = { "train", "tune", "plan", "prune", NULL };
  g_autofree char *long_word = g_strnfill (100000, 't');

  g_assert_cmpstr (dyno_text_nearest ("trian", words, 2), ==, "train");
  g_assert_cmpstr (dyno_text_nearest ("TRAIN", words, 0), ==, "train");
  g_assert_cmpstr (dyno_text_nearest ("rune", words, 2), ==, "tune");
  g_assert_cmpstr (dyno_text_nearest ("plane", words, 2), ==, "plan");
  g_assert_cmpstr (dyno_text_nearest ("", words, 4), ==, "tune");
  g_assert_null (dyno_text_nearest ("trian", words, 1));
  g_assert_null (dyno_text_nearest ("kernels", words, 2));
  g_assert_null (dyno_text_nearest (long_word, words, 2));
}

static void
test_median (void)
{
  double odd[] = { 5, -1, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };

  g_assert_cmpfloat (dyno_median (odd, 3), ==, 3);
  g_assert_cmpfloat (dyno_median (even, 4), ==, 3);
  g_assert_cmpfloat (dyno_median (one, 1), ==, 7);
}

static void
test_amount_bytes (void)
{
  static const struct {
    guint64 bytes;
    const char *text;
  } cases[] = {
    { 0, "0 B" },
    { 999, "999 B" },
    { 1000, "0.98 KiB" },
    { 1024, "1.00 KiB" },
    { 10235, "10.0 KiB" },
    { 102 * 1024 + 512, "102 KiB" },
    { G_GUINT64_CONSTANT (1) << 30, "1.00 GiB" },
    { G_MAXUINT64, "16384 PiB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = dyno_amount_bytes (cases[i].bytes, " ");
      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_amount_count (void)
{
  static const struct {
    double count;
    const char *text;
  } cases[] = { { 0, "0" },
                { 999, "999" },
                { 999.7, "1.00_k" },
                { 11.18e6, "11.2_M" },
                { 999.6e6, "1.00_G" },
                { 4.1e15, "4100_T" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = dyno_amount_count (cases[i].count, "_");
      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_amount_rate (void)
{
  static const struct {
    double rate;
    const char *text;
  } cases[] = {
    { 0.524, "0.52" }, { 9.994, "9.99" },   { 9.996, "10.0" },  { 61.44, "61.4" },
    { 99.96, "100" },  { 640.4, "640" },    { 999.6, "1,000" }, { 16740, "16,740" },
    { 0, "0.00" },     { -1234, "-1,234" }, { -123, "-123" },   { 1234567, "1,234,567" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = dyno_amount_rate (cases[i].rate);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_amount_duration (void)
{
  static const struct {
    double seconds;
    const char *text;
  } cases[] = { { 0, "0:00" }, { 41.6, "0:42" }, { 3599.4, "59:59" }, { 3599.6, "1:00:00" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = dyno_amount_duration (cases[i].seconds);
      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_module_file_in_the_named_folder (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-module-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "dyno-test.so", NULL), *found = NULL;

  g_unsetenv ("DYNO_MODULE_DIR");
  g_assert_null (dyno_module_find_file ("base", "dyno-test.so"));
  g_setenv ("DYNO_MODULE_DIR", folder, TRUE);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  g_assert_null (dyno_module_find_file ("base", "dyno-test.so")); /* no such file */
  g_assert_cmpint (g_rmdir (path), ==, 0);
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  found = dyno_module_find_file ("base", "dyno-test.so");
  g_assert_cmpstr (found, ==, path);
  g_unsetenv ("DYNO_MODULE_DIR");
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static gpointer
keep_part (gpointer parts)
{
  guint kept = dyno_cores_keep_part (GPOINTER_TO_UINT (parts));

  g_assert_cmpuint (kept, ==, dyno_cores_count ());
  return GUINT_TO_POINTER (kept);
}

/* Runs in a thread of its own, so that its CPU affinity ends with it. */
static void
test_cores_are_shared_out (void)
{
  guint all = dyno_cores_count ();

  for (guint parts = 1; parts <= 2 * all; parts++)
    {
      GThread *thread = g_thread_new ("part", keep_part, GUINT_TO_POINTER (parts));
      g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (thread)), ==, MAX (all / parts, 1));
    }
  g_assert_cmpuint (dyno_cores_count (), ==, all);
}

static void
test_plural (void)
{
  g_assert_cmpstr (dyno_plural (0, "step", "steps"), ==, "steps");
  g_assert_cmpstr (dyno_plural (1, "step", "steps"), ==, "step");
  g_assert_cmpstr (dyno_plural (2, "step", "steps"), ==, "steps");
  g_assert_cmpstr (dyno_plural (G_MAXUINT64, "step", "steps"), ==, "steps");
}

static gpointer
keep_some (gpointer n)
{
  g_assert_cmpuint (dyno_cores_keep (GPOINTER_TO_UINT (n)), ==, dyno_cores_count ());
  return GUINT_TO_POINTER (dyno_cores_count ());
}

static gpointer
count_cores (gpointer unused)
{
  return GUINT_TO_POINTER (dyno_cores_count ());
}

/* A limit of 0, or of more cores than there are, is no limit. */
static void
test_cores_are_limited (void)
{
  guint all = dyno_cores_count ();

  g_assert_cmpuint (dyno_cores_keep (0), ==, 0);
  for (guint n = 1; n <= all + 1; n++)
    {
      GThread *thread = g_thread_new ("some", keep_some, GUINT_TO_POINTER (n));
      g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (thread)), ==, MIN (n, all));
    }
  g_assert_cmpuint (dyno_cores_count (), ==, all);
}

/* Threads that are started during a hold get only the held cores. */
static void
test_cores_come_back (void)
{
  guint all = dyno_cores_count ();
  DynoCoresHold *hold = dyno_cores_hold (1);

  g_assert_nonnull (hold);
  g_assert_cmpuint (dyno_cores_count (), ==, 1);
  g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (g_thread_new ("one", count_cores, NULL))), ==,
                    1);
  dyno_cores_release (hold);
  g_assert_cmpuint (dyno_cores_count (), ==, all);
  g_assert_null (dyno_cores_hold (0));
  dyno_cores_release (NULL);
}

static gpointer
be_nicer_and_back (gpointer unused)
{
  gint before = dyno_cores_be_nice (0);

  g_assert_cmpint (dyno_cores_be_nice (before + 1), ==, before + 1);
  g_assert_cmpint (dyno_cores_be_nice (before), ==, before + 1);
  g_assert_cmpint (getpriority (PRIO_PROCESS, (id_t) syscall (SYS_gettid)), ==, before + 1);
  return GINT_TO_POINTER (before);
}

/* Only this thread gets a lower priority, and keeps it, since only root could raise it again. */
static void
test_one_thread_is_nice (void)
{
  gint before = getpriority (PRIO_PROCESS, 0);

  g_assert_cmpint (before, <, 19);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (g_thread_new ("nice", be_nicer_and_back, NULL))),
                   ==, before);
  g_assert_cmpint (getpriority (PRIO_PROCESS, 0), ==, before);
}

/* A file that cannot be read is not reported as one that cannot be written. */
static void
test_csv_read_fails (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-base-XXXXXX", NULL),
                  *path = g_build_filename (folder, "none.csv", NULL);
  g_autoptr (GError) missing = NULL, no_file = NULL;

  g_assert_null (dyno_csv_read (path, 100, &missing));
  g_assert_error (missing, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO);
  g_assert_true (g_str_has_prefix (missing->message, "Cannot read “"));
  g_assert_null (dyno_csv_read (folder, 1000000, &no_file));
  g_assert_error (no_file, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT);
  g_rmdir (folder);
}

/* Stored values: what was drawn or hashed in earlier versions is still so. */
static void
test_values_of_earlier_versions (void)
{
  static const guint8 bytes[21] = "0123456789abcdefghijk";
  DynoRng rng = dyno_rng_init (11, 12);
  guint32 order[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < 4; i++)
    g_string_append_printf (all, "%.12g %.12g %u\n", dyno_rng_uniform (&rng),
                            dyno_rng_normal (&rng), (guint) dyno_rng_below (&rng, 1000));
  dyno_rng_shuffle (&rng, order, G_N_ELEMENTS (order));
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    g_string_append_printf (all, "%u ", order[i]);
  g_assert_cmpuint (rng.counter, ==, 23); /* 16 in the lines, 7 for the order */
  for (guint n = 0; n <= 21; n += n == 14 ? 2 : n == 16 ? 5 : 7)
    g_string_append_printf (all, "\n%" G_GINT64_MODIFIER "x",
                            dyno_hash_bytes (DYNO_HASH_START, bytes, n));
  g_assert_cmpstr (
      all->str, ==,
      "0.43567664924 -0.207208338108 125\n"
      "0.942912151196 0.857532790295 374\n"
      "0.22937317389 1.00670075957 63\n"
      "0.813461004803 -0.46519487381 500\n"
      "2 1 5 6 0 3 4 7 "
      "\necba3df2c3383c52\n33c9c59d824fbbcb\n5b971b722adb47c5\n5b7e868f7129b34a\n9bb9a6fe21c1752e");
  g_assert_cmphex (dyno_hash_string (5, "0123456789abcd"), ==, dyno_hash_bytes (5, bytes, 14));
  g_assert_cmphex (dyno_hash_bytes (5, bytes, 8), !=, dyno_hash_bytes (6, bytes, 8));
  g_assert_true (dyno_rng_below (&rng, 1) == 0);
}

/* --- log --------------------------------------------------------------------------------------- */

static void
say (const char *domain, GLogLevelFlags level, const char *text)
{
  g_log_structured (domain, level, "MESSAGE", "%s", text);
}

static void
say_all (const char *text)
{
  static const GLogLevelFlags levels[] = { G_LOG_LEVEL_CRITICAL, G_LOG_LEVEL_WARNING,
                                           G_LOG_LEVEL_MESSAGE, G_LOG_LEVEL_INFO,
                                           G_LOG_LEVEL_DEBUG };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      say ("dyno-a", levels[i], text);
      say ("Gtk", levels[i], text);
    }
}

/* Runs the test again in a process of its own, with this value of DYNO_LOG. */
static void
assert_log_shows (const char *wanted, const char *shown)
{
  if (wanted)
    g_setenv ("DYNO_LOG", wanted, TRUE);
  else
    g_unsetenv ("DYNO_LOG");
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr (shown);
  g_unsetenv ("DYNO_LOG");
}

/* Which lines are shown: own ones by their level, those of others from warnings on. */
static void
test_log_shows_levels (void)
{
  if (g_test_subprocess ())
    {
      g_log_set_always_fatal (G_LOG_FATAL_MASK);
      dyno_log_init ();
      say_all ("a\nb");
      dyno_log_leave_notes_out ();
      say ("dyno-b", G_LOG_LEVEL_MESSAGE, "note");
      return;
    }
  static const char most[] = "dyno-a: critical: a\\nb\n"
                             "Gtk: critical: a\\nb\n"
                             "dyno-a: warning: a\\nb\n"
                             "Gtk: warning: a\\nb\n",
                    note[] = "dyno-a: note: a\\nb\n",
                    info[] = "dyno-a: info: a\\nb\nGtk: info: a\\nb\n",
                    debug[] = "dyno-a: debug: a\\nb\nGtk: debug: a\\nb\n",
                    last[] = "dyno-b: note: note\n";
  g_autofree char *usual = g_strconcat (most, note, NULL),
                  *told = g_strconcat (most, note, info, last, NULL),
                  *all = g_strconcat (most, note, info, debug, last, NULL);
  assert_log_shows (NULL, usual);
  assert_log_shows ("warning", most);
  assert_log_shows ("info", told);
  assert_log_shows ("debug", all);
}

/* The lines of a file, without their times. */
static void
assert_log (const char *path, const char *expected)
{
  g_autofree char *text = NULL;
  GString *lines = g_string_new (NULL);

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) all = g_strsplit (text, "\n", -1);
  for (guint i = 0; all[i] && *all[i]; i++)
    {
      g_assert_cmpuint (strlen (all[i]), >, 20);
      g_assert_true (all[i][4] == '-' && all[i][7] == '-' && all[i][10] == ' ' && all[i][13] == ':'
                     && all[i][16] == ':' && all[i][19] == ' ');
      g_string_append_printf (lines, "%s\n", all[i] + 20);
    }
  g_assert_cmpstr (lines->str, ==, expected);
  g_string_free (lines, TRUE);
}

/* Lines that were held are in the file that is named then, others in that of their time; a file is
 * continued. */
static void
test_log_keeps_lines (void)
{
  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      return;
    }
  g_autofree char *folder = g_dir_make_tmp ("dyno-log-XXXXXX", NULL),
                  *path = g_build_filename (folder, "log", NULL),
                  *other = g_build_filename (folder, "other", NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  dyno_log_init ();
  say ("dyno-a", G_LOG_LEVEL_MESSAGE, "no file yet");
  dyno_log_hold ();
  say ("dyno-a", G_LOG_LEVEL_MESSAGE, "forgotten");
  dyno_log_hold ();
  say_all ("held");
  dyno_log_set_file (path);
  say ("dyno-b", G_LOG_LEVEL_WARNING, "at once");
  static const char held[] = "critical dyno-a: held\ncritical Gtk: held\nwarning dyno-a: held\n"
                             "warning Gtk: held\nnote dyno-a: held\ninfo dyno-a: held\n";
  g_autofree char *first = g_strconcat (held, "warning dyno-b: at once\n", NULL),
                  *all = g_strconcat (first, "note dyno-b: again\n", NULL);
  assert_log (path, first);
  dyno_log_set_file (NULL);
  say ("dyno-b", G_LOG_LEVEL_WARNING, "nowhere");
  dyno_log_set_file (other);
  say ("dyno-b", G_LOG_LEVEL_MESSAGE, "other");
  dyno_log_set_file (path);
  say ("dyno-b", G_LOG_LEVEL_MESSAGE, "again");
  assert_log (path, all);
  dyno_log_hold ();
  say ("dyno-c", G_LOG_LEVEL_INFO, "later");
  assert_log (path, all);
  dyno_log_set_file (other);
  assert_log (other, "note dyno-b: other\ninfo dyno-c: later\n");
  dyno_log_set_file (path); /* what was held is written once */
  assert_log (path, all);
  dyno_log_set_file (NULL);
  g_unlink (path);
  g_unlink (other);
  g_rmdir (folder);
}

static void
end_well (const char *message)
{
  _exit (g_strcmp0 (message, "gmem.c:1: failed to allocate 9 bytes") == 0 ? 0 : 1);
}

/* GLib's error of this kind is told before GLib ends the process; no warning is. */
static void
test_log_tells_of_no_memory (void)
{
  const GLogField fields[] = { { "MESSAGE", "gmem.c:1: failed to allocate 9 bytes", -1 },
                               { "GLIB_DOMAIN", "GLib", -1 } },
                  own[] = { { "MESSAGE", "failed to allocate 9 bytes", -1 },
                            { "GLIB_DOMAIN", "dyno-a", -1 } };

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stderr ("GLib: warning: gmem.c:1: failed to allocate 9 bytes\n"
                                 "dyno-a: warning: failed to allocate 9 bytes\n");
      return;
    }
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  dyno_log_init ();
  dyno_log_set_no_memory (end_well);
  g_log_structured_array (G_LOG_LEVEL_WARNING, fields, 2);
  g_log_structured_array (G_LOG_LEVEL_WARNING, own, 2);
  g_log_structured_array (G_LOG_LEVEL_ERROR, fields, 2);
}

/* --- room and files ------------------------------------------------------------------------------ */

static guint64
count_pages (void)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  return g_ascii_strtoull (text, NULL, 10);
}

static void
test_room_is_only_looked_for (void)
{
  guint64 before = count_pages ();

  errno = EXDEV;
  g_assert_true (dyno_room_has (1 << 20));
  g_assert_cmpint (errno, ==, EXDEV);
  g_assert_false (dyno_room_has (G_MAXUINT64 >> 1));
  g_assert_cmpint (errno, ==, EXDEV);
  for (guint i = 0; i < 8; i++)
    g_assert_true (dyno_room_has (1 << 30));
  g_assert_cmpuint (count_pages (), <, before + (1 << 17)); /* it was given back */
}

static char *
read_whole (const char *path, gsize *size)
{
  char *text = NULL;

  g_file_get_contents (path, &text, size, NULL);
  return text;
}

/* A file that is written in parts is there, whole, once it is finished; one that is abandoned leaves
 * the file that was there, and nothing else. */
static void
test_out_file_is_whole (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-out-XXXXXX", NULL),
                  *path = g_build_filename (folder, "f", NULL),
                  *nowhere = g_build_filename (path, "g", NULL);
  static const gsize parts[] = { 0, 1, 65535, 65536, 65537, 200000, 7 };
  g_autoptr (GByteArray) expected = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 400000; i++)
    g_byte_array_append (expected, &(guint8){ (guint8) (i / 7 + i / 65536 * 5) }, 1);
  for (guint again = 0; again < 2; again++)
    {
      DynoOutFile *file = dyno_out_file_new (path, &error);
      gsize at = 0, size;
      g_assert_nonnull (file);
      for (guint i = 0; i < G_N_ELEMENTS (parts); at += parts[i++])
        g_assert_true (dyno_out_file_append (file, expected->data + at, parts[i]));
      g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS) == (again == 1));
      g_assert_true (dyno_out_file_finish (file, &error));
      g_autofree char *text = read_whole (path, &size);
      g_assert_cmpmem (text, size, expected->data, at);
      file = dyno_out_file_new (path, &error);
      g_assert_true (dyno_out_file_append (file, "other", 5));
      dyno_out_file_abandon (file);
      g_autofree char *still = read_whole (path, &size);
      g_assert_cmpmem (still, size, expected->data, at);
      g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
      g_assert_cmpstr (g_dir_read_name (dir), ==, "f");
      g_assert_null (g_dir_read_name (dir));
    }
  dyno_out_file_abandon (NULL);
  g_assert_null (dyno_out_file_new (nowhere, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, nowhere));
  g_unlink (path);
  g_rmdir (folder);
}

static void
add_one (gpointer item, gpointer sum)
{
  g_atomic_int_add ((gint *) sum, GPOINTER_TO_INT (item));
}

static void
test_thread_pool (void)
{
  gint sum = 0;

  for (guint threads = 1; threads <= 3; threads++)
    {
      GThreadPool *pool = dyno_thread_pool_new (add_one, &sum, threads);
      g_assert_cmpint (g_thread_pool_get_max_threads (pool), ==, (int) threads);
      for (gint i = 1; i <= 10; i++)
        g_thread_pool_push (pool, GINT_TO_POINTER (i), NULL);
      g_thread_pool_free (pool, FALSE, TRUE);
      g_assert_cmpint (sum, ==, 55 * (gint) threads);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/parallel/every-index-once", test_parallel);
  g_test_add_func ("/base/checked/sizes-refuse-overflow", test_sizes_refuse_overflow);
  g_test_add_func ("/base/rng/depends-on-place-alone", test_rng_depends_on_place_alone);
  g_test_add_func ("/base/rng/is-uniform-and-normal", test_rng_is_uniform_and_normal);
  g_test_add_func ("/base/rng/shuffle-is-a-permutation", test_shuffle_is_a_permutation);
  g_test_add_func ("/base/ring/keeps-order-across-threads", test_ring_keeps_order_across_threads);
  g_test_add_func ("/base/ring/waits-for-an-item", test_ring_waits_for_an_item);
  g_test_add_func ("/base/ring/is-bounded-and-times-out", test_ring_is_bounded_and_times_out);
  g_test_add_func ("/base/hash/sees-every-byte", test_hash_sees_every_byte);
  g_test_add_func ("/base/file/atomic-write-replaces-whole", test_atomic_write_replaces_whole);
  g_test_add_func ("/base/file/temporaries-have-a-prefix-of-their-own",
                   test_temporaries_have_a_prefix_of_their_own);
  g_test_add_func ("/base/file/a-folder-may-be-writable", test_folder_may_be_writable);
  g_test_add_func ("/base/file/full-disk-keeps-the-old-file", test_full_disk_keeps_the_old_file);
  g_test_add_func ("/base/text/visible-escapes-what-moves-a-cursor", test_text_visible);
  g_test_add_func ("/base/text/titles-in-sentences", test_titles_in_sentences);
  g_test_add_func ("/base/text/nearest-takes-few-edits", test_text_nearest);
  g_test_add_func ("/base/csv/no-text-is-a-formula", test_csv_cells);
  g_test_add_func ("/base/csv/read-fails", test_csv_read_fails);
  g_test_add_func ("/base/rng/values-of-earlier-versions", test_values_of_earlier_versions);
  g_test_add_func ("/base/log/shows-levels", test_log_shows_levels);
  g_test_add_func ("/base/log/keeps-lines", test_log_keeps_lines);
  g_test_add_func ("/base/log/tells-of-no-memory", test_log_tells_of_no_memory);
  g_test_add_func ("/base/room/is-only-looked-for", test_room_is_only_looked_for);
  g_test_add_func ("/base/outfile/is-whole", test_out_file_is_whole);
  g_test_add_func ("/base/parallel/thread-pool", test_thread_pool);
  g_test_add_func ("/base/median/is-the-middle", test_median);
  g_test_add_func ("/base/amount/bytes-have-three-digits", test_amount_bytes);
  g_test_add_func ("/base/amount/counts-have-three-digits", test_amount_count);
  g_test_add_func ("/base/amount/rates-have-their-thousands-apart", test_amount_rate);
  g_test_add_func ("/base/amount/durations-round-once", test_amount_duration);
  g_test_add_func ("/base/cores/are-shared-out", test_cores_are_shared_out);
  g_test_add_func ("/base/cores/are-limited", test_cores_are_limited);
  g_test_add_func ("/base/cores/come-back", test_cores_come_back);
  g_test_add_func ("/base/cores/one-thread-is-nice", test_one_thread_is_nice);
  g_test_add_func ("/base/module/file-in-the-named-folder", test_module_file_in_the_named_folder);
  g_test_add_func ("/base/text/one-is-no-plural", test_plural);
  return g_test_run ();
}
