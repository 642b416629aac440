/* SPDX-License-Identifier: MIT */
/* See peersum.h.  A rank's inbox has a part of stride bytes for each other rank, in their order:
 * the sender's gradients, and after them its states. */
#include "peersum.h"
#include "stepmemory.h"
#include "train-error.h"
#include "wirepack.h"
#include <string.h>
#include <unistd.h>

struct _DynoPeerSum {
  DynoComm *comm;
  DynoPeerRange ranges[DYNO_PEER_N_RANGES];
  guint64 begin[DYNO_PEER_N_RANGES]; /* byte offset in a part */
  guint64 stride;
  DynoPeer *peer;
  DynoBuffer *inbox;
  DynoCommand *command; /* sums of all ranges */
  guint sources[DYNO_PEER_N_RANGES];
  guint targets[DYNO_INBOX_MOST_RANKS]; /* by rank; unused for this rank */
};

static guint
value_bytes (const DynoPeerRange *range)
{
  return range->half ? 2 : 4;
}

/* The part of an inbox that rank `from` writes. */
static guint
part_of (guint owner, guint from)
{
  return from - (from > owner);
}

static gboolean
record_sums (DynoPeerSum *s, DynoDevice *device, GError **error)
{
  guint ranks = dyno_comm_get_size (s->comm), own = dyno_comm_get_rank (s->comm);

  s->command = dyno_command_new (device, DYNO_QUEUE_COMPUTE, error);
  if (!s->command)
    return FALSE;
  for (guint i = 0; i < DYNO_PEER_N_RANGES; i++)
    {
      const DynoPeerRange *r = &s->ranges[i];
      DynoWireSum sum = { .half = r->half,
                          .ranks = ranks,
                          .own_rank = own,
                          .own = r->source,
                          .own_offset = r->source_offset,
                          .inbox = s->inbox,
                          .inbox_offset = s->begin[i],
                          .stride = s->stride,
                          .target = r->target,
                          .target_offset = r->target_offset,
                          .n = r->n,
                          .scale = r->scale };
      if (r->source && !dyno_wire_record_sum (s->command, device, &sum, error))
        return FALSE;
    }
  return dyno_command_end (s->command, error);
}

static gboolean
check_ranges (const DynoPeerSum *s, const DynoPlan *plan, GError **error)
{
  const guint64 room[DYNO_PEER_N_RANGES] = { s->begin[DYNO_PEER_STATES],
                                             plan->space_bytes[DYNO_SPACE_STATE] };

  for (guint i = 0; i < DYNO_PEER_N_RANGES; i++)
    {
      const DynoPeerRange *r = &s->ranges[i];
      if (!r->source
          || (r->n % DYNO_WIRE_VALUES == 0 && r->source_offset % 16 == 0
              && r->target_offset % 16 == 0 && r->n * value_bytes (r) <= room[i]))
        continue;
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
                   "gradients or statistics are not aligned for copies between devices");
      return FALSE;
    }
  return TRUE;
}

/* Makes this rank's inbox, registers its sources and records its sums.  *descriptor: file
 * descriptor of the inbox, for the other ranks. */
static gboolean
prepare (DynoPeerSum *s, DynoDevice *device, const DynoPlan *plan, int *descriptor, GError **error)
{
  guint64 bytes = dyno_inbox_total_bytes (plan, s->ranges[DYNO_PEER_GRADIENTS].half,
                                          dyno_comm_get_size (s->comm));

  if (!check_ranges (s, plan, error))
    return FALSE;
  s->peer = dyno_peer_open (device, error);
  s->inbox = s->peer
                 ? dyno_peer_new_inbox (s->peer, bytes, DYNO_MEMORY_GRADIENTS, descriptor, error)
                 : NULL;
  if (!s->inbox)
    return FALSE;
  for (guint i = 0; i < DYNO_PEER_N_RANGES; i++)
    if (s->ranges[i].source
        && !dyno_peer_add_source (s->peer, s->ranges[i].source, &s->sources[i], error))
      return FALSE;
  return record_sums (s, device, error);
}

