/* SPDX-License-Identifier: MIT */
/* A few samples of each class as pictures, as they are or as the network reads them in training; of
 * a data set with masks a sample is one of each class that is in its mask, which lies over it.
 * They are read in a thread, through the data set's own decoding. */
#pragma once
#include "job.h"
#include <gdk-pixbuf/gdk-pixbuf.h>

G_BEGIN_DECLS

#define DYNO_SAMPLER_CLASSES 40 /* classes that are sampled */
#define DYNO_SAMPLER_EACH    4  /* pictures of a class */

typedef struct {
  GPtrArray *shots; /* GdkPixbuf*, DYNO_SAMPLER_EACH for each class, NULL where there is none */
  GArray *indices;  /* guint32, of the samples of shots */
} DynoSamples;

void dyno_samples_free (DynoSamples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSamples, dyno_samples_free)

void dyno_sampler_look_async (DynoDataset *dataset, guint pixels, GCancellable *cancellable,
                              GAsyncReadyCallback done, gpointer data);
/* A sample as a picture of at most so many pixels a side, with its mask over it, where it has one;
 * NULL: it cannot be decoded, or is no picture.  Any thread. */
GdkPixbuf *dyno_sampler_decode (DynoDataset *dataset, guint64 index, guint pixels,
                                GByteArray *scratch);
/* The same with another mask, (height, width), that was predicted for the sample at that size. */
GdkPixbuf *dyno_sampler_decode_masked (DynoDataset *dataset, guint64 index, const guint8 *mask,
                                       guint32 width, guint32 height, guint pixels,
                                       GByteArray *scratch);
/* A sample of the size that a network reads, and apart from it its own mask, (height, width), g_free;
 * NULL: it has none.  NULL: as above, or it has another size.  Any thread. */
GdkPixbuf *dyno_sampler_decode_apart (DynoDataset *dataset, guint64 index, guint32 width,
                                      guint32 height, guint8 **mask, GByteArray *scratch);
/* The samples of indices (guint32) as they are: shots has one picture for each. */
void dyno_sampler_show_async (DynoDataset *dataset, const GArray *indices, guint pixels,
                              GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
/* The samples of indices (guint32) as a run of the job reads them: shots has one picture for each.
 * Another value of draw gives other random changes.  Errors: those of dyno_device_open and
 * dyno_preview_new. */
void dyno_sampler_see_async (const DynoJob *job, DynoDataset *dataset, const GArray *indices,
                             guint pixels, guint64 draw, GCancellable *cancellable,
                             GAsyncReadyCallback done, gpointer data);
/* The result of each.  NULL with the error, which can only be a cancellation but for the last. */
DynoSamples *dyno_sampler_finish (GAsyncResult *result, GError **error);

G_END_DECLS
