/* SPDX-License-Identifier: MIT */
/* Prediction: the same numbers as the run's own validation, samples that cannot be read, an end by
 * the caller; and the scores of predictions. */
#include "classfigures.h"
#include "predictiontable.h"
#include "rng.h"
#include "scores.h"
#include "train-test.h"
#include "weightsfile.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=48&classes=3"

static char *
in_folder (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Trains one epoch in folder. */
static void
train (const char *folder, TestRun *run)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", SHAPES);

  job->out_dir = g_strdup (folder);
  test_job_set (job, "epochs=1", "data.val_split=0.5", "seed=5", NULL);
  test_run_good (run, job);
}

static DynoPredictor *
open_predictor (const char *weights, DynoDataset *dataset, guint32 batch)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = { .weights = weights, .batch = batch, .workers = 1, .device = -1 };
  DynoPredictor *predictor = dyno_predictor_new (&params, dataset, notes, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (notes->len, ==, 0);
  return predictor;
}

typedef struct {
  DynoDataset *dataset;
  DynoScores *scores;
  GArray *order; /* guint64 */
  guint n_problems, stop_after;
  GCancellable *cancellable;
} Report;

static gboolean
on_prediction (const DynoPrediction *prediction, gpointer data)
{
  Report *told = data;

  g_array_append_val (told->order, prediction->index);
  told->n_problems += prediction->problem != NULL;
  if (told->scores)
    dyno_scores_add_class (told->scores, prediction,
                           (guint32) dyno_dataset_get_label (told->dataset, prediction->index));
  if (told->cancellable)
    g_cancellable_cancel (told->cancellable);
  return told->stop_after == 0 || told->order->len < told->stop_after;
}

/* The best weights give the run's own figures on its validation part, in batches that do not divide
 * it; only these samples are passed to the callback, in their order. */
