/* SPDX-License-Identifier: MIT */
/* The host memory of an engine as one list.  Each part lists the buffers that it needs, without a
 * device; the planner adds them up, and the part allocates them as listed. */
#pragma once
#include "buffer.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_HOST_UPLOAD,   /* page-locked, DYNO_BUFFER_UPLOAD */
  DYNO_HOST_READBACK, /* page-locked, DYNO_BUFFER_READBACK */
  DYNO_HOST_PLAIN,    /* no buffer of the device; its owner allocates it */
} DynoHostKind;

typedef struct {
  const char *purpose; /* static: "batches", "staging", "step input" */
  DynoHostKind kind;
  guint count;
  /* of each buffer; page-locked ones are multiples of DYNO_BUFFER_GRANULARITY */
  guint64 size_bytes;
} DynoHostBuffer;

#define DYNO_HOST_PLAN_MAX 16

typedef struct {
  guint n;
  DynoHostBuffer buffers[DYNO_HOST_PLAN_MAX];
  guint64 total_bytes;
} DynoHostPlan;

/* Makes an entry; sizes of page-locked buffers are rounded up. */
DynoHostBuffer dyno_host_buffer (const char *purpose, DynoHostKind kind, guint count,
                                 guint64 size_bytes);
/* Adds an entry; an entry without buffers is left out. */
void dyno_host_plan_add (DynoHostPlan *plan, const DynoHostBuffer *buffer);
/* The bytes of all buffers of one kind. */
guint64 dyno_host_plan_get_bytes (const DynoHostPlan *plan, DynoHostKind kind);

/* Allocates one buffer of a page-locked entry.  Errors: those of dyno_buffer_new. */
DynoBuffer *dyno_host_buffer_allocate (const DynoHostBuffer *buffer, DynoDevice *device,
                                       GError **error);

G_END_DECLS
