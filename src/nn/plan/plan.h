/* SPDX-License-Identifier: MIT */
/* The memory plan: an offset for every tensor, and the bytes of each space and each component.
 *
 * It is computed without a device, so the need of VRAM is known before a run: exactly the bytes of
 * the plan are allocated.  A tensor lives from its first writer to its last reader in the list of
 * dispatches; tensors whose live ranges do not meet share memory.  Ranges are widened to the
 * barrier level, since dispatches of one level may overlap.  The scratch of a node is a tensor like
 * any other: it lies where activations are dead, and counts as activations.
 * Where the arena would be larger than the device's largest buffer, it consists of several buffers,
 * and each tensor lies wholly in one of them: the offset o of a tensor lies in buffer o /
 * buffer_bytes. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* The largest number of buffers of the arena. */
#define DYNO_PLAN_MAX_ARENA_BUFFERS 64

typedef struct {
  /* each rounded up to DYNO_BUFFER_GRANULARITY, 0 where unused; INPUT and STEP: bytes of one
   * slot */
  guint64 space_bytes[DYNO_SPACE_N];
  guint64 kind_bytes[DYNO_MEMORY_N_KINDS]; /* device memory by component, all slots counted */
  guint64 total_bytes;                     /* the sum of kind_bytes */
  guint64 naive_arena_bytes;               /* size of the arena without aliasing */
  guint64 buffer_bytes;                    /* largest buffer of the device */
  /* largest item that must lie in one buffer: a tensor of ARENA, any other space as a whole */
  guint64 largest_bytes;
  guint n_arena_buffers; /* 1 unless ARENA is larger than one buffer may be */
  guint64 arena_bytes[DYNO_PLAN_MAX_ARENA_BUFFERS]; /* of each; their sum is ARENA's space_bytes */
  guint n_slots;
  guint n_input_slots; /* slots of INPUT: 1 where the input stays the same, else n_slots */
  gboolean snapshot;   /* includes a second copy of the state (snapshot.h) */
  gboolean halves;     /* includes a copy of the gradients in fp16, for other ranks */
  gboolean shared;     /* GRADIENT and STATE are SHARED buffers (buffer.h), for other ranks */
  guint64 inbox_bytes; /* for the data that other ranks send */
  /* Time for computing dropped activations again, as a share of the step's estimated time without
   * it (0.2: a fifth more) */
  double recomputed_share;
} DynoPlan;

typedef enum {
  DYNO_PLAN_DEFAULT = 0,
  /* every tensor has memory of its own (for tests that read intermediate values) */
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

/* FALSE: the plan needs larger buffers than the device allows, and only its sums are of use. */
gboolean dyno_plan_fits_buffers (const DynoPlan *plan);

/* Makes the plan large enough for both plans: training and evaluation share their buffers. */
void dyno_plan_merge (DynoPlan *plan, const DynoPlan *other);

/* Includes the memory of a snapshot in the plan, or leaves it out. */
void dyno_plan_set_snapshot (DynoPlan *plan, gboolean snapshot);

/* Likewise for the fp16 copy of the gradients. */
void dyno_plan_set_halves (DynoPlan *plan, gboolean halves);

/* Likewise for the data that other ranks send; 0: nothing. */
void dyno_plan_set_inbox (DynoPlan *plan, guint64 inbox_bytes);

G_END_DECLS
