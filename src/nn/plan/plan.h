/* SPDX-License-Identifier: MIT */
/* The memory plan: an offset for every tensor, and how many bytes each space and each component
 * takes.
 *
 * Computed without a device, so VRAM is known exactly before a run: what the plan says is what is
 * allocated.  A tensor lives from its first writer to its last reader in the list of dispatches;
 * tensors whose live ranges do not meet share memory.  Ranges are widened to the barrier level,
 * since dispatches of one level may overlap.  Scratch of nodes is a tensor like any other: it lies
 * where activations are dead, and counts as activations.
 * Where the arena would be larger than the device's largest buffer it is several buffers, each
 * tensor wholly in one of them: the offset o of a tensor lies in buffer o / buffer_bytes. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* The arena is at most so many buffers. */
#define DYNO_PLAN_MAX_ARENA_BUFFERS 64

typedef struct {
  /* each rounded up to DYNO_BUFFER_GRANULARITY, 0 where unused; INPUT and STEP: one slot */
  guint64 space_bytes[DYNO_SPACE_N];
  guint64 kind_bytes[DYNO_MEMORY_N_KINDS]; /* device memory by component, all slots counted */
  guint64 total_bytes;                     /* the sum of kind_bytes */
  guint64 naive_arena_bytes;               /* what the arena would be without aliasing */
  guint64 buffer_bytes;                    /* most bytes of one buffer of the device */
  /* of what must lie in one buffer: a tensor of ARENA, any other space as a whole */
  guint64 largest_bytes;
  guint n_arena_buffers; /* 1 unless ARENA is larger than one buffer may be */
  guint64 arena_bytes[DYNO_PLAN_MAX_ARENA_BUFFERS]; /* of each; their sum is ARENA's space_bytes */
  guint n_slots;
  guint n_input_slots; /* of INPUT: 1 where the input stays the same, else n_slots */
  gboolean snapshot;   /* with a second copy of the state (snapshot.h) */
  gboolean halves;     /* with one of the gradients in fp16, for other ranks */
  gboolean shared;     /* GRADIENT and STATE are SHARED buffers (buffer.h), for other ranks */
  guint64 inbox_bytes; /* for what other ranks send */
  /* Of the step's estimated time without it: computing dropped activations again (0.2: a fifth more) */
  double recomputed_share;
} DynoPlan;

typedef enum {
  DYNO_PLAN_DEFAULT = 0,
  /* every tensor has memory of its own (tests that look at intermediate values) */
  DYNO_PLAN_NO_ALIAS = 1 << 0,
  DYNO_PLAN_GUARD = 1 << 1, /* with 256 guard bytes before and after each tensor of ARENA */
  /* The input stays the same from step to step: the slots share one.  It is written while no step
   * is in flight. */
  DYNO_PLAN_ONE_INPUT = 1 << 2,
  DYNO_PLAN_SHARED = 1 << 3, /* sets shared */
} DynoPlanFlags;

/* Sets the tensors' offsets.  n_slots: steps in flight (>= 1).  Errors: SHAPE (overflow). */
gboolean dyno_plan_compute (DynoLowering *lowering, guint n_slots, DynoPlanFlags flags,
                            DynoPlan *plan, GError **error);

/* Can the device have buffers that large?  A plan that needs larger ones is good for its sums
 * alone. */
gboolean dyno_plan_fits_buffers (const DynoPlan *plan);

/* A plan large enough for either: training and evaluation share their buffers. */
void dyno_plan_merge (DynoPlan *plan, const DynoPlan *other);

/* Counts a snapshot in, or leaves it out. */
void dyno_plan_set_snapshot (DynoPlan *plan, gboolean snapshot);

/* Likewise the gradients' copy in fp16. */
void dyno_plan_set_halves (DynoPlan *plan, gboolean halves);

/* Likewise what other ranks send; 0: nothing. */
void dyno_plan_set_inbox (DynoPlan *plan, guint64 inbox_bytes);

G_END_DECLS
