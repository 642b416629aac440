/* SPDX-License-Identifier: MIT */
/* Placement and order, shared by the plan, the program and their tests. */
#pragma once
#include "plan.h"

G_BEGIN_DECLS

#define DYNO_TENSOR_ALIGNMENT 256
#define DYNO_GUARD_BYTES      256
#define DYNO_OFFSET_NONE      G_MAXUINT64 /* of a planned tensor that no dispatch touches */

/* Finds the dispatches that need a barrier before them, from the byte ranges that they access at
 * the tensors' present offsets: result[i] is 1 when dispatch i conflicts with a dispatch since the
 * last barrier.  The result has as many entries as there are dispatches; free it with g_free. */
guint8 *dyno_barriers_find (GPtrArray *dispatches);

/* The live range of a tensor in an arena: bytes at the levels [first, last]. */
typedef struct {
  guint64 size_bytes;
  guint first, last;
  guint64 offset; /* result */
} DynoLiveRange;

/* Rounds the sizes up to DYNO_TENSOR_ALIGNMENT, and sets offsets, multiples of it, such that
 * tensors whose live ranges meet do not overlap; returns the bytes needed.  buffer_bytes, a
 * multiple of DYNO_TENSOR_ALIGNMENT or G_MAXUINT64 for no limit: where more bytes are needed, the
 * offset o lies in buffer o / buffer_bytes, and each range that is no larger than a buffer lies
 * wholly in one; the bytes returned are then the sum of the buffers' sizes.  Deterministic; some
 * tens of milliseconds for thousands of ranges. */
guint64 dyno_live_ranges_place (DynoLiveRange *ranges, guint n_ranges, guint64 buffer_bytes);

/* The most bytes that live at one level: no placement is smaller.  Sizes are not rounded up. */
guint64 dyno_live_ranges_bound (const DynoLiveRange *ranges, guint n_ranges);

/* The component under which a space's memory is counted. */
DynoMemoryKind dyno_space_kind (DynoSpace space);
gboolean dyno_space_is_slotted (DynoSpace space);
/* TRUE: steps change the space, and it outlives them, so a snapshot holds it. */
gboolean dyno_space_is_state (DynoSpace space);
guint dyno_plan_slots (const DynoPlan *plan, DynoSpace space); /* number of buffers of a space */

G_END_DECLS
