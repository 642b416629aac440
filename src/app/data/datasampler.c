/* SPDX-License-Identifier: MIT */
/* Samples of a class are found by their labels, without decoding.  In a large data set only some
 * labels are read, at even distances, since folders are ordered by class. */
#include "datasampler.h"
#include "heldtask.h"
#include "maskpicture.h"
#include "samplepreview.h"
#include <string.h>

#define MOST_LABELS 50000
#define MOST_MASKS  300       /* masks that are decoded to find classes */
#define LEAST_SEEN  200       /* a class with less than 1 / LEAST_SEEN of a mask is ignored */
#define MOST_BYTES  (1 << 25) /* largest sample of a data set that cannot be resized */
/* Most bytes of a batch on the device, with values of 4 bytes and 8 channels, and its most
 * samples. */
#define BATCH_BYTES (1 << 25)
#define BATCH_MOST  64

typedef struct {
  DynoDataset *dataset;
  guint pixels;
  GArray *indices; /* indices of the requested samples; NULL: some samples of each class */
  /* set for samples as the network sees them: */
  DynoJob *job;
  guint64 draw;
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  dyno_dataset_unref (self->dataset);
  dyno_job_unref (self->job);
  g_clear_pointer (&self->indices, g_array_unref);
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
  g_clear_pointer (&self->shots, g_ptr_array_unref);
  g_clear_pointer (&self->indices, g_array_unref);
  g_free (self->failure);
  g_free (self);
}

/* --- one sample as a picture ------------------------------------------------------------------ */

/* Values within 0 to 1 are used as they are; others are scaled from their minimum to their
 * maximum. */
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

static GdkPixbuf *
scale_to (GdkPixbuf *whole, guint pixels)
{
  int width = gdk_pixbuf_get_width (whole), height = gdk_pixbuf_get_height (whole);
  double scale = (double) pixels / MAX (width, height);
  return gdk_pixbuf_scale_simple (whole, MAX ((int) (width * scale), 1),
                                  MAX ((int) (height * scale), 1),
                                  scale < 1 ? GDK_INTERP_BILINEAR : GDK_INTERP_NEAREST);
}

/* A decoded sample: the picture, and the mask, which is in the block of all fields. */
typedef struct {
  GdkPixbuf *whole; /* NULL: the sample could not be decoded, or is no image */
  char *block;
  guint8 *mask;  /* of the picture's size; NULL: it has none */
  GError *error; /* why the sample could not be decoded; NULL: it could, or was not tried */
} Decoded;

static void
decoded_clear (Decoded *decoded)
{
  g_clear_object (&decoded->whole);
  g_clear_error (&decoded->error);
  g_free (decoded->block);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Decoded, decoded_clear)

/* width, height: used for a data set that can be resized. */
static void
decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height, GByteArray *scratch,
        Decoded *to)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  DynoBatchSchema schema;
  DynoBatchLayout layout;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { NULL };
  width = info->resizable ? width : info->max_width;
  height = info->resizable ? height : info->max_height;
  dyno_dataset_get_schema (info, width, height, &schema);
  int input = dyno_schema_find_index (&schema, DYNO_FIELD_INPUT);
  if (input < 0 || schema.fields[input].n_axes != 3 || schema.fields[input].shape[2] == 0
      || (schema.fields[input].element != DYNO_ELEMENT_U8
          && schema.fields[input].element != DYNO_ELEMENT_F32)
      || !dyno_batch_layout_init (&layout, &schema, 1, NULL) || layout.total_bytes > MOST_BYTES)
    return;
  to->block = g_malloc0 (layout.total_bytes);
  for (guint i = 0; i < schema.n_fields; i++)
    fields[i] = to->block + layout.offset[i];
  if (!dyno_dataset_decode (dataset, index, width, height, fields, scratch, &to->error))
    return;
  to->whole = make_pixbuf (&schema.fields[input], fields[input]);
  if (dyno_schema_find_mask (&schema))
    to->mask = fields[dyno_schema_find_index (&schema, DYNO_FIELD_TARGET)];
}

