/* SPDX-License-Identifier: MIT */
/* Metrics that a validation computes from its predictions: they equal an evaluation of the weights,
 * choose the best epoch, and are bit-identical however the run is interrupted. */
#include "bestepoch.h"
#include "classfigures.h"
#include "measure.h"
#include "metrics.h"
#include "shares.h"
#include "train-test.h"
#include <math.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=110&classes=7"
#define POSES  "builtin:poses?size=16&samples=90"

static DynoJob *
job_in (const char *folder, const char *data, const char *best_metric)
{
  g_autofree char *setting = g_strconcat ("best_metric=", best_metric, NULL);
  DynoJob *job = test_job ("simplecnn", data);

  job->out_dir = g_strdup (folder);
  test_job_set (job, setting, "data.val_split=0.4", "seed=5", "lr=0.02", NULL);
  return job;
}

/* Evaluates the last weights of a run on its validation part. */
static DynoScores *
measure_last (const char *folder, const char *data)
{
  g_autofree char *weights = g_build_filename (folder, "weights-last.safetensors", NULL);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) training = NULL, validation = NULL;
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = { .weights = weights, .batch = 7, .workers = 1, .device = -1 };
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, &error);
  g_autoptr (DynoPredictor) predictor = NULL;
  DynoScores *scores;

  g_assert_no_error (error);
  dyno_dataset_split (dataset, 0.4, 5, &training, &validation);
  predictor = dyno_predictor_new (&params, dataset, notes, NULL, &error);
  g_assert_no_error (error);
  scores = dyno_scores_measure (predictor, dataset, validation, 0, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (scores->n_samples, ==, validation->len);
  return scores;
}

static void
assert_near (double a, double b)
{
  g_assert_cmpfloat_with_epsilon (a, b, 1e-6 * MAX (1, fabs (b)));
}

/* Classes, with a short last batch; the columns of the metrics follow those of the loss. */
static void
test_classes_equal_the_evaluation (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in (folder, SHAPES, "balanced_accuracy");
  g_autoptr (DynoScores) scores = NULL;
  g_auto (TestRun) run = { 0 };
  DynoClassFigures figures;

  test_job_set (job, "epochs=3", NULL);
  test_run_good (&run, job);
  scores = measure_last (folder, SHAPES);
  dyno_class_figures_get (scores, &figures);
  g_assert_cmpuint (scores->n_samples % 16, !=, 0);
  g_assert_cmpuint (run.metrics.n, ==, 6);
  g_assert_cmpstr (run.metrics.infos[3].name, ==, "balanced_accuracy");
  g_assert_cmpstr (run.metrics.infos[4].name, ==, "f1_macro");
  g_assert_cmpstr (run.metrics.infos[5].name, ==, "precision_macro");
  assert_near (run.epoch.val_metrics[0], (double) scores->n_correct / (double) scores->n_samples);
  assert_near (run.epoch.val_metrics[3], figures.means.balanced_accuracy);
  assert_near (run.epoch.val_metrics[4], figures.means.f1);
  assert_near (run.epoch.val_metrics[5], figures.means.precision);
  g_assert_cmpfloat (run.epoch.val_metrics[5], !=, run.epoch.val_metrics[4]);
  g_assert_cmpfloat (run.epoch.val_metrics[3], !=, run.epoch.val_metrics[0]);
  g_assert_true (isnan (run.epoch.train_metrics[3]) && isnan (run.epoch.train_metrics[4]));
  test_remove_tree (folder);
}

/* Figures of probabilities are measured one at a time, where they are asked for, and do not add up
 * over the epochs. */
static void
test_probabilities_equal_the_evaluation (void)
{
  static const char *const names[] = { "roc_auc", "calibration_error" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *folder = test_folder ();
      g_autoptr (DynoJob) job = job_in (folder, SHAPES, names[i]);
      g_autoptr (DynoScores) scores = NULL;
      g_auto (TestRun) run = { 0 };
      DynoClassFigures figures;

      test_job_set (job, "epochs=3", NULL);
      test_run_good (&run, job);
      scores = measure_last (folder, SHAPES);
      dyno_class_figures_get (scores, &figures);
      g_assert_cmpuint (run.metrics.n, ==, 7);
      g_assert_cmpstr (run.metrics.infos[5].name, ==, "precision_macro");
      g_assert_cmpstr (run.metrics.infos[6].name, ==, names[i]);
      g_assert_true (run.metrics.infos[6].higher_is_better == (i == 0));
      assert_near (run.epoch.val_metrics[5], figures.means.precision);
      assert_near (run.epoch.val_metrics[6], i ? figures.calibration_error : figures.roc_auc);
      g_assert_true (isnan (run.epoch.train_metrics[6]));
      test_remove_tree (folder);
    }
}

