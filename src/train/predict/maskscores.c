/* SPDX-License-Identifier: MIT */
/* Scores of predicted masks against their truth. */
#include "maskscores.h"
#include "csvcell.h"
#include "file.h"
#include "scores.h"
#include <math.h>
#include <string.h>

typedef struct {
  DynoDataset *dataset;
  DynoMaskScores *scores;
  int *n_done;
  guint n_worst;
  const guint32 *classes; /* the weights' class for each of the data's classes */
  guint32 n_classes;      /* number of classes of the data */
  guint32 *table;         /* [truth][predicted] of one sample */
  GArray *ious;           /* double, n_outputs of each sample */
  GByteArray *scratch;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS];
  const guint8 *mask; /* the field that holds the true mask */
} Measuring;

/* Counts the pixels of a sample; returns the number of ignored pixels. */
static guint64
count (Measuring *m, const guint8 *predicted)
{
  DynoMaskScores *s = m->scores;
  gsize n = s->n_outputs, n_pixels = (gsize) s->width * s->height;
  guint64 n_ignored = 0;

  memset (m->table, 0, n * n * sizeof *m->table);
  for (gsize i = 0; i < n_pixels; i++)
    if (m->mask[i] >= m->n_classes)
      n_ignored++;
    else if (predicted[i] < n)
      m->table[m->classes[m->mask[i]] * n + predicted[i]]++;
  return n_ignored;
}

static double
share (const DynoClassCounts *counts)
{
  guint64 right = 0, all = 0;

  for (guint32 i = 0; i < counts->n; i++)
    {
      right += counts->right[i];
      all += counts->there[i];
    }
  return all > 0 ? (double) right / (double) all : (double) NAN;
}

/* Inserts the sample into the worst samples; a sample without counted pixels is left out. */
static void
keep_worst (DynoMaskScores *s, const DynoMaskScored *one, guint most)
{
  guint at = s->worst->len;

  if (isnan (one->iou))
    return;
  while (at > 0 && g_array_index (s->worst, DynoMaskScored, at - 1).iou > one->iou)
    at--;
  if (at >= most)
    return;
  g_array_insert_val (s->worst, at, *one);
  if (s->worst->len > most)
    g_array_set_size (s->worst, most);
}

static void
take_sample (Measuring *m, const DynoPrediction *prediction)
{
  DynoMaskScores *s = m->scores;
  DynoMaskScored one = { .index = prediction->index, .n_ignored = count (m, prediction->mask) };
  DynoClassCounts counts;
  DynoClassMeans means;
  gsize n = s->n_outputs;

  dyno_class_counts_init (&counts, s->n_outputs);
  dyno_class_counts_add_table (&counts, m->table);
  dyno_class_counts_get_means (&counts, &means);
  one.iou = means.iou;
  one.accuracy = share (&counts);
  for (guint32 i = 0; i < n; i++)
    {
      double iou = dyno_class_counts_get_iou (&counts, i);

      g_array_append_val (m->ious, iou);
    }
  dyno_class_counts_clear (&counts);
  dyno_class_counts_add_table (&s->counts, m->table);
  for (gsize i = 0; i < n * n; i++)
    s->confusion[i] += m->table[i];
  s->n_ignored += one.n_ignored;
  s->n_samples++;
  g_array_append_val (s->samples, one);
  keep_worst (s, &one, m->n_worst);
}

static gboolean
on_prediction (const DynoPrediction *prediction, gpointer data)
{
  Measuring *m = data;
  DynoMaskScores *s = m->scores;

  if (prediction->problem
      || !dyno_dataset_decode (m->dataset, prediction->index, s->width, s->height, m->fields,
                               m->scratch, NULL))
    s->n_unreadable++;
  else
    take_sample (m, prediction);
  if (m->n_done)
    g_atomic_int_inc (m->n_done);
  return TRUE;
}

static DynoMaskScores *
scores_new (DynoPredictor *predictor)
{
  DynoMaskScores *scores = g_new0 (DynoMaskScores, 1);
  gsize n = dyno_predictor_get_info (predictor)->n_outputs;

  scores->n_outputs = (guint32) n;
  dyno_predictor_get_mask_size (predictor, &scores->width, &scores->height);
  scores->confusion = g_new0 (guint64, n * n);
  dyno_class_counts_init (&scores->counts, scores->n_outputs);
  scores->samples = g_array_new (FALSE, FALSE, sizeof (DynoMaskScored));
  scores->worst = g_array_new (FALSE, FALSE, sizeof (DynoMaskScored));
  return scores;
}

