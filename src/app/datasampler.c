/* SPDX-License-Identifier: MIT */
/* Samples of a class are found by their labels, which cost no decoding; of a large data set some
 * are looked at, evenly spread, since folders lie class by class. */
#include "datasampler.h"

#define MOST_LABELS 50000
#define MOST_BYTES  (1 << 25) /* of a sample of fixed size */

typedef struct {
  DynoDataset *dataset;
  double val_split;
  guint64 seed;
  guint pixels; /* 0: no pictures */
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  dyno_dataset_unref (self->dataset);
  g_free (self);
}

static void
unref_shot (gpointer data)
{
  if (data)
    g_object_unref (data);
}

void
dyno_samples_free (DynoSamples *self)
{
  g_strfreev (self->notes);
  g_clear_pointer (&self->shots, g_ptr_array_unref);
  g_free (self);
}

/* --- one sample as a picture ------------------------------------------------------------------ */

/* Values from 0 to 1 as they are; others from their least to their largest. */
static void
scale_floats (const float *from, gsize n, guchar *to)
{
  float least = 0, most = 1;
  for (gsize i = 0; i < n; i++)
    {
      least = MIN (least, from[i]);
      most = MAX (most, from[i]);
    }
  for (gsize i = 0; i < n; i++)
    to[i] = (guchar) CLAMP (255 * (from[i] - least) / (most - least), 0, 255);
}

static GdkPixbuf *
make_pixbuf (const DynoBatchField *field, gconstpointer values)
{
  guint height = field->shape[0], width = field->shape[1], channels = field->shape[2];
  gsize n = (gsize) width * height * channels;
  g_autofree guchar *bytes = NULL;
  const guchar *from = values;
  if (field->element == DYNO_ELEMENT_F32)
    {
      from = bytes = g_malloc (n);
      scale_floats (values, n, bytes);
    }
  GdkPixbuf *pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, (int) width, (int) height);
  for (guint y = 0; pixbuf && y < height; y++)
    {
      guchar *to = gdk_pixbuf_get_pixels (pixbuf) + (gsize) y * gdk_pixbuf_get_rowstride (pixbuf);
      for (guint x = 0; x < width; x++, to += 3, from += channels)
        {
          to[0] = from[0];
          to[1] = channels >= 3 ? from[1] : from[0];
          to[2] = channels >= 3 ? from[2] : from[0];
        }
    }
  return pixbuf;
}

/* NULL: it cannot be decoded, or is no picture. */
static GdkPixbuf *
decode (DynoDataset *dataset, guint64 index, guint pixels, GByteArray *scratch)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  guint32 width = info->resizable ? pixels : info->max_width,
          height = info->resizable ? pixels : info->max_height;
  DynoBatchSchema schema;
  DynoBatchLayout layout;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { NULL };
  dyno_dataset_get_schema (info, width, height, &schema);
  int input = dyno_schema_find_index (&schema, DYNO_FIELD_INPUT);
  if (input < 0 || schema.fields[input].n_axes != 3 || schema.fields[input].shape[2] == 0
      || (schema.fields[input].element != DYNO_ELEMENT_U8
          && schema.fields[input].element != DYNO_ELEMENT_F32)
      || !dyno_batch_layout_init (&layout, &schema, 1, NULL) || layout.total_bytes > MOST_BYTES)
    return NULL;
  g_autofree char *block = g_malloc0 (layout.total_bytes);
  for (guint i = 0; i < schema.n_fields; i++)
    fields[i] = block + layout.offset[i];
  if (!dyno_dataset_decode (dataset, index, width, height, fields, scratch, NULL))
    return NULL;
  g_autoptr (GdkPixbuf) whole = make_pixbuf (&schema.fields[input], fields[input]);
  if (!whole)
    return NULL;
  double scale = (double) pixels / MAX (width, height);
  return gdk_pixbuf_scale_simple (whole, MAX ((int) (width * scale), 1),
                                  MAX ((int) (height * scale), 1),
                                  scale < 1 ? GDK_INTERP_BILINEAR : GDK_INTERP_NEAREST);
}

/* --- the thread ------------------------------------------------------------------------------- */

static GPtrArray *
look (const Request *r, GCancellable *cancellable)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (r->dataset);
  gboolean classes = dyno_schema_count_values (&info->schema) == 0 && info->n_classes > 0;
  guint n = classes ? MIN (info->n_classes, DYNO_SAMPLER_CLASSES) : 1, found = 0;
  guint64 step = MAX (info->n_samples / MOST_LABELS, 1);
  GPtrArray *shots = g_ptr_array_new_with_free_func (unref_shot);
  g_autofree guint *counts = g_new0 (guint, n);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_ptr_array_set_size (shots, (int) (n * DYNO_SAMPLER_EACH));
  for (guint64 i = 0; i < info->n_samples && found < n * DYNO_SAMPLER_EACH; i += step)
    {
      gint32 label = classes ? dyno_dataset_get_label (r->dataset, i) : 0;
      if (g_cancellable_is_cancelled (cancellable))
        break;
      if (label < 0 || label >= (gint32) n || counts[label] == DYNO_SAMPLER_EACH)
        continue;
      shots->pdata[label * DYNO_SAMPLER_EACH + counts[label]++] =
          decode (r->dataset, i, r->pixels, scratch);
      found++;
    }
  return shots;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *r = data;
  DynoSamples *samples = g_new0 (DynoSamples, 1);
  if (r->pixels > 0)
    samples->shots = look (r, cancellable);
  else
    {
      g_autoptr (GArray) train = NULL, validation = NULL;
      dyno_dataset_split (r->dataset, r->val_split, r->seed, &train, &validation);
      samples->n_train = train->len;
      samples->n_validation = validation->len;
      samples->notes = dyno_dataset_list_notes (r->dataset, train, validation);
    }
  g_task_return_pointer (task, samples, (GDestroyNotify) dyno_samples_free);
}

static void
begin (Request *request, GCancellable *cancellable, GAsyncReadyCallback done, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, done, data);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, work);
}

void
dyno_sampler_read_async (DynoDataset *dataset, double val_split, guint64 seed,
                         GCancellable *cancellable, GAsyncReadyCallback done, gpointer data)
{
  Request *request = g_new0 (Request, 1);
  request->dataset = dyno_dataset_ref (dataset);
  request->val_split = val_split;
  request->seed = seed;
  begin (request, cancellable, done, data);
}

void
dyno_sampler_look_async (DynoDataset *dataset, guint pixels, GCancellable *cancellable,
                         GAsyncReadyCallback done, gpointer data)
{
  Request *request = g_new0 (Request, 1);
  request->dataset = dyno_dataset_ref (dataset);
  request->pixels = pixels;
  begin (request, cancellable, done, data);
}

DynoSamples *
dyno_sampler_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