/* Opens the inboxes of all other ranks; where one rank fails, all fail. */
static gboolean
add_targets (DynoPeerSum *s, int descriptor, GError **error)
{
  guint ranks = dyno_comm_get_size (s->comm);
  guint64 bytes = dyno_buffer_get_size (s->inbox);
  int theirs[DYNO_INBOX_MOST_RANKS];
  GError *problem = NULL;
  gboolean fine = TRUE;

  if (!dyno_comm_pass_descriptors (s->comm, descriptor, theirs, error))
    return FALSE;
  for (guint r = 0; r < ranks; r++)
    {
      if (theirs[r] < 0)
        continue;
      fine = fine && dyno_peer_add_target (s->peer, theirs[r], bytes, &s->targets[r], &problem);
      close (theirs[r]);
    }
  return dyno_comm_agree (s->comm, fine, &problem, error);
}

DynoPeerSum *
dyno_peer_sum_new (DynoDevice *device, DynoComm *comm, const DynoPlan *plan,
                   const DynoPeerRange ranges[DYNO_PEER_N_RANGES], const char *why, GError **error)
{
  g_autoptr (DynoPeerSum) s = g_new0 (DynoPeerSum, 1);
  GError *problem = NULL;
  gboolean fine = FALSE;
  int descriptor = -1;

  s->comm = dyno_comm_ref (comm);
  memcpy (s->ranges, ranges, sizeof s->ranges);
  s->begin[DYNO_PEER_STATES] = dyno_inbox_gradient_bytes (plan, ranges[DYNO_PEER_GRADIENTS].half);
  s->stride = dyno_inbox_part_bytes (plan, ranges[DYNO_PEER_GRADIENTS].half);
  if (!why && dyno_comm_get_size (comm) > DYNO_INBOX_MOST_RANKS)
    why = "there are too many ranks";
  if (!why && dyno_comm_get_local_size (comm) != dyno_comm_get_size (comm))
    why = "the ranks are on several hosts";
  if (why)
    g_set_error_literal (&problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED, why);
  else
    fine = prepare (s, device, plan, &descriptor, &problem);
  fine = dyno_comm_agree (comm, fine, &problem, error) && add_targets (s, descriptor, error);
  if (descriptor >= 0)
    close (descriptor);
  return fine ? g_steal_pointer (&s) : NULL;
}

void
dyno_peer_sum_free (DynoPeerSum *s)
{
  if (!s)
    return;
  dyno_command_free (s->command);
  dyno_peer_free (s->peer);
  dyno_buffer_free (s->inbox);
  dyno_comm_unref (s->comm);
  g_free (s);
}

gboolean
dyno_peer_sum_copy (DynoPeerSum *s, guint range, guint64 first, guint64 n, GError **error)
{
  const DynoPeerRange *r = &s->ranges[range];
  guint own = dyno_comm_get_rank (s->comm);
  guint64 at = first * value_bytes (r);

  g_return_val_if_fail (r->source && first <= r->n && n <= r->n - first, FALSE);
  /* Each rank begins with the rank after it, so that they do not all write to the same device. */
  for (guint i = 1; i < dyno_comm_get_size (s->comm); i++)
    {
      guint to = (own + i) % dyno_comm_get_size (s->comm);
      guint64 part = part_of (to, own) * s->stride;
      if (!dyno_peer_copy (s->peer, s->sources[range], r->source_offset + at, s->targets[to],
                           part + s->begin[range] + at, n * value_bytes (r), error))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_peer_sum_poll (DynoPeerSum *s, gboolean *done, GError **error)
{
  return dyno_peer_poll (s->peer, done, error);
}

gboolean
dyno_peer_sum_submit (DynoPeerSum *s, guint64 *timeline_value, GError **error)
{
  return dyno_command_submit (s->command, NULL, 0, timeline_value, error);
}

guint64
dyno_peer_sum_get_bytes (const DynoPeerSum *s)
{
  guint64 bytes = 0;

  for (guint i = 0; i < DYNO_PEER_N_RANGES; i++)
    bytes += s->ranges[i].source ? s->ranges[i].n * value_bytes (&s->ranges[i]) : 0;
  return bytes * (dyno_comm_get_size (s->comm) - 1);
}
