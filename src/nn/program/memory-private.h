/* SPDX-License-Identifier: MIT */
/* The definition of DynoMemory. */
#pragma once
#include "plan-private.h"
#include "program.h"

G_BEGIN_DECLS

#define DYNO_MEMORY_MAX_SLOTS 8

struct _DynoMemory {
  guint references;
  guint n_slots;
  guint n_buffers[DYNO_SPACE_N]; /* 1: all slots share one buffer; else n_slots */
  /* NULL where the plan has no bytes, and for ARENA */
  DynoBuffer *buffers[DYNO_SPACE_N][DYNO_MEMORY_MAX_SLOTS];
  DynoBuffer *arena[DYNO_PLAN_MAX_ARENA_BUFFERS];
  guint64 buffer_bytes; /* offset o of ARENA lies in arena[o / buffer_bytes] */
};

G_END_DECLS
