/* SPDX-License-Identifier: MIT */
/* The exchange: steps whose gradients are summed over the ranks while the backward pass runs.
 *
 *   begin    submits the forward and backward pass in pieces (buckets.h); waits for nothing
 *   finish   as its piece ends, each bucket is copied to page-locked memory, summed over the ranks
 *            and copied back, or copied to the other ranks' devices and summed there at the end
 *            (peersum.h); then the optimizer is submitted, which waits for the last copy
 *
 * Between begin and finish the caller may submit uploads of the next batch, but no computing.
 * With the last bucket, running statistics become the mean over the ranks; in a step for which only
 * k of N ranks have a batch, the statistics of the other ranks are unchanged, and the mean changes
 * about as much as by k batches.  So all ranks hold bit-identical parameters, moments and
 * statistics after each step, which are also reproducible from run to run.  With half, the scaled
 * gradients are sent in fp16 and added in fp32; an overflow in fp16 is an overflow on all ranks.
 * One thread, the session's.  Private to the train layer. */
#pragma once
#include "comm.h"
#include "program.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoExchange DynoExchange;

/* program: recorded with DYNO_COMMANDS_EXCHANGED; program and plan's memory outlive the exchange.
 * Errors: those of dyno_buffer_new and of recording. */
DynoExchange *dyno_exchange_new (DynoProgram *program, const DynoPlan *plan, DynoComm *comm,
                                 gboolean half, GError **error);
/* Lets the device convert gradients to fp16, in the memory that dyno_plan_set_halves counts.
 * FALSE: the device has no memory left, or half is not set, and the host converts.  The results are
 * bit-identical either way, so ranks may differ; to be called before the first step. */
gboolean dyno_exchange_convert_on_device (DynoExchange *exchange);
/* Lets ranks write into each other's device memory, in an inbox as in peersum.h, if all of them
 * can; *used: whether they do.  Sums are bit-identical to those through the host, except for
 * subnormal numbers, which a device may flush to 0.  Collective; to be called before the first
 * step.  why: the reason why this rank cannot; NULL: it can.  Errors: only DYNO_COMM_ERROR_PEER. */
gboolean dyno_exchange_use_peers (DynoExchange *exchange, const DynoPlan *plan, const char *why,
                                  gboolean *used, GError **error);
/* All steps that were begun must have finished or failed, unless the communicator has failed. */
void dyno_exchange_free (DynoExchange *exchange);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoExchange, dyno_exchange_free)

/* blank: the batch has no valid sample, so that its gradients are 0; the running statistics stay as
 * they were before the step.  timeline_value: that of the last piece.  Errors: those of
 * submitting. */
gboolean dyno_exchange_begin (DynoExchange *exchange, guint slot, const DynoWait *wait,
                              gboolean blank, guint64 *timeline_value, GError **error);

/* timeline_value: that of the optimizer.  After an error all ranks fail: the communicator is
 * aborted, and no rank waits for this one any more.  Errors: DYNO_COMM_ERROR_PEER, the device's,
 * G_IO_ERROR_CANCELLED. */
gboolean dyno_exchange_finish (DynoExchange *exchange, GCancellable *cancellable,
                               guint64 *timeline_value, GError **error);

/* The time in milliseconds after which a device without progress counts as hung while other ranks
 * wait for it; longest_us: the longest time so far for which it kept the host waiting; 0: the
 * device's own limit applies.  A hung GPU is to be reported within 10 s; a slow GPU has 8 times its
 * longest time so far, and a software device, whose processors others use, has no limit here. */
guint dyno_exchange_watchdog_ms (gint64 longest_us, gboolean software);

/* Totals over all finished steps. */
typedef struct {
  guint64 steps, buckets;
  guint64 bytes; /* of this rank's own data to the other ranks in a step */
  /* from the first bucket in host memory to the last sum; and the part of it after the backward
   * pass, for which the device waited */
  gint64 total_us, exposed_us;
} DynoExchangeTimes;
void dyno_exchange_get_times (DynoExchange *exchange, DynoExchangeTimes *times);

G_END_DECLS
