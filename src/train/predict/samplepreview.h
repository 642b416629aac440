/* SPDX-License-Identifier: MIT */
/* The training network's input for some samples: decoded, augmented and normalised on the device as
 * in a run, then converted to pictures with the normalisation undone; and the masks, where the
 * samples have them. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

typedef struct {
  guint32 n, width, height;
  guint8 *pixels; /* (n, height, width, 3) */
  guint8 *masks;  /* (n, height, width): class ids, transformed like the pixels; NULL: none */
} DynoPreview;

/* The samples of indices (array of guint32), as at these positions of an epoch that is not
 * shuffled.  Blocks.  Errors: DATA (no images), those of the loader, of dyno_job_get_network and of
 * the device. */
DynoPreview *dyno_preview_new (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                               const GArray *indices, guint64 epoch, GCancellable *cancellable,
                               GError **error);
void dyno_preview_free (DynoPreview *preview); /* NULL: does nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPreview, dyno_preview_free)

G_END_DECLS
