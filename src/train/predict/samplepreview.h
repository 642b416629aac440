/* SPDX-License-Identifier: MIT */
/* The input that the training network gets of some samples: decoded, changed and normalised on
 * the device as in a run, then drawn with the normalisation taken back; and the masks, where the
 * samples have them. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

typedef struct {
  guint32 n, width, height;
  guint8 *pixels; /* (n, height, width, 3) */
  guint8 *masks;  /* (n, height, width): class ids, moved as the pixels; NULL: there are none */
} DynoPreview;

/* The samples of indices (array of guint32) at these places of an epoch that is not shuffled.
 * Blocking.  Errors: DATA (no images), those of the loader, of dyno_job_get_network and of the
 * device. */
DynoPreview *dyno_preview_new (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                               const GArray *indices, guint64 epoch, GCancellable *cancellable,
                               GError **error);
void dyno_preview_free (DynoPreview *preview); /* NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPreview, dyno_preview_free)

G_END_DECLS
