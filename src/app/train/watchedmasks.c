/* SPDX-License-Identifier: MIT */
/* A drawer has the decoded samples of its run, which are accessed only by the thread that draws. */
#include "watchedmasks.h"
#include "datasampler.h"
#include "mask.h"
#include "maskpicture.h"
#include "truthsums.h"
#include <math.h>

typedef struct {
  guint32 index;
  GdkPixbuf *picture; /* with the size of the masks; NULL: the sample cannot be decoded */
  guint8 *mask;       /* with the same size; NULL: there is none */
} Sample;

struct _DynoMaskDrawer {
  guint n; /* samples decoded so far */
  Sample samples[DYNO_MOST_WATCHED];
};

typedef struct {
  DynoMaskDrawer *drawer;
  DynoEvent *event;
} Request;

static void
clear_sample (Sample *sample)
{
  g_clear_object (&sample->picture);
  g_clear_pointer (&sample->mask, g_free);
}

static void
clear_drawer (gpointer data)
{
  DynoMaskDrawer *drawer = data;
  for (guint i = 0; i < DYNO_MOST_WATCHED; i++)
    clear_sample (&drawer->samples[i]);
}

DynoMaskDrawer *
dyno_mask_drawer_new (void)
{
  return g_atomic_rc_box_new0 (DynoMaskDrawer);
}

void
dyno_mask_drawer_unref (DynoMaskDrawer *drawer)
{
  g_atomic_rc_box_release_full (drawer, clear_drawer);
}

static void
request_free (gpointer data)
{
  Request *request = data;
  dyno_mask_drawer_unref (request->drawer);
  dyno_event_unref (request->event);
  g_free (request);
}

void
dyno_watched_masks_free (DynoWatchedMasks *masks)
{
  for (guint i = 0; i < masks->n; i++)
    {
      g_free (masks->masks[i].name);
      g_clear_object (&masks->masks[i].truth);
      g_clear_object (&masks->masks[i].predicted);
    }
  g_free (masks);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
decode (const DynoEvent *event, guint32 index, Sample *sample, GByteArray *scratch)
{
  g_autofree guint8 *mask = NULL;
  clear_sample (sample);
  sample->index = index;
  g_autoptr (GdkPixbuf) whole =
      dyno_sampler_decode_apart (event->masks.dataset, index, event->masks.image_width,
                                 event->masks.image_height, &mask, scratch);
  if (!whole)
    return;
  sample->picture = gdk_pixbuf_scale_simple (whole, (int) event->masks.width,
                                             (int) event->masks.height, GDK_INTERP_BILINEAR);
  if (!mask)
    return;
  sample->mask = g_malloc ((gsize) event->masks.width * event->masks.height);
  dyno_mask_thin (mask, event->masks.image_width, event->masks.image_height, event->masks.every,
                  sample->mask);
}

static GdkPixbuf *
cover (const DynoEvent *event, const Sample *sample, const guint8 *mask)
{
  GdkPixbuf *picture = sample->picture
                           ? gdk_pixbuf_copy (sample->picture)
                           : gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, (int) event->masks.width,
                                             (int) event->masks.height);
  if (!sample->picture)
    gdk_pixbuf_fill (picture, 0x000000ff);
  dyno_mask_picture_cover (picture, mask);
  return picture;
}

static void
note_classes (const guint8 *ids, gsize n_pixels, gboolean *there)
{
  for (gsize i = 0; i < n_pixels; i++)
    there[ids[i]] = TRUE;
}

static double
measure (const DynoEvent *event, const guint8 *truth, const guint8 *ids)
{
  guint32 n = dyno_dataset_get_info (event->masks.dataset)->n_classes;
  gsize n_pixels = (gsize) event->masks.width * event->masks.height;
  DynoClassCounts counts;
  DynoClassMeans means;
  dyno_class_counts_init (&counts, n);
  for (gsize i = 0; i < n_pixels; i++)
    if (truth[i] < n && ids[i] < n)
      dyno_class_counts_add (&counts, truth[i], ids[i]);
  dyno_class_counts_get_means (&counts, &means);
  dyno_class_counts_clear (&counts);
  return means.iou;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *r = data;
  const DynoEvent *event = r->event;
  gsize each = (gsize) event->masks.width * event->masks.height;
  DynoWatchedMasks *masks = g_new0 (DynoWatchedMasks, 1);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  masks->epoch = event->masks.epoch;
  for (guint i = 0; i < event->masks.n && !g_cancellable_is_cancelled (cancellable); i++)
    {
      Sample *sample = &r->drawer->samples[i];
      DynoWatchedMask *mask = &masks->masks[masks->n++];
      const guint8 *ids = event->masks.ids + each * i;
      if (i >= r->drawer->n || sample->index != event->masks.samples[i])
        decode (event, event->masks.samples[i], sample, scratch);
      r->drawer->n = MAX (r->drawer->n, i + 1);
      mask->name = dyno_dataset_describe_sample (event->masks.dataset, event->masks.samples[i]);
      mask->predicted = cover (event, sample, ids);
      note_classes (ids, each, mask->there);
      mask->iou = (double) NAN;
      if (!sample->mask)
        continue;
      mask->truth = cover (event, sample, sample->mask);
      note_classes (sample->mask, each, mask->there);
      mask->iou = measure (event, sample->mask, ids);
    }
  g_task_return_pointer (task, masks, (GDestroyNotify) dyno_watched_masks_free);
}

void
dyno_mask_drawer_draw_async (DynoMaskDrawer *drawer, DynoEvent *event, GCancellable *cancellable,
                             GAsyncReadyCallback done, gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, done, data);
  Request *request = g_new0 (Request, 1);
  request->drawer = g_atomic_rc_box_acquire (drawer);
  request->event = dyno_event_ref (event);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, work);
}

DynoWatchedMasks *
dyno_mask_drawer_finish (GAsyncResult *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}
