/* SPDX-License-Identifier: MIT */
/* Memory for feeding and exchanging the steps of a job, besides that of its programs: batches and
 * staging of an uploader, page-locked memory of an exchange of gradients and of predictions,
 * inboxes for the gradients of other ranks.  The plan of a job counts it and its owners allocate
 * it, both by these functions, so that what is planned is what is allocated.  Pure arithmetic; any
 * thread. */
#pragma once
#include "hostplan.h"
#include "network.h"
#include "plan.h"
#include "schema.h"

G_BEGIN_DECLS

/* The host memory of an uploader and its loader.  Batches and staging hold the fields of a batch at
 * the offsets of its layout. */
typedef struct {
  DynoBatchLayout layout;
  /* the loader decodes into them; when not pinned, they are PLAIN memory of the loader */
  DynoHostBuffer batches;
  DynoHostBuffer staging; /* one per slot of the program; none when pinned */
} DynoUploadPlan;

/* Errors: DYNO_BASE_ERROR_OVERFLOW. */
gboolean dyno_upload_plan_init (DynoUploadPlan *plan, const DynoBatchSchema *schema, guint32 batch,
                                guint prefetch, guint n_program_slots, gboolean pinned,
                                GError **error);

/* The page-locked memory of an exchange of gradients and states between ranks. */
DynoHostBuffer dyno_exchange_plan_buffer (const DynoPlan *plan);

/* Page-locked memory for the outputs of a batch followed by its truth, where the network reads it:
 * the bytes of one of these tensors, the bytes of a slot, and the buffers of all slots.  There are
 * no buffers of 0 bytes. */
guint64 dyno_predictions_part_bytes (const DynoTensor *tensor);
/* The truth that is copied with the outputs; NULL: the network reads no truth, or it is a mask,
 * whose pixels the outputs count. */
const DynoTensor *dyno_predictions_find_truth (DynoGraph *graph);
guint64 dyno_predictions_slot_bytes (DynoGraph *graph);
DynoHostBuffer dyno_predictions_plan_buffer (guint64 slot_bytes);

/* The same for the masks of a validation that are watched; a graph without them has no buffers. */
DynoHostBuffer dyno_watched_plan_buffer (guint64 slot_bytes);
guint64 dyno_watched_slot_bytes (DynoGraph *graph);

/* Each rank sends all its values to every other rank: with more ranks than this, that takes more
 * memory and time than sums in parts. */
#define DYNO_INBOX_MOST_RANKS 8

/* An inbox has a part for each other rank: gradients in fp16 (half) or fp32, then states.  The
 * functions return the bytes of the gradients, of a part, and of the whole inbox. */
guint64 dyno_inbox_gradient_bytes (const DynoPlan *plan, gboolean half);
guint64 dyno_inbox_part_bytes (const DynoPlan *plan, gboolean half);
guint64 dyno_inbox_total_bytes (const DynoPlan *plan, gboolean half, guint ranks);

G_END_DECLS
