/* SPDX-License-Identifier: MIT */
/* The thread of an evaluation.  The predictor, with its device, ends with the thread; what the
 * view shows is copied. */
#include "evaluatework.h"
#include "evaluatemasks.h"
#include "format.h"
#include "heldtask.h"
#include "measure.h"
#include "parts.h"
#include "runfacts.h"
#include <glib/gi18n.h>

DynoEvaluateRequest *
dyno_evaluate_request_new (const char *folder, const DynoJob *job, int device)
{
  DynoEvaluateRequest *request = g_atomic_rc_box_new0 (DynoEvaluateRequest);
  request->folder = g_strdup (folder);
  request->job = dyno_job_copy (job);
  request->device = device;
  return request;
}

DynoEvaluateRequest *
dyno_evaluate_request_ref (DynoEvaluateRequest *request)
{
  return g_atomic_rc_box_acquire (request);
}

static void
request_clear (gpointer data)
{
  DynoEvaluateRequest *request = data;
  g_free (request->folder);
  g_free (request->data);
  dyno_job_unref (request->job);
}

void
dyno_evaluate_request_unref (DynoEvaluateRequest *request)
{
  g_atomic_rc_box_release_full (request, request_clear);
}

DynoEvaluation *
dyno_evaluation_ref (DynoEvaluation *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
evaluation_clear (gpointer data)
{
  DynoEvaluation *self = data;
  dyno_dataset_unref (self->dataset);
  dyno_scores_free (self->scores);
  dyno_label_details_free (self->labels);
  dyno_mask_scores_free (self->masks);
  g_clear_pointer (&self->pairs, g_hash_table_unref);
  g_strfreev (self->info.class_names);
  g_strfreev (self->info.target_names);
  g_strfreev (self->info.target_units);
  g_free (self->info.thresholds);
  g_free (self->device);
  g_free (self->notes);
}

void
dyno_evaluation_unref (DynoEvaluation *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, evaluation_clear);
}

/* --- the samples ------------------------------------------------------------------------------ */

static gboolean
open_data (const DynoEvaluateRequest *r, const char *weights, DynoEvaluation *e,
           GCancellable *cancellable, GError **error)
{
  const char *location = r->data ? r->data : r->job->data;
  DynoDatasetParams params = { 0 };
  if (!location)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   _ ("The run does not state which data it was trained on; choose labelled data"));
      return FALSE;
    }
  dyno_job_get_dataset_params (r->job, &params);
  if (r->data)
    {
      params.one_class = TRUE;
      params.targets = NULL;
      params.may_lack_groups = TRUE;
    }
  e->dataset = dyno_predictor_open_labelled (weights, location, &params, cancellable, error);
  return e->dataset != NULL;
}

gboolean
dyno_evaluate_has_test (const char *folder)
{
  DynoRunFacts facts;
  return dyno_run_facts_read (folder, &facts) && facts.n_test > 0;
}

/* The validation or test part, divided as in the run; NULL with an error where this cannot be
 * reproduced. */
static GArray *
find_part (const DynoEvaluateRequest *r, DynoDataset *dataset, GError **error)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (dataset);
  g_auto (DynoDatasetParts) parts = { 0 };
  DynoRunFacts facts;
  if (dyno_run_facts_read (r->folder, &facts) && facts.n_train > 0
      && facts.n_train + facts.n_validation + facts.n_test != data->n_samples)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   _ ("“%s” has changed since the run: its validation samples cannot be found "
                      "again; choose labelled data"),
                   data->name);
      return NULL;
    }
  dyno_settings_divide (&r->job->settings, dataset, &parts);
  if (r->test && parts.test && parts.test->len > 0)
    return g_steal_pointer (&parts.test);
  if (!r->test && parts.validation->len > 0)
    return g_steal_pointer (&parts.validation);
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
               r->test ? _ ("The run had no test samples; choose labelled data")
                       : _ ("The run had no validation samples; choose labelled data"));
  return NULL;
}