static void
test_equals_validation (void)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors");
  g_auto (TestRun) run = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) part = NULL, other = NULL;

  train (folder, &run);
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (SHAPES, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  dyno_dataset_split (dataset, 0.5, 5, &other, &part);
  g_autoptr (DynoPredictor) predictor = open_predictor (weights, dataset, 7);
  g_autoptr (DynoScores) scores = dyno_scores_new (dyno_predictor_get_info (predictor), 4);
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint64));
  Report told = { .dataset = dataset, .scores = scores, .order = order };

  dyno_predictor_run (predictor, part, on_prediction, &told, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (order->len, ==, part->len);
  for (guint i = 0; i < part->len; i++)
    g_assert_cmpuint (g_array_index (order, guint64, i), ==, g_array_index (part, guint32, i));
  g_assert_cmpfloat_with_epsilon (dyno_scores_get_loss (scores), run.epoch.val_loss, 1e-5);
  g_assert_cmpfloat_with_epsilon ((double) scores->n_correct / part->len, run.best_val_accuracy,
                                  1e-9);
  g_assert_cmpuint (scores->worst->len, ==, 4);
  g_assert_cmpfloat (g_array_index (scores->worst, DynoScored, 0).loss, >=,
                     g_array_index (scores->worst, DynoScored, 3).loss);

  /* Two more predictions: one is ended by the callback, one by the cancellable. */
  g_array_set_size (order, 0);
  told.scores = NULL;
  told.stop_after = 3;
  g_assert_true (dyno_predictor_run (predictor, NULL, on_prediction, &told, NULL, &error));
  g_assert_cmpuint (order->len, ==, 3);
  told.stop_after = 0;
  told.cancellable = g_cancellable_new ();
  g_assert_false (
      dyno_predictor_run (predictor, NULL, on_prediction, &told, told.cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_object_unref (told.cancellable);
  test_remove_tree (folder);
}

/* Writes a weights file of a model with fixed values, which the file itself does not describe. */
static void
put_headpose (const char *path)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = { .model = "headpose_resnet18",
                               .model_width = 0.05,
                               .n_outputs = 3,
                               .batch = 1,
                               .mode = DYNO_MODE_PREDICT,
                               .precision = dyno_precision_of_amp (FALSE) };
  const char *const metadata[] = { "model.width", "0.05", NULL };

  dyno_schema_add (&params.schema, &(DynoBatchField){ .name = "image",
                                                      .role = DYNO_FIELD_INPUT,
                                                      .element = DYNO_ELEMENT_U8,
                                                      .n_axes = 3,
                                                      .shape = { 32, 32, 3 },
                                                      .axes = "HWC" });
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  DynoWeights *weights = dyno_weights_new (graph, &error);
  dyno_weights_save (weights, graph, path, metadata, &error);
  g_assert_no_error (error);
  dyno_weights_free (weights);
}

/* A model that is made for values predicts them, by their names, and has no classes. */
static void
test_values_of_the_model (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "weights.safetensors");
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = {
    .weights = path, .model = "headpose_resnet18", .image_size = 32, .workers = 1, .device = -1
  };

  put_headpose (path);
  g_autoptr (DynoDataset) poses =
      dyno_dataset_open ("builtin:poses?size=32&samples=2", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (DynoPredictor) predictor = dyno_predictor_new (&params, poses, notes, NULL, &error);
  g_assert_no_error (error);
  const DynoWeightsInfo *info = dyno_predictor_get_info (predictor);
  g_assert_true (info->is_values);
  g_assert_cmpuint (info->n_outputs, ==, 3);
  g_assert_cmpstr (info->target_names[1], ==, "pitch");
  g_assert_cmpstr (info->target_units[2], ==, "degrees");
  g_assert_null (info->target_names[3]);
  test_remove_tree (folder);
}

/* A weights file for another kind of data is refused with the reason. */
static void
test_other_data_is_refused (void)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors");
  g_auto (TestRun) run = { 0 };
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = { .weights = weights, .device = -1 };

  train (folder, &run);
  g_autoptr (DynoDataset) waves =
      dyno_dataset_open ("builtin:waves?length=16&samples=8", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (dyno_predictor_new (&params, waves, notes, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_nonnull (strstr (error->message, "sequences of 3 features a step"));
  g_assert_nonnull (strstr (error->message, "samples of 16 x 16 x 3"));
  test_remove_tree (folder);
}

static void
add (DynoScores *scores, guint64 index, guint32 truth, float a, float b, float c)
{
  float logits[3] = { a, b, c }, shares[3] = { 0, 0, 0 };
  DynoPrediction prediction = { .index = index, .logits = logits, .shares = shares };

  dyno_scores_add_class (scores, &prediction, truth);
}

/* Computed by hand: three classes, one of which is never predicted. */
static void
test_scores_classes (void)
{
  DynoWeightsInfo info = { .n_outputs = 3 };
  g_autoptr (DynoScores) scores = dyno_scores_new (&info, 2);
  DynoPrediction bad = { .problem = "no" };

  add (scores, 10, 0, 2, 0, 0);
  add (scores, 11, 0, 0, 1000, 0); /* its exponential overflows */
  add (scores, 12, 1, 0, 1, 0);
  add (scores, 13, 2, 0, 1, 0);
  dyno_scores_add_class (scores, &bad, 0);
  g_assert_cmpuint (scores->n_samples, ==, 4);
  g_assert_cmpuint (scores->n_unreadable, ==, 1);
  g_assert_cmpuint (scores->n_correct, ==, 2);
  g_assert_cmpuint (scores->confusion[0 * 3 + 1], ==, 1);
  g_assert_cmpuint (scores->confusion[2 * 3 + 1], ==, 1);
  g_assert_cmpfloat (dyno_scores_get_recall (scores, 0), ==, 0.5);
  g_assert_cmpfloat (dyno_scores_get_precision (scores, 0), ==, 1);
  g_assert_cmpfloat_with_epsilon (dyno_scores_get_precision (scores, 1), 1.0 / 3, 1e-12);
  g_assert_true (isnan (dyno_scores_get_precision (scores, 2)));
  g_assert_cmpfloat (dyno_scores_get_recall (scores, 2), ==, 0);
  g_assert_cmpfloat_with_epsilon (
      scores->loss_sum, log (1 + 2 * exp (-2)) + 1000 + log (1 + 2 * exp (-1)) + log (2 + exp (1)),
      1e-9);
  g_assert_cmpuint (scores->worst->len, ==, 2);
  g_assert_cmpuint (g_array_index (scores->worst, DynoScored, 0).index, ==, 11);
  g_assert_cmpuint (g_array_index (scores->worst, DynoScored, 1).index, ==, 13);
}

static void
add_ten (DynoScores *scores, guint64 index, guint32 truth, const float *logits)
{
  float shares[10] = { 0 };
  DynoPrediction prediction = { .index = index, .logits = (float *) logits, .shares = shares };

  dyno_scores_add_class (scores, &prediction, truth);
}

/* Of equal logits the first ones rank higher, so a row of equal logits has the first five of ten
 * classes as its top five; of equal losses the first samples are the worst. */
static void
test_scores_of_equals (void)
{
  static const float even[10] = { 0 }, rising[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  DynoWeightsInfo info = { .n_outputs = 10 };
  g_autoptr (DynoScores) scores = dyno_scores_new (&info, 3);

  for (guint32 truth = 0; truth < 10; truth++)
    add_ten (scores, 20 + truth, truth, even);
  g_assert_cmpuint (scores->n_correct, ==, 1);
  g_assert_cmpuint (scores->n_correct_5, ==, 5);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (g_array_index (scores->worst, DynoScored, i).index, ==, 20 + i);
  for (guint32 truth = 0; truth < 10; truth++)
    add_ten (scores, 40 + truth, truth, rising);
  g_assert_cmpuint (scores->n_correct, ==, 2);
  g_assert_cmpuint (scores->n_correct_5, ==, 10);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (g_array_index (scores->worst, DynoScored, i).index, ==, 40 + i);
}

#define DRAWN_CLASSES 5
#define DRAWN_SAMPLES 60

typedef struct {
  guint32 truth[DRAWN_SAMPLES];
  float shares[DRAWN_SAMPLES][DRAWN_CLASSES];
} Drawn;

/* Draws probabilities in steps of 1/20, so that many are equal; the last class is never the
 * truth. */
static void
draw (Drawn *d, guint seed)
{
  DynoRng rng = dyno_rng_init (seed, 0);

  for (guint i = 0; i < DRAWN_SAMPLES; i++)
    {
      guint left = 20;

      d->truth[i] = (guint32) dyno_rng_below (&rng, DRAWN_CLASSES - 1);
      for (guint k = 0; k < DRAWN_CLASSES; k++)
        {
          guint part = k + 1 < DRAWN_CLASSES ? (guint) dyno_rng_below (&rng, left + 1) : left;

          d->shares[i][(k + i) % DRAWN_CLASSES] = (float) part / 20;
          left -= part;
        }
    }
}

static guint
find_predicted (const Drawn *d, guint i)
{
  guint best = 0;

  for (guint k = 1; k < DRAWN_CLASSES; k++)
    best = d->shares[i][k] > d->shares[i][best] ? k : best;
  return best;
}

/* The share of correctly ordered pairs, in which an equal pair counts half. */
static double
define_roc_auc (const Drawn *d, guint k)
{
  double won = 0, pairs = 0;

  for (guint i = 0; i < DRAWN_SAMPLES; i++)
    for (guint j = 0; j < DRAWN_SAMPLES; j++)
      if (d->truth[i] == k && d->truth[j] != k)
        {
          float x = d->shares[i][k], y = d->shares[j][k];

          pairs++;
          won += x > y ? 1 : x < y ? 0 : 0.5;
        }
  return won / pairs;
}

/* The sum over all thresholds of 1/20 of the precision, times the recall that the threshold
 * adds. */
static double
define_average_precision (const Drawn *d, guint k)
{
  double sum = 0, before = 0, all = 0;

  for (guint i = 0; i < DRAWN_SAMPLES; i++)
    all += d->truth[i] == k;
  for (int least = 20; least >= 0; least--)
    {
      double right = 0, n = 0;

      for (guint i = 0; i < DRAWN_SAMPLES; i++)
        if (d->shares[i][k] >= ((float) least - 0.5f) / 20)
          {
            n++;
            right += d->truth[i] == k;
          }
      if (n > 0)
        sum += (right - before) / all * right / n;
      before = right;
    }
  return sum;
}

/* The figures follow their definitions, over the classes that occur. */
static void
test_class_figures (void)
{
  DynoWeightsInfo info = { .n_outputs = DRAWN_CLASSES };

  for (guint seed = 1; seed <= 20; seed++)
    {
      g_autoptr (DynoScores) scores = dyno_scores_new (&info, 0);
      double roc_auc = 0, average_precision = 0, f1 = 0, weighted = 0, recall = 0, precision = 0,
             error = 0;
      DynoClassFigures figures;
      Drawn d;

      draw (&d, seed);
      for (guint i = 0; i < DRAWN_SAMPLES; i++)
        {
          DynoPrediction one = { .index = i, .logits = d.shares[i], .shares = d.shares[i] };

          dyno_scores_add_class (scores, &one, d.truth[i]);
        }
      for (guint k = 0; k < DRAWN_CLASSES; k++)
        {
          double right = 0, there = 0, predicted = 0;

          for (guint i = 0; i < DRAWN_SAMPLES; i++)
            {
              gboolean is = d.truth[i] == k, was = find_predicted (&d, i) == k;

              right += is && was;
              there += is;
              predicted += was;
            }
          g_assert_cmpfloat (predicted, >, 0);
          f1 += 2 * right / (there + predicted) / DRAWN_CLASSES;
          weighted += 2 * right / (there + predicted) * there / DRAWN_SAMPLES;
          precision += right / predicted / DRAWN_CLASSES;
          if (k + 1 == DRAWN_CLASSES)
            continue;
          recall += right / there / (DRAWN_CLASSES - 1);
          roc_auc += define_roc_auc (&d, k) / (DRAWN_CLASSES - 1);
          average_precision += define_average_precision (&d, k) / (DRAWN_CLASSES - 1);
        }
      for (guint bin = 0; bin < 15; bin++)
        {
          double sum = 0;

          for (guint i = 0; i < DRAWN_SAMPLES; i++)
            {
              guint best = find_predicted (&d, i);
              double share = (double) d.shares[i][best];

              if (share > bin / 15.0 && share <= (bin + 1) / 15.0)
                sum += share - (best == d.truth[i]);
            }
          error += fabs (sum) / DRAWN_SAMPLES;
        }
      dyno_class_figures_get (scores, &figures);
      g_assert_cmpfloat_with_epsilon (figures.means.f1, f1, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.means.weighted_f1, weighted, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.means.precision, precision, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.means.recall,
                                      recall * (DRAWN_CLASSES - 1) / DRAWN_CLASSES, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.means.balanced_accuracy, recall, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.roc_auc, roc_auc, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.average_precision, average_precision, 1e-12);
      g_assert_cmpfloat_with_epsilon (figures.calibration_error, error, 1e-6);
    }
}

/* With one class only, no area is defined; without samples, no figure is. */
static void
test_class_figures_of_one_class (void)
{
  DynoWeightsInfo info = { .n_outputs = 3 };
  g_autoptr (DynoScores) scores = dyno_scores_new (&info, 0);
  DynoClassFigures figures;

  dyno_class_figures_get (scores, &figures);
  g_assert_true (isnan (figures.means.f1) && isnan (figures.calibration_error));
  g_assert_true (isnan (figures.means.balanced_accuracy) && isnan (figures.roc_auc));
  add (scores, 0, 1, 0, 1, 0);
  add (scores, 1, 1, 1, 0, 0);
  dyno_class_figures_get (scores, &figures);
  g_assert_true (isnan (figures.roc_auc) && isnan (figures.average_precision));
  g_assert_cmpfloat (figures.means.balanced_accuracy, ==, 0.5);
  g_assert_cmpfloat_with_epsilon (figures.means.f1, (2.0 / 3 + 0) / 2, 1e-12);
}

static void
test_scores_values (void)
{
  DynoWeightsInfo info = { .n_outputs = 1, .is_values = TRUE };
  g_autoptr (DynoScores) scores = dyno_scores_new (&info, 1);
  float truths[] = { 1, 2, 3 }, told[] = { 1, 2.5f, 2 };

  for (guint i = 0; i < 3; i++)
    {
      DynoPrediction prediction = { .index = i, .logits = &told[i] };
      dyno_scores_add_values (scores, &prediction, &truths[i]);
    }
  g_assert_cmpfloat_with_epsilon (scores->values.absolute[0], 1.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_scores_get_r2 (scores, 0), 1 - 1.25 / 2, 1e-9);
  g_assert_cmpuint (g_array_index (scores->worst, DynoScored, 0).index, ==, 2);
  g_assert_cmpuint (scores->samples->len, ==, 3);
  g_assert_cmpfloat (g_array_index (scores->samples, DynoScored, 1).loss, ==, 0.25);
  g_assert_cmpfloat (g_array_index (scores->outputs, float, 1), ==, 2.5f);
}

/* Sums of three values, the last of which is the same in all samples. */
static void
test_sums_of_values (void)
{
  const float truths[3][3] = { { 1, 10, 7 }, { 2, 10, 7 }, { 3, 40, 7 } },
              told[3][3] = { { 1, 10, 7 }, { 2.5f, 20, 7 }, { 2, 40, 8 } };
  DynoValueSums sums;

  dyno_value_sums_init (&sums, 3);
  g_assert_true (isnan (dyno_value_sums_get_whole_rms_error (&sums)));
  g_assert_true (isnan (dyno_value_sums_get_whole_r2 (&sums)));
  for (guint i = 0; i < 3; i++)
    dyno_value_sums_add (&sums, told[i], truths[i]);
  g_assert_cmpfloat_with_epsilon (dyno_value_sums_get_rms_error (&sums, 1), sqrt (100.0 / 3), 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_value_sums_get_whole_rms_error (&sums),
                                  sqrt ((1.25 + 100 + 1) / 9), 1e-9);
  g_assert_true (isnan (dyno_value_sums_get_r2 (&sums, 2)));
  g_assert_cmpfloat_with_epsilon (dyno_value_sums_get_whole_r2 (&sums),
                                  (1 - 1.25 / 2 + 1 - 100.0 / 600) / 2, 1e-9);
  dyno_value_sums_reset (&sums);
  for (guint i = 0; i < 1000; i++) /* no whole number, so that its sums are rounded */
    dyno_value_sums_add (&sums, (const float[]){ 0.2f, 0.8f, 37 },
                         (const float[]){ 0.1f, 0.7f, 37.2f });
  for (guint i = 0; i < 3; i++)
    g_assert_true (isnan (dyno_value_sums_get_r2 (&sums, i)));
  dyno_value_sums_reset (&sums);
  g_assert_true (sums.n_samples == 0 && sums.square[0] == 0 && sums.truth_square[2] == 0);
  dyno_value_sums_clear (&sums);
}

/* Classes are matched by name, in any order; a class that the weights lack matters only where it
 * has samples. */
static void
test_matches_classes_by_name (void)
{
  g_auto (GStrv) theirs = g_strsplit ("cat dog owl", " ", -1),
                 ours = g_strsplit ("owl cat yak", " ", -1);
  guint64 counts[] = { 1, 1, 0 };
  DynoWeightsInfo info = { .n_outputs = 3, .class_names = theirs };
  DynoDatasetInfo data = {
    .name = (char *) "zoo", .n_classes = 3, .class_names = ours, .class_counts = counts
  };
  g_autoptr (GError) error = NULL;
  g_autofree guint32 *map = dyno_scores_match_classes (&info, &data, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (map[0], ==, 2);
  g_assert_cmpuint (map[1], ==, 0);
  counts[2] = 4;
  g_assert_null (dyno_scores_match_classes (&info, &data, &error));
  g_assert_nonnull (strstr (error->message, "yak"));
}

/* Classes that are named by their numbers alone, or that the weights do not name, are those of the
 * outputs in their order; where one of them has another name, names decide. */
static void
test_matches_classes_by_number (void)
{
  static const struct {
    const char *theirs, *ours;
    guint32 n_outputs;
    guint64 last;  /* samples of the last class */
    gint64 map[3]; /* -1: there is no output; all 0: refused */
  } cases[] = {
    { "cat dog owl", "0 1 2", 3, 1, { 0, 1, 2 } },   { NULL, "cat dog owl", 3, 1, { 0, 1, 2 } },
    { "cat dog", "0 1 2", 2, 0, { 0, 1, -1 } },      { "cat dog", "0 1 2", 2, 1, { 0 } },
    { "2 1 cat", "cat 1 2", 3, 1, { 2, 1, 0 } },     { "1 0 cat", "0 1 cat", 3, 1, { 1, 0, 2 } },
    { "cat dog owl", "cat dog", 3, 1, { 0, 1, 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) theirs = cases[i].theirs ? g_strsplit (cases[i].theirs, " ", -1) : NULL,
                     ours = g_strsplit (cases[i].ours, " ", -1);
      guint32 n = g_strv_length (ours);
      guint64 counts[] = { 1, 1, cases[i].last };
      DynoWeightsInfo info = { .n_outputs = cases[i].n_outputs, .class_names = theirs };
      DynoDatasetInfo data = {
        .name = (char *) "zoo", .n_classes = n, .class_names = ours, .class_counts = counts
      };
      g_autoptr (GError) error = NULL;
      g_autofree guint32 *map = dyno_scores_match_classes (&info, &data, &error);

      if (cases[i].map[1] == 0 && cases[i].map[0] == 0)
        {
          g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
          continue;
        }
      g_assert_no_error (error);
      for (guint32 k = 0; k < n; k++)
        g_assert_cmpuint (map[k], ==, (guint32) cases[i].map[k]);
    }
}

/* The metric that needs all probabilities of a validation is refused from one sample too many on, and
 * no other metric is. */
static void
test_probabilities_that_are_kept (void)
{
  const DynoMetricInfo *keeps = &dyno_class_validation_metrics[DYNO_CLASS_METRIC_ROC_AUC],
                       *other = &dyno_cross_entropy_metrics[0];
  const guint64 most = DYNO_SCORES_MOST_OUTPUTS;

  for (guint32 n = 1; n <= 1000; n *= 10)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (dyno_scores_check_metric (keeps, most / n, n, &error));
      g_assert_true (dyno_scores_check_metric (other, most, n, &error));
      g_assert_no_error (error);
      g_assert_false (dyno_scores_check_metric (keeps, most / n + 1, n, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
    }
}

/* Weights and data of another kind of target are refused, with both kinds. */
static void
test_other_targets_are_refused (void)
{
  g_auto (GStrv) names = g_strsplit ("cat dog", " ", -1);
  guint64 counts[] = { 1, 1 };
  static const struct {
    gboolean values, labels, classes, data_labels;
    const char *words;
  } cases[] = {
    { TRUE, FALSE, TRUE, FALSE, "weights predict values; “zoo” has classes" },
    { FALSE, FALSE, FALSE, FALSE, "weights predict classes; “zoo” has none" },
    { FALSE, TRUE, TRUE, FALSE, "several labels of a sample; “zoo” has none" },
    { FALSE, FALSE, TRUE, TRUE, "one answer for a sample; “zoo” has several labels" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoWeightsInfo info = { .n_outputs = 2,
                               .is_values = cases[i].values,
                               .is_labels = cases[i].labels };
      DynoDatasetInfo data = { .name = (char *) "zoo",
                               .n_classes = cases[i].classes ? 2 : 0,
                               .class_names = names,
                               .class_counts = counts };
      g_autoptr (GError) error = NULL;

      if (cases[i].data_labels)
        dyno_schema_add_labels (&data.schema, 2);
      g_assert_null (dyno_scores_match_classes (&info, &data, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
      if (!strstr (error->message, cases[i].words))
        g_error ("“%s” lacks “%s”", error->message, cases[i].words);
    }
}

/* Of equal probabilities the lower number is first, wherever the ranking ends. */
static void
test_ranking (void)
{
  static const float shares[] = { 0.1f, 0.3f, 0.1f, 0.3f, 0.15f, 0.05f };
  static const guint32 order[] = { 1, 3, 4, 0, 2, 5 };

  for (guint most = 1; most <= 8; most++)
    {
      guint32 ranked[9];

      for (guint i = 0; i < G_N_ELEMENTS (ranked); i++)
        ranked[i] = 99;
      g_assert_cmpuint (dyno_prediction_rank (shares, 6, most, ranked), ==, MIN (most, 6));
      for (guint i = 0; i < G_N_ELEMENTS (ranked); i++)
        g_assert_cmpuint (ranked[i], ==, i < MIN (most, 6) ? order[i] : 99);
    }
}

/* A label is chosen from its own threshold on, or from 0.5 on. */
static void
test_chosen_labels (void)
{
  static const float shares[] = { 0.5f, 0.25f, 0.75f, 0.5f, 0.49f };
  float thresholds[] = { 0.6f, 0.25f, 0.8f, 0.1f, 0.49f };
  static const guint32 expected[2][3] = { { 2, 0, 3 }, { 3, 4, 1 } };

  for (guint own = 0; own < 2; own++)
    {
      DynoWeightsInfo info = { .n_outputs = 5,
                               .is_labels = TRUE,
                               .thresholds = own ? thresholds : NULL };
      g_autoptr (GArray) chosen = dyno_prediction_choose_labels (shares, &info);

      g_assert_cmpmem (chosen->data, chosen->len * sizeof (guint32), expected[own],
                       sizeof expected[own]);
    }
}

/* A line for each sample, also for one that cannot be read, has a cell for each column. */
static void
test_prediction_table (void)
{
  static const struct {
    gboolean values, labels;
    guint top;
    const char *text;
  } cases[] = {
    { FALSE, FALSE, 1, "sample,class,probability,problem\na,owl,0.5,\nb,,,no\n" },
    { FALSE, FALSE, 2,
      "sample,class_1,probability_1,class_2,probability_2,problem\na,owl,0.5,cat,0.25,\n"
      "b,,,,,no\n" },
    { TRUE, FALSE, 1, "sample,x,y (mm),z,problem\na,1,-2,3.5,\nb,,,,no\n" },
    { FALSE, TRUE, 1, "sample,labels,cat,dog,owl,problem\na,owl|cat,0.25,0.25,0.5,\nb,,,,,no\n" },
  };
  g_auto (GStrv) classes = g_strsplit ("cat dog owl", " ", -1),
                 names = g_strsplit ("x y z", " ", -1), units = g_strsplit (",mm,", ",", -1);
  float shares[] = { 0.25f, 0.25f, 0.5f }, logits[] = { 1, -2, 3.5f },
        thresholds[] = { 0.25f, 0.5f, 0.5f };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoWeightsInfo info = { .n_outputs = 3,
                               .is_values = cases[i].values,
                               .is_labels = cases[i].labels,
                               .class_names = classes,
                               .thresholds = thresholds,
                               .target_names = names,
                               .target_units = units };
      const DynoPrediction good = { .logits = logits, .shares = shares }, bad = { .problem = "no" };
      g_autoptr (GString) text = g_string_new (NULL);

      dyno_prediction_table_append_head (text, &info, cases[i].top);
      dyno_prediction_table_append (text, &info, cases[i].top, "a", &good);
      dyno_prediction_table_append (text, &info, cases[i].top, "b", &bad);
      g_assert_cmpstr (text->str, ==, cases[i].text);
    }
}

/* Counts that are reset count anew, sample by sample or from a table. */
static void
test_class_counts_again (void)
{
  static const guint32 table[9] = { 2, 1, 0, 0, 3, 1, 0, 0, 0 };
  DynoClassCounts one, whole;
  DynoClassMeans a, b;

  dyno_class_counts_init (&one, 3);
  dyno_class_counts_init (&whole, 3);
  for (guint round = 0; round < 2; round++)
    {
      dyno_class_counts_add (&one, 2, 2); /* of the round before */
      dyno_class_counts_reset (&one);
      dyno_class_counts_reset (&whole);
      dyno_class_counts_add_table (&whole, table);
      for (guint32 i = 0; i < 9; i++)
        for (guint k = 0; k < table[i]; k++)
          dyno_class_counts_add (&one, i / 3, i % 3);
      g_assert_cmpmem (one.there, 9 * sizeof *one.there, whole.there, 9 * sizeof *whole.there);
      dyno_class_counts_get_means (&one, &a);
      dyno_class_counts_get_means (&whole, &b);
      g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
      g_assert_cmpfloat_with_epsilon (dyno_class_counts_get_iou (&one, 0), 2.0 / 3, 1e-12);
      g_assert_cmpfloat_with_epsilon (dyno_class_counts_get_iou (&one, 1), 3.0 / 5, 1e-12);
      g_assert_cmpfloat (dyno_class_counts_get_iou (&one, 2), ==, 0);
      g_assert_cmpfloat_with_epsilon (a.iou, (2.0 / 3 + 3.0 / 5) / 3, 1e-12);
      g_assert_cmpfloat_with_epsilon (a.balanced_accuracy, (2.0 / 3 + 3.0 / 4) / 2, 1e-12);
    }
  dyno_class_counts_clear (&one);
  dyno_class_counts_clear (&whole);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/predictor/equals-validation", test_equals_validation);
  g_test_add_func ("/train/predictor/values-of-the-model", test_values_of_the_model);
  g_test_add_func ("/train/predictor/other-data-is-refused", test_other_data_is_refused);
  g_test_add_func ("/train/scores/classes", test_scores_classes);
  g_test_add_func ("/train/scores/equal-logits-and-losses", test_scores_of_equals);
  g_test_add_func ("/train/scores/values", test_scores_values);
  g_test_add_func ("/train/scores/sums-of-values", test_sums_of_values);
  g_test_add_func ("/train/class-figures/by-definition", test_class_figures);
  g_test_add_func ("/train/class-figures/counts-that-are-reset", test_class_counts_again);
  g_test_add_func ("/train/prediction-table/ranking", test_ranking);
  g_test_add_func ("/train/prediction-table/chosen-labels", test_chosen_labels);
  g_test_add_func ("/train/prediction-table/lines", test_prediction_table);
  g_test_add_func ("/train/class-figures/of-one-class", test_class_figures_of_one_class);
  g_test_add_func ("/train/scores/matches-classes-by-name", test_matches_classes_by_name);
  g_test_add_func ("/train/scores/matches-classes-by-number", test_matches_classes_by_number);
  g_test_add_func ("/train/scores/probabilities-that-are-kept", test_probabilities_that_are_kept);
  g_test_add_func ("/train/scores/other-targets-are-refused", test_other_targets_are_refused);
  return g_test_run ();
}