/* Values, which the network learns in standardised form. */
static void
test_values_equal_the_evaluation (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in (folder, POSES, "r2");
  g_autoptr (DynoScores) scores = NULL;
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "epochs=2", NULL);
  test_run_good (&run, job);
  scores = measure_last (folder, POSES);
  g_assert_cmpuint (run.metrics.n, ==, 6);
  g_assert_cmpstr (run.metrics.infos[4].name, ==, "rms_error");
  g_assert_cmpstr (run.metrics.infos[4].unit, ==, "degrees");
  g_assert_cmpstr (run.metrics.infos[5].unit, ==, "");
  assert_near (run.epoch.val_metrics[4], dyno_value_sums_get_whole_rms_error (&scores->values));
  assert_near (run.epoch.val_metrics[5], dyno_value_sums_get_whole_r2 (&scores->values));
  /* the loss is the mean square */
  g_assert_cmpfloat_with_epsilon (run.epoch.val_metrics[4], sqrt (run.epoch.val_loss), 1e-3);
  g_assert_cmpfloat (run.epoch.val_metrics[5], <, 1);
  test_remove_tree (folder);
}

static DynoMetrics *
read_log (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (GError) error = NULL;
  DynoMetrics *log = dyno_metrics_read (path, &error);

  g_assert_no_error (error);
  return log;
}

/* The best epoch by the log; equal values are decided by the lower loss. */
static guint64
find_best (DynoMetrics *log, const char *name)
{
  DynoEpochMetrics best, other;
  DynoMetricTable table;
  int k;

  dyno_metrics_get_table (log, &table);
  k = dyno_metric_table_find_best (&table, name);
  g_assert_cmpint (k, >=, 0);
  dyno_metrics_copy_epochs (log, 0, 1, &best);
  for (guint64 i = 1; dyno_metrics_copy_epochs (log, i, 1, &other) == 1; i++)
    if (dyno_metric_is_better (&table.infos[k], other.val_metrics[k], best.val_metrics[k])
        || (other.val_metrics[k] == best.val_metrics[k] && other.val_loss < best.val_loss))
      best = other;
  return best.epoch;
}

/* The best epoch has the best value, for metrics to maximise and to minimise; the log names and
 * stores both metrics. */