gboolean
dyno_evaluate_has_trained (const DynoEvaluateRequest *r, guint64 content_hash)
{
  DynoRunFacts facts;
  return r->data && dyno_run_facts_read (r->folder, &facts) && facts.fingerprint
         && facts.fingerprint == content_hash;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
copy_info (const DynoWeightsInfo *from, DynoWeightsInfo *to)
{
  to->n_outputs = from->n_outputs;
  to->is_values = from->is_values;
  to->is_labels = from->is_labels;
  to->temperature = from->temperature;
  if (from->thresholds)
    to->thresholds = g_memdup2 (from->thresholds, from->n_outputs * sizeof *from->thresholds);
  to->class_names = g_strdupv (from->class_names);
  to->target_names = g_strdupv (from->target_names);
  to->target_units = g_strdupv (from->target_units);
}

/* Returns FALSE if it was cancelled. */
static gboolean
get_figures (DynoEvaluation *e, GCancellable *cancellable, GError **error)
{
  if (e->info.is_labels)
    e->labels = dyno_label_details_new (e->scores, cancellable);
  else if (!e->info.is_values)
    dyno_class_figures_get (e->scores, &e->figures);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* Evaluates, and draws the samples with masks. */
static gboolean
measure (DynoEvaluateRequest *r, DynoPredictor *predictor, const GArray *indices, DynoEvaluation *e,
         GCancellable *cancellable, GError **error)
{
  gint64 began = g_get_monotonic_time ();
  guint32 width, height;
  dyno_predictor_get_mask_size (predictor, &width, &height);
  if (width > 0)
    e->masks = dyno_mask_scores_measure (predictor, e->dataset, indices, DYNO_EVALUATE_WORST,
                                         &r->n_done, cancellable, error);
  else
    e->scores = dyno_scores_measure (predictor, e->dataset, indices, DYNO_EVALUATE_WORST,
                                     &r->n_done, cancellable, error);
  e->seconds = (double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC;
  if (!e->masks && !e->scores)
    return FALSE;
  e->n_samples = e->masks ? e->masks->n_samples : e->scores->n_samples;
  e->n_unreadable = e->masks ? e->masks->n_unreadable : e->scores->n_unreadable;
  if (e->scores && !get_figures (e, cancellable, error))
    return FALSE;
  if (e->masks)
    e->pairs = dyno_mask_pairs_draw (predictor, e->dataset, e->masks, DYNO_EVALUATE_CLASSES,
                                     r->pixels, cancellable, error);
  return e->scores || e->pairs;
}

static gboolean
evaluate (DynoEvaluateRequest *r, DynoEvaluation *e, GCancellable *cancellable, GError **error)
{
  g_autofree char *weights = g_build_filename (r->folder, "weights.safetensors", NULL);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoPredictor) predictor = NULL;
  g_autoptr (GArray) indices = NULL;
  DynoPredictorParams params = { .weights = weights, .device = r->device };
  if (!open_data (r, weights, e, cancellable, error)
      || (!r->data && !(indices = find_part (r, e->dataset, error))))
    return FALSE;
  g_atomic_int_set (&r->n_samples,
                    indices ? (int) indices->len
                            : (int) MIN (dyno_dataset_get_info (e->dataset)->n_samples, G_MAXINT));
  predictor = dyno_predictor_new (&params, e->dataset, notes, cancellable, error);
  if (!predictor)
    return FALSE;
  copy_info (dyno_predictor_get_info (predictor), &e->info);
  e->device = g_strdup (dyno_predictor_get_device (predictor));
  e->is_trained = dyno_evaluate_has_trained (r, dyno_dataset_get_info (e->dataset)->content_hash);
  if (e->is_trained)
    g_ptr_array_add (
        notes, g_strdup (_ ("Samples that trained the run are among these: the figures are better "
                            "than those of new samples.")));
  if (!measure (r, predictor, indices, e, cancellable, error))
    return FALSE;
  g_ptr_array_add (notes, NULL);
  e->notes = notes->len > 1 ? g_strjoinv ("\n", (char **) notes->pdata) : NULL;
  return TRUE;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (DynoEvaluation) evaluation = g_atomic_rc_box_new0 (DynoEvaluation);
  GError *error = NULL;
  if (evaluate (data, evaluation, cancellable, &error))
    g_task_return_pointer (task, g_steal_pointer (&evaluation),
                           (GDestroyNotify) dyno_evaluation_unref);
  else
    g_task_return_error (task, error);
}

void
dyno_evaluate_async (DynoEvaluateRequest *request, GCancellable *cancellable,
                     GAsyncReadyCallback done, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, done, data);
  g_task_set_task_data (task, dyno_evaluate_request_ref (request),
                        (GDestroyNotify) dyno_evaluate_request_unref);
  dyno_task_run_held (task, work); /* drivers may crash if the process exits during the work */
}

DynoEvaluation *
dyno_evaluate_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/* --- calibration ------------------------------------------------------------------------------ */

typedef struct {
  DynoEvaluateRequest *request;
  DynoEvaluation *evaluation;
} Calibrating;

static void
calibrating_free (gpointer data)
{
  Calibrating *c = data;
  dyno_evaluate_request_unref (c->request);
  dyno_evaluation_unref (c->evaluation);
  g_free (c);
}

gboolean
dyno_evaluation_can_calibrate (const DynoEvaluateRequest *request, const DynoEvaluation *e)
{
  return e->scores && !e->info.is_values && e->n_samples > 0 && !e->is_trained
         && (request->data || !request->test);
}

static char *
describe_calibration (const DynoWeightsInfo *info, gboolean is_labels, const DynoCalibration *c)
{
  g_autofree char *temperature = dyno_format_value (info->temperature),
                  *before = is_labels ? dyno_format_percent (c->f1_macro_before)
                                      : dyno_format_value (c->loss_before),
                  *after = is_labels ? dyno_format_percent (c->f1_macro_after)
                                     : dyno_format_value (c->loss_after);
  return g_strdup_printf (
      is_labels
          /* Translators: a factor, shares */
          ? _ ("The weights are calibrated: temperature %s, macro F1 %s before and %s now.")
          /* Translators: a factor, values of the loss */
          : _ ("The weights are calibrated: temperature %s, loss %s before and %s now."),
      temperature, before, after);
}

static void
calibrate (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Calibrating *c = data;
  const DynoWeightsInfo *from = &c->evaluation->info;
  g_autofree char *path = g_build_filename (c->request->folder, "weights.safetensors", NULL);
  DynoWeightsInfo info = { .n_outputs = from->n_outputs, .temperature = from->temperature };
  DynoCalibration calibration;
  GError *error = NULL;
  if (from->thresholds)
    info.thresholds = g_memdup2 (from->thresholds, from->n_outputs * sizeof *from->thresholds);
  if (dyno_calibrate (c->evaluation->scores, &info, &calibration, &error)
      && dyno_weights_info_write_calibration (&info, path, &error))
    g_task_return_pointer (task, describe_calibration (&info, from->is_labels, &calibration),
                           g_free);
  else
    g_task_return_error (task, error);
  g_free (info.thresholds);
}

void
dyno_evaluation_calibrate_async (DynoEvaluateRequest *request, DynoEvaluation *evaluation,
                                 GCancellable *cancellable, GAsyncReadyCallback done, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, done, data);
  Calibrating *c = g_new0 (Calibrating, 1);
  *c = (Calibrating){ dyno_evaluate_request_ref (request), dyno_evaluation_ref (evaluation) };
  g_task_set_task_data (task, c, calibrating_free);
  dyno_task_run_held (task, calibrate);
}

char *
dyno_evaluation_calibrate_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
