/* SPDX-License-Identifier: MIT */
/* The report of a search for the best validation. */
#include "accuracyhtml.h"
#include "bestfiles.h"
#include "preset.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct {
  DynoDataset *dataset;
  DynoJob *job;
  DynoAccuracyResult *result;
} World;

static void
add_trial (DynoAccuracyResult *r, guint n_done, double value, double lr)
{
  DynoAccuracyTrial trial = { .settings = r->space.own, .halving.n_done = n_done };

  trial.settings.lr = lr;
  trial.halving.failed = isnan (value);
  trial.outcome = isnan (value) ? DYNO_TRIAL_DIVERGED : DYNO_TRIAL_OK;
  for (guint i = 0; i < n_done; i++)
    trial.values[i] = value;
  g_array_append_val (r->trials, trial);
}

/* Three trials, of which one has failed, and a final of two trials on two seeds. */
static void
world_init (World *w)
{
  g_autoptr (GError) error = NULL;
  DynoAccuracyRun failed = { .trial = 2, .outcome = DYNO_TRIAL_DIVERGED, .value = (double) NAN };
  DynoAccuracyResult *r = g_new0 (DynoAccuracyResult, 1);

  w->dataset = dyno_dataset_open ("builtin:waves?length=16&samples=60&classes=3", NULL, NULL, NULL,
                                  NULL, &error);
  g_assert_no_error (error);
  w->job = dyno_job_new ();
  g_free (w->job->data);
  w->job->data = g_strdup ("<waves> & \"more\"");
  w->job->settings.epochs = 9;
  w->job->settings.lr = 0.05;
  w->job->settings.seed = 40;
  dyno_param_space_init (&r->space, w->job, dyno_dataset_get_info (w->dataset));
  r->metric = dyno_cross_entropy_metrics[0];
  r->trials = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyTrial));
  r->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  r->n_rungs = dyno_halving_list_rungs (9, r->rungs);
  add_trial (r, 3, 0.5, 0.05);
  add_trial (r, 3, 0.75, 0.1);
  add_trial (r, 1, (double) NAN, 5);
  failed.text = g_strdup ("the loss is <NaN>");
  g_ptr_array_add (r->runs, dyno_accuracy_run_copy (&failed));
  g_free (failed.text);
  r->n_contenders = 1;
  r->contenders[0].trial = 1;
  for (guint i = 0; i < DYNO_ACCURACY_MOST_SEEDS; i++)
    {
      r->own.values[i] = i < 2 ? 0.5 + 0.01 * i : (double) NAN;
      r->contenders[0].values[i] = i < 2 ? 0.7 + 0.02 * i : (double) NAN;
    }
  r->contenders[0].gain =
      (DynoPaired){ .n = 2, .mean = 0.205, .half = 0.06, .low = 0.145, .high = 0.265 };
  for (guint i = 0; i < DYNO_PARAMS_MOST; i++)
    r->importance[i] = (double) NAN;
  r->importance[1] = 0.625;
  r->best = 1;
  r->verdict = DYNO_ACCURACY_PROVEN;
  r->text = g_strdup ("Trial 1 is better by 20.50 points, proven on 2 seeds");
  w->result = r;
}

