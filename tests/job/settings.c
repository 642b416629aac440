/* SPDX-License-Identifier: MIT */
/* The table of settings: defaults, conversion to text and back, refusals, locales; schedules; plans
 * of jobs. */
#include "amount.h"
#include "augment.h"
#include "devicenumbers.h"
#include "groups.h"
#include "idlesettings.h"
#include "job-test.h"
#include "microbatch.h"
#include "peer.h"
#include "planjob.h"
#include "schedule.h"
#include "stepmemory.h"
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* --- settings --------------------------------------------------------------------------------- */

static void
test_keys (void)
{
  static const char *const keys[] = { "batch_size",
                                      "amp",
                                      "workers",
                                      "threads",
                                      "loader.nice",
                                      "prefetch",
                                      "pinned",
                                      "persistent_workers",
                                      "cache",
                                      "accumulate",
                                      "clip_norm",
                                      "clip_value",
                                      "checkpointing",
                                      "memory.shrink",
                                      "exchange.half",
                                      "exchange.bucket",
                                      "autotune",
                                      "deterministic",
                                      "optimizer",
                                      "lr",
                                      "momentum",
                                      "weight_decay",
                                      "weight_decay.norms",
                                      "schedule",
                                      "warmup_epochs",
                                      "schedule_epochs",
                                      "label_smoothing",
                                      "epochs",
                                      "checkpoint_minutes",
                                      "log.trackio",
                                      "log.mlflow",
                                      "head_lr_factor",
                                      "layer_decay",
                                      "ema_decay",
                                      "early_stop.patience",
                                      "early_stop.min_delta",
                                      "best_metric",
                                      "seed",
                                      "vram_budget",
                                      "image_size",
                                      "augment.flip",
                                      "augment.flip_vertical",
                                      "augment.shift",
                                      "augment.pad",
                                      "augment.crop",
                                      "augment.crop_ratio",
                                      "augment.crop_from",
                                      "augment.rotate",
                                      "augment.brightness",
                                      "augment.contrast",
                                      "augment.saturation",
                                      "augment.hue",
                                      "augment.erase",
                                      "augment.noise",
                                      "augment.time_mask",
                                      "augment.time_shift",
                                      "augment.mixup",
                                      "augment.cutmix",
                                      "data.shuffle",
                                      "data.balance",
                                      "data.val_split",
                                      "data.test_split",
                                      "data.folds",
                                      "data.fold",
                                      "data.group_column",
                                      "data.normalise",
                                      "data.task",
                                      "data.layout",
                                      "data.max_bad",
                                      "data.links",
                                      "data.one_class",
                                      "model.width",
                                      "model.dropout",
                                      "model.stochastic_depth",
                                      "model.freeze",
                                      "loss.smooth_l1",
                                      "loss.focal",
                                      "loss.dice",
                                      "loss.class_weights",
                                      "loss.weights" };
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  g_assert_cmpuint (n, ==, G_N_ELEMENTS (keys));
  for (guint i = 0; i < n; i++)
    {
      const DynoSettingInfo *info = dyno_setting_find (keys[i]);

      g_assert_nonnull (info);
      g_assert_true (info->title && *info->title && info->help
                     && g_str_has_suffix (info->help, "."));
      g_assert_cmpint (table[i].type == DYNO_SETTING_ENUM, ==, table[i].values != NULL);
    }
  g_assert_null (dyno_setting_find ("nothing"));
}

/* Every row is complete. */
static void
test_rows_are_whole (void)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  guint rows_of[DYNO_SETTING_N_GROUPS] = { 0 };

  for (guint i = 0; i < n; i++)
    {
      const DynoSettingInfo *info = &table[i];
      const DynoTunable *t = &info->tunable;

      g_assert_cmpuint (info->group, <, DYNO_SETTING_N_GROUPS);
      rows_of[info->group]++;
      /* A setting that does not change the weights may differ when a run is resumed. */
      g_assert_false (info->same_weights && info->same_on_resume);
      g_assert_true (info->minimum < info->maximum);
      g_assert_true (!info->zero || (*info->zero && info->minimum == 0));
      g_assert_true (info->type == DYNO_SETTING_DOUBLE || info->type == DYNO_SETTING_INT
                     || info->live == DYNO_SETTING_LIVE_NO);
      /* A setting that must be kept when a run is resumed does not change during it. */
      g_assert_true (!info->same_on_resume || info->live == DYNO_SETTING_LIVE_NO);
      /* A data set is opened before a preset is applied. */
      g_assert_false (info->by_preset && info->opens_data);
      if (t->steps != DYNO_TUNABLE_NO)
        {
          g_assert_cmpfloat (t->minimum, >=, info->minimum);
          g_assert_cmpfloat (t->minimum, <, t->maximum);
          g_assert_cmpfloat (t->maximum, <=, info->maximum);
          g_assert_cmpfloat (t->baseline, >=, info->minimum);
          g_assert_cmpfloat (t->baseline, <=, info->maximum);
          g_assert_true (t->steps != DYNO_TUNABLE_EACH || info->type == DYNO_SETTING_BOOL
                         || info->type == DYNO_SETTING_ENUM);
        }
      if (info->depends_on)
        {
          guint values;
          const DynoSettingInfo *other = dyno_setting_get_dependency (info, &values);
          DynoSettings settings;

          g_assert_true (other && other != info && !other->depends_on);
          g_assert_cmpuint (values, >, 0);
          dyno_settings_init (&settings);
          for (guint v = 0; v <= (guint) other->maximum; v++)
            {
              g_assert_true (dyno_settings_set_number (&settings, other->key, v, NULL));
              g_assert_cmpint (dyno_setting_counts (info, &settings), ==, (values >> v & 1) != 0);
            }
          g_assert_cmpuint (values >> ((guint) other->maximum + 1), ==, 0);
        }
    }
  for (guint i = 0; i < DYNO_SETTING_N_GROUPS; i++)
    {
      g_assert_cmpuint (rows_of[i], >, 0);
      g_assert_cmpstr (dyno_setting_group_title ((DynoSettingGroup) i), !=, "");
    }
}

/* The text of the row agrees with the table of optimizers. */
static void
test_momentum_of_optimizers (void)
{
  DynoSettings settings;

  dyno_settings_init (&settings);
  for (guint i = 0; i < DYNO_N_OPTIMIZERS; i++)
    {
      const DynoOptimizerInfo *info = dyno_optimizer_get_info ((DynoOptimizer) i);

      g_assert_true (dyno_settings_set (&settings, "optimizer", info->id, NULL));
      g_assert_cmpint (settings.optimizer, ==, (gint) i);
      g_assert_cmpint (dyno_setting_counts (dyno_setting_find ("momentum"), &settings), ==,
                       info->has_momentum);
    }
}

/* Live settings follow a change, and are reported by the way in which they are applied; all others
 * stay. */
static void
test_live_follow (void)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = test_other_value (&table[i]);
      DynoSettings before, now, settings;

      dyno_settings_init (&before);
      now = settings = before;
      g_assert_cmpuint (dyno_settings_follow (&settings, &before, &now), ==, 0);
      g_assert_true (dyno_settings_set (&now, table[i].key, value, NULL));
      g_assert_cmpuint (dyno_settings_follow (&settings, &before, &now), ==,
                        table[i].live ? 1u << table[i].live : 0);
      g_assert_true (dyno_settings_equal (&settings, table[i].live ? &now : &before));
    }
}

/* An adapted value stays unless the setting was changed since. */
static void
test_follow_keeps_adapted (void)
{
  DynoSettings before, now, adapted;

  dyno_settings_init (&before);
  before.prefetch = 8;
  adapted = now = before;
  adapted.prefetch = 4;
  now.lr = 0.25;
  g_assert_cmpuint (dyno_settings_follow (&adapted, &before, &now), ==,
                    1u << DYNO_SETTING_LIVE_STEP);
  g_assert_cmpint (adapted.prefetch, ==, 4);
  g_assert_cmpfloat (adapted.lr, ==, 0.25);
}

/* The value of an earlier switch is read, as the choice that replaced it. */
static void
test_switch_with_more (void)
{
  static const struct {
    const char *text;
    DynoNormalise value;
  } rows[] = { { "0", DYNO_NORMALISE_NO },           { "1", DYNO_NORMALISE_DATA },
               { "no", DYNO_NORMALISE_NO },          { "Yes", DYNO_NORMALISE_DATA },
               { "off", DYNO_NORMALISE_NO },         { "on", DYNO_NORMALISE_DATA },
               { "false", DYNO_NORMALISE_NO },       { "TRUE", DYNO_NORMALISE_DATA },
               { "weights", DYNO_NORMALISE_WEIGHTS } };
  DynoSettings settings;
  g_autoptr (GError) error = NULL;

  dyno_settings_init (&settings);
  g_assert_cmpint (settings.data_normalise, ==, DYNO_NORMALISE_DATA);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      static const char *const words[] = { "false", "true", "weights" };
      g_autofree char *text = NULL;

      g_assert_true (dyno_settings_set (&settings, "data.normalise", rows[i].text, NULL));
      g_assert_cmpint (settings.data_normalise, ==, rows[i].value);
      text = dyno_settings_get (&settings, "data.normalise");
      g_assert_cmpstr (text, ==, words[rows[i].value]);
    }
  g_assert_false (dyno_settings_set (&settings, "data.normalise", "2", &error));
  g_assert_nonnull (strstr (error->message, "false, true, weights"));
  g_clear_error (&error);
  g_assert_false (dyno_settings_set (&settings, "data.balance", "on", &error));
}

static void
check_roundtrips (void)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = test_other_value (&table[i]), *text = NULL, *default_value = NULL;
      DynoSettings a, b;

      dyno_settings_init (&a);
      dyno_settings_init (&b);
      default_value = dyno_settings_get (&a, table[i].key);
      g_assert_cmpstr (default_value, ==, table[i].default_value);
      g_assert_true (dyno_settings_set (&a, table[i].key, value, NULL));
      g_assert_false (dyno_settings_equal (&a, &b));
      text = dyno_settings_get (&a, table[i].key);
      g_assert_null (strchr (text, ','));
      g_assert_true (dyno_settings_set (&b, table[i].key, text, NULL));
      g_assert_true (dyno_settings_equal (&a, &b));
      dyno_settings_init (&b);
      g_assert_true (dyno_settings_set_number (&b, table[i].key,
                                               dyno_settings_get_number (&a, table[i].key), NULL));
      g_assert_true (dyno_settings_equal (&a, &b));
    }
}

static void
test_roundtrip (void)
{
  check_roundtrips ();
}

static void
test_locale (void)
{
  if (!setlocale (LC_ALL, "de_DE.UTF-8") && !setlocale (LC_ALL, "de_DE.utf8")
      && !setlocale (LC_ALL, "de_DE"))
    {
      g_test_skip ("no German locale on this machine");
      return;
    }
  check_roundtrips ();
  setlocale (LC_ALL, "C");
}