static GdkPixbuf *
finish (Decoded *decoded, const guint8 *mask, guint pixels)
{
  if (!decoded->whole)
    return NULL;
  if (mask)
    dyno_mask_picture_cover (decoded->whole, mask);
  return scale_to (decoded->whole, pixels);
}

static gboolean
has_size (const Decoded *decoded, guint32 width, guint32 height)
{
  return decoded->whole && gdk_pixbuf_get_width (decoded->whole) == (int) width
         && gdk_pixbuf_get_height (decoded->whole) == (int) height;
}

GdkPixbuf *
dyno_sampler_decode (DynoDataset *dataset, guint64 index, guint pixels, GByteArray *scratch)
{
  g_auto (Decoded) decoded = { 0 };
  decode (dataset, index, pixels, pixels, scratch, &decoded);
  return finish (&decoded, decoded.mask, pixels);
}

GdkPixbuf *
dyno_sampler_decode_masked (DynoDataset *dataset, guint64 index, const guint8 *mask, guint32 width,
                            guint32 height, guint pixels, GByteArray *scratch)
{
  g_auto (Decoded) decoded = { 0 };
  decode (dataset, index, width, height, scratch, &decoded);
  return finish (&decoded, has_size (&decoded, width, height) ? mask : NULL, pixels);
}

GdkPixbuf *
dyno_sampler_decode_apart (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                           guint8 **mask, GByteArray *scratch)
{
  g_auto (Decoded) decoded = { 0 };
  decode (dataset, index, width, height, scratch, &decoded);
  *mask = NULL;
  if (!has_size (&decoded, width, height))
    return NULL;
  if (decoded.mask)
    *mask = g_memdup2 (decoded.mask, (gsize) width * height);
  return g_steal_pointer (&decoded.whole);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
note_failure (DynoSamples *samples, const Decoded *decoded)
{
  if (decoded->error && samples->n_failed++ == 0)
    samples->failure = g_strdup (decoded->error->message);
}

/* Makes room for DYNO_SAMPLER_EACH samples of each of n classes. */
static void
make_room (DynoSamples *samples, guint n)
{
  samples->shots = g_ptr_array_new_with_free_func (unref_shot);
  g_ptr_array_set_size (samples->shots, (int) (n * DYNO_SAMPLER_EACH));
  samples->indices = g_array_new (FALSE, TRUE, sizeof (guint32));
  g_array_set_size (samples->indices, n * DYNO_SAMPLER_EACH);
}

/* Marks each of the first n classes, or labels, that the sample has; where it has neither, the only
 * place. */
static void
mark (const Request *r, guint64 index, guint n, gboolean *has)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (r->dataset);
  DynoTask task = dyno_dataset_get_task (info);
  memset (has, 0, n * sizeof *has);
  if (task == DYNO_TASK_LABELS)
    {
      const float *states = dyno_dataset_get_values (r->dataset, index);
      for (guint k = 0; states && k < n; k++)
        has[k] = states[k] == 1;
      return;
    }
  gint32 label = task == DYNO_TASK_CLASSES && info->n_classes > 0
                     ? dyno_dataset_get_label (r->dataset, index)
                     : 0;
  if (label >= 0 && label < (gint32) n)
    has[label] = TRUE;
}

/* Adds the sample to each class that it has and that has room; returns the number of these
 * classes. */
static guint
enter_marked (const Request *r, DynoSamples *samples, guint64 index, const gboolean *has, guint n,
              guint *counts, GByteArray *scratch)
{
  g_autoptr (GdkPixbuf) shot = NULL;
  guint entered = 0;
  for (guint k = 0; k < n; k++)
    {
      if (!has[k] || counts[k] == DYNO_SAMPLER_EACH)
        continue;
      if (entered++ == 0)
        {
          g_auto (Decoded) decoded = { 0 };
          decode (r->dataset, index, r->pixels, r->pixels, scratch, &decoded);
          note_failure (samples, &decoded);
          shot = finish (&decoded, decoded.mask, r->pixels);
        }
      guint place = k * DYNO_SAMPLER_EACH + counts[k]++;
      samples->shots->pdata[place] = shot ? g_object_ref (shot) : NULL;
      g_array_index (samples->indices, guint32, place) = (guint32) index;
    }
  return entered;
}

