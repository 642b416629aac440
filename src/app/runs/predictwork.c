/* SPDX-License-Identifier: MIT */
/* The thread of a prediction.  Samples are sent to the main thread one by one, up to MOST_REPORTED;
 * the rest is only counted. */
#include "predictwork.h"
#include "datasampler.h"
#include "maskwriter.h"
#include "predictiontable.h"
#include <glib/gi18n.h>

#define MOST_REPORTED 200

char *
dyno_predict_get_weights (const char *folder)
{
  return g_build_filename (folder, "weights.safetensors", NULL);
}

struct _DynoPredictWork {
  gatomicrefcount references;
  char *weights;
  int device;
  guint pixels;
  char **paths, *masks_folder;
  GCancellable *cancellable;
  const DynoPredictFuncs *funcs;
  gpointer data;
  gboolean over; /* main thread: the work was cancelled */
  /* used only by the thread: */
  DynoDataset *dataset;
  const DynoWeightsInfo *info;
  DynoPredictSummary summary;
  GByteArray *scratch;
  GString *table;
  guint n_reported, top;
  guint32 width, height; /* of masks; 0: there are none */
  DynoMaskWriter *masks; /* NULL: masks are not written */
  GError *error;
};

static void
sample_free (DynoPredictedSample *sample)
{
  g_free (sample->sample);
  g_free (sample->problem);
  for (guint i = 0; i < sample->n; i++)
    g_free (sample->outputs[i].name);
  g_free (sample->outputs);
  g_clear_object (&sample->picture);
  g_free (sample);
}

static void
work_unref (gpointer data)
{
  DynoPredictWork *work = data;
  if (!g_atomic_ref_count_dec (&work->references))
    return;
  g_free (work->weights);
  g_strfreev (work->paths);
  g_free (work->masks_folder);
  g_clear_pointer (&work->masks, dyno_mask_writer_free);
  g_object_unref (work->cancellable);
  dyno_dataset_unref (work->dataset);
  g_free (work->summary.device);
  g_free (work->summary.notes);
  g_clear_pointer (&work->summary.table, g_bytes_unref);
  if (work->table)
    g_string_free (work->table, TRUE);
  g_clear_pointer (&work->scratch, g_byte_array_unref);
  g_clear_error (&work->error);
  g_free (work);
}

/* --- to the main thread ----------------------------------------------------------------------- */

typedef struct {
  DynoPredictWork *work;
  DynoPredictedSample *sample;
} Report;

static void
report_free (gpointer data)
{
  Report *report = data;
  sample_free (report->sample);
  work_unref (report->work);
  g_free (report);
}

static gboolean
report_sample (gpointer data)
{
  Report *report = data;
  if (!report->work->over)
    report->work->funcs->sample (report->sample, report->work->data);
  return G_SOURCE_REMOVE;
}

/* Takes the sample. */
static void
send (DynoPredictWork *work, DynoPredictedSample *sample)
{
  if (work->n_reported >= MOST_REPORTED)
    {
      sample_free (sample);
      return;
    }
  work->n_reported++;
  Report *report = g_new0 (Report, 1);
  g_atomic_ref_count_inc (&work->references);
  report->work = work;
  report->sample = sample;
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, report_sample, report, report_free);
}

