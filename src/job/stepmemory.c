/* SPDX-License-Identifier: MIT */
/* See stepmemory.h. */
#include "stepmemory.h"
#include "checked.h"
#include "loader.h"
#include "peer.h"
#include "planjob.h"

#define SPARE_SLOTS 8 /* most prefetched batches after a live change, where memory allows */
/* limit of the memory of all slots with SPARE_SLOTS */
#define SPARE_BYTES (G_GUINT64_CONSTANT (128) << 20)

gboolean
dyno_upload_plan_init (DynoUploadPlan *plan, const DynoBatchSchema *schema, guint32 batch,
                       guint prefetch, guint n_program_slots, gboolean pinned, GError **error)
{
  guint spare = MAX (prefetch, SPARE_SLOTS);
  guint64 size_bytes;
  gboolean cheap;

  *plan = (DynoUploadPlan){ 0 };
  if (!dyno_batch_layout_init (&plan->layout, schema, batch, error))
    return FALSE;
  size_bytes = plan->layout.total_bytes;
  cheap = size_bytes * (spare + n_program_slots) <= SPARE_BYTES;
  if (pinned)
    plan->batches =
        dyno_host_buffer ("batches", DYNO_HOST_UPLOAD,
                          n_program_slots + (cheap ? spare : MAX (1, prefetch)), size_bytes);
  else
    {
      plan->batches = dyno_host_buffer ("batches", DYNO_HOST_PLAIN,
                                        dyno_loader_count_slots (prefetch), size_bytes);
      plan->staging = dyno_host_buffer ("staging", DYNO_HOST_UPLOAD, n_program_slots, size_bytes);
    }
  return TRUE;
}

DynoHostBuffer
dyno_exchange_plan_buffer (const DynoPlan *plan)
{
  return dyno_host_buffer ("exchange", DYNO_HOST_READBACK, 1,
                           plan->space_bytes[DYNO_SPACE_GRADIENT]
                               + plan->space_bytes[DYNO_SPACE_STATE]);
}

guint64
dyno_predictions_part_bytes (const DynoTensor *tensor)
{
  return dyno_align_up (tensor->size_bytes, 4);
}

const DynoTensor *
dyno_predictions_find_truth (DynoGraph *graph)
{
  const DynoTensor *target = dyno_network_find_input (graph, DYNO_FIELD_TARGET);

  return target && target->dtype != DYNO_DTYPE_U8 ? target : NULL;
}

guint64
dyno_predictions_slot_bytes (DynoGraph *graph)
{
  const DynoTensor *result = dyno_network_get_result (graph),
                   *target = dyno_predictions_find_truth (graph);

  return dyno_predictions_part_bytes (result) + (target ? dyno_predictions_part_bytes (target) : 0);
}

DynoHostBuffer
dyno_predictions_plan_buffer (guint64 slot_bytes)
{
  return dyno_host_buffer ("predictions", DYNO_HOST_READBACK, slot_bytes > 0 ? DYNO_JOB_SLOTS : 0,
                           slot_bytes);
}

guint64
dyno_watched_slot_bytes (DynoGraph *graph)
{
  const DynoTensor *watched = dyno_network_get_watched (graph);

  return watched ? dyno_predictions_part_bytes (watched) : 0;
}

DynoHostBuffer
dyno_watched_plan_buffer (guint64 slot_bytes)
{
  return dyno_host_buffer ("watched masks", DYNO_HOST_READBACK, slot_bytes > 0 ? DYNO_JOB_SLOTS : 0,
                           slot_bytes);
}

guint64
dyno_inbox_gradient_bytes (const DynoPlan *plan, gboolean half)
{
  return plan->space_bytes[DYNO_SPACE_GRADIENT] / (half ? 2 : 1);
}

guint64
dyno_inbox_part_bytes (const DynoPlan *plan, gboolean half)
{
  return dyno_inbox_gradient_bytes (plan, half) + plan->space_bytes[DYNO_SPACE_STATE];
}

guint64
dyno_inbox_total_bytes (const DynoPlan *plan, gboolean half, guint ranks)
{
  return dyno_align_up (dyno_inbox_part_bytes (plan, half) * (MAX (ranks, 1) - 1),
                        DYNO_PEER_GRANULARITY);
}
