/* SPDX-License-Identifier: MIT */
/* Sentences of the libraries: German where a program binds the catalogue and sets the locale, as
 * the window does; English where it does not, as dynoctl; and the same names for programs in
 * both. */
#include "dataset.h"
#include "preset.h"
#include "tune.h"
#include "verdict.h"
#include <libintl.h>
#include <locale.h>
#include <string.h>

static char *
failing_to_open (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_dataset_open ("/nowhere-at-all", NULL, NULL, NULL, NULL, &error));
  return g_strdup (error->message);
}

static char *
advice_for_a_software_device (void)
{
  const DynoDeviceInfo device = { .name = "llvmpipe",
                                  .type = DYNO_DEVICE_TYPE_SOFTWARE,
                                  .vram_bytes = (guint64) 4 << 30 };
  g_autoptr (GPtrArray) presets = dyno_preset_list (&device);

  return g_strdup (((DynoPreset *) presets->pdata[0])->advice);
}

static char *
verdict_without_a_base_line (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) result = dyno_tune_result_new (job);
  g_auto (GStrv) reasons = NULL;

  result->best.settings = result->baseline.settings = job->settings;
  result->baseline.settings.batch_size = 16;
  result->baseline.settings.workers = 1;
  result->baseline.settings.amp = FALSE;
  result->baseline.outcome = DYNO_TRIAL_DOES_NOT_FIT;
  result->proven = TRUE;
  reasons = dyno_verdict_explain (result);
  return g_strjoinv (" ", reasons);
}

/* A validation of 33.3 ms, and the metric of equal epochs. */
static char *
verdict_of_equal_epochs (void)
{
  const DynoLearning learning = {
    .name = "accuracy", .title = "Accuracy", .best = 0.25, .is_fraction = TRUE
  };
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) result = dyno_tune_result_new (job);
  g_auto (GStrv) reasons = NULL;

  result->best.settings = result->baseline.settings = job->settings;
  result->best.validation_s = 0.0333;
  result->equal_epochs = 2;
  result->equal[0] = result->equal[1] = learning;
  reasons = dyno_verdict_explain (result);
  return g_strjoinv (" ", reasons);
}

static void
test_english (void)
{
  g_autofree char *open = failing_to_open (), *advice = advice_for_a_software_device (),
                  *verdict = verdict_without_a_base_line (), *equal = verdict_of_equal_epochs ();

  g_assert_nonnull (strstr (equal, "validation takes 33.3 ms and its end under 1 ms;"));
  g_assert_nonnull (strstr (equal, "start: accuracy 25 % in validation"));
  g_assert_nonnull (strstr (open, "Cannot read “"));
  g_assert_true (g_str_has_prefix (advice, "A software device"));
  g_assert_nonnull (
      strstr (verdict, "The base line (batch 16, fp32, 1 worker) did not work: does not fit."));
}

/* Sets a German locale, made here where the machine has none: newer C libraries ignore LANGUAGE in
 * locales named C. */
static gboolean
set_german (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-locale-XXXXXX", NULL),
                  *made = g_build_filename (folder, "de_DE.UTF-8", NULL),
                  *make = g_strdup_printf ("localedef -i de_DE -f UTF-8 %s", made),
                  *clear = g_strdup_printf ("rm -r %s", folder);
  gboolean set = setlocale (LC_ALL, "de_DE.UTF-8") != NULL;

  if (!set && g_spawn_command_line_sync (make, NULL, NULL, NULL, NULL))
    {
      g_setenv ("LOCPATH", folder, TRUE);
      set = setlocale (LC_ALL, "de_DE.UTF-8") != NULL;
    }
  g_assert_true (g_spawn_command_line_sync (clear, NULL, NULL, NULL, NULL));
  return set;
}

static void
test_german (void)
{
  const char *folder = g_getenv ("DYNO_TEST_CATALOGUES");
  g_autofree char *file =
      folder ? g_build_filename (folder, "de", "LC_MESSAGES", "dyno.mo", NULL) : NULL;

  if (!file || !g_file_test (file, G_FILE_TEST_EXISTS) || !set_german ())
    {
      g_test_skip ("no German catalogue was built, or no German locale can be made");
      return;
    }
  g_setenv ("LANGUAGE", "de", TRUE);
  bindtextdomain ("dyno", folder);
  bind_textdomain_codeset ("dyno", "UTF-8");
  textdomain ("dyno");

  g_autofree char *open = failing_to_open (), *advice = advice_for_a_software_device (),
                  *verdict = verdict_without_a_base_line (), *equal = verdict_of_equal_epochs ();
  g_assert_nonnull (strstr (equal, "Genauigkeit 25 %"));
  g_assert_nonnull (strstr (open, "“ ist nicht lesbar"));
  g_assert_true (g_str_has_prefix (advice, "Ein Softwaregerät"));
  g_assert_nonnull (
      strstr (verdict, "Der Ausgangswert (Batch 16, fp32, 1 Worker) lief nicht: passt nicht."));
  g_assert_cmpstr (dyno_trial_outcome_name (DYNO_TRIAL_DOES_NOT_FIT), ==, "does-not-fit");
  setlocale (LC_ALL, "C");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/words/no-locale-speaks-english", test_english);
  g_test_add_func ("/words/german-reaches-the-engine", test_german);
  return g_test_run ();
}
