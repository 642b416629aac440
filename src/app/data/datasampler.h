/* SPDX-License-Identifier: MIT */
/* Makes pictures of a few samples of each class, as they are stored or as the network reads them in
 * training.  In a data set with labels, a sample counts for each label that it has; in one with
 * masks, it counts for each class in its mask, and the mask is drawn over the picture.  The samples
 * are read in a thread, through the data set's own decoding. */
#pragma once
#include "job.h"
#include "samplepreview.h"
#include <gdk-pixbuf/gdk-pixbuf.h>

G_BEGIN_DECLS

#define DYNO_SAMPLER_CLASSES 40 /* classes that are sampled */
#define DYNO_SAMPLER_EACH    4  /* pictures of a class */

typedef struct {
  GPtrArray *shots; /* GdkPixbuf*, DYNO_SAMPLER_EACH for each class, NULL where there is none */
  GArray *indices;  /* guint32, of the sample in each picture of shots */
  guint n_failed;   /* samples that were to be shown by _look_async and could not be decoded */
  char *failure;    /* the error of the first of them; NULL: none */
} DynoSamples;

void dyno_samples_free (DynoSamples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSamples, dyno_samples_free)

void dyno_sampler_look_async (DynoDataset *dataset, guint pixels, GCancellable *cancellable,
                              GAsyncReadyCallback done, gpointer data);
/* A sample as a picture of at most `pixels` a side, with its mask, if any, drawn over it; NULL
 * where it cannot be decoded or is no image.  Any thread. */
GdkPixbuf *dyno_sampler_decode (DynoDataset *dataset, guint64 index, guint pixels,
                                GByteArray *scratch);
/* The same with a predicted mask, (height, width), instead of the sample's own. */
GdkPixbuf *dyno_sampler_decode_masked (DynoDataset *dataset, guint64 index, const guint8 *mask,
                                       guint32 width, guint32 height, guint pixels,
                                       GByteArray *scratch);
/* A sample as a picture of width x height, and separately its own mask, (height, width), to be
 * freed with g_free, or NULL where it has none.  Returns NULL where the sample cannot be decoded,
 * is no image, or has another size.  Any thread. */
GdkPixbuf *dyno_sampler_decode_apart (DynoDataset *dataset, guint64 index, guint32 width,
                                      guint32 height, guint8 **mask, GByteArray *scratch);
/* Shows the samples of indices (guint32) as they are stored: shots gets one picture for each. */
void dyno_sampler_show_async (DynoDataset *dataset, const GArray *indices, guint pixels,
                              GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
/* Shows the samples of indices (guint32) as a run of the job reads them: shots gets one picture for
 * each.  Another value of draw gives other random augmentation.  Errors: those of dyno_device_open
 * and dyno_preview_new. */
void dyno_sampler_see_async (const DynoJob *job, DynoDataset *dataset, const GArray *indices,
                             guint pixels, guint64 draw, GCancellable *cancellable,
                             GAsyncReadyCallback done, gpointer data);
/* Adds a picture (GdkPixbuf) of each sample of the preview, with its mask, if any, drawn over it, and
 * over the preview's pixels. */
void dyno_sampler_add_seen (const DynoPreview *preview, guint pixels, GPtrArray *shots);
/* Ends each of the _async calls.  NULL with the error, which except for _see_async can only be a
 * cancellation. */
DynoSamples *dyno_sampler_finish (GAsyncResult *result, GError **error);

G_END_DECLS
