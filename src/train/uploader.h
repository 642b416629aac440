/* SPDX-License-Identifier: MIT */
/* Copies batches from the loader into the INPUT slots of a program, while the device computes.
 *
 * Pinned: the loader decodes directly into page-locked memory, from which the device copies.  Not
 * pinned: the loader decodes into memory of its own, and the session's thread copies it into
 * page-locked memory.  All copies are recorded when the uploader is made.  One thread, the
 * session's.  Private to the train layer. */
#pragma once
#include "loader.h"
#include "network.h"
#include "program.h"

G_BEGIN_DECLS

typedef struct _DynoUploader DynoUploader;

/* params as for dyno_loader_new, slots left out.  graph is the planned graph to which memory
 * belongs; both outlive the uploader.  Errors: those of dyno_loader_new and dyno_buffer_new. */
DynoUploader *dyno_uploader_new (DynoDevice *device, DynoMemory *memory, DynoGraph *graph,
                                 DynoDataset *dataset, const GArray *indices,
                                 const DynoLoaderParams *params, guint n_program_slots,
                                 gboolean pinned, GError **error);
/* Waits for its copies in flight. */
void dyno_uploader_free (DynoUploader *uploader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoUploader, dyno_uploader_free)

DynoLoader *dyno_uploader_get_loader (DynoUploader *uploader);

/* Takes the next batch and submits its copy into a slot.  after: timeline_value of the last
 * submission that read the slot (0: none).  *n_valid 0: the epoch is over.  *timeline_value, on the
 * transfer queue, is the value for which the computing has to wait.  The time of waiting is added
 * to *wait_us.  Errors: those of dyno_loader_next and of submitting. */
gboolean dyno_uploader_next (DynoUploader *uploader, guint slot, guint64 after,
                             GCancellable *cancellable, guint32 *n_valid, gint64 *wait_us,
                             guint64 *timeline_value, GError **error);

/* To be called when the slot's copy has ended, because its computing has: gives the batch back to
 * the loader.  Returns the device time of the copy in milliseconds, 0 where the device cannot
 * measure it.  *host_ms, or NULL: time of the host's copy into page-locked memory before it; 0 when
 * pinned. */
double dyno_uploader_reclaim (DynoUploader *uploader, guint slot, double *host_ms);

/* The largest number of prefetched batches to which a live change can set the loader. */
guint dyno_uploader_get_max_prefetch (DynoUploader *uploader);

G_END_DECLS
