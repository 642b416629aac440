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
  return g_test_run ();
}