static gboolean
report_done (gpointer data)
{
  DynoPredictWork *work = data;
  if (!work->over)
    work->funcs->done (&work->summary, work->error, work->data);
  if (g_application_get_default ())
    g_application_release (g_application_get_default ());
  return G_SOURCE_REMOVE;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* ids: n classes or labels. */
static void
take_outputs (DynoPredictedSample *sample, const DynoWeightsInfo *info, const float *shares,
              const guint32 *ids, guint n)
{
  sample->n = n;
  sample->outputs = g_new0 (DynoPredictedOutput, n);
  for (guint i = 0; i < n; i++)
    sample->outputs[i] = (DynoPredictedOutput){ dyno_weights_info_name_class (info, ids[i]), ids[i],
                                                (double) shares[ids[i]] };
}

/* Takes the most likely classes first, ties by their number. */
static void
take_classes (DynoPredictedSample *sample, const DynoWeightsInfo *info, const float *shares)
{
  guint32 ranked[DYNO_PREDICT_MOST_OUTPUTS];
  guint n = dyno_prediction_rank (shares, info->n_outputs, DYNO_PREDICT_MOST_OUTPUTS, ranked);
  take_outputs (sample, info, shares, ranked, n);
}

static void
take_labels (DynoPredictedSample *sample, const DynoWeightsInfo *info, const float *shares)
{
  g_autoptr (GArray) chosen = dyno_prediction_choose_labels (shares, info);
  sample->is_labels = TRUE;
  take_outputs (sample, info, shares, (const guint32 *) (gpointer) chosen->data, chosen->len);
}

static void
take_values (DynoPredictedSample *sample, const DynoWeightsInfo *info, const float *values)
{
  sample->n = MIN (info->n_outputs, DYNO_PREDICT_MOST_OUTPUTS);
  sample->outputs = g_new0 (DynoPredictedOutput, sample->n);
  for (guint i = 0; i < sample->n; i++)
    {
      const char *unit = info->target_units ? info->target_units[i] : "";
      sample->outputs[i].number = (double) values[i];
      sample->outputs[i].name = !info->target_names ? g_strdup_printf (_ ("Value %u"), i + 1)
                                : *unit ? g_strdup_printf ("%s (%s)", info->target_names[i], unit)
                                        : g_strdup (info->target_names[i]);
    }
}

void
dyno_predicted_sample_take_mask (DynoPredictedSample *sample, const DynoWeightsInfo *info,
                                 const guint8 *mask, gsize n_pixels)
{
  guint32 n = info->n_outputs;
  g_autofree guint64 *counts = dyno_mask_count_classes (mask, n_pixels, n);
  g_autofree float *shares = g_new (float, n);
  for (guint32 i = 0; i < n; i++)
    shares[i] = (float) ((double) counts[i] / (double) n_pixels);
  sample->has_mask = TRUE;
  take_classes (sample, info, shares);
  while (sample->n > 0 && sample->outputs[sample->n - 1].number <= 0)
    g_clear_pointer (&sample->outputs[--sample->n].name, g_free);
}

/* Returns FALSE if the mask could not be written. */
static gboolean
write_mask (DynoPredictWork *work, const char *sample, const DynoPrediction *prediction)
{
  g_autofree char *path = dyno_mask_writer_write (work->masks, sample, prediction->index,
                                                  prediction->mask, &work->error);
  work->summary.n_masks += path != NULL;
  return path != NULL;
}

static void
append_to_table (DynoPredictWork *work, const char *sample, const DynoPrediction *prediction)
{
  if (work->width > 0)
    dyno_mask_table_append (work->table, work->info, sample, prediction,
                            (gsize) work->width * work->height);
  else
    dyno_prediction_table_append (work->table, work->info, work->top, sample, prediction);
}

static GdkPixbuf *
draw (DynoPredictWork *work, const DynoPrediction *prediction)
{
  if (prediction->mask)
    return dyno_sampler_decode_masked (work->dataset, prediction->index, prediction->mask,
                                       work->width, work->height, 2 * work->pixels, work->scratch);
  return dyno_sampler_decode (work->dataset, prediction->index, work->pixels, work->scratch);
}

static void
take_result (DynoPredictWork *work, DynoPredictedSample *sample, const DynoPrediction *prediction)
{
  if (prediction->mask)
    dyno_predicted_sample_take_mask (sample, work->info, prediction->mask,
                                     (gsize) work->width * work->height);
  else if (sample->is_values)
    take_values (sample, work->info, prediction->logits);
  else if (work->info->is_labels)
    take_labels (sample, work->info, prediction->shares);
  else
    take_classes (sample, work->info, prediction->shares);
}

static gboolean
take_prediction (const DynoPrediction *prediction, gpointer data)
{
  DynoPredictWork *work = data;
  DynoPredictedSample *sample = g_new0 (DynoPredictedSample, 1);
  sample->sample = dyno_dataset_describe_sample (work->dataset, prediction->index);
  sample->problem = g_strdup (prediction->problem);
  sample->is_values = work->info->is_values;
  work->summary.n++;
  work->summary.n_predicted += !prediction->problem;
  work->summary.n_unreadable += prediction->problem != NULL;
  if (!prediction->problem)
    take_result (work, sample, prediction);
  append_to_table (work, sample->sample, prediction);
  gboolean goes_on =
      !work->masks || prediction->problem || write_mask (work, sample->sample, prediction);
  if (!prediction->problem && work->n_reported < MOST_REPORTED)
    sample->picture = draw (work, prediction);
  send (work, sample);
  return goes_on;
}

/* Reports the files that the scan refused; the text of each begins with the file's name. */
static void
report_refused (DynoPredictWork *work)
{
  const char *const *list = dyno_dataset_get_unreadable (work->dataset);
  work->summary.n_unreadable += dyno_dataset_get_info (work->dataset)->n_unreadable;
  for (; *list; list++)
    {
      DynoPredictedSample *sample = g_new0 (DynoPredictedSample, 1);
      const char *colon = strstr (*list, ": ");
      sample->sample = colon ? g_strndup (*list, (gsize) (colon - *list)) : g_strdup (*list);
      sample->problem = g_strdup (colon ? colon + 2 : *list);
      send (work, sample);
    }
}

static void
begin_masks (DynoPredictWork *work, DynoPredictor *predictor)
{
  dyno_predictor_get_mask_size (predictor, &work->width, &work->height);
  work->summary.has_masks = work->width > 0;
  if (work->width > 0 && work->masks_folder)
    work->masks =
        dyno_mask_writer_new (work->masks_folder, work->dataset, work->width, work->height);
}

static gboolean
predict (DynoPredictWork *work, GError **error)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoPredictor) predictor = NULL;
  DynoPredictorParams params = { .weights = work->weights, .device = work->device };
  work->dataset = dyno_predictor_open_data (work->weights, (const char *const *) work->paths,
                                            work->cancellable, error);
  if (!work->dataset)
    return FALSE;
  predictor = dyno_predictor_new (&params, work->dataset, notes, work->cancellable, error);
  if (!predictor)
    return FALSE;
  work->info = dyno_predictor_get_info (predictor);
  work->summary.device = g_strdup (dyno_predictor_get_device (predictor));
  g_ptr_array_add (notes, NULL);
  if (notes->len > 1)
    work->summary.notes = g_strjoinv ("\n", (char **) notes->pdata);
  work->top = MIN (work->info->n_outputs, DYNO_PREDICT_MOST_OUTPUTS);
  work->scratch = g_byte_array_new ();
  work->table = g_string_new (NULL);
  begin_masks (work, predictor);
  if (work->width > 0)
    dyno_mask_table_append_head (work->table, work->info);
  else
    dyno_prediction_table_append_head (work->table, work->info, work->top);
  report_refused (work);
  gint64 began = g_get_monotonic_time ();
  gboolean whole =
      dyno_predictor_run (predictor, NULL, take_prediction, work, work->cancellable, error);
  work->summary.seconds = (double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC;
  return whole;
}

