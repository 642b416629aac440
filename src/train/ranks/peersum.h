/* SPDX-License-Identifier: MIT */
/* Sums over the ranks of one host without the host: each rank's device copies what is final into the
 * inboxes of all other ranks' devices (peer.h) while it computes on, and then adds up, in the order
 * of the ranks, what it has and what has come.
 *
 * When inboxes may be written and read is up to the caller: all ranks have submitted their last sum
 * and seen it end before any begins to copy; all copies of all ranks are done before any sums.
 * One thread, the session's.  Private to the train layer. */
#pragma once
#include "comm.h"
#include "peer.h"
#include "plan.h"

G_BEGIN_DECLS

typedef struct _DynoPeerSum DynoPeerSum;

enum { DYNO_PEER_GRADIENTS, DYNO_PEER_STATES, DYNO_PEER_N_RANGES };

/* Values of this rank that become the sum, times scale, of all ranks'.  Offsets are multiples of 16
 * bytes, n of 4. */
typedef struct {
  DynoBuffer *source; /* SHARED; NULL: there are none */
  guint64 source_offset;
  DynoBuffer *target; /* of fp32; the source itself, where that is fp32 */
  guint64 target_offset;
  guint64 n;
  gboolean half; /* the source is fp16: added in fp32, rounded once */
  float scale;   /* 1 with half */
} DynoPeerRange;

/* Collective; ranges differ between ranks in their buffers only.  why: why this rank cannot, and
 * so none; NULL: it may try.  Errors: of comm, PEER; else all ranks have failed and can go on
 * without. */
DynoPeerSum *dyno_peer_sum_new (DynoDevice *device, DynoComm *comm, const DynoPlan *plan,
                                const DynoPeerRange ranges[DYNO_PEER_N_RANGES], const char *why,
                                GError **error);
/* After the last copy and sum have ended, before the ranges' buffers. */
void dyno_peer_sum_free (DynoPeerSum *sum);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPeerSum, dyno_peer_sum_free)

/* Begins to copy n values, from the first-th of a range, to all other ranks.  Errors: peer.h's. */
gboolean dyno_peer_sum_copy (DynoPeerSum *sum, guint range, guint64 first, guint64 n,
                             GError **error);
gboolean dyno_peer_sum_poll (DynoPeerSum *sum, gboolean *done, GError **error);

/* Submits the sums of all ranges to the compute queue. */
gboolean dyno_peer_sum_submit (DynoPeerSum *sum, guint64 *timeline_value, GError **error);

/* Bytes that this rank sends in all. */
guint64 dyno_peer_sum_get_bytes (const DynoPeerSum *sum);

G_END_DECLS
