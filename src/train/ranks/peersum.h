/* SPDX-License-Identifier: MIT */
/* Sums over the ranks of one host in device memory: each rank's device copies its final values into
 * the inboxes of all other ranks' devices (peer.h) while it continues computing, and then adds up
 * its own and the received values in the order of the ranks.
 *
 * The caller synchronises access to the inboxes: the last sum of every rank must have ended before
 * any rank begins to copy, and all copies of all ranks must have ended before any rank submits its
 * sum.  One thread, the session's.  Private to the train layer. */
#pragma once
#include "comm.h"
#include "peer.h"
#include "plan.h"

G_BEGIN_DECLS

typedef struct _DynoPeerSum DynoPeerSum;

enum { DYNO_PEER_GRADIENTS, DYNO_PEER_STATES, DYNO_PEER_N_RANGES };

/* Values of this rank that are replaced by the sum over all ranks, times scale.  Offsets are
 * multiples of 16 bytes, n is a multiple of 4. */
typedef struct {
  DynoBuffer *source; /* SHARED; NULL: there are none */
  guint64 source_offset;
  DynoBuffer *target; /* in fp32; the source itself, where the source is fp32 */
  guint64 target_offset;
  guint64 n;
  gboolean half; /* the source is fp16: added in fp32, rounded once */
  float scale;   /* 1 with half */
} DynoPeerRange;

/* Collective; ranges differ between ranks only in their buffers.  why: the reason why this rank
 * cannot take part, so that no rank does; NULL: it can.  Errors: PEER of comm; after any other
 * error all ranks have failed, and can continue without peers. */
DynoPeerSum *dyno_peer_sum_new (DynoDevice *device, DynoComm *comm, const DynoPlan *plan,
                                const DynoPeerRange ranges[DYNO_PEER_N_RANGES], const char *why,
                                GError **error);
/* To be called after the last copy and sum have ended, and before the ranges' buffers are freed. */
void dyno_peer_sum_free (DynoPeerSum *sum);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPeerSum, dyno_peer_sum_free)

/* Begins to copy n values, beginning with value `first` of a range, to all other ranks.  Errors:
 * peer.h's. */
gboolean dyno_peer_sum_copy (DynoPeerSum *sum, guint range, guint64 first, guint64 n,
                             GError **error);
gboolean dyno_peer_sum_poll (DynoPeerSum *sum, gboolean *done, GError **error);

/* Submits the sums of all ranges to the compute queue. */
gboolean dyno_peer_sum_submit (DynoPeerSum *sum, guint64 *timeline_value, GError **error);

/* The number of bytes that this rank sends to all others. */
guint64 dyno_peer_sum_get_bytes (const DynoPeerSum *sum);

G_END_DECLS
