/* SPDX-License-Identifier: MIT */
/* Exports of a run's folder: all rows, in the requested format, and no file is overwritten unless
 * requested. */
#include "runexporter.h"
#include "metrics.h"
#include "runwriter.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct {
  char *folder; /* of the run */
  char *out;
} Place;

static void
write_metrics (const char *folder)
{
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  DynoMetricTable table = { .n = 1 };

  dyno_metric_find ("accuracy", &table.infos[0]);
  dyno_metrics_set_table (metrics, &table);
  for (guint64 i = 1; i <= 20; i++)
    {
      DynoStepMetrics step = { .step = i,
                               .epoch = 1 + (i - 1) / 10,
                               .loss = 2 / (double) i,
                               .metrics = { 0.04 * (double) i },
                               .samples_per_s = 100,
                               .vram_bytes = 1 << 26,
                               .seconds = 0.5 * (double) i };
      DynoEpochMetrics epoch = { .step = i, .epoch = step.epoch, .val_loss = (double) NAN };

      dyno_metrics_add_step (metrics, &step);
      if (i % 10 == 0)
        dyno_metrics_add_epoch (metrics, &epoch);
    }
  g_assert_true (dyno_metrics_write_csv (metrics, path, NULL));
}

static void
set_up (Place *place, gconstpointer data)
{
  g_autofree char *parent = g_dir_make_tmp ("dyno-runexporter-XXXXXX", NULL);

  place->folder = g_build_filename (parent, "net-digits-3", NULL);
  place->out = g_build_filename (parent, "out", NULL);
  g_assert_cmpint (g_mkdir (place->folder, 0700) | g_mkdir (place->out, 0700), ==, 0);
  write_metrics (place->folder);
}

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      g_remove (file);
    }
  g_rmdir (path);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_autofree char *parent = g_path_get_dirname (place->folder);

  remove_folder (place->folder);
  remove_folder (place->out);
  g_rmdir (parent);
  g_free (place->folder);
  g_free (place->out);
}

/* Returns the content of the export; g_free. */
static char *export(Place *place, const char *id, char **written)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  char *text;

  g_assert_true (dyno_run_export (dyno_run_exporter_find (id), place->folder, place->out, FALSE,
                                  &path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  if (written)
    *written = g_steal_pointer (&path);
  return text;
}

static void
test_csv (Place *place, gconstpointer data)
{
  g_autofree char *path = NULL, *text = export(place, "csv", &path),
                  *whole = g_build_filename (place->folder, "metrics.csv", NULL), *original = NULL,
                  *name = g_path_get_basename (path);

  g_assert_true (g_file_get_contents (whole, &original, NULL, NULL));
  g_assert_cmpstr (text, ==, original);
  g_assert_cmpstr (name, ==, "net-digits-3.csv");
}

static void
test_pictures (Place *place, gconstpointer data)
{
  static const char *const kinds[][2] = { { "png", "\x89PNG" },
                                          { "svg", "<?xml" },
                                          { "pdf", "%PDF-" } };

  g_autofree char *module = g_build_filename (g_getenv ("DYNO_MODULE_DIR"), "dyno-curves.so", NULL);

  if (!g_file_test (module, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("built without Cairo");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *text = export(place, kinds[i][0], NULL);
      g_assert_true (g_str_has_prefix (text, kinds[i][1]));
    }
}

static void
test_other_ending (Place *place, gconstpointer data)
{
  g_autofree char *path = g_build_filename (place->out, "curves.png", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (
      dyno_run_export (dyno_run_exporter_find ("pdf"), place->folder, path, FALSE, NULL, &error));
  g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_FORMAT);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_writes_nothing_over (Place *place, gconstpointer data)
{
  const DynoRunExporter *csv = dyno_run_exporter_find ("csv");
  g_autofree char *path = g_build_filename (place->out, "mine.csv", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, "mine", -1, NULL));
  g_assert_false (dyno_run_export (csv, place->folder, path, FALSE, NULL, &error));
  g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "mine");
  g_assert_true (dyno_run_export (csv, place->folder, path, TRUE, NULL, NULL));
}

/* Each error names the missing file, and leaves no file. */
static void
test_no_run (Place *place, gconstpointer data)
{
  for (const DynoRunExporter *const *e = dyno_run_exporter_list (); *e; e++)
    {
      g_autofree char *name = g_strdup_printf ("none.%s", (*e)->extension),
                      *path = g_build_filename (place->out, name, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_false (dyno_run_export (*e, place->out, path, FALSE, NULL, &error));
      g_assert_nonnull (strstr (error->message, "metrics.csv"));
      g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
    }
}

static void
check_claimed (Place *place, const char *model, const char *data, const char *expected)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (GError) error = NULL;

  g_free (job->model);
  job->model = g_strdup (model);
  job->data = g_strdup (data);
  g_autofree char *folder = dyno_run_writer_claim_folder (place->out, job, &error),
                  *name = folder ? g_path_get_basename (folder) : NULL;
  g_assert_no_error (error);
  g_assert_cmpstr (name, ==, expected);
  g_assert_true (dyno_run_writer_has_claimed (folder, model, data));
  g_rmdir (folder);
}

/* A network is named by its title, without the digest; data without the part after the last dot,
 * unless the dot begins the name. */
static void
test_claimed (Place *place, gconstpointer data)
{
  check_claimed (place, "mlp", "builtin:shapes?size=16", "mlp-shapes-1");
  check_claimed (place, "net@0123456789abcdef", "builtin:shapes?size=16", "net-shapes-1");
  check_claimed (place, "mlp", "/data/birds.v2.csv", "mlp-birds_v2-1");
  check_claimed (place, "mlp", "/data/.birds/", "mlp-_birds-1");
  g_assert_true (dyno_run_writer_has_claimed ("/runs/mlp-birds-12/", "mlp", "/data/birds"));
  /* Names that a user gave. */
  g_assert_false (dyno_run_writer_has_claimed ("/runs/mlp-birds-", "mlp", "/data/birds"));
  g_assert_false (dyno_run_writer_has_claimed ("/runs/mlp-birds-1b", "mlp", "/data/birds"));
  g_assert_false (dyno_run_writer_has_claimed ("/runs/mlp-birds-1", "mlp", "/data/bird"));
  g_assert_false (dyno_run_writer_has_claimed ("/runs/mlp-birds-1", "mlp-birds", "/data/1"));
  g_assert_false (dyno_run_writer_has_claimed ("/runs/mlp-birds-1", NULL, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) \
  g_test_add ("/export/run/" path, Place, NULL, set_up, function, tear_down)
  ADD ("csv-is-the-log", test_csv);
  ADD ("pictures-are-of-their-kind", test_pictures);
  ADD ("picture-of-another-ending-is-refused", test_other_ending);
  ADD ("writes-nothing-over-unasked", test_writes_nothing_over);
  ADD ("a-folder-without-a-run-is-told", test_no_run);
  ADD ("a-folder-is-named-by-model-and-data", test_claimed);
  return g_test_run ();
}