static gpointer
run (gpointer data)
{
  DynoPredictWork *work = data;
  predict (work, &work->error);
  if (work->table)
    work->summary.table = g_string_free_to_bytes (g_steal_pointer (&work->table));
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, report_done, work, work_unref);
  return NULL;
}

/* --- in the window ---------------------------------------------------------------------------- */

DynoPredictWork *
dyno_predict_work_start (const char *weights, int device, const char *const *paths, guint pixels,
                         const char *masks_folder, const DynoPredictFuncs *funcs, gpointer data)
{
  DynoPredictWork *work = g_new0 (DynoPredictWork, 1);
  g_atomic_ref_count_init (&work->references);
  work->weights = g_strdup (weights);
  work->device = device;
  work->pixels = pixels;
  work->paths = g_strdupv ((char **) paths);
  work->masks_folder = g_strdup (masks_folder);
  work->cancellable = g_cancellable_new ();
  work->funcs = funcs;
  work->data = data;
  g_atomic_ref_count_inc (&work->references);
  /* Drivers may crash if the process exits during the work. */
  if (g_application_get_default ())
    g_application_hold (g_application_get_default ());
  GThread *thread = g_thread_try_new ("dyno-predict", run, work, &work->error);
  if (thread)
    g_thread_unref (thread);
  else
    g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, report_done, work, work_unref);
  return work;
}

void
dyno_predict_work_cancel (DynoPredictWork *work)
{
  if (!work)
    return;
  work->over = TRUE;
  g_cancellable_cancel (work->cancellable);
  work_unref (work);
}