static void
test_selects_the_best (void)
{
  static const struct {
    const char *data, *metric, *other;
  } cases[] = { { SHAPES, "f1_macro", "balanced_accuracy" },
                { SHAPES, "roc_auc", "precision_macro" },
                { SHAPES, "calibration_error", "f1_macro" },
                { POSES, "rms_error", "r2" },
                { POSES, "r2", "rms_error" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder ();
      g_autoptr (DynoJob) job = job_in (folder, cases[i].data, cases[i].metric);
      g_autoptr (DynoMetrics) log = NULL;
      g_auto (TestRun) run = { 0 };
      DynoMetricTable table;

      test_job_set (job, "epochs=5", "lr=0.05", NULL);
      test_run_good (&run, job);
      log = read_log (folder);
      g_assert_cmpuint (dyno_metrics_get_epochs (log), ==, 5);
      g_assert_cmpuint (run.best_epoch, ==, find_best (log, cases[i].metric));
      dyno_metrics_get_table (log, &table);
      g_assert_cmpint (dyno_metric_table_find_best (&table, cases[i].other), >=, 0);
      g_assert_cmpuint (table.n, ==, run.metrics.n);
      test_remove_tree (folder);
    }
}

/* Predictions of two epochs on unbalanced data, nine samples of the first class and one of the
 * second: the epoch with the higher accuracy is not the one with the higher balanced accuracy. */
static void
test_unbalanced_classes (void)
{
  /* Number of wrong predictions for each class. */
  static const guint wrong[2][2] = { { 0, 1 }, { 2, 0 } };
  static const char *const names[] = { "accuracy", "balanced_accuracy" };
  DynoPosition positions[2];
  double values[2][2];

  for (guint epoch = 0; epoch < 2; epoch++)
    {
      DynoClassCounts counts;
      DynoClassMeans means;

      dyno_class_counts_init (&counts, 2);
      for (guint32 i = 0; i < 10; i++)
        {
          guint32 truth = i == 9, missed = truth ? wrong[epoch][1] : i < wrong[epoch][0];

          dyno_class_counts_add (&counts, truth, missed ? 1 - truth : truth);
        }
      dyno_class_counts_get_means (&counts, &means);
      values[0][epoch] = (double) (counts.right[0] + counts.right[1]) / 10;
      values[1][epoch] = means.balanced_accuracy;
      dyno_class_counts_clear (&counts);
    }
  for (guint k = 0; k < 2; k++)
    {
      DynoMetricInfo metric;

      g_assert_true (dyno_metric_find (names[k], &metric));
      positions[k] =
          (DynoPosition){ .best_val_metric = (double) NAN, .best_val_loss = (double) NAN };
      for (guint epoch = 0; epoch < 2; epoch++)
        dyno_position_take_validation (&positions[k],
                                       &(DynoValidated){ epoch + 1, 1, &metric, values[k][epoch] });
    }
  g_assert_cmpuint (positions[0].best_epoch, ==, 1);
  g_assert_cmpuint (positions[1].best_epoch, ==, 2);
  g_assert_cmpfloat_with_epsilon (positions[1].best_val_metric, (7.0 / 9 + 1) / 2, 1e-12);
}

/* The logits of the second class for ten samples, of which the last five are of that class.  The
 * first epoch has fewer wrong predictions; the second one ranks all samples right, with a limit
 * that is too high; the third one is as often right as it is sure. */
static const float ranked[3][10] = { { -4, -4, -4, -4, 9, 4, 4, 4, 4, 4 },
                                     { -9, -9, -9, -8, -7, -2, -1, -1, 5, 5 },
                                     { -1, -1, -1, 1, 1, 1, 1, 1, -1, 1 } };

static void
measure_ranked (guint epoch, double *accuracy, double *roc_auc, double *calibration_error)
{
  DynoShareSums areas, calibration;

  dyno_share_sums_init (&areas, 2, TRUE);
  dyno_share_sums_init (&calibration, 2, FALSE);
  *accuracy = 0;
  for (guint i = 0; i < 10; i++)
    {
      float logits[] = { 0, ranked[epoch][i] };
      guint32 predicted = dyno_class_of_logits (logits, 2);

      *accuracy += (predicted == (i >= 5)) / 10.0;
      dyno_share_sums_add (&areas, logits, i >= 5, predicted);
      dyno_share_sums_add (&calibration, logits, i >= 5, predicted);
    }
  *roc_auc = dyno_share_sums_get_roc_auc (&areas);
  *calibration_error = dyno_share_sums_get_calibration_error (&calibration);
  g_assert_true (isnan (dyno_share_sums_get_roc_auc (&calibration)));
  g_assert_true (isnan (dyno_share_sums_get_calibration_error (&areas)));
  dyno_share_sums_clear (&areas);
  dyno_share_sums_clear (&calibration);
}

/* Each metric has another best epoch.  The best calibration error is the smallest one, also for the
 * early stop. */
static void
test_best_by_probabilities (void)
{
  static const char *const names[] = { "accuracy", "roc_auc", "calibration_error" };
  DynoPosition positions[3];
  double values[3][3];

  for (guint epoch = 0; epoch < 3; epoch++)
    measure_ranked (epoch, &values[0][epoch], &values[1][epoch], &values[2][epoch]);
  for (guint k = 0; k < 3; k++)
    {
      DynoMetricInfo metric;

      g_assert_true (dyno_metric_find (names[k], &metric));
      positions[k] = (DynoPosition){ .best_val_metric = (double) NAN,
                                     .best_val_loss = (double) NAN,
                                     .early_best = (double) NAN };
      for (guint epoch = 0; epoch < 3; epoch++)
        {
          DynoValidated validated = { epoch + 1, 1, &metric, values[k][epoch] };

          dyno_position_take_validation (&positions[k], &validated);
          dyno_position_take_gain (&positions[k], &validated, 1e-6);
        }
      g_assert_cmpuint (positions[k].best_epoch, ==, k + 1);
      g_assert_cmpuint (positions[k].early_epoch, ==, k + 1);
      g_assert_cmpfloat (positions[k].best_val_metric, ==, values[k][k]);
    }
  g_assert_cmpfloat (values[1][1], ==, 1);
  g_assert_cmpfloat_with_epsilon (values[2][2], 1 / (1 + exp (-1)) - 0.7, 1e-7);
}

static void
stop_at (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == GPOINTER_TO_UINT (data))
    dyno_session_stop (session, FALSE);
}