static void
world_clear (World *w)
{
  dyno_accuracy_result_free (w->result);
  dyno_job_unref (w->job);
  dyno_dataset_unref (w->dataset);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

static void
assert_well_formed (const char *html)
{
  const GMarkupParser parser = { NULL };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  g_autoptr (GError) error = NULL;

  g_markup_parse_context_parse (context, html, -1, &error);
  g_assert_no_error (error);
  g_markup_parse_context_end_parse (context, &error);
  g_assert_no_error (error);
}

static void
assert_has (const char *html, const char *part)
{
  if (!strstr (html, part))
    g_error ("the report lacks “%s”", part);
}

static guint
count (const char *html, const char *part)
{
  guint n = 0;

  for (const char *at = strstr (html, part); at; at = strstr (at + 1, part))
    n++;
  return n;
}

static void
test_says_what_is_proven (void)
{
  static const char *const parts[] = {
    "class=\"hero good\"",
    "Trial 1 is better by 20.50 points, proven on 2 seeds",
    "<b>lr=0.1</b>",
    "50.00 %",
    "51.00 %",
    "70.00 %",
    "72.00 %",
    "20.50 points (95 %: 14.50 points to 26.50 points)",
    "41</th><th class=\"number\">42</th><th class=\"number\">Better",
    "width:62.50%",
    "the loss is &lt;NaN&gt;",
    "&lt;waves&gt; &amp; &quot;more&quot;",
    "<svg"
  };
  g_auto (World) w = { 0 };
  g_autofree char *html = NULL;

  world_init (&w);
  html = dyno_report_accuracy_html (w.result, w.job, "card");
  assert_well_formed (html);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    assert_has (html, parts[i]);
  g_assert_cmpuint (count (html, "<tr class=\"best\">"), ==, 1);
}

/* Without a final there is no comparison, and nothing is called proven. */
static void
test_claims_no_more_than_the_verdict (void)
{
  g_auto (World) w = { 0 };
  g_autofree char *html = NULL;

  world_init (&w);
  w.result->verdict = DYNO_ACCURACY_NO_FINAL;
  for (guint i = 0; i < DYNO_ACCURACY_MOST_SEEDS; i++)
    w.result->own.values[i] = w.result->contenders[0].values[i] = (double) NAN;
  g_free (w.result->text);
  w.result->text = g_strdup ("Not sure: trial 1 is the best so far");
  html = dyno_report_accuracy_html (w.result, w.job, NULL);
  assert_well_formed (html);
  assert_has (html, "class=\"hero open\"");
  assert_has (html, "<span class=\"badge\">not proven</span>");
  g_assert_null (strstr (html, "further seeds</h2>"));
}

/* The user's settings diverged with the first seed: the second one is in the table. */
static void
test_a_seed_without_a_value (void)
{
  g_auto (World) w = { 0 };
  g_autofree char *html = NULL;

  world_init (&w);
  w.result->own.values[0] = (double) NAN;
  html = dyno_report_accuracy_html (w.result, w.job, NULL);
  assert_well_formed (html);
  assert_has (html, "51.00");
  assert_has (html, "70.00");
  assert_has (html, "72.00");
}

static char *
read_file (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

/* A search that was stopped before its first measurement keeps the files of an earlier one. */
static void
test_files_of_the_choice (void)
{
  static const char *const names[] = { "best.ini", "best.json", "report.html" };
  g_auto (World) w = { 0 };
  g_autofree char *folder = g_dir_make_tmp ("dyno-XXXXXX", NULL), *ini = NULL, *report = NULL,
                  *kept = NULL;
  g_autoptr (GError) error = NULL;

  world_init (&w);
  g_assert_true (dyno_best_files_write_accuracy (folder, w.job, "card", w.result, &error));
  g_assert_no_error (error);
  ini = read_file (folder, "best.ini");
  report = read_file (folder, "report.html");
  assert_has (ini, "# Trial 1 is better by 20.50 points, proven on 2 seeds");
  assert_has (ini, "lr=0.1\n");
  assert_has (report, "lr=0.1");
  w.result->stopped = TRUE;
  w.result->n_known = w.result->runs->len;
  w.result->best = 0;
  g_assert_true (dyno_best_files_write_accuracy (folder, w.job, "card", w.result, &error));
  kept = read_file (folder, "best.ini");
  g_assert_cmpstr (kept, ==, ini);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_rmdir (folder);
}

/* The files of a proof stay until another search ends; those that are not proven until there is a
 * further measurement. */
static void
test_files_that_are_kept (void)
{
  static const struct {
    gboolean stopped, proven, measured, is_kept;
  } cases[] = {
    { FALSE, FALSE, FALSE, FALSE }, { FALSE, TRUE, FALSE, FALSE }, { FALSE, TRUE, TRUE, FALSE },
    { TRUE, FALSE, FALSE, TRUE },   { TRUE, FALSE, TRUE, FALSE },  { TRUE, TRUE, FALSE, TRUE },
    { TRUE, TRUE, TRUE, TRUE },
  };
  g_autofree char *folder = g_dir_make_tmp ("dyno-XXXXXX", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint exists = 0; exists < 2; exists++)
      {
        static const char *const names[] = { "best.ini", "best.json", "report.html" };
        g_auto (World) w = { 0 };
        g_autofree char *path = g_build_filename (folder, "best.ini", NULL), *ini = NULL;

        world_init (&w);
        w.result->stopped = cases[i].stopped;
        w.result->known_proven = cases[i].proven;
        w.result->n_known = w.result->runs->len - cases[i].measured;
        if (exists)
          g_assert_true (g_file_set_contents (path, "before", -1, NULL));
        g_assert_true (dyno_best_files_write_accuracy (folder, w.job, "card", w.result, NULL));
        ini = read_file (folder, "best.ini");
        g_assert_true (g_str_equal (ini, "before") == (exists && cases[i].is_kept));
        for (guint k = 0; k < G_N_ELEMENTS (names); k++)
          {
            g_autofree char *file = g_build_filename (folder, names[k], NULL);

            g_assert_true (g_unlink (file) == 0 || (exists && cases[i].is_kept));
          }
      }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/export/accuracyhtml/says-what-is-proven", test_says_what_is_proven);
  g_test_add_func ("/export/accuracyhtml/claims-no-more-than-the-verdict",
                   test_claims_no_more_than_the_verdict);
  g_test_add_func ("/export/accuracyhtml/files-of-the-choice", test_files_of_the_choice);
  g_test_add_func ("/export/accuracyhtml/files-that-are-kept", test_files_that_are_kept);
  g_test_add_func ("/export/accuracyhtml/a-seed-without-a-value", test_a_seed_without_a_value);
  return g_test_run ();
}
