/* SPDX-License-Identifier: MIT */
/* What the page of the data set shows beyond its facts: the split, notes, a few samples of each
 * class as pictures.  Read in a thread, through the data set's own decoding. */
#pragma once
#include "dataset.h"
#include <gdk-pixbuf/gdk-pixbuf.h>

G_BEGIN_DECLS

#define DYNO_SAMPLER_CLASSES 40 /* that are looked at */
#define DYNO_SAMPLER_EACH    4  /* pictures of a class */

typedef struct {
  guint64 n_train, n_validation;
  char **notes;     /* dyno_dataset_list_notes */
  GPtrArray *shots; /* GdkPixbuf*, DYNO_SAMPLER_EACH for each class, NULL where there is none */
} DynoSamples;

void dyno_samples_free (DynoSamples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSamples, dyno_samples_free)

/* First without pictures, which are slow where files are large; then with them. */
void dyno_sampler_read_async (DynoDataset *dataset, double val_split, guint64 seed,
                              GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
void dyno_sampler_look_async (DynoDataset *dataset, guint pixels, GCancellable *cancellable,
                              GAsyncReadyCallback done, gpointer data);
/* Of both.  NULL with the error: it was cancelled. */
DynoSamples *dyno_sampler_finish (GAsyncResult *result, GError **error);

G_END_DECLS
