/* SPDX-License-Identifier: MIT */
#include "evaluatemasks.h"
#include "datasampler.h"
#include <math.h>

typedef struct {
  DynoDataset *dataset;
  GHashTable *pairs;
  GByteArray *scratch;
  guint32 width, height;
  guint pixels;
} Drawing;

static void
pair_free (gpointer data)
{
  DynoMaskPair *pair = data;
  g_clear_object (&pair->truth);
  g_clear_object (&pair->predicted);
  g_free (pair);
}

static gboolean
draw (const DynoPrediction *prediction, gpointer data)
{
  Drawing *d = data;
  if (prediction->problem)
    return TRUE;
  DynoMaskPair *pair = g_new0 (DynoMaskPair, 1);
  pair->truth = dyno_sampler_decode (d->dataset, prediction->index, d->pixels, d->scratch);
  pair->predicted = dyno_sampler_decode_masked (d->dataset, prediction->index, prediction->mask,
                                                d->width, d->height, d->pixels, d->scratch);
  g_hash_table_insert (d->pairs, GUINT_TO_POINTER ((guint) prediction->index), pair);
  return TRUE;
}

/* --- which samples ---------------------------------------------------------------------------- */

static int
compare_iou (gconstpointer a, gconstpointer b)
{
  const DynoMaskScored *x = a, *y = b;
  if (x->iou != y->iou)
    return x->iou < y->iou ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

GArray *
dyno_mask_pairs_list_worst (const DynoMaskScores *scores, guint32 class_id)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (DynoMaskScored));
  for (guint i = 0; i < scores->samples->len; i++)
    {
      DynoMaskScored one = g_array_index (scores->samples, DynoMaskScored, i);
      one.iou = scores->ious[(gsize) i * scores->n_outputs + class_id];
      if (!isnan (one.iou))
        g_array_append_val (list, one);
    }
  g_array_sort (list, compare_iou);
  g_array_set_size (list, MIN (list->len, DYNO_MASK_WORST_OF_CLASS));
  return list;
}

static void
add_indices (const GArray *samples, GHashTable *seen, GArray *indices)
{
  for (guint i = 0; i < samples->len; i++)
    {
      guint32 index = (guint32) g_array_index (samples, DynoMaskScored, i).index;
      if (g_hash_table_add (seen, GUINT_TO_POINTER (index)))
        g_array_append_val (indices, index);
    }
}

GHashTable *
dyno_mask_pairs_draw (DynoPredictor *predictor, DynoDataset *dataset, const DynoMaskScores *scores,
                      guint n_classes, guint pixels, GCancellable *cancellable, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL),
                         pairs = g_hash_table_new_full (NULL, NULL, NULL, pair_free);
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  Drawing drawing = { dataset, pairs, scratch, scores->width, scores->height, pixels };
  add_indices (scores->worst, seen, indices);
  for (guint i = 0; i < MIN (n_classes, scores->n_outputs); i++)
    {
      g_autoptr (GArray) worst = dyno_mask_pairs_list_worst (scores, i);
      add_indices (worst, seen, indices);
    }
  if (indices->len > 0
      && !dyno_predictor_run (predictor, indices, draw, &drawing, cancellable, error))
    return NULL;
  return g_steal_pointer (&pairs);
}

/* --- the pictures ----------------------------------------------------------------------------- */

static void
add_picture (GtkWidget *box, GdkPixbuf *pixbuf, int scale)
{
  if (!pixbuf)
    return;
  cairo_surface_t *surface = gdk_cairo_surface_create_from_pixbuf (pixbuf, scale, NULL);
  gtk_container_add (GTK_CONTAINER (box), gtk_image_new_from_surface (surface));
  cairo_surface_destroy (surface);
}

GtkWidget *
dyno_mask_pair_new (const DynoMaskPair *pair, int scale)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 2);
  gtk_widget_set_halign (box, GTK_ALIGN_CENTER);
  gtk_widget_set_direction (box, GTK_TEXT_DIR_LTR); /* the title names the left picture first */
  if (pair)
    {
      add_picture (box, pair->truth, scale);
      add_picture (box, pair->predicted, scale);
    }
  return box;
}