static void
look (const Request *r, DynoSamples *samples, GCancellable *cancellable)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (r->dataset);
  gboolean classes = dyno_schema_count_values (&info->schema) == 0 && info->n_classes > 0;
  guint n = classes ? MIN (info->n_classes, DYNO_SAMPLER_CLASSES) : 1, found = 0;
  guint64 step = MAX (info->n_samples / MOST_LABELS, 1);
  g_autofree guint *counts = g_new0 (guint, n);
  g_autofree gboolean *has = g_new (gboolean, n);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  make_room (samples, n);
  for (guint64 i = 0; i < info->n_samples && found < n * DYNO_SAMPLER_EACH
                      && !g_cancellable_is_cancelled (cancellable);
       i += step)
    {
      mark (r, i, n, has);
      found += enter_marked (r, samples, i, has, n, counts, scratch);
    }
}

/* Adds the sample to each class that has room for it and a large enough part of its mask; returns
 * the number of these classes. */
static guint
enter (DynoSamples *samples, guint64 index, Decoded *decoded, guint pixels, guint n, guint *counts)
{
  gsize all = (gsize) gdk_pixbuf_get_width (decoded->whole)
              * (gsize) gdk_pixbuf_get_height (decoded->whole);
  gsize there[256] = { 0 };
  guint entered = 0;
  for (gsize i = 0; i < all; i++)
    there[decoded->mask[i]]++;
  g_autoptr (GdkPixbuf) shot = finish (decoded, decoded->mask, pixels);
  for (guint k = 0; k < n; k++)
    {
      if (there[k] * LEAST_SEEN < all || counts[k] == DYNO_SAMPLER_EACH)
        continue;
      guint place = k * DYNO_SAMPLER_EACH + counts[k]++;
      samples->shots->pdata[place] = g_object_ref (shot);
      g_array_index (samples->indices, guint32, place) = (guint32) index;
      entered++;
    }
  return entered;
}

/* The classes of a mask are not known before it is decoded. */
static void
look_at_masks (const Request *r, DynoSamples *samples, GCancellable *cancellable)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (r->dataset);
  guint n = MIN (info->n_classes, DYNO_SAMPLER_CLASSES), found = 0;
  guint64 step = MAX (info->n_samples / MOST_MASKS, 1);
  g_autofree guint *counts = g_new0 (guint, n);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  make_room (samples, n);
  for (guint64 i = 0; i < info->n_samples && found < n * DYNO_SAMPLER_EACH
                      && !g_cancellable_is_cancelled (cancellable);
       i += step)
    {
      g_auto (Decoded) decoded = { 0 };
      decode (r->dataset, i, r->pixels, r->pixels, scratch, &decoded);
      note_failure (samples, &decoded);
      if (decoded.whole && decoded.mask)
        found += enter (samples, i, &decoded, r->pixels, n, counts);
    }
}

static void
show (const Request *r, DynoSamples *samples, GCancellable *cancellable)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  samples->shots = g_ptr_array_new_with_free_func (unref_shot);
  for (guint i = 0; i < r->indices->len && !g_cancellable_is_cancelled (cancellable); i++)
    g_ptr_array_add (samples->shots,
                     dyno_sampler_decode (r->dataset, g_array_index (r->indices, guint32, i),
                                          r->pixels, scratch));
}

