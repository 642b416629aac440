/* SPDX-License-Identifier: MIT */
/* dynoctl evaluate: measures trained weights on labelled data. */
#include "evaluated.h"
#include "file.h"
#include "masks.h"
#include "measure.h"
#include "output.h"
#include "predict-options.h"
#include "runpart.h"
#include "scorestable.h"
#include "signals.h"
#include <string.h>

typedef struct {
  gint64 n_worst;
  char *targets, *part, *table;
  gboolean calibrate;
} Options;

static void
options_clear (Options *own)
{
  g_free (own->targets);
  g_free (own->part);
  g_free (own->table);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
evaluated_clear (DynoEvaluated *e)
{
  dyno_scores_free (e->scores);
  dyno_dataset_unref (e->dataset);
  g_free (e->fitted.thresholds);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoEvaluated, evaluated_clear)

static gboolean
evaluate_masks (DynoPredictor *predictor, const DynoEvaluated *e, const GArray *indices,
                const Options *own, gboolean json, GError **error)
{
  gint64 began_us = g_get_monotonic_time ();
  g_autoptr (DynoMaskScores) scores =
      dyno_mask_scores_measure (predictor, e->dataset, indices, (guint) own->n_worst, NULL,
                                dyno_signals_get_cancellable (), error);

  if (!scores)
    return FALSE;
  dyno_mask_scores_print (scores, e->info, e->dataset, e->part,
                          (double) (g_get_monotonic_time () - began_us) / G_USEC_PER_SEC, json);
  return !own->table
         || dyno_mask_scores_write_table (scores, e->info, e->dataset, own->table, error);
}

/* --- calibration ------------------------------------------------------------------------------ */

/* Weights are right more often on samples that trained them. */
static gboolean
check_part (const char *run, const DynoEvaluated *e, GError **error)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (e->dataset);
  gboolean all = strcmp (e->part, "all") == 0;

  if (strcmp (e->part, "test") == 0)
    {
      g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                           "--calibrate: nothing is to be chosen by the test part: calibrate with "
                           "--part validation");
      return FALSE;
    }
  if (strcmp (e->part, "validation") == 0 || (all && !dyno_run_part_has_trained (run, data)))
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
               "--calibrate: samples of “%s” trained the weights, which are right on them more "
               "often than on others: add --part validation",
               data->name);
  return FALSE;
}

static gboolean
check_outputs (const DynoWeightsInfo *info, GError **error)
{
  if (!info->of_pixels && !info->is_values)
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
               "--calibrate: %s predicts neither classes nor labels of samples, so there are no "
               "probabilities to calibrate",
               info->model);
  return FALSE;
}

/* Calibrates the weights file on the samples of the scores. */
static gboolean
calibrate (DynoEvaluated *e, GError **error)
{
  const DynoWeightsInfo *info = e->info;

  e->fitted = (DynoWeightsInfo){ .n_outputs = info->n_outputs, .temperature = info->temperature };
  if (info->thresholds)
    e->fitted.thresholds = g_memdup2 (info->thresholds, info->n_outputs * sizeof *info->thresholds);
  e->is_calibrated = dyno_calibrate (e->scores, &e->fitted, &e->calibration, error)
                     && dyno_weights_info_write_calibration (&e->fitted, e->weights, error);
  return e->is_calibrated;
}

/* --- the verb --------------------------------------------------------------------------------- */

