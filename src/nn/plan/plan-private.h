/* SPDX-License-Identifier: MIT */
/* Placing and ordering: shared by the plan, the program and their tests. */
#pragma once
#include "plan.h"

G_BEGIN_DECLS

#define DYNO_TENSOR_ALIGNMENT 256
#define DYNO_GUARD_BYTES      256
#define DYNO_OFFSET_NONE      G_MAXUINT64 /* of a planned tensor that no dispatch touches */

/* Which dispatches need a barrier before them, by the byte ranges they access where their tensors
 * lie now: result[i] is 1 when dispatch i conflicts with one since the last barrier.  As many
 * entries as dispatches; free with g_free. */
guint8 *dyno_barriers_find (GPtrArray *dispatches);

/* What a tensor needs of an arena: bytes at the levels [first, last]. */
typedef struct {
  guint64 size_bytes;
  guint first, last;
  guint64 offset; /* result */
} DynoLiveRange;

/* Offsets such that live ranges that meet do not overlap, multiples of DYNO_TENSOR_ALIGNMENT; the
 * bytes needed are returned.  buffer_bytes: where more is needed than that, the offset o lies in
 * buffer o / buffer_bytes, each range (if it is no larger) wholly in one; the bytes are the sum of
 * what each buffer must have.  A multiple of DYNO_TENSOR_ALIGNMENT, or G_MAXUINT64: no limit.
 * Deterministic; some tens of milliseconds for thousands of ranges. */
guint64 dyno_live_ranges_place (DynoLiveRange *ranges, guint n_ranges, guint64 buffer_bytes);

/* The most bytes that live at one level: no placement is smaller.  Sizes are taken as they are. */
guint64 dyno_live_ranges_bound (const DynoLiveRange *ranges, guint n_ranges);

/* The kind of memory that a space counts as. */
DynoMemoryKind dyno_space_kind (DynoSpace space);
gboolean dyno_space_is_slotted (DynoSpace space);
/* steps change it, and it outlives them: what a snapshot holds */
gboolean dyno_space_is_state (DynoSpace space);
guint dyno_plan_slots (const DynoPlan *plan, DynoSpace space); /* how many buffers a space has */

G_END_DECLS
