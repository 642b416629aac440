/* SPDX-License-Identifier: MIT */
/* A copy, on the device, of the state that a program's steps change: master weights, running
 * statistics, moments, averages, loss scaler.  It is taken between two steps without waiting, and
 * read while later steps run.
 *
 * Memory and program outlive the snapshot.  One thread takes it, and another thread may read it;
 * the caller ensures that the two never happen at once. */
#pragma once
#include "program.h"

G_BEGIN_DECLS

typedef struct _DynoSnapshot DynoSnapshot;

/* Adds the host memory of a snapshot of this plan: the block through which the snapshot is read. */
void dyno_snapshot_plan_host (const DynoPlan *plan, DynoHostPlan *host);

/* Allocates the memory that dyno_plan_set_snapshot counted, and a page-locked block through which
 * the copy is read; records all commands.  Errors: those of dyno_buffer_new and of recording. */
DynoSnapshot *dyno_snapshot_new (DynoProgram *program, GError **error);
void dyno_snapshot_free (DynoSnapshot *snapshot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSnapshot, dyno_snapshot_free)

/* Copies the state after all commands submitted to the compute queue so far.  Submits and returns.
 * Errors: those of submitting. */
gboolean dyno_snapshot_take (DynoSnapshot *snapshot, GError **error);

/* As dyno_program_read_parameters and _read_tensor, but from the copy, through the transfer queue.
 * Waits for the copy.  Errors: DEVICE_LOST, TIMEOUT, NO_MEMORY. */
gboolean dyno_snapshot_read_parameters (DynoSnapshot *snapshot, DynoSpace space,
                                        float *const *values, GError **error);
gboolean dyno_snapshot_read_scaler (DynoSnapshot *snapshot, struct DynoScalerState *scaler,
                                    GError **error);

G_END_DECLS
