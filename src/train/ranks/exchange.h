/* SPDX-License-Identifier: MIT */
/* The exchange: steps whose gradients are summed over the ranks while the backward pass runs.
 *
 *   begin    submits the forward and backward pass in pieces (buckets.h); waits for nothing
 *   finish   as its piece ends, each bucket is copied to page-locked memory, summed over the ranks
 *            and copied back, or copied to the other ranks' devices and summed there at the end
 *            (peersum.h); then the optimizer is submitted, which waits for the last copy
 *
 * Between the two the caller may submit uploads of the next batch, and nothing for computing.
 * Running statistics become the mean of the ranks' with the last bucket; in a step for which only
 * k of N ranks have a batch the others' have not moved, and the mean moves about as far as k batches
 * do.  So all ranks hold equal
 * parameters, moments and statistics after each step, to the bit, and the same ones from run to
 * run.  With half the gradients, scaled as they are, travel in fp16 and are added in fp32; what
 * overflows there is an overflow on all ranks.
 * One thread, the session's.  Private to the train layer. */
#pragma once
#include "comm.h"
#include "program.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoExchange DynoExchange;

/* program: recorded with DYNO_COMMANDS_EXCHANGED; outlives the exchange, as plan's memory does.
 * Errors: those of dyno_buffer_new and of recording. */
DynoExchange *dyno_exchange_new (DynoProgram *program, const DynoPlan *plan, DynoComm *comm,
                                 gboolean half, GError **error);
/* Gradients are converted to fp16 on the device from now on, in the memory that
 * dyno_plan_set_halves counts.  FALSE: the device has none left, or half is not set, and the host goes on doing it.
 * Equal bits either way, so that each rank may do as it can; before the first step. */
gboolean dyno_exchange_convert_on_device (DynoExchange *exchange);
/* From now on ranks write into each other's device memory, in an inbox as peersum.h has it,
 * where all of them can; used: whether they do.  Sums are equal to the others' to the bit, but
 * for subnormal numbers, which a device may take for 0.  Collective; before the first step.
 * why: why this rank will not; NULL: it may.  Errors: only DYNO_COMM_ERROR_PEER. */
gboolean dyno_exchange_use_peers (DynoExchange *exchange, const DynoPlan *plan, const char *why,
                                  gboolean *used, GError **error);
/* All steps that were begun are finished or have failed, unless the communicator has. */
void dyno_exchange_free (DynoExchange *exchange);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoExchange, dyno_exchange_free)

/* blank: the batch has no valid sample, so that its gradients are 0; the running statistics stay
 * as they were before the step.  timeline_value: of the last piece.  Errors: those of submitting. */
gboolean dyno_exchange_begin (DynoExchange *exchange, guint slot, const DynoWait *wait,
                              gboolean blank, guint64 *timeline_value, GError **error);

/* timeline_value: of the optimizer.  After an error all ranks fail: the communicator is aborted,
 * and nothing waits for this one any more.  Errors: DYNO_COMM_ERROR_PEER, the device's,
 * G_IO_ERROR_CANCELLED. */
gboolean dyno_exchange_finish (DynoExchange *exchange, GCancellable *cancellable,
                               guint64 *timeline_value, GError **error);

/* How long a device may finish nothing while other ranks wait for it, when it has kept the host
 * waiting for longest_us at most: milliseconds; 0: the device's own limit.  A GPU that hangs is
 * to be reported within 10 s; one that is slow has 8 times its longest time so far, and a
 * software device, whose processors others use, has no limit of ours. */
guint dyno_exchange_watchdog_ms (gint64 longest_us, gboolean software);

/* Of the steps that were finished, all in all. */
typedef struct {
  guint64 steps, buckets;
  guint64 bytes; /* to the other ranks, of this one's own, a step */
  /* from the first bucket in host memory to the last sum; and the part of it after the backward
   * pass, which the device waited for */
  gint64 total_us, exposed_us;
} DynoExchangeTimes;
void dyno_exchange_get_times (DynoExchange *exchange, DynoExchangeTimes *times);

G_END_DECLS
