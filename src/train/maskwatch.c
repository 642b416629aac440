/* SPDX-License-Identifier: MIT */
/* Masks that are watched.  Invariant: a batch is read back if fewer than DYNO_MOST_WATCHED samples
 * precede it; submissions and retirements count samples alike. */
#include "maskwatch.h"
#include "checked.h"
#include "mask.h"
#include <string.h>

struct _DynoMaskWatch {
  DynoDataset *dataset;
  DynoReadback *readback;
  guint32 image_width, image_height, width, height, every;
  guint64 n_submitted; /* number of samples submitted */
  guint64 n_batches;   /* number of batches retired */
  guint n;             /* number of samples that were read */
  guint32 samples[DYNO_MOST_WATCHED];
  guint8 *ids; /* (DYNO_MOST_WATCHED, height, width) */
};

DynoMaskWatch *
dyno_mask_watch_new (DynoDevice *device, DynoBuild *build, DynoDataset *dataset, guint32 side,
                     GError **error)
{
  const DynoTensor *watched = dyno_network_get_watched (dyno_build_get_graph (build));
  DynoReadback *readback = dyno_readback_new_watched (device, build, error);
  DynoMaskWatch *watch;

  if (!readback)
    return NULL;
  watch = g_new0 (DynoMaskWatch, 1);
  watch->dataset = dyno_dataset_ref (dataset);
  watch->readback = readback;
  watch->image_width = watched->w;
  watch->image_height = watched->h;
  watch->every = (guint32) dyno_div_up (MAX (watched->w, watched->h), side);
  watch->width = (guint32) dyno_div_up (watched->w, watch->every);
  watch->height = (guint32) dyno_div_up (watched->h, watch->every);
  watch->ids = g_malloc ((gsize) DYNO_MOST_WATCHED * watch->width * watch->height);
  return watch;
}

void
dyno_mask_watch_free (DynoMaskWatch *watch)
{
  if (!watch)
    return;
  dyno_readback_free (watch->readback);
  dyno_dataset_unref (watch->dataset);
  g_free (watch->ids);
  g_free (watch);
}

void
dyno_mask_watch_begin (DynoMaskWatch *watch)
{
  watch->n_submitted = watch->n_batches = 0;
  watch->n = 0;
}

gboolean
dyno_mask_watch_follow (DynoMaskWatch *watch, DynoPipe *pipe, guint32 n_samples, GError **error)
{
  gboolean whole = watch->n_submitted >= DYNO_MOST_WATCHED;

  watch->n_submitted += n_samples;
  return whole || dyno_pipe_read_back (pipe, watch->readback, error);
}

void
dyno_mask_watch_take (DynoMaskWatch *watch, DynoLoader *loader, guint slot, guint32 n_samples)
{
  gsize each = (gsize) watch->width * watch->height;

  for (guint32 row = 0; row < n_samples && watch->n < DYNO_MOST_WATCHED; row++)
    {
      watch->samples[watch->n] = dyno_loader_find_sample (loader, watch->n_batches, row);
      dyno_mask_thin (dyno_readback_get_mask (watch->readback, slot, row), watch->image_width,
                      watch->image_height, watch->every, watch->ids + each * watch->n++);
    }
  watch->n_batches++;
}

DynoEvent *
dyno_mask_watch_report (DynoMaskWatch *watch, guint64 epoch)
{
  DynoEvent *event;

  if (watch->n == 0)
    return NULL;
  event = dyno_event_new (DYNO_EVENT_MASKS);
  event->masks.epoch = epoch;
  event->masks.dataset = dyno_dataset_ref (watch->dataset);
  event->masks.n = watch->n;
  memcpy (event->masks.samples, watch->samples, sizeof watch->samples);
  event->masks.width = watch->width;
  event->masks.height = watch->height;
  event->masks.every = watch->every;
  event->masks.image_width = watch->image_width;
  event->masks.image_height = watch->image_height;
  event->masks.ids = g_memdup2 (watch->ids, (gsize) watch->n * watch->width * watch->height);
  watch->n = 0;
  return event;
}