static gboolean
evaluate (const char *command, const DynoPredictOptions *options, const Options *own,
          DynoEvaluated *e, GError **error)
{
  g_autoptr (DynoPredictor) predictor = NULL;
  g_autoptr (GArray) indices = NULL;
  gint64 began_us;
  double seconds;

  if ((own->table && !dyno_file_test_writable (own->table, error))
      || (own->calibrate && !check_part (options->run, e, error))
      || !dyno_run_part_choose (command, options->run, e->dataset, e->part, &indices, error))
    return FALSE;
  predictor = dyno_predict_options_open (options, command, e->dataset, error);
  if (!predictor)
    return FALSE;
  e->info = dyno_predictor_get_info (predictor);
  if (own->calibrate && !check_outputs (e->info, error))
    return FALSE;
  if (e->info->of_pixels)
    return evaluate_masks (predictor, e, indices, own, options->json, error);
  began_us = g_get_monotonic_time ();
  e->scores = dyno_scores_measure (predictor, e->dataset, indices, (guint) own->n_worst, NULL,
                                   dyno_signals_get_cancellable (), error);
  if (!e->scores || (own->calibrate && !calibrate (e, error)))
    return FALSE;
  seconds = (double) (g_get_monotonic_time () - began_us) / G_USEC_PER_SEC;
  if (e->scores->is_labels)
    dyno_label_sums_get_figures (&e->scores->labels, &e->labels);
  else if (!e->scores->is_values)
    dyno_class_figures_get (e->scores, &e->figures);
  if (options->json)
    dyno_evaluated_print_json (e, seconds);
  else
    dyno_evaluated_print (e, seconds);
  return !own->table || dyno_scores_write_table (e->scores, e->info, e->dataset, own->table, error);
}

int
dyno_verb_evaluate (int argc, char **argv)
{
  g_auto (DynoPredictOptions) options = { 0 };
  g_auto (Options) own = { .n_worst = 10 };
  g_auto (DynoEvaluated) e = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autoptr (GError) error = NULL;
  DynoDatasetParams params = { .one_class = TRUE };
  int code;
  const GOptionEntry own_entries[] = {
    { "targets", 0, 0, G_OPTION_ARG_FILENAME, &own.targets,
      "Targets of an X.npy (default: found beside it)", "FILE" },
    { "part", 0, 0, G_OPTION_ARG_FILENAME, &own.part,
      "all (default), training, validation or test: the data set's own, or as the run divided it",
      "PART" },
    { "worst", 0, 0, G_OPTION_ARG_INT64, &own.n_worst, "Worst samples to list (default 10)", "N" },
    { "table", 0, 0, G_OPTION_ARG_FILENAME, &own.table,
      "Write truth, prediction and loss of each sample to this CSV file", "FILE" },
    { "calibrate", 0, 0, G_OPTION_ARG_NONE, &own.calibrate,
      "Write the temperature, and thresholds of labels, that fit these samples to the weights",
      NULL },
    { NULL },
  };

  dyno_predict_options_init (&options);
  entries = dyno_predict_options_entries (&options, own_entries);
  if (!dyno_predict_options_parse (&options, argc, argv, "--run DIR --data DATA",
                                   "Measures trained weights on data whose truth is known.",
                                   entries, &code))
    return code;
  if (options.data[1])
    return dyno_cli_usage (argv[0], "more than one DATA; its labels come from one data set");
  if (own.calibrate && options.mirror)
    return dyno_cli_usage (argv[0], "--calibrate and --mirror: a calibration is for predictions "
                                    "without the mirror image");
  if (own.n_worst < 0 || own.n_worst > 100000)
    return dyno_cli_usage (argv[0], "--worst %" G_GINT64_FORMAT ": it is from 0 to 100000",
                           own.n_worst);
  if (options.run)
    dyno_run_part_get_params (options.run, &params);
  params.targets = own.targets;
  e.weights = options.weights;
  e.part = own.part ? own.part : "all";
  dyno_signals_catch ();
  e.dataset = dyno_predictor_open_labelled (options.weights, options.data[0], &params,
                                            dyno_signals_get_cancellable (), &error);
  if (e.dataset && evaluate (argv[0], &options, &own, &e, &error))
    return code;
  return error->domain == G_OPTION_ERROR && !options.json
             ? dyno_cli_usage (argv[0], "%s", error->message)
             : dyno_predict_fail (g_steal_pointer (&error), argv[0], options.json);
}