/* A run that is stopped during an epoch and resumed with other workers has bit-identical
 * validations and best weights. */
static void
resume_to_the_bit (const char *metric)
{
  g_autofree char *whole_dir = test_folder (), *part_dir = test_folder ();
  g_autofree char *whole_best = g_build_filename (whole_dir, "weights.safetensors", NULL),
                  *part_best = g_build_filename (part_dir, "weights.safetensors", NULL);
  g_autoptr (DynoJob) whole = job_in (whole_dir, SHAPES, metric),
                      part = job_in (part_dir, SHAPES, metric);
  g_auto (TestRun) all = { 0 }, first = { 0 }, rest = { 0 };
  g_autoptr (DynoMetrics) one = NULL, other = NULL;
  DynoMetricTable table;
  int k;

  test_job_set (whole, "epochs=4", "workers=1", "lr=0.05", NULL);
  test_job_set (part, "epochs=4", "workers=3", "lr=0.05", NULL);
  test_run_good (&all, whole);
  test_run (&first, part, stop_at, GUINT_TO_POINTER (10));
  g_assert_no_error (first.error);
  g_assert_cmpint (first.state, ==, DYNO_SESSION_STOPPED);
  part->resume = g_strdup (part_dir);
  test_job_set (part, "workers=2", NULL);
  test_run_good (&rest, part);
  g_assert_cmpuint (rest.best_epoch, ==, all.best_epoch);
  g_assert_cmpfloat (rest.best_val_accuracy, ==, all.best_val_accuracy);
  g_assert_cmpmem (rest.epoch.val_metrics, sizeof rest.epoch.val_metrics, all.epoch.val_metrics,
                   sizeof all.epoch.val_metrics);
  test_assert_same_file (whole_best, part_best);
  one = read_log (whole_dir);
  other = read_log (part_dir);
  dyno_metrics_get_table (one, &table);
  k = dyno_metric_table_find_best (&table, metric);
  g_assert_cmpint (k, >, 0);
  g_assert_cmpuint (dyno_metrics_get_epochs (other), ==, 4);
  for (guint64 i = 0; i < 4; i++)
    {
      DynoEpochMetrics a, b;

      dyno_metrics_copy_epochs (one, i, 1, &a);
      dyno_metrics_copy_epochs (other, i, 1, &b);
      g_assert_cmpfloat (a.val_metrics[k], ==, b.val_metrics[k]);
    }
  test_remove_tree (whole_dir);
  test_remove_tree (part_dir);
}

static void
test_resumes_to_the_bit (void)
{
  static const char *const metrics[] = { "f1_macro", "roc_auc", "calibration_error" };

  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    resume_to_the_bit (metrics[i]);
}

/* Values and losses are equal in all epochs, so the first epoch stays the best, and the early stop
 * counts the others. */
static void
test_early_stop_goes_by_it (void)
{
  g_autoptr (DynoJob) job = job_in (NULL, SHAPES, "balanced_accuracy");
  g_auto (TestRun) run = { 0 };

  g_free (job->model);
  job->model = g_strdup ("mlp"); /* it has no running statistics */
  test_job_set (job, "lr=0", "epochs=9", "early_stop.patience=2", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.epochs, ==, 3);
  g_assert_cmpuint (run.best_epoch, ==, 1);
  g_assert_true (test_has_warning (&run, "(balanced_accuracy) has not been better"));
}