static void
test_refusals (void)
{
  static const char *const bad[] = { "nan",
                                     "inf",
                                     "-inf",
                                     "-1",
                                     "1e99",
                                     "",
                                     " ",
                                     "abc",
                                     "0x10",
                                     "1,5",
                                     "12 monkeys",
                                     "1e",
                                     "99999999999999999999999999",
                                     "\xff\xfe" };
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < G_N_ELEMENTS (bad); k++)
      {
        g_autoptr (GError) error = NULL;
        DynoSettings before, settings;

        if (table[i].type == DYNO_SETTING_TEXT && g_utf8_validate (bad[k], -1, NULL))
          continue; /* a text may have any value */
        dyno_settings_init (&before);
        settings = before;
        g_assert_false (dyno_settings_set (&settings, table[i].key, bad[k], &error));
        g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
        g_assert_nonnull (strstr (error->message, table[i].key));
        g_assert_true (g_utf8_validate (error->message, -1, NULL));
        g_assert_true (dyno_settings_equal (&settings, &before));
        g_assert_false (dyno_settings_set_number (&settings, table[i].key, (double) NAN, NULL));
        g_assert_false (
            dyno_settings_set_number (&settings, table[i].key, table[i].maximum + 1, NULL));
      }
  /* A factor of 0 has no meaning of its own: networks read it as 1. */
  {
    DynoSettings settings;

    dyno_settings_init (&settings);
    g_assert_false (dyno_settings_set (&settings, "head_lr_factor", "0", NULL));
    g_assert_true (dyno_settings_set (&settings, "head_lr_factor", "0.001", NULL));
  }
}

/* A text has one line, and is the same by number and by text. */
static void
test_text (void)
{
  g_autofree char *text = NULL, *empty = NULL, *long_text = g_strnfill (1001, 'x');
  DynoSettings a, b;

  dyno_settings_init (&a);
  b = a;
  g_assert_cmpfloat (dyno_settings_get_number (&a, "model.freeze"), ==, 0);
  g_assert_true (dyno_settings_set (&a, "model.freeze", "  layer1, “fc” ", NULL));
  text = dyno_settings_get (&a, "model.freeze");
  g_assert_cmpstr (text, ==, "layer1, “fc”");
  g_assert_false (dyno_settings_equal (&a, &b));
  g_assert_true (dyno_settings_set (&b, "model.freeze", text, NULL));
  g_assert_true (dyno_settings_equal (&a, &b));
  g_assert_false (dyno_settings_set (&a, "model.freeze", "two\nlines", NULL));
  g_assert_false (dyno_settings_set (&a, "model.freeze", long_text, NULL));
  g_assert_true (dyno_settings_equal (&a, &b));
  g_assert_true (dyno_settings_set (&a, "model.freeze", "", NULL));
  empty = dyno_settings_get (&a, "model.freeze");
  g_assert_cmpstr (empty, ==, "");
}