void
dyno_mask_scores_free (DynoMaskScores *scores)
{
  if (!scores)
    return;
  g_free (scores->confusion);
  dyno_class_counts_clear (&scores->counts);
  g_array_unref (scores->samples);
  g_array_unref (scores->worst);
  g_free (scores->ious);
  g_free (scores);
}

/* Allocates memory for the fields of a sample. */
static void
init_fields (Measuring *m, const DynoDatasetInfo *data)
{
  DynoBatchSchema schema;

  dyno_dataset_get_schema (data, m->scores->width, m->scores->height, &schema);
  for (guint i = 0; i < schema.n_fields; i++)
    if (schema.fields[i].role != DYNO_FIELD_SEED)
      m->fields[i] = g_malloc (dyno_field_count (&schema.fields[i])
                               * dyno_element_size (schema.fields[i].element));
  m->mask = m->fields[dyno_schema_find_index (&schema, DYNO_FIELD_TARGET)];
}

DynoMaskScores *
dyno_mask_scores_measure (DynoPredictor *predictor, DynoDataset *dataset, const GArray *indices,
                          guint n_worst, int *n_done, GCancellable *cancellable, GError **error)
{
  const DynoWeightsInfo *info = dyno_predictor_get_info (predictor);
  const DynoDatasetInfo *data = dyno_dataset_get_info (dataset);
  g_autofree guint32 *classes = NULL, *table = NULL;
  g_autoptr (DynoMaskScores) scores = NULL;
  g_autoptr (GArray) ious = NULL;
  g_autoptr (GByteArray) scratch = NULL;
  Measuring m = { .dataset = dataset, .n_done = n_done, .n_worst = n_worst };
  gboolean whole;

  if (!dyno_schema_find_mask (&data->schema))
    {
      g_set_error (
          error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
          "The weights predict a class for each pixel; “%s” has no masks with the true ones",
          data->name);
      return NULL;
    }
  classes = dyno_scores_match_classes (info, data, error);
  if (!classes)
    return NULL;
  m.classes = classes;
  m.n_classes = data->n_classes;
  m.scores = scores = scores_new (predictor);
  m.table = table = g_new (guint32, (gsize) info->n_outputs * info->n_outputs);
  m.ious = ious = g_array_new (FALSE, FALSE, sizeof (double));
  m.scratch = scratch = g_byte_array_new ();
  init_fields (&m, data);
  whole = dyno_predictor_run (predictor, indices, on_prediction, &m, cancellable, error);
  for (guint i = 0; i < G_N_ELEMENTS (m.fields); i++)
    g_free (m.fields[i]);
  if (!whole)
    return NULL;
  scores->ious = (double *) (gpointer) g_array_free (g_steal_pointer (&ious), FALSE);
  return g_steal_pointer (&scores);
}

double
dyno_mask_scores_get_accuracy (const DynoMaskScores *scores)
{
  return share (&scores->counts);
}

gboolean
dyno_mask_scores_write_table (const DynoMaskScores *scores, const DynoWeightsInfo *info,
                              DynoDataset *dataset, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new ("sample,index,mean_iou,pixel_accuracy,ignored"),
                      line = g_string_new (NULL);
  guint32 n = scores->n_outputs;

  for (guint32 k = 0; k < n; k++)
    {
      g_autofree char *name = dyno_weights_info_name_class (info, k),
                      *head = g_strdup_printf ("IoU of %s", name);

      dyno_csv_add_cell (text, head);
    }
  g_string_append_c (text, '\n');
  for (guint i = 0; i < scores->samples->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (scores->samples, DynoMaskScored, i);
      g_autofree char *sample = dyno_dataset_describe_sample (dataset, one->index);

      g_string_truncate (line, 0);
      dyno_csv_add_cell (line, sample);
      g_string_append_printf (line, ",%" G_GUINT64_FORMAT, one->index);
      dyno_csv_add_number (line, one->iou);
      dyno_csv_add_number (line, one->accuracy);
      g_string_append_printf (line, ",%" G_GUINT64_FORMAT, one->n_ignored);
      for (guint32 k = 0; k < n; k++)
        dyno_csv_add_number (line, scores->ious[(gsize) i * n + k]);
      g_string_append_len (g_string_append_len (text, line->str, (gssize) line->len), "\n", 1);
    }
  return dyno_file_write_atomic (path, text->str, text->len, error);
}