static gboolean
counts_predictions (const DynoJobPlan *plan)
{
  for (guint i = 0; i < plan->host.n; i++)
    if (strcmp (plan->host.buffers[i].purpose, "predictions") == 0)
      return plan->host.buffers[i].size_bytes > 0;
  return FALSE;
}

/* A run that does not request the metrics has neither their memory nor their columns. */
static void
test_only_where_asked_for (void)
{
  static const char *const metrics[] = { "accuracy", "f1_macro" };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoJob) job = job_in (NULL, SHAPES, metrics[i]);
      g_auto (TestRun) run = { 0 };

      test_job_set (job, "epochs=1", NULL);
      test_run_good (&run, job);
      g_assert_cmpuint (run.metrics.n, ==, i ? 6 : 3);
      g_assert_cmpuint (dyno_metric_table_find_validation (&run.metrics), ==, 3);
      g_assert_cmpint (counts_predictions (&run.plan), ==, i);
    }
}

/* The list in the error has all metrics, including those that the run could not measure. */
static void
test_other_names_are_refused (void)
{
  static const struct {
    const char *data, *metric, *listed;
  } cases[] = {
    { SHAPES, "r2",
      "“r2”: what this run measures is loss, accuracy, log_loss, top5, "
      "balanced_accuracy, f1_macro, precision_macro, roc_auc, calibration_error" },
    { POSES, "roc_auc",
      "“roc_auc”: what this run measures is loss, mean_abs_error, mean_abs_error_yaw, "
      "mean_abs_error_pitch, mean_abs_error_roll, rms_error, r2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoJob) job = job_in (NULL, cases[i].data, cases[i].metric);
      g_auto (TestRun) run = { 0 };

      test_run (&run, job, NULL, NULL);
      g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
      g_assert_nonnull (strstr (run.error->message, cases[i].listed));
    }
}

/* More probabilities than are kept are refused before the first step; other figures of as many
 * samples need no memory. */
static void
test_too_many_samples (void)
{
  g_autoptr (DynoJob) job = job_in (NULL, "builtin:shapes?size=16&samples=24000000", "roc_auc");
  const DynoMetricInfo *metrics = dyno_class_validation_metrics;
  guint64 most = DYNO_SCORES_MOST_OUTPUTS / 4;
  g_autoptr (GError) error = NULL;
  g_auto (TestRun) run = { 0 };

  g_free (job->model);
  job->model = g_strdup ("mlp");
  test_job_set (job, "data.val_split=0.9", NULL);
  test_run (&run, job, stop_at, GUINT_TO_POINTER (1));
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  g_assert_nonnull (strstr (run.error->message, "“roc_auc” needs"));
  g_assert_cmpuint (run.losses->len, ==, 0);
  for (guint i = 0; metrics[i].name; i++)
    {
      gboolean keeps = i == DYNO_CLASS_METRIC_ROC_AUC;

      g_assert_true (dyno_scores_check_metric (&metrics[i], most, 4, &error));
      g_assert_no_error (error);
      g_assert_true (dyno_scores_check_metric (&metrics[i], most + 1, 4, &error) == !keeps);
      g_assert_true (keeps == (error != NULL));
      g_clear_error (&error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/figures/unbalanced-classes", test_unbalanced_classes);
  g_test_add_func ("/train/figures/classes-equal-the-evaluation",
                   test_classes_equal_the_evaluation);
  g_test_add_func ("/train/figures/probabilities-equal-the-evaluation",
                   test_probabilities_equal_the_evaluation);
  g_test_add_func ("/train/figures/best-epoch-by-probabilities", test_best_by_probabilities);
  g_test_add_func ("/train/figures/too-many-samples-are-refused", test_too_many_samples);
  g_test_add_func ("/train/figures/values-equal-the-evaluation", test_values_equal_the_evaluation);
  g_test_add_func ("/train/figures/select-the-best-epoch", test_selects_the_best);
  g_test_add_func ("/train/figures/resume-to-the-bit", test_resumes_to_the_bit);
  g_test_add_func ("/train/figures/early-stop-goes-by-them", test_early_stop_goes_by_it);
  g_test_add_func ("/train/figures/only-where-asked-for", test_only_where_asked_for);
  g_test_add_func ("/train/figures/other-names-are-refused", test_other_names_are_refused);
  return g_test_run ();
}
