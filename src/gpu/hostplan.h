/* SPDX-License-Identifier: MIT */
/* The host memory of an engine as one list.  Each part says which buffers it wants, without a
 * device; the planner adds them up, and the part allocates what it said. */
#pragma once
#include "buffer.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_HOST_UPLOAD,   /* page-locked, DYNO_BUFFER_UPLOAD */
  DYNO_HOST_READBACK, /* page-locked, DYNO_BUFFER_READBACK */
  DYNO_HOST_PLAIN,    /* no buffer of the device: its owner's to allocate */
} DynoHostKind;

typedef struct {
  const char *purpose; /* static: "batches", "staging", "step input" */
  DynoHostKind kind;
  guint count;
  guint64 size_bytes; /* of each; page-locked ones in whole DYNO_BUFFER_GRANULARITY */
} DynoHostBuffer;

#define DYNO_HOST_PLAN_MAX 16

typedef struct {
  guint n;
  DynoHostBuffer buffers[DYNO_HOST_PLAN_MAX];
  guint64 total_bytes;
} DynoHostPlan;

/* Rounds page-locked ones up. */
DynoHostBuffer dyno_host_buffer (const char *purpose, DynoHostKind kind, guint count,
                                 guint64 size_bytes);
/* One of none is left out. */
void dyno_host_plan_add (DynoHostPlan *plan, const DynoHostBuffer *buffer);
/* Of one kind, counts included. */
guint64 dyno_host_plan_get_bytes (const DynoHostPlan *plan, DynoHostKind kind);

/* One of them, page-locked.  Errors: those of dyno_buffer_new. */
DynoBuffer *dyno_host_buffer_allocate (const DynoHostBuffer *buffer, DynoDevice *device,
                                       GError **error);

G_END_DECLS
