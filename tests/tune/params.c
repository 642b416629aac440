/* SPDX-License-Identifier: MIT */
/* The searched settings: their selection, and the conversion of points to settings and back. */
#include "params.h"
#include <math.h>
#include <string.h>

typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoParamSpace space;
} Fixture;

static void
fixture_clear (Fixture *f)
{
  dyno_job_unref (f->job);
  dyno_dataset_unref (f->dataset);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

/* set: "key=value" pairs, separated by blanks. */
static void
fixture_init (Fixture *f, const char *data, const char *model, const char *set)
{
  g_auto (GStrv) pairs = g_strsplit (set, " ", -1);
  g_autoptr (GError) error = NULL;

  f->job = dyno_job_new ();
  g_free (f->job->data);
  f->job->data = g_strdup (data);
  g_free (f->job->model);
  f->job->model = g_strdup (model);
  for (guint i = 0; pairs[i] && *pairs[i]; i++)
    {
      g_auto (GStrv) parts = g_strsplit (pairs[i], "=", 2);

      dyno_settings_set (&f->job->settings, parts[0], parts[1], &error);
      g_assert_no_error (error);
    }
  f->dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  dyno_param_space_init (&f->space, f->job, dyno_dataset_get_info (f->dataset));
}

static int
find (const DynoParamSpace *space, const char *key)
{
  for (guint i = 0; i < space->n; i++)
    if (strcmp (space->params[i].key, key) == 0)
      return (int) i;
  return -1;
}

static gboolean
changes (const DynoParamSpace *space, const char *key)
{
  for (guint i = 0; i < space->n_changes; i++)
    if (strcmp (space->changes[i].key, key) == 0)
      return TRUE;
  return FALSE;
}

#define IMAGES "builtin:shapes?size=32&samples=60&classes=3"

static void
test_conditions (void)
{
  g_auto (Fixture) images = { 0 }, waves = { 0 }, poses = { 0 };

  fixture_init (&images, IMAGES, "simplecnn", "");
  g_assert_cmpint (find (&images.space, "optimizer"), ==, 0);
  g_assert_cmpint (find (&images.space, "label_smoothing"), >, 0);
  g_assert_cmpint (find (&images.space, "augment"), >, 0);
  g_assert_cmpint (find (&images.space, "augment.mix"), >, 0);
  g_assert_true (changes (&images.space, "augment.shift"));
  g_assert_false (changes (&images.space, "augment.time_mask"));
  fixture_init (&waves, "builtin:waves?length=16&samples=60&classes=3", "mlp", "");
  g_assert_cmpint (find (&waves.space, "augment.mix"), ==, -1);
  g_assert_true (changes (&waves.space, "augment.time_mask"));
  g_assert_false (changes (&waves.space, "augment.shift"));
  /* A rotation would make these target values wrong. */
  fixture_init (&poses, "builtin:poses?size=32&samples=60", "simplecnn", "");
  g_assert_cmpint (find (&poses.space, "label_smoothing"), ==, -1);
  g_assert_cmpint (find (&poses.space, "augment.mix"), ==, -1);
  g_assert_true (changes (&poses.space, "augment.brightness"));
  g_assert_false (changes (&poses.space, "augment.rotate"));
}

/* Momentum is searched with SGD only, and the range of the learning rate follows the optimizer's
 * usual rate. */
static void
test_optimizers (void)
{
  g_auto (Fixture) f = { 0 };
  double point[DYNO_PARAMS_MOST];
  DynoSettings settings;
  int momentum, lr;

  fixture_init (&f, IMAGES, "simplecnn", "lr=0.1 momentum=0.8");
  momentum = find (&f.space, "momentum");
  lr = find (&f.space, "lr");
  dyno_param_space_get_point (&f.space, &f.job->settings, point);
  g_assert_cmpfloat (point[0], ==, 0);
  g_assert_cmpfloat_with_epsilon (point[lr], 0, 1e-12);
  g_assert_cmpfloat_with_epsilon (point[momentum], -log (0.2), 1e-12);
  g_assert_true (dyno_param_space_counts (&f.space, point, (guint) momentum));
  point[0] = 1; /* adamw */
  g_assert_false (dyno_param_space_counts (&f.space, point, (guint) momentum));
  point[momentum] = (double) NAN;
  g_assert_true (dyno_param_space_get_settings (&f.space, point, &settings, NULL));
  g_assert_cmpint (settings.optimizer, ==, DYNO_OPTIMIZER_ADAMW);
  g_assert_cmpfloat (settings.momentum, ==, 0.8);
  g_assert_cmpfloat_with_epsilon (settings.lr,
                                  0.1 * dyno_optimizer_get_info (DYNO_OPTIMIZER_ADAMW)->usual_lr
                                      / dyno_optimizer_get_info (DYNO_OPTIMIZER_SGD)->usual_lr,
                                  1e-9);
}

/* A value of the job that is not among the choices is added to them. */
static void
test_own_choices (void)
{
  g_auto (Fixture) f = { 0 };
  double point[DYNO_PARAMS_MOST];
  DynoSettings settings;

  fixture_init (&f, IMAGES, "simplecnn",
                "optimizer=rmsprop ema_decay=0.95 augment.mixup=0.4 augment.flip=true");
  dyno_param_space_get_point (&f.space, &f.job->settings, point);
  g_assert_true (dyno_param_space_get_settings (&f.space, point, &settings, NULL));
  g_assert_cmpint (settings.optimizer, ==, DYNO_OPTIMIZER_RMSPROP);
  g_assert_cmpfloat (settings.ema_decay, ==, 0.95);
  g_assert_cmpfloat (settings.augment_mixup, ==, 0.4);
  g_assert_true (settings.augment_flip);
  point[find (&f.space, "augment.mix")] = 2;
  g_assert_true (dyno_param_space_get_settings (&f.space, point, &settings, NULL));
  g_assert_cmpfloat (settings.augment_mixup, ==, 0);
  g_assert_cmpfloat (settings.augment_cutmix, ==, 1);
}

/* Strength 0.5 gives the job's own augmentation, 0 none, 1 twice as much. */
static void
test_strength (void)
{
  g_auto (Fixture) f = { 0 };
  double point[DYNO_PARAMS_MOST];
  DynoSettings s;
  int augment;

  fixture_init (&f, IMAGES, "simplecnn", "augment.crop=0.6 augment.shift=3 augment.brightness=0.2");
  augment = find (&f.space, "augment");
  g_assert_cmpuint (f.space.n_changes, ==, 3);
  dyno_param_space_get_point (&f.space, &f.job->settings, point);
  g_assert_cmpfloat_with_epsilon (point[augment], 0.5, 1e-12);
  const struct {
    double strength, crop, brightness;
    gint64 shift;
  } cases[] = { { 0, 0, 0, 0 }, { 0.04, 0, 0, 0 }, { 0.5, 0.6, 0.2, 3 }, { 1, 0.2, 0.4, 6 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      point[augment] = cases[i].strength;
      g_assert_true (dyno_param_space_get_settings (&f.space, point, &s, NULL));
      g_assert_cmpfloat_with_epsilon (s.augment_crop, cases[i].crop, 1e-9);
      g_assert_cmpfloat_with_epsilon (s.augment_brightness, cases[i].brightness, 1e-9);
      g_assert_cmpint (s.augment_shift, ==, cases[i].shift);
      g_assert_cmpfloat (s.augment_rotate, ==, 0);
    }
}

/* A crop of 1 is no crop, so the usual augmentation is offered. */
static void
test_a_whole_crop_is_none (void)
{
  g_auto (Fixture) whole = { 0 }, none = { 0 };

  fixture_init (&whole, IMAGES, "simplecnn", "augment.crop=1");
  fixture_init (&none, IMAGES, "simplecnn", "");
  g_assert_cmpuint (whole.space.n_changes, ==, none.space.n_changes);
  g_assert_cmpuint (whole.space.n_changes, >, 1);
  g_assert_cmpfloat (whole.space.own_strength, ==, 0);
}

/* Each point of the space gives settings that the table and the job accept; they give the point
 * back but for rounding, and this point gives the same settings. */
static void
test_points_and_back (void)
{
  const char *const models[] = { "simplecnn", "mlp" };

  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    {
      g_auto (Fixture) f = { 0 };
      DynoTpe tpe;

      fixture_init (&f, m == 0 ? IMAGES : "builtin:waves?length=16&samples=60&classes=3", models[m],
                    "epochs=12 lr=0.02");
      tpe = dyno_param_space_get_tpe (&f.space);
      for (guint i = 0; i < 200; i++)
        {
          double point[DYNO_PARAMS_MOST], back[DYNO_PARAMS_MOST], again[DYNO_PARAMS_MOST];
          g_autoptr (DynoJob) job = dyno_job_copy (f.job);
          DynoNetworkParams params;
          g_autoptr (GError) error = NULL;
          DynoSettings s;

          dyno_tpe_draw (&tpe, i, point);
          g_assert_true (dyno_param_space_get_settings (&f.space, point, &job->settings, &error));
          g_assert_no_error (error);
          dyno_job_get_network (job, dyno_dataset_get_info (f.dataset), DYNO_MODE_TRAIN, &params,
                                &error);
          g_assert_no_error (error);
          dyno_param_space_get_point (&f.space, &job->settings, back);
          for (guint k = 0; k < f.space.n; k++)
            {
              const DynoTpeDimension *d = &f.space.dimensions[k];
              double allowed = d->n_choices > 0 ? 0 : 0.06 * (d->high - d->low);

              g_assert_cmpint (isnan (point[k]), ==, isnan (back[k]));
              if (!isnan (point[k]))
                g_assert_cmpfloat (fabs (point[k] - back[k]), <=, allowed);
            }
          g_assert_true (dyno_param_space_get_settings (&f.space, back, &s, NULL));
          dyno_param_space_get_point (&f.space, &s, again);
          g_assert_cmpfloat (fabs (s.lr - job->settings.lr), <=, 1e-9);
          g_assert_cmpint (s.optimizer, ==, job->settings.optimizer);
        }
    }
}

static void
test_describe (void)
{
  g_auto (Fixture) f = { 0 };
  DynoSettings s;
  g_autofree char *none = NULL, *some = NULL;

  fixture_init (&f, IMAGES, "simplecnn", "");
  s = f.job->settings;
  none = dyno_param_space_describe (&f.space, &s);
  g_assert_cmpstr (none, ==, "");
  s.lr = 0.1;
  s.optimizer = DYNO_OPTIMIZER_LION;
  s.momentum = 0.5; /* it has no effect here */
  some = dyno_param_space_describe (&f.space, &s);
  g_assert_cmpstr (some, ==, "optimizer=lion lr=0.1");
}

static void
test_bad_points (void)
{
  g_auto (Fixture) f = { 0 };
  double point[DYNO_PARAMS_MOST];
  g_autoptr (GError) error = NULL;
  DynoSettings s;

  fixture_init (&f, IMAGES, "simplecnn", "");
  dyno_param_space_get_point (&f.space, &f.job->settings, point);
  point[0] = 7;
  g_assert_false (dyno_param_space_get_settings (&f.space, point, &s, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  point[0] = 0;
  point[find (&f.space, "lr")] = 1000; /* the end of the range */
  g_assert_true (dyno_param_space_get_settings (&f.space, point, &s, NULL));
  g_assert_cmpfloat_with_epsilon (s.lr, f.job->settings.lr * 30, 1e-9);
}

static void
choose (Fixture *f, const char *texts)
{
  g_auto (GStrv) list = g_strsplit (texts, " ", -1);
  g_autoptr (GError) error = NULL;

  dyno_param_space_init (&f->space, f->job, dyno_dataset_get_info (f->dataset));
  dyno_param_space_choose (&f->space, f->job, dyno_dataset_get_info (f->dataset),
                           (const char *const *) list, &error);
  g_assert_no_error (error);
}

/* The settings at the low and the high end of the only parameter. */
static void
check_ends (Fixture *f, const char *key, double low, double high)
{
  const double ends[] = { low, high };

  for (guint i = 0; i < 2; i++)
    {
      double at = i == 0 ? f->space.dimensions[0].low : f->space.dimensions[0].high;
      DynoSettings settings;

      g_assert_true (dyno_param_space_get_settings (&f->space, &at, &settings, NULL));
      g_assert_cmpfloat_with_epsilon (dyno_settings_get_number (&settings, key), ends[i],
                                      1e-9 * (1 + ends[i]));
    }
}

/* Ranges are in the unit of the setting, and keep the scale of a usual parameter. */
static void
test_chosen_ranges (void)
{
  static const struct {
    const char *text, *key;
    DynoParamKind kind;
    double low, high;
  } cases[] = {
    { "lr=0.001..0.5", "lr", DYNO_PARAM_LOG, 0.001, 0.5 },
    { "momentum=0.8..0.95", "momentum", DYNO_PARAM_FROM_ONE, 0.8, 0.95 },
    { "warmup_epochs=1..3", "warmup_epochs", DYNO_PARAM_LINEAR, 1, 3 },
    { "model.width=0.25..2", "model.width", DYNO_PARAM_LINEAR, 0.25, 2 },
    { "batch_size=8..128", "batch_size", DYNO_PARAM_LOG, 8, 128 },
    { "clip_norm=0..5", "clip_norm", DYNO_PARAM_LINEAR, 0, 5 },
    { "weight_decay=0..0.1", "weight_decay", DYNO_PARAM_LINEAR, 0, 0.1 },
  };
  g_auto (Fixture) f = { 0 };

  fixture_init (&f, IMAGES, "simplecnn", "lr=0.1 epochs=20");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      choose (&f, cases[i].text);
      g_assert_cmpuint (f.space.n, ==, 1);
      g_assert_cmpstr (f.space.params[0].key, ==, cases[i].key);
      g_assert_cmpint (f.space.params[0].kind, ==, cases[i].kind);
      check_ends (&f, cases[i].key, cases[i].low, cases[i].high);
    }
}

/* The job's own value is a choice, and settings on which others depend come before them. */
static void
test_chosen_values (void)
{
  g_auto (Fixture) f = { 0 };
  double point[DYNO_PARAMS_MOST];
  DynoSettings settings;

  fixture_init (&f, IMAGES, "simplecnn", "model.width=0.5");
  choose (&f, "model.width=0.25|1.0 momentum optimizer=sgd|lion model.freeze=|conv1");
  g_assert_cmpuint (f.space.n, ==, 4);
  g_assert_cmpint (find (&f.space, "optimizer"), ==, 0);
  g_assert_cmpint (find (&f.space, "momentum"), ==, 1);
  g_assert_cmpuint (f.space.dimensions[0].n_choices, ==, 2);
  g_assert_cmpuint (f.space.dimensions[2].n_choices, ==, 3);
  g_assert_cmpstr (f.space.params[2].choices[1], ==, "1");
  dyno_param_space_get_point (&f.space, &f.job->settings, point);
  g_assert_true (point[0] == 0 && point[2] == 2 && point[3] == 0);
  point[2] = 1;
  point[3] = 1;
  g_assert_true (dyno_param_space_get_settings (&f.space, point, &settings, NULL));
  g_assert_cmpfloat (settings.model_width, ==, 1);
  g_assert_cmpstr (g_quark_to_string (settings.model_freeze), ==, "conv1");
  choose (&f, "augment augment.mix=none|cutmix amp schedule");
  g_assert_cmpuint (f.space.n, ==, 4);
  g_assert_cmpint (find (&f.space, "amp"), ==, 3);
  g_assert_cmpuint (f.space.dimensions[3].n_choices, ==, 2);
  g_assert_cmpuint (f.space.dimensions[find (&f.space, "augment.mix")].n_choices, ==, 2);
}

/* Asserts that the texts of a space's parameters make the same space. */
static void
check_texts (Fixture *f)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  DynoParamSpace before = f->space;

  for (guint i = 0; i < before.n; i++)
    {
      g_autofree char *text = dyno_param_space_write (&before, i);
      g_strv_builder_add (list, text);
    }
  g_auto (GStrv) texts = g_strv_builder_end (list);
  g_autofree char *all = g_strjoinv (" ", texts);
  choose (f, all);
  g_assert_cmpuint (f->space.n, ==, before.n);
  for (guint i = 0; i < before.n; i++)
    {
      const DynoParam *a = &before.params[i], *b = &f->space.params[i];

      g_assert_cmpstr (a->key, ==, b->key);
      g_assert_cmpint (a->kind, ==, b->kind);
      g_assert_cmpuint (a->n_choices, ==, b->n_choices);
      for (guint k = 0; k < a->n_choices; k++)
        g_assert_true (a->choices[k] == b->choices[k]);
      g_assert_cmpfloat (fabs (a->low - b->low), <=, 0.006 * a->low);
      g_assert_cmpfloat (fabs (a->high - b->high), <=, 0.006 * a->high);
    }
}

/* A space can be written as texts, in the units of the settings, and read again. */
static void
test_texts_of_a_space (void)
{
  g_auto (Fixture) f = { 0 };
  double low, high;

  fixture_init (&f, IMAGES, "simplecnn", "lr=0.1 epochs=20 optimizer=adam augment.mixup=0.4");
  g_autofree char *rate = dyno_param_space_write (&f.space, (guint) find (&f.space, "lr")),
                  *warm =
                      dyno_param_space_write (&f.space, (guint) find (&f.space, "warmup_epochs")),
                  *names = dyno_param_space_write (&f.space, (guint) find (&f.space, "optimizer")),
                  *mix = dyno_param_space_write (&f.space, (guint) find (&f.space, "augment.mix")),
                  *augment = dyno_param_space_write (&f.space, (guint) find (&f.space, "augment"));
  g_assert_cmpstr (rate, ==, "lr=0.00333..3");
  g_assert_cmpstr (warm, ==, "warmup_epochs=0..4");
  g_assert_cmpstr (names, ==, "optimizer=sgd|adamw|lion|adam");
  g_assert_cmpstr (mix, ==, "augment.mix=none|mixup|cutmix"); /* the own one is added again */
  g_assert_cmpstr (augment, ==, "augment");
  dyno_param_space_get_range (&f.space, (guint) find (&f.space, "warmup_epochs"), &low, &high);
  g_assert_true (low == 0 && high == 4);
  check_texts (&f);
  choose (&f, "model.width=0.25|0.5|1.5|2|3|4|5 lr=0.001..100 momentum=0.8..0.95 amp");
  g_assert_cmpuint (f.space.params[2].n_choices, ==, DYNO_PARAM_MOST_CHOICES);
  check_texts (&f);
  /* A range of the job's rate stays within what the setting accepts. */
  dyno_settings_set (&f.job->settings, "lr", "20", NULL);
  dyno_param_space_init (&f.space, f.job, dyno_dataset_get_info (f.dataset));
  g_autofree char *most = dyno_param_space_write (&f.space, (guint) find (&f.space, "lr"));
  g_assert_cmpstr (most, ==, "lr=0.667..100");
}

/* Settings that may be searched, too, but only those that have an effect, none of the usual ones. */
static void
test_suggestions (void)
{
  static const struct {
    const char *data, *model, *with, *without;
  } cases[] = {
    { IMAGES, "simplecnn", "batch_size=16|32|64|128 model.width=0.5..2 loss.focal=0|1|2",
      "loss.smooth_l1 loss.dice model.stochastic_depth" },
    { "builtin:waves?length=16&samples=60&classes=3", "mlp", "batch_size=16|32|64|128",
      "augment.flip loss.dice model.stochastic_depth" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Fixture) f = { 0 };
      g_auto (GStrv) with = g_strsplit (cases[i].with, " ", -1),
                     without = g_strsplit (cases[i].without, " ", -1), texts = NULL;

      fixture_init (&f, cases[i].data, cases[i].model, "");
      texts = dyno_param_space_suggest (f.job, dyno_dataset_get_info (f.dataset));
      for (guint k = 0; with[k]; k++)
        g_assert_true (g_strv_contains ((const char *const *) texts, with[k]));
      for (guint k = 0; texts[k]; k++)
        {
          g_auto (GStrv) parts = g_strsplit (texts[k], "=", 2);

          if (g_strv_contains ((const char *const *) without, parts[0]))
            g_error ("%s is suggested for %s", parts[0], cases[i].model);
          g_assert_cmpint (find (&f.space, parts[0]), ==, -1);
        }
    }
}

static void
test_refused_choices (void)
{
  static const char *const cases[][2] = {
    { "speed", "There is no setting" },
    { "epochs=1..9", "cannot be searched" },
    { "workers=1..9", "cannot be searched" },
    { "data.val_split=0.1..0.3", "cannot be searched" },
    { "model.width", "no usual range" },
    { "lr=0.1", "no range: write lr=LOW..HIGH" },
    { "lr=1..0.1", "LOW below HIGH" },
    { "lr=0.1..1x", "is no range" },
    { "lr=0.1..1000", "lr is from 0 to 100" },
    { "optimizer=sgd", "two values at least and 7 at most" },
    { "optimizer=sgd|best", "best" },
    { "optimizer=sgd|sgd", "the value sgd twice" },
    { "lr=0.10|0.1", "the value 0.1 twice" },
    { "augment=0..1", "no values of its own" },
    { "augment.mix=none|all", "none, mixup or cutmix" },
    { "loss.smooth_l1", "no effect with this model and data set" },
    { "lr lr=0.1..1", "searched twice" },
    { "lr=0.1..0.1", "LOW below HIGH" },
    { "lr=x..0.1", "is no range" },
    { "lr=-0.1..1", "lr is from 0 to 100" },
    { "momentum=0.5..1.5", "momentum is from 0 to" },
    { "optimizer=", "two values at least" },
    { "seed=1..9", "cannot be searched" },
    { "best_metric=loss|accuracy", "cannot be searched" },
    { "data.folds=2..5", "cannot be searched" },
    { "data.fold=1..2", "cannot be searched" },
    { "data.test_split=0.1..0.3", "cannot be searched" },
    { "data.max_bad=0..0.5", "cannot be searched" },
    { "data.normalise", "cannot be searched" },
    { "model.width=1|2|3|4|5|6|7|8", "two values at least and 7 at most" },
    { "augment.mix=mixup|mixup", "the value mixup twice" },
    { "model.width=1|1.0", "the value 1 twice" },
  };
  g_auto (Fixture) f = { 0 };

  fixture_init (&f, IMAGES, "simplecnn", "");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) list = g_strsplit (cases[i][0], " ", -1);
      g_autoptr (GError) error = NULL;

      g_assert_false (dyno_param_space_choose (&f.space, f.job, dyno_dataset_get_info (f.dataset),
                                               (const char *const *) list, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
      if (!strstr (error->message, cases[i][1]))
        g_error ("%s: %s", cases[i][0], error->message);
    }
  g_assert_cmpuint (f.space.n, >, 5); /* a refused choice changes nothing */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/params/only-what-has-an-effect", test_conditions);
  g_test_add_func ("/tune/params/follow-the-optimizer", test_optimizers);
  g_test_add_func ("/tune/params/own-value-is-a-choice", test_own_choices);
  g_test_add_func ("/tune/params/strength-of-augmentation", test_strength);
  g_test_add_func ("/tune/params/a-whole-crop-is-none", test_a_whole_crop_is_none);
  g_test_add_func ("/tune/params/points-to-settings-and-back", test_points_and_back);
  g_test_add_func ("/tune/params/describe-differences", test_describe);
  g_test_add_func ("/tune/params/points-outside", test_bad_points);
  g_test_add_func ("/tune/params/chosen-ranges", test_chosen_ranges);
  g_test_add_func ("/tune/params/chosen-values", test_chosen_values);
  g_test_add_func ("/tune/params/texts-of-a-space", test_texts_of_a_space);
  g_test_add_func ("/tune/params/suggestions", test_suggestions);
  g_test_add_func ("/tune/params/refused-choices", test_refused_choices);
  return g_test_run ();
}
