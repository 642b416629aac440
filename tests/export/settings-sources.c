/* SPDX-License-Identifier: MIT */
/* The precedence of settings: all sources are given, and removed one by one from the highest
 * down. */
#include "settings-sources.h"
#include <glib/gstdio.h>

static char *
write_settings (const char *folder, const char *name, const char *text)
{
  char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static const DynoDatasetInfo data = {
  .min_width = 32, .max_width = 32, .min_height = 32, .max_height = 32
};

static DynoSettings
resolve (const DynoSettingsSources *sources)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (GError) error = NULL;

  job->data = g_strdup ("mine");
  job->settings.batch_size = 7; /* an earlier value does not count */
  g_assert_true (dyno_settings_sources_apply (sources, &data, job, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (job->data, ==, "mine");
  return job->settings;
}

static void
test_precedence (void)
{
  static const char *const set[] = { "workers=4", "lr=0.4", "lr=0.5", "seed=8", NULL },
                           *const own[] = { "seed=9", NULL };
  g_autofree char *folder = g_dir_make_tmp ("dyno-sources-XXXXXX", NULL);
  g_autofree char *run = write_settings (
      folder, "settings.ini",
      "[run]\ndata=other\n[settings]\nworkers=2\namp=true\nlr=0.2\nbatch_size=20\n");
  g_autofree char *file =
      write_settings (folder, "file", "[settings]\nworkers=3\nlr=0.3\nbatch_size=30\n");
  DynoDeviceInfo gpu = { .type = DYNO_DEVICE_TYPE_DISCRETE },
                 software = { .type = DYNO_DEVICE_TYPE_SOFTWARE };
  g_autoptr (GPtrArray) presets = dyno_preset_list (&gpu);
  const DynoPreset *preset = NULL;
  DynoSettings advice, defaults, settings;
  DynoSettingsSources sources = { 0 };

  for (guint i = 0; i < presets->len && !preset; i++)
    if (g_strcmp0 (((const DynoPreset *) presets->pdata[i])->id, "rtx3060") == 0)
      preset = presets->pdata[i];
  g_assert_nonnull (preset);
  dyno_settings_init (&defaults);
  advice = defaults;
  dyno_preset_apply (preset, &(DynoPresetUse){ .level = DYNO_LEVEL_RECOMMENDED, .data = &data },
                     &advice);
  g_assert_true (defaults.amp && advice.amp);
  g_assert_cmpint (advice.batch_size, !=, 20);

  sources = (DynoSettingsSources){ .device = &software,
                                   .resume = folder,
                                   .preset = preset,
                                   .level = DYNO_LEVEL_RECOMMENDED,
                                   .file = file,
                                   .set = set,
                                   .own = own };
  settings = resolve (&sources);
  g_assert_cmpint (settings.workers, ==, 4);
  g_assert_cmpfloat (settings.lr, ==, 0.5); /* the last value of a key */
  g_assert_cmpint (settings.batch_size, ==, 30);
  g_assert_cmpint (settings.seed, ==, 9);
  sources.own = NULL;
  g_assert_cmpint (resolve (&sources).seed, ==, 8);
  sources.set = NULL;
  g_assert_cmpint (resolve (&sources).workers, ==, 3);
  sources.file = NULL;
  settings = resolve (&sources);
  g_assert_cmpint (settings.workers, ==, advice.workers);
  g_assert_cmpint (settings.batch_size, ==, advice.batch_size);
  g_assert_cmpfloat (settings.lr, ==, 0.2); /* the preset has no value */
  g_assert_false (settings.amp);            /* the preset advises it, but not for a CPU */
  sources.set = (const char *const[]){ "amp=true", NULL };
  g_assert_true (resolve (&sources).amp);
  sources.set = NULL;
  sources.preset = NULL;
  settings = resolve (&sources);
  g_assert_cmpint (settings.workers, ==, 2);
  g_assert_true (settings.amp); /* the run's own value, above the default of a software device */
  sources.resume = NULL;
  settings = resolve (&sources);
  g_assert_false (settings.amp);
  settings.amp = TRUE;
  g_assert_true (dyno_settings_equal (&settings, &defaults));
  sources.device = &gpu;
  settings = resolve (&sources);
  g_assert_true (dyno_settings_equal (&settings, &defaults));
  g_unlink (run);
  g_unlink (file);
  g_rmdir (folder);
}

/* The preset's row is that of the job's model and data set, whichever source names them. */
static void
test_workload (void)
{
  DynoDatasetInfo biwi = { .kind = "biwi",
                           .min_width = 224,
                           .max_width = 224,
                           .min_height = 224,
                           .max_height = 224,
                           .resizable = TRUE },
                  poses;
  g_autoptr (DynoPreset) preset = dyno_preset_find ("rtx3090", NULL, NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoSettingsSources sources = { .preset = preset, .level = DYNO_LEVEL_SAFE };
  g_autofree char *folder = g_dir_make_tmp ("dyno-sources-XXXXXX", NULL);
  g_autofree char *file =
      write_settings (folder, "file", "[run]\nmodel=resnet18\n[settings]\nseed=1\n");

  biwi.schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 3);
  poses = biwi;
  poses.kind = "poses";
  g_free (job->model);
  job->model = g_strdup ("resnet18");
  g_assert_true (dyno_settings_sources_apply (&sources, &biwi, job, NULL, NULL));
  g_assert_cmpint (job->settings.batch_size, ==, 64);
  g_assert_true (dyno_settings_sources_apply (&sources, &poses, job, NULL, NULL));
  g_assert_cmpint (job->settings.batch_size, ==, 24);
  g_free (job->model);
  job->model = g_strdup ("headpose_resnet18");
  g_assert_true (dyno_settings_sources_apply (&sources, &poses, job, NULL, NULL));
  g_assert_cmpint (job->settings.batch_size, ==, 64);
  sources.file = file; /* under the job's own name for its model */
  g_assert_true (dyno_settings_sources_apply (&sources, &poses, job, NULL, NULL));
  g_assert_cmpint (job->settings.batch_size, ==, 64);
  g_unlink (file);
  g_rmdir (folder);
}

/* Names come from the options, else the file, else the run; a value that a source lacks stays. */
static void
test_names (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-sources-XXXXXX", NULL);
  g_autofree char *run = write_settings (
      folder, "settings.ini",
      "[run]\ndata=run-data\nmodel=mlp\ntargets=run-y\n[settings]\ndata.layout=nchw\n");
  g_autofree char *file = write_settings (folder, "file", "[run]\ndata=file-data\n[settings]\n");
  DynoSettingsSources sources = { .resume = folder, .file = file, .targets = "own-y" };
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autofree char *layout = NULL;

  g_assert_true (dyno_settings_sources_name (&sources, job, NULL));
  g_assert_cmpstr (job->data, ==, "file-data");
  g_assert_cmpstr (job->targets, ==, "own-y");
  g_assert_cmpstr (job->model, ==, "mlp");
  layout = dyno_settings_get (&job->settings, "data.layout"); /* needed to open the data set */
  g_assert_cmpstr (layout, ==, "nchw");
  g_unlink (run);
  g_unlink (file);
  g_rmdir (folder);
}

static void
test_faults_are_told (void)
{
  static const char *const unknown[] = { "lernrate=1", NULL }, *const bare[] = { "lr", NULL };
  DynoSettingsSources sources = { .set = unknown };
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (GError) error = NULL;

  g_assert_false (dyno_settings_sources_apply (&sources, NULL, job, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  g_clear_error (&error);
  sources.set = bare;
  g_assert_false (dyno_settings_sources_apply (&sources, NULL, job, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  g_clear_error (&error);
  sources = (DynoSettingsSources){ .file = "/nonexistent/settings.ini" };
  g_assert_false (dyno_settings_sources_apply (&sources, NULL, job, NULL, &error));
  g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ);
  g_clear_error (&error);
  sources = (DynoSettingsSources){ .resume = "/nonexistent" };
  g_assert_false (dyno_settings_sources_apply (&sources, NULL, job, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/export/settings-sources/workload", test_workload);
  g_test_add_func ("/export/settings-sources/the-later-wins", test_precedence);
  g_test_add_func ("/export/settings-sources/names", test_names);
  g_test_add_func ("/export/settings-sources/faults-are-told", test_faults_are_told);
  return g_test_run ();
}
