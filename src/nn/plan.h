/* SPDX-License-Identifier: MIT */
/* The memory plan: an offset for every tensor, and how many bytes each space and each component takes.
 *
 * Computed without a device, so VRAM is known exactly before a run: what the plan says is what is allocated.  A tensor
 * lives from its first writer to its last reader in the list of dispatches; tensors whose lives do not meet share
 * memory.  Lives are widened to the barrier level, since dispatches of one level may overlap.  Scratch of nodes is a tensor like
 * any other: it lies where activations are dead, and counts as activations. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

typedef struct {
  guint64
      space_bytes[DYNO_SPACE_N]; /* each rounded up to DYNO_BUFFER_GRANULARITY, 0 where unused; INPUT and STEP: one slot */
  guint64 kind_bytes[DYNO_MEMORY_N_KINDS]; /* device memory by component, all slots counted */
  guint64 total_bytes;                     /* the sum of kind_bytes */
  guint64 naive_arena_bytes;               /* what the arena would be without aliasing */
  guint n_slots;
  guint n_input_slots; /* of INPUT: 1 where the input stays the same, else n_slots */
} DynoPlan;

typedef enum {
  DYNO_PLAN_DEFAULT = 0,
  DYNO_PLAN_NO_ALIAS = 1 << 0, /* every tensor has memory of its own (tests that look at intermediate values) */
  DYNO_PLAN_GUARD = 1 << 1,    /* with 256 guard bytes before and after each tensor of ARENA */
  /* The input stays the same from step to step: the slots share one.  It is written while no step is in flight. */
  DYNO_PLAN_ONE_INPUT = 1 << 2,
} DynoPlanFlags;

/* Sets the tensors' offsets.  n_slots: steps in flight (>= 1).  Errors: SHAPE (overflow). */
gboolean dyno_plan_compute (DynoLowering *lowering, guint n_slots, DynoPlanFlags flags, DynoPlan *plan, GError **error);

/* A plan large enough for either: training and evaluation share their buffers. */
void dyno_plan_merge (DynoPlan *plan, const DynoPlan *other);

G_END_DECLS