void
dyno_sampler_add_seen (const DynoPreview *preview, guint pixels, GPtrArray *shots)
{
  gsize each = (gsize) preview->width * preview->height * 3;
  for (guint i = 0; i < preview->n; i++)
    {
      g_autoptr (GdkPixbuf) whole = gdk_pixbuf_new_from_data (
          preview->pixels + i * each, GDK_COLORSPACE_RGB, FALSE, 8, (int) preview->width,
          (int) preview->height, (int) preview->width * 3, NULL, NULL);
      if (preview->masks)
        dyno_mask_picture_cover (whole, preview->masks + i * each / 3);
      g_ptr_array_add (shots, scale_to (whole, pixels));
    }
}

/* Makes the pictures batch by batch.  Random augmentation depends on a sample's position in its
 * epoch, so each batch is an epoch. */
static gboolean
see (const Request *r, DynoSamples *samples, GCancellable *cancellable, GError **error)
{
  DynoDeviceParams params = { .index = r->job->device };
  g_autoptr (DynoDevice) device = NULL;
  guint32 width, height;
  if (!dyno_job_get_size (r->job, dyno_dataset_get_info (r->dataset), &width, &height, error)
      || !(device = dyno_device_open (&params, error)))
    return FALSE;
  guint64 bytes = MAX ((guint64) width * height * 8 * sizeof (float), 1);
  guint most = (guint) CLAMP (BATCH_BYTES / bytes, 1, BATCH_MOST), n_batches = 0;
  samples->shots = g_ptr_array_new_with_free_func (unref_shot);
  for (guint i = 0; i < r->indices->len; i += most)
    {
      g_autoptr (GArray) batch = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_append_vals (batch, &g_array_index (r->indices, guint32, i),
                           MIN (most, r->indices->len - i));
      g_autoptr (DynoPreview) preview = dyno_preview_new (
          device, r->job, r->dataset, batch, (r->draw << 32) | n_batches++, cancellable, error);
      if (!preview)
        return FALSE;
      dyno_sampler_add_seen (preview, r->pixels, samples->shots);
    }
  return TRUE;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *r = data;
  DynoSamples *samples = g_new0 (DynoSamples, 1);
  GError *error = NULL;
  if (r->job && !see (r, samples, cancellable, &error))
    {
      dyno_samples_free (samples);
      g_task_return_error (task, error);
      return;
    }
  if (!r->job && r->indices)
    show (r, samples, cancellable);
  else if (!r->job && dyno_schema_find_mask (&dyno_dataset_get_info (r->dataset)->schema))
    look_at_masks (r, samples, cancellable);
  else if (!r->job)
    look (r, samples, cancellable);
  g_task_return_pointer (task, samples, (GDestroyNotify) dyno_samples_free);
}

static void
begin (Request *request, GCancellable *cancellable, GAsyncReadyCallback done, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, done, data);
  g_task_set_task_data (task, request, request_free);
  if (request->job)
    dyno_task_run_held (task, work); /* drivers may crash if the process exits during the work */
  else
    g_task_run_in_thread (task, work);
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

static GArray *
copy_indices (const GArray *indices)
{
  GArray *copy = g_array_new (FALSE, FALSE, sizeof (guint32));
  return g_array_append_vals (copy, indices->data, indices->len);
}

void
dyno_sampler_show_async (DynoDataset *dataset, const GArray *indices, guint pixels,
                         GCancellable *cancellable, GAsyncReadyCallback done, gpointer data)
{
  Request *request = g_new0 (Request, 1);
  request->dataset = dyno_dataset_ref (dataset);
  request->indices = copy_indices (indices);
  request->pixels = pixels;
  begin (request, cancellable, done, data);
}

void
dyno_sampler_see_async (const DynoJob *job, DynoDataset *dataset, const GArray *indices,
                        guint pixels, guint64 draw, GCancellable *cancellable,
                        GAsyncReadyCallback done, gpointer data)
{
  Request *request = g_new0 (Request, 1);
  request->dataset = dyno_dataset_ref (dataset);
  request->job = dyno_job_copy (job);
  request->indices = copy_indices (indices);
  request->pixels = pixels;
  request->draw = draw;
  begin (request, cancellable, done, data);
}

DynoSamples *
dyno_sampler_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