static void
test_bytes (void)
{
  static const struct {
    const char *text;
    gint64 bytes;
  } cases[] = { { "12GB", G_GINT64_CONSTANT (12) << 30 },
                { "8 GiB", G_GINT64_CONSTANT (8) << 30 },
                { "512MiB", 512 << 20 },
                { "1.5gb", G_GINT64_CONSTANT (3) << 29 },
                { "1024", 1024 },
                { "64k", 65536 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoSettings settings;

      dyno_settings_init (&settings);
      g_assert_true (dyno_settings_set (&settings, "vram_budget", cases[i].text, NULL));
      g_assert_cmpint (settings.vram_budget, ==, cases[i].bytes);
    }
}

static void
test_guess (void)
{
  static const char *const cases[][2] = { { "batchsize", "batch_size" },
                                          { "flip", "augment.flip" },
                                          { "learning_rate", "lr" },
                                          { "momentun", "momentum" },
                                          { "worker", "workers" } };
  DynoSettings settings;

  dyno_settings_init (&settings);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *wanted = g_strdup_printf ("“%s”?", cases[i][1]);

      g_assert_false (dyno_settings_set (&settings, cases[i][0], "1", &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
      g_assert_nonnull (strstr (error->message, wanted));
    }
}

/* --- settings without an effect ---------------------------------------------------------------- */

/* Returns the sentences about settings without an effect, one per line, for a job on classes with
 * these settings (key=value, separated by spaces), 100 samples and n_validation of them for
 * validation. */
static char *
list_idle (const char *settings, guint64 n_validation, gint64 max_steps, gboolean values)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open (values ? "builtin:poses?samples=100" : "builtin:shapes?samples=100",
                         &(DynoDatasetParams){ 0 }, NULL, NULL, NULL, NULL);
  g_autoptr (GPtrArray) list = NULL;
  g_auto (GStrv) pairs = g_strsplit (settings, " ", -1);

  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->max_steps = max_steps;
  dyno_settings_set (&job->settings, "batch_size", "10", NULL);
  for (guint i = 0; pairs[i] && *pairs[i]; i++)
    {
      char *equals = strchr (pairs[i], '=');

      *equals = '\0';
      g_assert_true (dyno_settings_set (&job->settings, pairs[i], equals + 1, NULL));
    }
  list = dyno_settings_list_idle (job, dyno_dataset_get_info (dataset), 100, n_validation);
  g_ptr_array_add (list, NULL);
  return g_strjoinv ("\n", (char **) list->pdata);
}

static void
test_idle (void)
{
  const struct {
    const char *settings;
    guint64 n_validation;
    gint64 max_steps;
    gboolean values;
    const char *begin; /* beginning of the only sentence; "": none */
  } cases[] = {
    { "", 10, 0, FALSE, "" },
    { "", 0, 0, FALSE, "" },
    { "early_stop.patience=3", 10, 0, FALSE, "" },
    { "early_stop.patience=3", 0, 0, FALSE,
      "early_stop.patience=3 has no effect: nothing is kept" },
    { "early_stop.patience=9", 10, 0, FALSE, "early_stop.patience=9 has no effect: the run ends" },
    { "early_stop.patience=8", 10, 0, FALSE, "" },
    { "early_stop.patience=9", 10, 1000, FALSE, "" },
    { "early_stop.min_delta=0.1", 10, 0, FALSE,
      "early_stop.min_delta=0.1 has no effect: early_stop.patience is 0" },
    { "best_metric=loss", 0, 0, FALSE, "best_metric=loss has no effect: nothing is kept out" },
    { "best_metric=loss", 10, 0, FALSE, "" },
    { "warmup_epochs=10", 10, 0, FALSE,
      "The warm-up of 10 epochs is no shorter than the schedule" },
    { "warmup_epochs=9.9", 10, 0, FALSE, "" },
    { "warmup_epochs=4 schedule_epochs=4", 10, 0, FALSE, "The warm-up of 4 epochs is no shorter" },
    { "lr=0", 10, 0, FALSE, "lr is 0: no step changes the weights; usual for SGD is 0.05" },
    { "lr=0 optimizer=adam", 10, 0, FALSE,
      "lr is 0: no step changes the weights; usual for Adam is 0.001" },
    { "lr=0 optimizer=lion", 10, 0, FALSE,
      "lr is 0: no step changes the weights; usual for Lion is 0.0001" },
    { "momentum=0.5 optimizer=adamw", 10, 0, FALSE,
      "momentum=0.5 has no effect: it applies only with optimizer=sgd" },
    { "momentum=0.5 optimizer=adam", 10, 0, FALSE,
      "momentum=0.5 has no effect: it applies only with optimizer=sgd,rmsprop" },
    { "momentum=0.5 optimizer=rmsprop", 10, 0, FALSE, "" },
    { "momentum=0.5", 10, 0, FALSE, "" },
    { "autotune=false deterministic=true", 10, 0, FALSE, "" },
    { "exchange.half=true amp=false", 10, 0, FALSE,
      "exchange.half=true has no effect: it applies only" },
    { "label_smoothing=0.1", 10, 0, FALSE, "" },
    { "label_smoothing=0.1", 10, 0, TRUE,
      "label_smoothing=0.1 has no effect: the data set has val" },
    { "loss.smooth_l1=true", 10, 0, FALSE,
      "loss.smooth_l1=true has no effect: the data set has cl" },
    { "loss.focal=2", 10, 0, FALSE, "" },
    { "loss.focal=2", 10, 0, TRUE, "loss.focal=2 has no effect: the data set has val" },
    { "loss.dice=0.5", 10, 0, FALSE, "loss.dice=0.5 has no effect: the data set has no masks" },
    { "model.dropout=0.5", 10, 0, FALSE, "model.dropout=0.5 has no effect: the model has no" },
    { "model.stochastic_depth=0.5", 10, 0, FALSE,
      "model.stochastic_depth=0.5 has no effect: the model has no stochastic depth" },
    { "schedule_epochs=3 schedule=constant", 10, 0, FALSE,
      "schedule_epochs=3 has no effect: schedule is constant" },
    { "augment.crop_ratio=1.5", 10, 0, FALSE,
      "augment.crop_ratio=1.5 has no effect: augment.crop is 0" },
    { "accumulate=10", 10, 0, FALSE, "" },
    { "accumulate=11", 10, 0, FALSE, "accumulate=11 is reduced to 10: an epoch has no more" },
    { "workers=3 threads=2", 10, 0, FALSE, "workers=3 is reduced to 2: threads=2 allows no more" },
    { "workers=3 threads=3", 10, 0, FALSE, "" },
    { "workers=0 loader.nice=5", 10, 0, FALSE, "loader.nice=5 has no effect: workers is 0" },
    { "batch_size=1 loss.class_weights=balanced", 10, 0, FALSE,
      "loss.class_weights has no effect: the loss of a batch" },
    { "data.fold=2", 10, 0, FALSE, "data.fold=2 has no effect: data.folds is 0" },
    { "data.fold=2 data.folds=3", 10, 0, FALSE, "" },
    { "data.group_column=patient", 10, 0, FALSE, "" },
    { "data.group_column=patient data.val_split=0", 0, 0, FALSE,
      "data.group_column=patient has no effect: all samples train" },
    { "data.group_column=patient data.val_split=0 data.test_split=0.1", 0, 0, FALSE, "" },
    { "data.val_split=0.2 data.folds=3", 10, 0, FALSE,
      "data.val_split=0.2 has no effect: the folds say" },
    { "batch_size=2 loss.class_weights=balanced", 10, 0, FALSE, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *got =
          list_idle (cases[i].settings, cases[i].n_validation, cases[i].max_steps, cases[i].values);

      if (*cases[i].begin ? !g_str_has_prefix (got, cases[i].begin) || strchr (got, '\n')
                          : *got != '\0')
        g_error ("“%s”: “%s” in place of “%s”", cases[i].settings, got, cases[i].begin);
    }
}

/* The loader starts no more workers than the threads setting allows; 0 is no limit. */
static void
test_loader_takes_no_more_threads (void)
{
  const struct {
    gint64 workers, threads;
    guint started;
  } cases[] = { { 4, 0, 4 }, { 4, 3, 3 }, { 3, 3, 3 }, { 2, 3, 2 }, { 3, 1, 1 }, { 0, 3, 0 } };
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (
      "builtin:shapes?samples=100", &(DynoDatasetParams){ 0 }, NULL, NULL, NULL, NULL);
  DynoDatasetParams opening;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoLoaderParams params;

      job->settings.workers = cases[i].workers;
      job->settings.threads = cases[i].threads;
      job->settings.loader_nice = 7;
      g_assert_true (
          dyno_job_get_loader_params (job, dyno_dataset_get_info (dataset), TRUE, &params, NULL));
      g_assert_cmpuint (params.workers, ==, cases[i].started);
      g_assert_cmpint (params.nice, ==, 7);
      dyno_job_get_dataset_params (job, &opening);
      g_assert_cmpuint (opening.threads, ==, (guint) cases[i].threads);
    }
}

/* --- schedule --------------------------------------------------------------------------------- */

static void
test_schedule (void)
{
  DynoSettings s;
  double last = 0;

  dyno_settings_init (&s);
  s.lr = 0.1;
  s.warmup_epochs = 1;
  for (guint step = 0; step < 10; step++) /* warm-up rises, and never exceeds the maximum */
    {
      double lr = dyno_schedule_lr (&s, step, 10, 100);
      g_assert_cmpfloat (lr, >, last);
      g_assert_cmpfloat (lr, <, 0.1);
      last = lr;
    }
  g_assert_cmpfloat_with_epsilon (dyno_schedule_lr (&s, 10, 10, 100), 0.1, 1e-12);
  g_assert_cmpfloat_with_epsilon (dyno_schedule_lr (&s, 55, 10, 100), 0.05, 1e-12);
  g_assert_cmpfloat (dyno_schedule_lr (&s, 99, 10, 100), >, 0);
  g_assert_cmpfloat (dyno_schedule_lr (&s, 99, 10, 100), <, 1e-3);
  g_assert_cmpfloat (dyno_schedule_lr (&s, 1000, 10, 100), ==, dyno_schedule_lr (&s, 99, 10, 100));
  s.schedule_epochs = 4; /* of ten epochs: the last rate of the span is kept */
  g_assert_cmpfloat (dyno_schedule_lr (&s, 39, 10, 100), ==, dyno_schedule_lr (&s, 39, 10, 40));
  g_assert_cmpfloat (dyno_schedule_lr (&s, 99, 10, 100), ==, dyno_schedule_lr (&s, 39, 10, 40));
  g_assert_cmpfloat (dyno_schedule_lr (&s, 40, 10, 100), >, 0);
  s.schedule_epochs = 0;
  s.schedule = DYNO_SCHEDULE_STEP;
  s.warmup_epochs = 0;
  g_assert_cmpfloat_with_epsilon (dyno_schedule_lr (&s, 33, 10, 100), 0.1, 1e-12);
  g_assert_cmpfloat_with_epsilon (dyno_schedule_lr (&s, 34, 10, 100), 0.01, 1e-12);
  g_assert_cmpfloat_with_epsilon (dyno_schedule_lr (&s, 500, 10, 100), 0.001, 1e-12);
  s.schedule = DYNO_SCHEDULE_CONSTANT;
  g_assert_cmpfloat (dyno_schedule_lr (&s, 0, 10, 100), ==, 0.1);
  g_assert_cmpfloat (dyno_schedule_lr (&s, 12345, 10, 100), ==, 0.1);
}

/* The rates have equal ratios, up to the end. */
static void
test_sweep (void)
{
  const DynoLrSweep sweep = { 1e-6, 10, 15 }, two = { 0.5, 2, 2 };

  g_assert_cmpfloat (dyno_lr_sweep_get (&sweep, 0), ==, 1e-6);
  for (guint step = 1; step < 15; step++)
    g_assert_cmpfloat_with_epsilon (
        dyno_lr_sweep_get (&sweep, step) / dyno_lr_sweep_get (&sweep, step - 1), sqrt (10), 1e-9);
  g_assert_cmpfloat (dyno_lr_sweep_get (&sweep, 14), ==, 10);
  g_assert_cmpfloat (dyno_lr_sweep_get (&sweep, 1000), ==, 10);
  g_assert_cmpfloat (dyno_lr_sweep_get (&two, 0), ==, 0.5);
  g_assert_cmpfloat (dyno_lr_sweep_get (&two, 1), ==, 2);
}

static DynoScheduleSpan
draw_span (guint64 n_train)
{
  DynoSettings s;
  guint ranks = (guint) g_test_rand_int_range (1, 5);

  dyno_settings_init (&s);
  s.batch_size = g_test_rand_int_range (1, 33);
  s.accumulate = g_test_rand_int_range (1, 5);
  return (DynoScheduleSpan){ (guint64) (s.batch_size * s.accumulate) * ranks,
                             dyno_job_count_steps (&s, n_train, ranks) };
}

/* With steps of another size, the epoch follows from the samples: it is at most one step early, and
 * exact at the end of an epoch.  The rate is never that of a later position, and at the end of the
 * run it is the last one. */
static void
test_schedule_moves (void)
{
  DynoSettings s;

  dyno_settings_init (&s);
  s.warmup_epochs = 0;
  for (guint i = 0; i < 2000; i++)
    {
      guint64 n_train = (guint64) g_test_rand_int_range (200, 2000);
      DynoScheduleSpan was = draw_span (n_train), now = draw_span (n_train);
      guint64 step = (guint64) g_test_rand_int_range (0, (gint32) was.steps_per_epoch),
              moved = dyno_schedule_move (step, &was, &now), samples = step * was.step_samples;

      g_assert_cmpuint (dyno_schedule_move (step, &was, &was), ==, step);
      g_assert_cmpuint (dyno_schedule_move (was.steps_per_epoch, &was, &now), ==,
                        now.steps_per_epoch);
      g_assert_cmpuint (moved * now.step_samples, <=, samples);
      g_assert_true (moved == now.steps_per_epoch || (moved + 1) * now.step_samples > samples);
      for (guint64 epoch = 0; epoch < 3; epoch++)
        {
          guint64 place = epoch * now.steps_per_epoch + moved, total = 3 * now.steps_per_epoch;
          double share = MIN ((double) place, (double) total - 1) / (double) total;

          g_assert_cmpfloat_with_epsilon (dyno_schedule_lr (&s, place, now.steps_per_epoch, total),
                                          s.lr * 0.5 * (1 + cos (G_PI * share)), 1e-12);
        }
    }
}

/* A jump is reported with both rates, and with the setting that keeps the old one; a rate that
 * stays is not reported. */
static void
test_schedule_change (void)
{
  DynoSettings was, now;
  g_autofree char *text = NULL;
  double last, next;

  dyno_settings_init (&was);
  was.epochs = g_test_rand_int_range (2, 9);
  now = was;
  now.epochs = was.epochs * 2;
  last = dyno_schedule_lr (&was, (guint64) was.epochs * 11, 11, (guint64) was.epochs * 11);
  next = dyno_schedule_lr (&now, (guint64) was.epochs * 11, 11, (guint64) now.epochs * 11);
  text = dyno_schedule_describe_change (&was, last, &now, next);
  g_autofree char *rates = g_strdup_printf ("continues at %.3g after %.3g", next, last),
                  *hold = g_strdup_printf ("schedule_epochs=%d keeps", (int) was.epochs);
  g_assert_nonnull (text);
  g_assert_nonnull (strstr (text, rates));
  g_assert_nonnull (strstr (text, hold));
  now.schedule_epochs = was.epochs;
  next = dyno_schedule_lr (&now, (guint64) was.epochs * 11, 11, (guint64) now.epochs * 11);
  g_assert_cmpfloat (next, ==, last);
  g_assert_null (dyno_schedule_describe_change (&was, last, &now, next));
  now = was;
  now.lr *= 3; /* changed by the user */
  g_assert_null (dyno_schedule_describe_change (&was, last, &now, 3 * last));
}

/* The spans are those of the schedules, which may differ from the epochs of the runs; a span is
 * advised only where the run is longer and has none. */
static void
test_schedule_change_of_spans (void)
{
  static const struct {
    gint64 epochs[2], spans[2]; /* before and now */
    const char *end;            /* NULL: nothing is said */
  } rows[] = {
    { { 10, 20 },
      { 0, 0 },
      "spans 20 epochs in place of 10; schedule_epochs=10 keeps the rate where it was" },
    { { 10, 20 },
      { 4, 0 },
      "spans 20 epochs in place of 4; schedule_epochs=4 keeps the rate where it was" },
    { { 10, 20 }, { 4, 8 }, "spans 8 epochs in place of 4" },
    { { 10, 10 }, { 0, 30 }, "spans 30 epochs in place of 10" },
    { { 10, 1 }, { 0, 0 }, "spans 1 epoch in place of 10" },
    { { 10, 10 }, { 4, 4 }, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoSettings settings[2];
      for (guint k = 0; k < 2; k++)
        {
          dyno_settings_init (&settings[k]);
          settings[k].epochs = rows[i].epochs[k];
          settings[k].schedule_epochs = rows[i].spans[k];
        }
      g_autofree char *text = dyno_schedule_describe_change (&settings[0], 0.1, &settings[1], 0.2);
      g_assert_true ((text != NULL) == (rows[i].end != NULL));
      if (text)
        g_assert_true (g_str_has_suffix (text, rows[i].end));
      g_assert_null (dyno_schedule_describe_change (&settings[0], 0.1, &settings[1], 0.1));
    }
}

/* --- plans ------------------------------------------------------------------------------------ */

static const DynoDeviceInfo card = { .name = "card",
                                     .type = DYNO_DEVICE_TYPE_DISCRETE,
                                     .vram_bytes = G_GUINT64_CONSTANT (12) << 30,
                                     .fp16 = TRUE,
                                     .subgroup_size = 32,
                                     .subgroup_min = 32,
                                     .subgroup_max = 32,
                                     .shared_bytes = 49152,
                                     .max_invocations = 1024,
                                     .max_groups_x = 2147483647,
                                     .max_buffer_bytes = G_GUINT64_CONSTANT (4) << 30,
                                     .timestamp_ns = 1 };

static guint64 counts[10] = { 100, 100, 100, 100, 100, 100, 100, 100, 100, 100 };
/* The schema is set in main. */
static DynoDatasetInfo images = { .kind = "image-folder",
                                  .name = (char *) "images",
                                  .n_samples = 1000,
                                  .min_width = 100,
                                  .max_width = 640,
                                  .min_height = 80,
                                  .max_height = 480,
                                  .resizable = TRUE,
                                  .n_classes = 10,
                                  .class_counts = counts };

static DynoJob *
resnet_job (void)
{
  DynoJob *job = dyno_job_new ();

  g_free (job->model);
  job->model = g_strdup ("resnet18");
  return job;
}

static void
test_plan (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autoptr (GError) error = NULL;
  g_autofree char *advice = NULL;
  DynoJobPlan plan, larger;
  guint64 sum = 0;

  g_assert_true (dyno_job_plan (job, &images, &card, &plan, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < DYNO_MEMORY_N_KINDS; i++)
    sum += plan.plan.kind_bytes[i];
  g_assert_cmpuint (sum, ==, plan.plan.total_bytes);
  g_assert_cmpuint (plan.plan.n_slots, ==, 2);
  g_assert_cmpuint (plan.n_parameters, ==, 11181642); /* torchvision's resnet18 with 10 classes */
  /* 3 x 2 x 1.8 G multiply-adds, less the input gradient of the first layer */
  g_assert_cmpfloat (plan.flops_per_sample, >, 9e9);
  g_assert_cmpfloat (plan.flops_per_sample, <, 12e9);
  g_assert_cmpuint (plan.steps_per_epoch, ==, 900 / 32);
  g_assert_true (plan.fits && plan.fits_checkpointed);
  g_assert_cmpuint (plan.budget_bytes, ==, card.vram_bytes);
  advice = dyno_job_plan_advice (job, &plan);
  g_assert_null (advice);

  /* The largest batch that fits does fit, and the next larger one does not. */
  g_assert_cmpint (plan.fitting_batch, >, 32);
  g_autoptr (DynoJob) full = dyno_job_copy (job);
  full->settings.data_val_split = 0.1;
  DynoDatasetInfo many = images;
  guint64 many_counts[10];
  many.n_samples = 1000000;
  for (guint i = 0; i < 10; i++)
    many_counts[i] = 100000;
  many.class_counts = many_counts;
  full->settings.batch_size = plan.fitting_batch;
  g_assert_true (dyno_job_plan (full, &many, &card, &larger, &error));
  g_assert_true (larger.fits);
  full->settings.batch_size = plan.fitting_batch + 1;
  g_assert_true (dyno_job_plan (full, &many, &card, &larger, &error));
  g_assert_false (larger.fits);
  g_assert_cmpint (larger.fitting_batch, ==, plan.fitting_batch);
}

/* A batch larger than the training part is planned as it will run, for a split of the data and for
 * the data set's own; each rank has an equal share. */
static void
test_plan_of_a_large_batch (void)
{
  static const struct {
    gint64 batch;
    guint64 own_validation;
    guint ranks;
    gint64 planned;
  } rows[] = { { 900, 0, 0, 900 },   { 901, 0, 0, 900 },  { 4000, 0, 0, 900 }, { 400, 600, 0, 400 },
               { 500, 600, 0, 400 }, { 4000, 0, 3, 300 }, { 300, 0, 3, 300 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = resnet_job ();
      g_autofree char *words = NULL;
      DynoDatasetInfo info = images;
      DynoJobPlan plan, equal;

      job->settings.batch_size = rows[i].batch;
      job->ranks = rows[i].ranks;
      info.has_split = rows[i].own_validation > 0;
      info.n_validation = rows[i].own_validation;
      g_assert_true (dyno_job_plan (job, &info, &card, &plan, NULL));
      g_assert_cmpint (plan.batch_size, ==, rows[i].planned);
      g_assert_cmpuint (plan.n_train, ==, rows[i].own_validation ? 400 : 900);
      g_assert_cmpint (dyno_job_get_batch (job, plan.n_train), ==, rows[i].planned);
      g_assert_cmpuint (plan.steps_per_epoch, ==,
                        plan.n_train / (guint64) (plan.batch_size * MAX (job->ranks, 1)));
      words = dyno_job_describe_batch (job, plan.n_train);
      g_assert_true ((words != NULL) == (rows[i].batch != rows[i].planned));
      job->settings.batch_size = rows[i].planned;
      g_assert_true (dyno_job_plan (job, &info, &card, &equal, NULL));
      g_assert_cmpuint (equal.plan.total_bytes, ==, plan.plan.total_bytes);
    }
}

/* The advice, also in place of accumulated batches, has as many samples in a step. */
static void
check_advised_batch (DynoJob *job, const DynoJobPlan *plan)
{
  for (gint64 accumulate = 1; accumulate <= 3; accumulate += 2)
    {
      g_autofree char *advice = NULL;
      const char *at;
      gint64 batch, parts;

      job->settings.accumulate = accumulate;
      advice = dyno_job_plan_advice (job, plan);
      at = strstr (advice, "batch_size ");
      g_assert_nonnull (at);
      batch = g_ascii_strtoll (at + strlen ("batch_size "), NULL, 10);
      at = strstr (at, "accumulate ");
      g_assert_nonnull (at);
      parts = g_ascii_strtoll (at + strlen ("accumulate "), NULL, 10);
      g_assert_cmpint (batch, >, 0);
      g_assert_cmpint (batch, <=, plan->fitting_batch);
      g_assert_cmpint (batch * parts, ==, job->settings.batch_size * accumulate);
    }
  job->settings.accumulate = 1;
}

/* With the setting, a batch is divided into equal parts, which for batch norm need more than one
 * sample each; a batch of a prime size cannot be divided. */
static void
check_shrunk (DynoJob *job, const DynoJobPlan *plan)
{
  g_autofree char *words = dyno_job_plan_describe_parts (plan), *size = NULL;
  DynoJobPlan other;

  size = g_strdup_printf ("of %d,", 256 / (int) plan->parts);
  g_assert_cmpuint (plan->parts, >, 1);
  g_assert_cmpint (256 % plan->parts, ==, 0);
  g_assert_cmpint (256 / plan->parts, <=, plan->fitting_batch);
  g_assert_nonnull (strstr (words, size));
  job->settings.memory_shrink = FALSE;
  g_assert_true (dyno_job_plan (job, &images, &card, &other, NULL));
  g_assert_cmpuint (other.parts, ==, 0);
  g_assert_null (dyno_job_plan_describe_parts (&other));
  job->settings.memory_shrink = TRUE;
  job->settings.batch_size = 257;
  g_assert_true (dyno_job_plan (job, &images, &card, &other, NULL));
  g_assert_false (other.fits);
  g_assert_cmpuint (other.parts, ==, 0);
  job->settings.batch_size = 256;
}

static void
test_plan_over_budget (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autoptr (GError) error = NULL;
  g_autofree char *advice = NULL;
  DynoJobPlan plan;

  job->settings.vram_budget = G_GINT64_CONSTANT (1) << 30;
  job->settings.batch_size = 256;
  g_assert_true (dyno_job_plan (job, &images, &card, &plan, &error));
  g_assert_no_error (error);
  g_assert_false (plan.fits);
  g_assert_cmpint (plan.fitting_batch, >, 0);
  g_assert_cmpint (plan.fitting_batch, <, 256);
  advice = dyno_job_plan_advice (job, &plan);
  g_assert_nonnull (strstr (advice, "1.00 GiB"));
  g_assert_nonnull (strstr (advice, "accumulate"));
  check_advised_batch (job, &plan);
  check_shrunk (job, &plan);
  job->settings.vram_budget = 1 << 20;
  g_assert_true (dyno_job_plan (job, &images, &card, &plan, &error));
  g_assert_cmpint (plan.fitting_batch, ==, 0);
  g_assert_cmpuint (plan.parts, ==, 0);
}

/* Advice for less memory names settings that can be changed. */
static void
test_advice_names_what_applies (void)
{
  static const struct {
    gboolean amp, fp16, resizable;
    gint64 image_size;
    const char *words;
  } rows[] = {
    { FALSE, TRUE, TRUE, 0, "with: AMP (amp=true), smaller images (image_size), a smaller model" },
    { TRUE, TRUE, TRUE, 0, "with: smaller images (image_size), a smaller model (model.width)." },
    { FALSE, FALSE, TRUE, 0, "with: smaller images (image_size), a smaller model (model.width)." },
    { TRUE, TRUE, FALSE, 0, "with: a smaller model (model.width)." },
    { TRUE, TRUE, TRUE, 32, "with: a smaller model (model.width)." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = resnet_job ();
      g_autofree char *advice = NULL;
      DynoDatasetInfo info = images;
      DynoDeviceInfo device = card;
      DynoJobPlan plan;

      job->settings.vram_budget = 1 << 20;
      job->settings.amp = rows[i].amp;
      job->settings.image_size = rows[i].image_size;
      device.fp16 = rows[i].fp16;
      info.resizable = rows[i].resizable;
      if (!info.resizable)
        info.min_width = info.max_width = info.min_height = info.max_height = 64;
      g_assert_true (dyno_job_plan (job, &info, &device, &plan, NULL));
      advice = dyno_job_plan_advice (job, &plan);
      g_test_message ("%s", advice);
      g_assert_nonnull (strstr (advice, rows[i].words));
    }
}

static void
test_micro_batches (void)
{
  static const struct {
    gint64 effective, fitting, size, count;
  } rows[] = { { 100, 43, 25, 4 }, { 128, 43, 32, 4 }, { 128, 128, 128, 1 }, { 128, 500, 128, 1 },
               { 101, 43, 34, 3 }, { 7, 1, 1, 7 },     { 96, 47, 32, 3 },    { 202, 43, 41, 5 },
               { 36, 35, 18, 2 },  { 101, 4, 1, 101 }, { 300, 43, 30, 10 } };
  static const struct {
    gint64 batch, least, most;
    guint parts;
  } equal[] = { { 100, 1, 43, 4 }, { 128, 2, 43, 4 }, { 101, 2, 43, 0 }, { 101, 1, 43, 101 },
                { 36, 2, 35, 2 },  { 36, 5, 5, 0 },   { 100, 1, 0, 0 },  { 100, 1, 100, 1 },
                { 8, 2, 2, 4 },    { 8, 2, 1, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoMicroBatch micro = dyno_micro_batch_of (rows[i].effective, rows[i].fitting);

      g_assert_cmpint (micro.size, ==, rows[i].size);
      g_assert_cmpint (micro.count, ==, rows[i].count);
    }
  for (guint i = 0; i < G_N_ELEMENTS (equal); i++)
    g_assert_cmpuint (dyno_micro_batch_divide (equal[i].batch, equal[i].least, equal[i].most), ==,
                      equal[i].parts);
}

/* A budget above the device's memory (of a larger card's preset) is kept and reported, but the
 * device's memory decides. */
static void
test_plan_budget_above_device (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autofree char *advice = NULL;
  DynoJobPlan plan;

  job->settings.vram_budget = 2 * (gint64) card.vram_bytes;
  g_assert_true (dyno_job_plan (job, &images, &card, &plan, NULL));
  g_assert_cmpuint (plan.budget_bytes, ==, 2 * card.vram_bytes);
  g_assert_cmpuint (plan.device_bytes, ==, card.vram_bytes);
  g_assert_cmpuint (plan.limit_bytes, ==, card.vram_bytes);
  DynoDatasetInfo many = images;
  guint64 many_counts[10];
  many.n_samples = 1000000;
  for (guint i = 0; i < 10; i++)
    many_counts[i] = 100000;
  many.class_counts = many_counts;
  job->settings.batch_size = 2000;
  g_assert_true (dyno_job_plan (job, &many, &card, &plan, NULL));
  g_assert_false (plan.fits);
  advice = dyno_job_plan_advice (job, &plan);
  g_assert_nonnull (strstr (advice, "more than the device's"));
  g_assert_null (strstr (advice, " 0 MiB more"));
}

/* A plan that exceeds the largest buffer is distributed over several buffers; if a single tensor
 * exceeds it, the plan reports that. */
static void
test_plan_largest_buffer (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autofree char *advice = NULL;
  DynoDeviceInfo small = card;
  DynoJobPlan plan;

  job->settings.batch_size = 256;
  small.max_buffer_bytes = G_GUINT64_CONSTANT (1) << 30;
  g_assert_true (dyno_job_plan (job, &images, &small, &plan, NULL));
  g_assert_true (plan.fits);
  g_assert_cmpuint (plan.plan.n_arena_buffers, >, 1);
  small.max_buffer_bytes = G_GUINT64_CONSTANT (128) << 20;
  g_assert_true (dyno_job_plan (job, &images, &small, &plan, NULL));
  g_assert_cmpuint (plan.plan.total_bytes, <, plan.budget_bytes);
  g_assert_false (plan.fits);
  g_assert_cmpint (plan.fitting_batch, >, 16);
  g_assert_cmpint (plan.fitting_batch, <, 256);
  advice = dyno_job_plan_advice (job, &plan);
  g_assert_nonnull (strstr (advice, "the largest that the device can have is 128 MiB"));
  job->settings.batch_size = plan.fitting_batch;
  g_assert_true (dyno_job_plan (job, &images, &small, &plan, NULL));
  g_assert_true (plan.fits);
}

/* fp32 if the device has no fp16; checkpointing takes less memory. */
static void
test_plan_variants (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  DynoDeviceInfo plain = card;
  DynoJobPlan amp, fp32, no_fp16, checkpointed;

  plain.fp16 = FALSE;
  g_assert_true (dyno_job_plan (job, &images, &card, &amp, NULL));
  g_assert_true (dyno_job_plan (job, &images, &plain, &no_fp16, NULL));
  job->settings.amp = FALSE;
  g_assert_true (dyno_job_plan (job, &images, &card, &fp32, NULL));
  job->settings.checkpointing = TRUE;
  g_assert_true (dyno_job_plan (job, &images, &card, &checkpointed, NULL));
  g_assert_cmpuint (amp.plan.total_bytes, <, fp32.plan.total_bytes);
  g_assert_cmpuint (no_fp16.plan.kind_bytes[DYNO_MEMORY_WEIGHTS], ==,
                    fp32.plan.kind_bytes[DYNO_MEMORY_WEIGHTS]);
  g_assert_cmpuint (checkpointed.plan.total_bytes, <, fp32.plan.total_bytes);
  g_assert_cmpuint (fp32.kept_bytes, ==, 0);
  g_assert_null (dyno_job_plan_describe_checkpointing (&fp32));
  g_assert_cmpuint (checkpointed.kept_bytes, ==, fp32.plan.total_bytes);
  g_autofree char *said = dyno_job_plan_describe_checkpointing (&checkpointed),
                  *saved = dyno_amount_bytes (fp32.plan.total_bytes - checkpointed.plan.total_bytes,
                                              " "),
                  *share = g_strdup_printf ("about %.0f %% more time",
                                            100 * checkpointed.plan.recomputed_share);
  g_assert_nonnull (strstr (said, saved));
  g_assert_nonnull (strstr (said, share));
  checkpointed.kept_bytes = checkpointed.plan.total_bytes;
  g_autofree char *nothing = dyno_job_plan_describe_checkpointing (&checkpointed);
  g_assert_nonnull (strstr (nothing, "saves nothing"));
}

/* A snapshot is planned where there is room for it, to the last byte; without it the plan fits as
 * well, and takes less host memory. */
static void
test_plan_of_a_snapshot (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  DynoDeviceInfo device = card;
  DynoJobPlan roomy, exact, tight, small;
  guint64 snapshot;

  g_assert_true (dyno_job_plan (job, &images, &device, &roomy, NULL));
  g_assert_true (roomy.plan.snapshot);
  snapshot = roomy.plan.kind_bytes[DYNO_MEMORY_SNAPSHOT];
  g_assert_cmpuint (snapshot, >, 0);
  device.vram_bytes = roomy.plan.total_bytes;
  g_assert_true (dyno_job_plan (job, &images, &device, &exact, NULL));
  g_assert_true (exact.fits && exact.plan.snapshot);
  device.vram_bytes--;
  g_assert_true (dyno_job_plan (job, &images, &device, &tight, NULL));
  g_assert_true (tight.fits && !tight.plan.snapshot);
  g_assert_cmpuint (tight.plan.total_bytes, ==, roomy.plan.total_bytes - snapshot);
  g_assert_cmpuint (tight.plan.kind_bytes[DYNO_MEMORY_SNAPSHOT], ==, 0);
  g_assert_cmpuint (tight.host.n, <, roomy.host.n);
  g_assert_cmpuint (tight.host.total_bytes, <, roomy.host.total_bytes);
  dyno_job_plan_drop_snapshot (&roomy);
  g_assert_cmpuint (roomy.plan.total_bytes, ==, tight.plan.total_bytes);
  g_assert_cmpuint (roomy.host.n, ==, tight.host.n);
  g_assert_cmpuint (roomy.host.total_bytes, ==, tight.host.total_bytes);
  device.vram_bytes = tight.plan.total_bytes;
  g_assert_true (dyno_job_plan (job, &images, &device, &tight, NULL));
  g_assert_true (tight.fits);
  g_assert_cmpint (tight.fitting_batch, ==, 32);
  device.vram_bytes--;
  g_assert_true (dyno_job_plan (job, &images, &device, &small, NULL));
  g_assert_false (small.fits);
  g_assert_cmpint (small.fitting_batch, ==, 31);
  /* A smaller batch that exactly fits is found. */
  job->settings.batch_size = 24;
  g_assert_true (dyno_job_plan (job, &images, &card, &exact, NULL));
  dyno_job_plan_drop_snapshot (&exact);
  device.vram_bytes = exact.plan.total_bytes;
  job->settings.batch_size = 32;
  g_assert_true (dyno_job_plan (job, &images, &device, &small, NULL));
  g_assert_cmpint (small.fitting_batch, ==, 24);
}

/* If only checkpointing makes the batch fit, the advice states that and the additional time. */
static void
test_advice_of_checkpointing (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  DynoDeviceInfo small = card;
  DynoJobPlan kept, dropped;

  job->settings.amp = FALSE;
  g_assert_true (dyno_job_plan (job, &images, &card, &kept, NULL));
  job->settings.checkpointing = TRUE;
  g_assert_true (dyno_job_plan (job, &images, &card, &dropped, NULL));
  job->settings.checkpointing = FALSE;
  small.vram_bytes = kept.plan.total_bytes - kept.plan.kind_bytes[DYNO_MEMORY_SNAPSHOT] - 1;
  g_assert_true (dyno_job_plan (job, &images, &small, &kept, NULL));
  g_assert_false (kept.fits);
  g_assert_true (kept.fits_checkpointed);
  g_assert_cmpfloat (kept.checkpointed_share, ==, dropped.plan.recomputed_share);
  g_autofree char *advice = dyno_job_plan_advice (job, &kept),
                  *share = g_strdup_printf ("it fits, for about %.0f %% more time",
                                            100 * dropped.plan.recomputed_share);
  g_assert_nonnull (strstr (advice, share));
}

static void
test_sizes (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  DynoDatasetInfo info = images;
  guint32 width, height;

  g_assert_true (dyno_job_get_size (job, &info, &width, &height, NULL));
  g_assert_cmpuint (width, ==, 224); /* different sizes: at most 224 */
  job->settings.image_size = 320;
  g_assert_true (dyno_job_get_size (job, &info, &width, &height, NULL));
  g_assert_cmpuint (height, ==, 320);
  info.resizable = FALSE;
  g_assert_false (dyno_job_get_size (job, &info, &width, &height, NULL));
  info.min_width = info.max_width = info.min_height = info.max_height = 28;
  g_assert_false (dyno_job_get_size (job, &info, &width, &height, NULL));
  job->settings.image_size = 0;
  g_free (job->model);
  job->model = g_strdup ("mlp");
  g_assert_true (dyno_job_get_size (job, &info, &width, &height, NULL));
  g_assert_cmpuint (width, ==, 28);
}

static void
test_one_class_is_refused (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autoptr (GError) error = NULL;
  DynoDatasetInfo info = images;
  DynoJobPlan plan;

  info.n_classes = 1;
  g_assert_false (dyno_job_plan (job, &info, &card, &plan, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_clear_error (&error);
  job->settings.data_one_class = TRUE;
  g_assert_true (dyno_job_plan (job, &info, &card, &plan, &error));
  g_assert_no_error (error);
  g_free (job->model);
  job->model = g_strdup ("resnet-18");
  g_assert_false (dyno_job_plan (job, &images, &card, &plan, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "resnet18"));
}

/* Samples that the scan refused count in the share that may be unreadable: above it nothing is
 * planned, and below it the run uses the other samples. */
static void
test_refused_samples_are_of_the_share (void)
{
  static const struct {
    guint64 n_samples, n_refused;
    double allowed; /* data.max_bad */
    double left;    /* share left for the loader; -1: none; 0: refused */
  } cases[] = { { 100, 0, 0.1, 0.1 }, { 90, 10, 0.1, -1 }, { 95, 5, 0.1, 5 / 95.0 },
                { 89, 11, 0.1, 0 },   { 10, 20, 0.1, 0 },  { 10, 20, 0.7, 0.1 },
                { 100, 1, 0, 0 },     { 100, 0, 0, -1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoJob) job = resnet_job ();
      g_autoptr (GError) error = NULL;
      DynoDatasetInfo info = images;
      DynoLoaderParams params;
      DynoJobPlan plan;

      info.n_samples = cases[i].n_samples;
      info.n_unreadable = cases[i].n_refused + 50; /* any number of other files may be refused */
      info.n_refused = cases[i].n_refused;
      info.first_refused = (char *) "a/1.heic: no image";
      job->settings.data_max_bad = cases[i].allowed;
      if (cases[i].left == 0)
        {
          g_assert_false (dyno_job_plan (job, &info, &card, &plan, &error));
          g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
          g_assert_nonnull (strstr (error->message, "a/1.heic: no image"));
          g_assert_nonnull (strstr (error->message, "data.max_bad"));
          continue;
        }
      g_assert_true (dyno_job_plan (job, &info, &card, &plan, &error));
      g_assert_true (dyno_job_get_loader_params (job, &info, TRUE, &params, &error));
      g_assert_cmpfloat_with_epsilon (params.max_bad_share, cases[i].left, 1e-9);
    }
}

static DynoPartCounts
assert_counted (const DynoJob *job, DynoDataset *dataset)
{
  g_auto (DynoDatasetParts) parts = { 0 };
  DynoPartCounts parted;

  dyno_job_count_parts (job, dyno_dataset_get_info (dataset), &parted);
  dyno_settings_divide (&job->settings, dataset, &parts);
  g_assert_cmpuint (parted.n_train, ==, parts.train->len);
  g_assert_cmpuint (parted.n_validation, ==, parts.validation->len);
  g_assert_cmpuint (parted.n_test, ==, parts.test->len);
  return parted;
}

/* The parts that are counted from the facts equal those of the data set, also if no class can spare
 * a sample. */
static void
test_parts (void)
{
  static const char *const locations[] = { "builtin:shapes?size=16&samples=211&classes=7",
                                           "builtin:shapes?size=16&samples=7&classes=7",
                                           "builtin:shapes?size=16&samples=9&classes=7",
                                           "builtin:shapes?size=16&samples=2&classes=2" };
  static const double fractions[] = { 0, 0.001, 0.01, 0.1, 0.25, 0.9 };
  static const double tests[] = { 0, 0.001, 0.15, 0.9 };
  g_autoptr (DynoJob) job = resnet_job ();

  for (guint d = 0; d < G_N_ELEMENTS (locations); d++)
    for (guint i = 0; i < G_N_ELEMENTS (fractions) * G_N_ELEMENTS (tests); i++)
      {
        g_autoptr (DynoDataset) dataset =
            dyno_dataset_open (locations[d], NULL, NULL, NULL, NULL, NULL);

        g_assert_nonnull (dataset);
        job->settings.data_val_split = fractions[i % G_N_ELEMENTS (fractions)];
        job->settings.data_test_split = tests[i / G_N_ELEMENTS (fractions)];
        assert_counted (job, dataset);
      }
}

/* Each fold is counted as it is divided; together the folds are all samples but those of the test
 * part, whatever the validation share is. */
static void
test_parts_of_folds (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (
      "builtin:shapes?size=16&samples=47&classes=3", NULL, NULL, NULL, NULL, NULL);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  DynoSettings other = job->settings;
  guint64 all = 0;

  job->settings.data_folds = 5;
  for (gint64 i = 0; i < 10; i++)
    {
      DynoPartCounts parted;

      job->settings.data_test_split = i < 5 ? 0 : 0.2;
      job->settings.data_fold = 1 + i % 5;
      g_assert_true (dyno_job_check_parts (job, info, NULL));
      parted = assert_counted (job, dataset);
      g_assert_cmpuint (parted.n_test, ==, i < 5 ? 0 : 9);
      if (i < 5)
        g_assert_cmpuint (parted.n_validation, ==, i < 2 ? 10 : 9); /* 47 by 5 */
      all += parted.n_validation;
    }
  g_assert_cmpuint (all, ==, 47 + 38);
  g_assert_false (dyno_settings_divide_alike (&job->settings, &other));
  other = job->settings;
  g_assert_true (dyno_settings_divide_alike (&job->settings, &other));
  other.data_fold = 1;
  g_assert_false (dyno_settings_divide_alike (&job->settings, &other));
  other = job->settings;
  other.seed++;
  g_assert_false (dyno_settings_divide_alike (&job->settings, &other));
  other = job->settings;
  other.data_test_split = 0.1;
  g_assert_false (dyno_settings_divide_alike (&job->settings, &other));
}

/* Refused before training: folds that do not exist, and folds that lack a class. */
static void
test_parts_refused (void)
{
  const struct {
    gint64 folds, fold;
    const char *words; /* words of the error, separated by '|'; NULL: none */
  } cases[] = {
    { 0, 7, NULL },
    { 1, 1, "data.folds=1|nothing to train on" },
    { 2, 3, "data.fold=3|no such fold" },
    { 6, 1, "only 5 samples of the class “third”|set data.folds=5" },
    { 5, 5, NULL },
  };
  guint64 of_class[] = { 9, 0, 5, 8 };
  g_auto (GStrv) names = g_strsplit ("first none third fourth", " ", -1);
  g_autoptr (DynoJob) job = resnet_job ();
  DynoDatasetInfo info = images;

  info.name = (char *) "few";
  info.n_classes = 4;
  info.class_names = names;
  info.class_counts = of_class;
  info.n_samples = 22;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) words = g_strsplit (cases[i].words ? cases[i].words : "", "|", -1);

      job->settings.data_folds = cases[i].folds;
      job->settings.data_fold = cases[i].fold;
      g_assert_cmpint (dyno_job_check_parts (job, &info, &error), ==, cases[i].words == NULL);
      for (guint w = 0; words[w]; w++)
        g_assert_nonnull (strstr (error->message, words[w]));
    }
  /* Of equally small classes the first is named, and a class without samples needs none. */
  of_class[3] = 5;
  job->settings.data_folds = 6;
  job->settings.data_fold = 1;
  {
    g_autoptr (GError) error = NULL;

    g_assert_false (dyno_job_check_parts (job, &info, &error));
    g_assert_nonnull (strstr (error->message, "only 5 samples of the class “third”"));
  }
  of_class[3] = 8;
  job->settings.data_folds = 5;
  job->settings.data_test_split = 0.3; /* which leaves 3 of the third */
  {
    g_autoptr (GError) error = NULL;

    g_assert_false (dyno_job_check_parts (job, &info, &error));
    g_assert_nonnull (strstr (error->message, "only 3 samples of the class “third”"));
    g_assert_nonnull (strstr (error->message, "those of the test part"));
  }
  job->settings.data_test_split = 0;
  of_class[2] = 1;
  for (guint i = 0; i < 3; i++)
    {
      static const char *const words[] = { "only 1 sample of the class “third”, too few for 5",
                                           "its own validation part", "made by the device" };
      g_autoptr (GError) error = NULL;

      info.has_split = i == 1;
      info.schema.generated = i == 2;
      g_assert_false (dyno_job_check_parts (job, &info, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
      g_assert_nonnull (strstr (error->message, words[i]));
      g_assert_nonnull (strstr (error->message, "set data.folds=0"));
    }
  job->settings.data_folds = 0;
  job->settings.data_test_split = 0.1;
  for (guint i = 0; i < 3; i++)
    {
      static const char *const words[] = { NULL, "its own validation part", "made by the device" };
      g_autoptr (GError) error = NULL;

      info.has_split = i == 1;
      info.schema.generated = i == 2;
      g_assert_cmpint (dyno_job_check_parts (job, &info, &error), ==, i == 0);
      g_assert_true (i == 0 || strstr (error->message, words[i]));
      g_assert_true (i == 0 || strstr (error->message, "set data.test_split=0"));
    }
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Pixels in rows of text: 60 samples of 12 groups of different size. */
static char *
write_groups (void)
{
  g_autoptr (GString) text = g_string_new ("patient,label,pixels\n");
  int fd;
  char *path = NULL;

  for (guint i = 0; i < 60; i++)
    g_string_append_printf (text, "%u,%u,%u 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
                            (guint) sqrt (2.4 * i), i % 2, i);
  fd = g_file_open_tmp ("groups-XXXXXX.csv", &path, NULL);
  g_assert_cmpint (fd, >=, 0);
  g_assert_true (g_close (fd, NULL));
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  return path;
}

/* Groups are counted as they are divided, into shares and folds; the setting opens the data set, and
 * another column is another division. */
static void
test_parts_of_groups (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  g_autofree char *path = write_groups ();
  g_autoptr (DynoDataset) dataset = NULL;
  DynoDatasetParams params;
  DynoSettings other;
  const DynoDatasetInfo *info;
  guint32 all = 0;

  g_assert_true (dyno_settings_set (&job->settings, "data.group_column", "patient", NULL));
  dyno_job_get_dataset_params (job, &params);
  dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, NULL);
  g_assert_nonnull (dataset);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (dyno_groups_get_count (info->groups), ==, 12);
  for (guint i = 0; i < 9; i++)
    {
      static const double shares[] = { 0, 0.2, 0.4 };
      DynoPartCounts parted;

      job->settings.data_test_split = shares[i / 3];
      job->settings.data_val_split = shares[i % 3];
      parted = assert_counted (job, dataset);
      g_assert_cmpuint (parted.groups_train + parted.groups_validation + parted.groups_test, ==,
                        12);
      g_assert_cmpint (parted.groups_test > 0, ==, i / 3 > 0);
      g_assert_cmpint (parted.groups_validation > 0, ==, i % 3 > 0);
      g_assert_true (dyno_job_check_parts (job, info, NULL));
    }
  job->settings.data_folds = 4;
  job->settings.data_test_split = 0;
  for (job->settings.data_fold = 1; job->settings.data_fold <= 4; job->settings.data_fold++)
    {
      g_assert_true (dyno_job_check_parts (job, info, NULL));
      all += assert_counted (job, dataset).groups_validation;
    }
  g_assert_cmpuint (all, ==, 12);
  other = job->settings;
  g_assert_true (dyno_settings_divide_alike (&job->settings, &other));
  g_assert_true (dyno_settings_set (&other, "data.group_column", "label", NULL));
  g_assert_false (dyno_settings_divide_alike (&job->settings, &other));
  g_assert_cmpint (g_unlink (path), ==, 0);
}

static void
test_parts_of_groups_refused (void)
{
  static const struct {
    guint32 n_groups; /* 0: the data set was opened without */
    gint64 folds;
    double test_share, val_share;
    gboolean has_split;
    const char *words; /* words of the error, separated by '|'; NULL: none */
  } cases[] = {
    { 0, 0, 0, 0.1, FALSE, "not opened with the groups that data.group_column=site asks for" },
    { 1, 0, 0, 0, FALSE, NULL },
    { 1, 0, 0, 0.1, FALSE, "only 1 group by|set data.val_split=0, or" },
    { 1, 0, 0.1, 0, FALSE, "only 1 group by|set data.test_split=0, or" },
    { 2, 0, 0.1, 0, FALSE, NULL },
    { 2, 0, 0, 0.9, FALSE, NULL },
    { 2, 0, 0.1, 0.1, FALSE, "only 2 groups by the column “site”|a smaller data.test_split" },
    { 3, 0, 0.1, 0.1, FALSE, NULL },
    { 3, 3, 0, 0.1, FALSE, NULL },
    { 3, 4, 0, 0.1, FALSE, "only 3 groups by|for 4 folds|set data.folds=3" },
    { 3, 3, 0.1, 0.1, FALSE, "only 2 groups by|set data.folds=2|those of the test part" },
    { 2, 2, 0.1, 0.1, FALSE, "only 1 group by|set data.folds=0" },
    { 1, 0, 0, 0.1, TRUE, NULL }, /* the data keep their own validation part */
  };
  guint32 ids[30];
  g_autoptr (DynoJob) job = resnet_job ();
  guint64 of_class[] = { 29, 1 }; /* the second class is in one group only */
  g_auto (GStrv) names = g_strsplit ("usual rare", " ", -1);

  g_assert_true (dyno_settings_set (&job->settings, "data.group_column", "site", NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoDatasetInfo info = images;
      g_autoptr (DynoGroups) groups = NULL;
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) words = g_strsplit (cases[i].words ? cases[i].words : "", "|", -1);

      for (guint k = 0; k < G_N_ELEMENTS (ids); k++)
        ids[k] = k % MAX (cases[i].n_groups, 1);
      groups = cases[i].n_groups > 0 ? dyno_groups_new (ids, G_N_ELEMENTS (ids), NULL, 0) : NULL;
      info.name = (char *) "few";
      info.n_samples = G_N_ELEMENTS (ids);
      info.n_classes = 2;
      info.class_counts = of_class;
      info.class_names = names;
      info.groups = groups;
      info.group_column = groups ? (char *) "site" : NULL;
      info.has_split = cases[i].has_split;
      info.n_validation = info.has_split ? 3 : 0;
      info.n_test = info.has_split ? 5 : 0;
      job->settings.data_folds = cases[i].folds;
      job->settings.data_test_split = cases[i].test_share;
      job->settings.data_val_split = cases[i].val_share;
      g_assert_cmpint (dyno_job_check_parts (job, &info, &error), ==, cases[i].words == NULL);
      for (guint w = 0; words[w]; w++)
        g_assert_nonnull (strstr (error->message, words[w]));
      if (error)
        g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
      if (info.has_split)
        {
          DynoPartCounts parted;

          dyno_job_count_parts (job, &info, &parted);
          g_assert_cmpuint (parted.n_validation, ==, 3);
          g_assert_cmpuint (parted.n_test, ==, 5);
          g_assert_cmpuint (parted.n_train, ==, G_N_ELEMENTS (ids) - 8);
          /* The data set that is open has the groups of an earlier column. */
          info.group_column = (char *) "patient";
          g_assert_false (dyno_job_check_parts (job, &info, NULL));
          g_assert_cmpuint (parted.groups_train, ==, 0);
        }
    }
}

/* A crop that is cut when the file is decoded is not cut once more on the device. */
static void
test_one_crop (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoDatasetInfo info = images;
  DynoAugmentation augmentation;

  for (guint i = 0; i < 8; i++)
    {
      gboolean cropped = i & 1, from_source = i & 2, croppable = i & 4;
      gboolean early = from_source && croppable;

      job->settings.augment_crop = cropped ? 0.25 : 0;
      job->settings.augment_crop_from = from_source ? DYNO_CROP_FROM_SOURCE : DYNO_CROP_FROM_SAMPLE;
      info.croppable = croppable;
      g_assert_true (dyno_augment_get (job, &info, &info.schema, &augmentation, NULL));
      g_assert_cmpfloat (augmentation.crop, ==, cropped && !early ? 0.25 : 0);
      g_assert_cmpfloat (dyno_augment_get_source_crop (job, &info).area, ==,
                         cropped && early ? 0.25 : 0);
    }
}

/* Mirroring negates the angles yaw and roll wherever they are among the values, and not pitch; the
 * names of the data set go before those of the model.  A rotation would change all three. */
static void
test_mirrored_angles (void)
{
  static const char *const pose[] = { "yaw", "pitch", "roll", NULL },
                           *const turned[] = { "Roll", "x", "PITCH", "yaw", NULL },
                           *const others[] = { "x", "yaws", "height", NULL },
                           *const pitch[] = { "x", "y", "pitch", NULL };
  static const struct {
    const char *const *names;
    const char *model;
    guint n;
    guint32 negated;
    gboolean has_angles;
  } rows[] = {
    { pose, "mlp", 3, 1 | 4, TRUE },
    { turned, "mlp", 4, 1 | 8, TRUE },
    { others, "mlp", 3, 0, FALSE },
    { pitch, "mlp", 3, 0, TRUE },
    { NULL, "mlp", 3, 0, FALSE },
    { NULL, "headpose_resnet18", 3, 1 | 4, TRUE },
    { others, "headpose_resnet18", 3, 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      DynoSettings *s = &job->settings;
      DynoDatasetInfo info = { .name = (char *) "heads", .target_names = (char **) rows[i].names };
      DynoAugmentation augmentation;

      info.schema = dyno_schema_image (DYNO_ELEMENT_U8, 16, 16, 3, rows[i].n);
      g_free (job->model);
      job->model = g_strdup (rows[i].model);
      s->augment_flip = TRUE;
      g_assert_true (dyno_augment_get (job, &info, &info.schema, &augmentation, NULL));
      g_assert_cmpuint (augmentation.negated, ==, rows[i].negated);
      g_assert_cmpfloat (augmentation.flip, ==, 0.5);
      for (guint k = 0; k < 3; k++)
        {
          g_autoptr (GError) error = NULL;
          s->augment_rotate = k == 1 ? 10 : 0;
          s->augment_flip_vertical = k == 2;
          gboolean good = dyno_augment_get (job, &info, &info.schema, &augmentation, &error);
          g_assert_true (good == (k == 0 || !rows[i].has_angles));
          if (!good)
            g_assert_nonnull (strstr (error->message, k == 1 ? "augment.rotate turns"
                                                             : "augment.flip_vertical turns"));
          if (!good)
            g_assert_true (g_str_has_suffix (error->message, k == 1 ? "to 0" : "to false"));
        }
    }
}

/* Samples of n_axes axes and their target. */
static DynoBatchSchema
make_schema (DynoElement element, guint n_axes, guint32 channels, guint32 n_values, gboolean mask)
{
  const DynoBatchField rest[] = {
    { .name = "values", .element = element, .n_axes = 1, .shape = { channels }, .axes = "C" },
    { .name = "sequence", .element = element, .n_axes = 2, .shape = { 9, channels }, .axes = "TF" },
  };
  DynoBatchSchema schema = { 0 };

  if (n_axes == 3)
    return mask ? dyno_schema_image_with_mask (element, 16, 16, channels)
                : dyno_schema_image (element, 16, 16, channels, n_values);
  dyno_schema_add (&schema, &rest[n_axes - 1]);
  dyno_schema_add_target (&schema, n_values);
  return schema;
}

/* Each change sets its own member only, and is refused, by its name, for samples that it cannot
 * change. */
static void
test_changes_need_their_samples (void)
{
  static const struct {
    const char *key;
    gsize offset; /* of the member of DynoAugmentation */
    double value, expected;
    gboolean image, sequence, bytes, grey, classes;
  } changes[] = {
#define MEMBER(name) G_STRUCT_OFFSET (DynoAugmentation, name)
    { "augment.flip", MEMBER (flip), 1, 0.5, .image = TRUE },
    { "augment.flip_vertical", MEMBER (flip_vertical), 1, 0.5, .image = TRUE },
    { "augment.crop", MEMBER (crop), 0.25, 0.25, .image = TRUE },
    { "augment.rotate", MEMBER (rotate), 10, 10, .image = TRUE },
    { "augment.brightness", MEMBER (brightness), 0.25, 0.25, .image = TRUE, .bytes = TRUE },
    { "augment.contrast", MEMBER (contrast), 0.25, 0.25, .image = TRUE, .bytes = TRUE,
      .grey = TRUE },
    { "augment.saturation", MEMBER (saturation), 0.25, 0.25, .image = TRUE, .bytes = TRUE,
      .grey = TRUE },
    { "augment.hue", MEMBER (hue), 0.25, 0.25, .image = TRUE, .bytes = TRUE, .grey = TRUE },
    { "augment.noise", MEMBER (noise), 0.25, 0.25 },
    { "augment.erase", MEMBER (erase), 0.25, 0.25, .image = TRUE },
    { "augment.mixup", MEMBER (mixup), 0.25, 0.25, .image = TRUE, .classes = TRUE },
    { "augment.cutmix", MEMBER (cutmix), 0.25, 0.25, .image = TRUE, .classes = TRUE },
    { "augment.time_mask", MEMBER (time_mask), 0.25, 0.25, .sequence = TRUE },
    { "augment.time_shift", MEMBER (time_shift), 0.25, 0.25, .sequence = TRUE },
#undef MEMBER
  };
  static const struct {
    DynoElement element;
    guint n_axes;
    guint32 channels, n_values;
    gboolean mask;
  } samples[] = {
    { DYNO_ELEMENT_U8, 3, 3, 0, FALSE },  { DYNO_ELEMENT_U8, 3, 1, 0, FALSE },
    { DYNO_ELEMENT_U8, 3, 4, 0, FALSE },  { DYNO_ELEMENT_F32, 3, 3, 0, FALSE },
    { DYNO_ELEMENT_U8, 3, 3, 2, FALSE },  { DYNO_ELEMENT_U8, 3, 3, 0, TRUE },
    { DYNO_ELEMENT_F32, 2, 3, 0, FALSE }, { DYNO_ELEMENT_F32, 1, 3, 0, FALSE },
  };
  g_autoptr (DynoJob) job = dyno_job_new ();

  g_free (job->model);
  job->model = g_strdup ("mlp");
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      dyno_settings_init (&job->settings);
      g_assert_true (
          dyno_settings_set_number (&job->settings, changes[i].key, changes[i].value, NULL));
      for (guint k = 0; k < G_N_ELEMENTS (samples); k++)
        {
          DynoDatasetInfo info = { .name = (char *) "things" };
          DynoAugmentation a;
          g_autoptr (GError) error = NULL;
          gboolean bytes = samples[k].element == DYNO_ELEMENT_U8,
                   fits =
                       (!changes[i].image || samples[k].n_axes == 3)
                       && (!changes[i].sequence || samples[k].n_axes == 2)
                       && (!changes[i].bytes || bytes)
                       && (!changes[i].grey || samples[k].channels != 4)
                       && (!changes[i].classes || (samples[k].n_values == 0 && !samples[k].mask));
          info.schema = make_schema (samples[k].element, samples[k].n_axes, samples[k].channels,
                                     samples[k].n_values, samples[k].mask);
          if (dyno_augment_get (job, &info, &info.schema, &a, &error) != fits)
            g_error ("%s of samples %u: %s", changes[i].key, k, error ? error->message : "taken");
          for (guint m = 0; fits && m < G_N_ELEMENTS (changes); m++)
            g_assert_cmpfloat (G_STRUCT_MEMBER (double, &a, changes[m].offset), ==,
                               m == i ? changes[i].expected : 0);
          if (!fits)
            g_assert_true (g_str_has_prefix (error->message, changes[i].key)
                           && strstr (error->message,
                                      changes[i].value == 1 ? "set it to false" : "set it to 0"));
        }
    }
}

/* A network that has only a test part is evaluated too, and needs the memory for it. */
static void
test_a_test_part_needs_an_evaluation (void)
{
  g_autoptr (DynoJob) job = resnet_job ();
  DynoJobPlan none, tested, validated;

  job->settings.data_val_split = 0;
  job->settings.data_test_split = 0;
  g_assert_true (dyno_job_plan (job, &images, &card, &none, NULL));
  job->settings.data_test_split = 0.25;
  g_assert_true (dyno_job_plan (job, &images, &card, &tested, NULL));
  job->settings.data_test_split = 0;
  job->settings.data_val_split = 0.25;
  g_assert_true (dyno_job_plan (job, &images, &card, &validated, NULL));
  g_assert_cmpuint (none.host.total_bytes, <, tested.host.total_bytes);
  g_assert_cmpuint (tested.host.total_bytes, ==, validated.host.total_bytes);
  g_assert_cmpuint (tested.plan.total_bytes, ==, validated.plan.total_bytes);
}

static void
assert_numbers (const GPtrArray *devices, const char *text, const char *expected)
{
  g_autoptr (GArray) numbers = dyno_device_numbers_parse (text, devices);
  g_autofree char *again = numbers ? dyno_device_numbers_format (numbers) : NULL;

  g_assert_cmpstr (again, ==, expected);
}

/* Numbers keep their order, "all" is of the first device's type, and a number that is no device's
 * is refused with the others. */
static void
test_device_numbers (void)
{
  g_autoptr (GPtrArray) devices = g_ptr_array_new (), none = g_ptr_array_new ();
  DynoDeviceInfo infos[] = { { .type = DYNO_DEVICE_TYPE_DISCRETE },
                             { .type = DYNO_DEVICE_TYPE_SOFTWARE },
                             { .type = DYNO_DEVICE_TYPE_DISCRETE } };

  for (guint i = 0; i < G_N_ELEMENTS (infos); i++)
    g_ptr_array_add (devices, &infos[i]);
  assert_numbers (devices, "all", "0,2");
  assert_numbers (devices, "2", "2");
  assert_numbers (devices, "2, 0 ,1", "2,0,1");
  assert_numbers (devices, "1,1", "1,1");
  assert_numbers (devices, "3", NULL);
  assert_numbers (devices, "0,3", NULL);
  assert_numbers (devices, "0,,1", NULL);
  assert_numbers (devices, "0,-1", NULL);
  assert_numbers (devices, "", NULL);
  assert_numbers (devices, "All", NULL);
  assert_numbers (none, "all", NULL);
  assert_numbers (none, "0", NULL);
  g_autoptr (GArray) numbers = dyno_device_numbers_parse ("2,0", devices);
  g_assert_true (dyno_device_numbers_have (numbers, 0) && dyno_device_numbers_have (numbers, 2));
  g_assert_false (dyno_device_numbers_have (numbers, 1));
}

/* --- memory for the steps ------------------------------------------------------------------------ */

static void
assert_buffer (const DynoHostBuffer *buffer, DynoHostKind kind, guint count, guint64 least)
{
  g_assert_cmpuint (buffer->count, ==, count);
  if (count == 0)
    return;
  g_assert_cmpint (buffer->kind, ==, kind);
  g_assert_cmpuint (buffer->size_bytes, >=, least);
  g_assert_cmpuint (buffer->size_bytes, <, least + DYNO_BUFFER_GRANULARITY);
}

/* Batches in page-locked memory have spare slots for a larger prefetch where they are small, 128 MB
 * in all at most; others lie in plain memory, with one buffer to copy from for each slot. */
static void
test_memory_of_uploads (void)
{
  static const struct {
    guint32 side, batch;
    guint prefetch, slots;
    gboolean pinned;
    guint n_batches, n_staging;
  } rows[] = { { 16, 4, 2, 2, TRUE, 10, 0 },   { 16, 4, 12, 2, TRUE, 14, 0 },
               { 16, 4, 0, 2, TRUE, 10, 0 },   { 16, 4, 2, 2, FALSE, 4, 2 },
               { 16, 4, 0, 3, FALSE, 3, 3 },   { 16, 4, 100, 2, FALSE, 66, 2 },
               { 1024, 4, 2, 2, TRUE, 10, 0 }, { 1024, 5, 2, 2, TRUE, 4, 0 },
               { 1024, 5, 0, 2, TRUE, 3, 0 },  { 1024, 4, 12, 2, TRUE, 14, 0 },
               { 1024, 5, 2, 2, FALSE, 4, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoBatchSchema schema =
          dyno_schema_image (DYNO_ELEMENT_U8, rows[i].side, rows[i].side, 3, 0);
      DynoUploadPlan plan;
      g_autoptr (GError) error = NULL;
      g_assert_true (dyno_upload_plan_init (&plan, &schema, rows[i].batch, rows[i].prefetch,
                                            rows[i].slots, rows[i].pinned, &error));
      g_assert_cmpuint (plan.layout.total_bytes, >=,
                        (guint64) rows[i].side * rows[i].side * 3 * rows[i].batch);
      assert_buffer (&plan.batches, rows[i].pinned ? DYNO_HOST_UPLOAD : DYNO_HOST_PLAIN,
                     rows[i].n_batches, plan.layout.total_bytes);
      assert_buffer (&plan.staging, DYNO_HOST_UPLOAD, rows[i].n_staging, plan.layout.total_bytes);
    }
}

/* An inbox has a part for each other rank: gradients, in half of their bytes where they are sent as
 * halves, then states, which are not. */
static void
test_memory_of_exchanges (void)
{
  DynoPlan plan = { 0 };
  const guint64 piece = DYNO_PEER_GRANULARITY;

  plan.space_bytes[DYNO_SPACE_GRADIENT] = 3 * piece;
  plan.space_bytes[DYNO_SPACE_STATE] = piece / 4;
  DynoHostBuffer buffer = dyno_exchange_plan_buffer (&plan);
  assert_buffer (&buffer, DYNO_HOST_READBACK, 1, 3 * piece + piece / 4);
  g_assert_cmpuint (dyno_inbox_gradient_bytes (&plan, FALSE), ==, 3 * piece);
  g_assert_cmpuint (dyno_inbox_gradient_bytes (&plan, TRUE), ==, 3 * piece / 2);
  g_assert_cmpuint (dyno_inbox_part_bytes (&plan, FALSE), ==, 3 * piece + piece / 4);
  g_assert_cmpuint (dyno_inbox_part_bytes (&plan, TRUE), ==, 3 * piece / 2 + piece / 4);
  g_assert_cmpuint (dyno_inbox_total_bytes (&plan, FALSE, 2), ==, 4 * piece);
  g_assert_cmpuint (dyno_inbox_total_bytes (&plan, FALSE, 5), ==, 13 * piece);
  g_assert_cmpuint (dyno_inbox_total_bytes (&plan, TRUE, 3), ==, 4 * piece);
  g_assert_cmpuint (dyno_inbox_total_bytes (&plan, FALSE, 1), ==, 0);
  g_assert_cmpuint (dyno_inbox_total_bytes (&plan, FALSE, 0), ==, 0);
  for (guint64 bytes = 0; bytes < 2; bytes++)
    {
      DynoHostBuffer predictions = dyno_predictions_plan_buffer (bytes * 100),
                     watched = dyno_watched_plan_buffer (bytes * 100);
      assert_buffer (&predictions, DYNO_HOST_READBACK, bytes ? DYNO_JOB_SLOTS : 0, 100);
      assert_buffer (&watched, DYNO_HOST_READBACK, bytes ? DYNO_JOB_SLOTS : 0, 100);
    }
  for (guint64 bytes = 1; bytes <= 9; bytes++)
    g_assert_cmpuint (dyno_predictions_part_bytes (&(DynoTensor){ .size_bytes = bytes }), ==,
                      (bytes + 3) / 4 * 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  images.schema = dyno_schema_image (DYNO_ELEMENT_U8, 480, 640, 3, 0);
  g_test_add_func ("/job/settings/a-switch-with-more", test_switch_with_more);
  g_test_add_func ("/job/settings/keys", test_keys);
  g_test_add_func ("/job/settings/rows-are-whole", test_rows_are_whole);
  g_test_add_func ("/job/settings/momentum-counts-with-its-optimizers",
                   test_momentum_of_optimizers);
  g_test_add_func ("/job/settings/live-ones-follow-by-their-way", test_live_follow);
  g_test_add_func ("/job/settings/following-keeps-what-was-adapted", test_follow_keeps_adapted);
  g_test_add_func ("/job/settings/roundtrip", test_roundtrip);
  g_test_add_func ("/job/settings/roundtrip-in-a-comma-locale", test_locale);
  g_test_add_func ("/job/settings/refusals", test_refusals);
  g_test_add_func ("/job/settings/text", test_text);
  g_test_add_func ("/job/settings/bytes", test_bytes);
  g_test_add_func ("/job/settings/did-you-mean", test_guess);
  g_test_add_func ("/job/schedule/values", test_schedule);
  g_test_add_func ("/job/schedule/sweep", test_sweep);
  g_test_add_func ("/job/settings/without-an-effect-are-said", test_idle);
  g_test_add_func ("/job/settings/loader-takes-no-more-threads", test_loader_takes_no_more_threads);
  g_test_add_func ("/job/schedule/moves-with-the-samples", test_schedule_moves);
  g_test_add_func ("/job/schedule/jump-is-said-with-both-rates", test_schedule_change);
  g_test_add_func ("/job/schedule/jump-is-said-with-both-spans", test_schedule_change_of_spans);
  g_test_add_func ("/job/plan", test_plan);
  g_test_add_func ("/job/plan-over-budget", test_plan_over_budget);
  g_test_add_func ("/job/advice-names-what-applies", test_advice_names_what_applies);
  g_test_add_func ("/job/micro-batches-keep-the-effective-batch", test_micro_batches);
  g_test_add_func ("/job/batch-larger-than-the-training-part", test_plan_of_a_large_batch);
  g_test_add_func ("/job/plan-budget-above-device", test_plan_budget_above_device);
  g_test_add_func ("/job/plan-largest-buffer", test_plan_largest_buffer);
  g_test_add_func ("/job/plan-variants", test_plan_variants);
  g_test_add_func ("/job/plan/snapshot", test_plan_of_a_snapshot);
  g_test_add_func ("/job/plan/advice-of-checkpointing", test_advice_of_checkpointing);
  g_test_add_func ("/job/sizes", test_sizes);
  g_test_add_func ("/job/one-class-is-refused", test_one_class_is_refused);
  g_test_add_func ("/job/refused-samples-are-of-the-share", test_refused_samples_are_of_the_share);
  g_test_add_func ("/job/parts", test_parts);
  g_test_add_func ("/job/settings/one-crop", test_one_crop);
  g_test_add_func ("/job/settings/mirrored-angles", test_mirrored_angles);
  g_test_add_func ("/job/settings/changes-need-their-samples", test_changes_need_their_samples);
  g_test_add_func ("/job/plan/a-test-part-needs-an-evaluation",
                   test_a_test_part_needs_an_evaluation);
  g_test_add_func ("/job/parts-of-folds", test_parts_of_folds);
  g_test_add_func ("/job/parts-that-cannot-be", test_parts_refused);
  g_test_add_func ("/job/settings/parts-of-groups", test_parts_of_groups);
  g_test_add_func ("/job/device-numbers", test_device_numbers);
  g_test_add_func ("/job/settings/parts-of-groups-refused", test_parts_of_groups_refused);
  g_test_add_func ("/job/memory/uploads", test_memory_of_uploads);
  g_test_add_func ("/job/memory/exchanges", test_memory_of_exchanges);
  return g_test_run ();
}
