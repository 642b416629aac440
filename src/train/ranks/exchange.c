/* SPDX-License-Identifier: MIT */
/* The exchange.  Invariants:
 * - All ranks sum the same buckets in the same order, which follows from the parameters.
 * - Nothing is allocated or recorded after the first step has begun.
 * - The host waits for this device's own copies, which always end, and for sums, which end or fail;
 *   nothing is submitted that waits for another rank.
 * - A failure on this rank is sent to the others before this rank waits for any of them.
 * - With halves on the device, a bucket is packed into them at the end of its piece and copied from
 *   there; its sum is copied back into the halves, which are all unpacked at once before the
 *   optimizer.
 * Where there is a transfer queue, which executes in order of submission, a copy to the host is
 * submitted only when the copy before it has ended: so uploads and copies of sums back are not
 * queued after copies that wait for the backward pass.  Where there is only one queue, copies are
 * submitted between the pieces. */
#include "exchange-private.h"
#include "stepmemory.h"
#include "wirehalf.h"
#include <inttypes.h>
#include <string.h>

typedef DynoExchangeShare Share;

/* interval at which a wait for other ranks checks for a stop */
#define TICK_US (G_USEC_PER_SEC / 10)

/* limits of dyno_exchange_watchdog_ms */
#define HANG_LEAST_MS 8000
#define HANG_MOST_MS  60000
#define HANG_FACTOR   8

/* Times in a step at which the first bucket is final, the last bucket is final, and all sums are
 * complete. */
typedef struct {
  gint64 first_us, backward_us, end_us;
} Moments;

/* --- making ----------------------------------------------------------------------------------- */

static DynoCommand *
record_copy (DynoExchange *x, DynoBuffer *from, guint64 from_offset, DynoBuffer *to,
             guint64 to_offset, guint64 size_bytes, GError **error)
{
  g_autoptr (DynoCommand) command = dyno_command_new (x->device, DYNO_QUEUE_TRANSFER, error);

  if (!command)
    return NULL;
  dyno_command_copy (command, from, from_offset, to, to_offset, size_bytes);
  return dyno_command_end (command, error) ? g_steal_pointer (&command) : NULL;
}

gboolean
dyno_exchange_record_share (DynoExchange *x, Share *share, DynoBuffer *buffer, guint64 offset,
                            guint64 size_bytes, GError **error)
{
  share->down = record_copy (x, buffer, offset, x->staging, share->at, size_bytes, error);
  share->up = share->down
                  ? record_copy (x, x->staging, share->at, buffer, offset, size_bytes, error)
                  : NULL;
  return share->up != NULL;
}

void
dyno_exchange_clear_share (gpointer data)
{
  Share *share = data;

  dyno_command_free (share->down);
  dyno_command_free (share->up);
}

static gboolean
add_share (DynoExchange *x, DynoBuffer *buffer, guint64 offset, guint64 at, guint64 size_bytes,
           guint piece, gboolean state, GError **error)
{
  Share share = { .at = at, .n = size_bytes / sizeof (float), .piece = piece, .state = state };

  gboolean fine = dyno_exchange_record_share (x, &share, buffer, offset, size_bytes, error);

  g_array_append_val (x->shares, share);
  x->times.bytes += x->half && !state ? size_bytes / 2 : size_bytes;
  return fine;
}

/* Records the command that copies back the running statistics which the optimizer of the step
 * before has kept. */
static DynoCommand *
record_restore (DynoExchange *x, const DynoTensor *states, const DynoTensor *kept, GError **error)
{
  DynoMemory *memory = dyno_program_get_memory (x->program);
  g_autoptr (DynoCommand) command = dyno_command_new (x->device, DYNO_QUEUE_COMPUTE, error);
  guint64 from, to;

  if (!command)
    return NULL;
  DynoBuffer *source = dyno_memory_locate (memory, kept, 0, &from),
             *target = dyno_memory_locate (memory, states, 0, &to);
  dyno_command_copy (command, source, from, target, to, states->size_bytes);
  return dyno_command_end (command, error) ? g_steal_pointer (&command) : NULL;
}

static gboolean
add_shares (DynoExchange *x, const DynoPlan *plan, GError **error)
{
  const GArray *buckets = dyno_program_get_buckets (x->program);
  DynoMemory *memory = dyno_program_get_memory (x->program);
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (x->program));
  DynoTensor *states, *kept;
  DynoBuffer *gradients = dyno_memory_get_buffer (memory, DYNO_SPACE_GRADIENT, 0);
  guint64 offset;

  for (guint i = 0; i < buckets->len; i++)
    {
      const DynoBucket *bucket = &g_array_index (buckets, DynoBucket, i);
      if (!add_share (x, gradients, bucket->offset, bucket->offset, bucket->size_bytes,
                      bucket->piece, FALSE, error))
        return FALSE;
    }
  if (!dyno_graph_flat_states (graph, &states, &kept))
    return TRUE;
  x->restore = record_restore (x, states, kept, error);
  if (!x->restore)
    return FALSE;
  DynoBuffer *buffer = dyno_memory_locate (memory, states, 0, &offset);
  return add_share (x, buffer, offset, plan->space_bytes[DYNO_SPACE_GRADIENT], states->size_bytes,
                    dyno_program_get_pieces (x->program) - 1, TRUE, error);
}

DynoExchange *
dyno_exchange_new (DynoProgram *program, const DynoPlan *plan, DynoComm *comm, gboolean half,
                   GError **error)
{
  g_autoptr (DynoExchange) x = g_new0 (DynoExchange, 1);
  DynoHostBuffer planned = dyno_exchange_plan_buffer (plan);

  x->device = dyno_device_ref (dyno_program_get_device (program));
  x->program = program;
  x->comm = dyno_comm_ref (comm);
  x->half = half;
  x->one_queue = !dyno_device_get_info (x->device)->transfer_queue;
  x->shares = g_array_new (FALSE, FALSE, sizeof (Share));
  g_array_set_clear_func (x->shares, dyno_exchange_clear_share);
  x->ends = g_new0 (guint64, dyno_program_get_pieces (program));
  x->staging = dyno_host_buffer_allocate (&planned, x->device, error);
  if (!x->staging || !add_shares (x, plan, error))
    return NULL;
  x->times.buckets = x->shares->len;
  return g_steal_pointer (&x);
}

/* Logs the times of the exchange, with the share that the backward pass hid. */
static void
report_times (const DynoExchangeTimes *times)
{
  if (times->steps > 0 && times->total_us > 0)
    g_info ("Exchange: %" PRIu64 " bytes a step in %" PRIu64 " buckets; %.2f ms a step, %.2f ms of "
            "them after the backward pass, %.0f %% hidden",
            times->bytes, times->buckets, (double) times->total_us / 1e3 / (double) times->steps,
            (double) times->exposed_us / 1e3 / (double) times->steps,
            100 - 100 * (double) times->exposed_us / (double) times->total_us);
}

void
dyno_exchange_free (DynoExchange *x)
{
  if (!x)
    return;
  report_times (&x->times);
  dyno_device_set_watchdog (x->device, 0);
  dyno_peer_sum_free (x->peers);
  g_array_unref (x->shares);
  g_clear_pointer (&x->packs, g_ptr_array_unref);
  dyno_command_free (x->unpack);
  dyno_command_free (x->restore);
  dyno_buffer_free (x->halves);
  dyno_buffer_free (x->staging);
  g_free (x->ends);
  dyno_comm_unref (x->comm);
  dyno_device_unref (x->device);
  g_free (x);
}

/* --- steps ------------------------------------------------------------------------------------ */

static Share *
get_share (DynoExchange *x, guint i)
{
  return &g_array_index (x->shares, Share, i);
}

static float *
get_values (DynoExchange *x, const Share *share)
{
  return (float *) (void *) ((guint8 *) dyno_buffer_get_mapped (x->staging) + share->at);
}

static gboolean
submit_down (DynoExchange *x, Share *share, GError **error)
{
  DynoWait wait = { DYNO_QUEUE_COMPUTE, x->ends[share->piece] };

  return dyno_command_submit (share->down, &wait, 1, &share->down_value, error);
}

/* Submits the copies to the host of the shares that are final with a piece. */
static gboolean
submit_downs (DynoExchange *x, guint piece, GError **error)
{
  for (guint i = 0; i < x->shares->len; i++)
    {
      Share *share = get_share (x, i);

      if (share->piece == piece && !submit_down (x, share, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_exchange_begin (DynoExchange *x, guint slot, const DynoWait *wait, gboolean blank,
                     guint64 *timeline_value, GError **error)
{
  guint pieces = dyno_program_get_pieces (x->program);

  g_return_val_if_fail (!x->begun, FALSE);
  for (guint piece = 0; piece < pieces; piece++)
    if (!dyno_program_submit_piece (x->program, piece, slot, wait, piece == 0, &x->ends[piece],
                                    error)
        || (blank && x->restore && piece + 1 == pieces
            && !dyno_command_submit (x->restore, NULL, 0, &x->ends[piece], error))
        || (x->halves
            && !dyno_command_submit (x->packs->pdata[piece], NULL, 0, &x->ends[piece], error))
        || (x->one_queue && !x->peers && !submit_downs (x, piece, error)))
      return FALSE;
  *timeline_value = x->ends[pieces - 1];
  x->slot = slot;
  x->begun = TRUE;
  x->next = 0;
  return TRUE;
}

/* Starts the sum of a share that has been copied to the host. */
static gboolean
send (DynoExchange *x, Share *share, GError **error)
{
  gboolean half = x->half && !share->state;
  float *values = get_values (x, share);

  if (half && !x->halves)
    dyno_wire_to_half (values, share->n);
  share->request = dyno_comm_sum_begin (x->comm, values, share->n,
                                        half ? DYNO_COMM_FLOAT16 : DYNO_COMM_FLOAT32, error);
  return share->request != NULL;
}

/* Copies the share whose sum has arrived back to the device. */
static gboolean
give_back (DynoExchange *x, Share *share, guint64 *timeline_value, GError **error)
{
  float *values = get_values (x, share), part = 1.0f / (float) dyno_comm_get_size (x->comm);

  if (x->half && !share->state && !x->halves)
    dyno_wire_from_half (values, share->n);
  for (guint64 i = 0; share->state && i < share->n; i++)
    values[i] *= part;
  return dyno_command_submit (share->up, NULL, 0, timeline_value, error);
}

guint
dyno_exchange_watchdog_ms (gint64 longest_us, gboolean software)
{
  gint64 limit_ms = MAX (HANG_LEAST_MS, HANG_FACTOR * (longest_us / 1000));

  return software || limit_ms >= HANG_MOST_MS ? 0 : (guint) limit_ms;
}

/* TRUE: the device is a CPU, which has no core to spare for spinning. */
static gboolean
is_software (const DynoExchange *x)
{
  return dyno_device_get_info (x->device)->type == DYNO_DEVICE_TYPE_SOFTWARE;
}

/* Spins until the queue has reached the value or end_us has passed, so that short waits do not
 * sleep. */
static void
spin_for (DynoExchange *x, DynoQueue queue, guint64 value, gint64 end_us)
{
  while (!is_software (x) && g_get_monotonic_time () < end_us
         && dyno_queue_get_completed (x->device, queue) < value)
    g_thread_yield ();
}

/* Waits until a bucket is on the host, or its piece has ended, and records the longest wait, from
 * which the watchdog's limit follows. */
static gboolean
wait_for (DynoExchange *x, DynoQueue queue, guint64 value, GError **error)
{
  gint64 begin_us = g_get_monotonic_time ();
  gboolean fine;

  spin_for (x, queue, value, begin_us + dyno_comm_get_spin_us (x->comm));
  fine = dyno_queue_wait (x->device, queue, value, 0, error);

  x->longest_us = MAX (x->longest_us, g_get_monotonic_time () - begin_us);
  return fine;
}

/* Copies the sums [x->next, end) back; with wait it waits for sums that have not arrived yet. */
static gboolean
take_back (DynoExchange *x, guint end, gboolean wait, GCancellable *cancellable,
           guint64 *timeline_value, GError **error)
{
  while (x->next < end)
    {
      Share *share = get_share (x, x->next);
      gboolean done = FALSE;

      if (!dyno_comm_wait (x->comm, share->request, wait ? TICK_US : 0, &done, error))
        {
          share->request = NULL;
          return FALSE;
        }
      if (done)
        {
          share->request = NULL;
          x->next++;
          if (!give_back (x, share, timeline_value, error))
            return FALSE;
        }
      else if (!wait)
        return TRUE;
      else if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
    }
  return TRUE;
}

/* A barrier of all ranks. */
static gboolean
meet (DynoExchange *x, GCancellable *cancellable, GError **error)
{
  gboolean done = FALSE;

  x->met = 1;
  x->meeting = dyno_comm_sum_begin (x->comm, &x->met, 1, DYNO_COMM_UINT64, error);
  while (x->meeting && !done)
    {
      if (!dyno_comm_wait (x->comm, x->meeting, TICK_US, &done, error))
        x->meeting = NULL;
      else if (!done && g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
    }
  x->meeting = NULL;
  return done;
}

/* Waits for this rank's copies to the other devices, with a fixed limit: their time depends only on
 * their size, not on the progress of the other ranks. */
static gboolean
wait_for_copies (DynoExchange *x, GError **error)
{
  gint64 end_us = g_get_monotonic_time () + HANG_MOST_MS * 1000;

  for (gboolean done = FALSE; !done; g_thread_yield ())
    {
      if (!dyno_peer_sum_poll (x->peers, &done, error))
        return FALSE;
      if (done || g_get_monotonic_time () < end_us)
        continue;
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT,
                   "copies to other devices do not finish");
      return FALSE;
    }
  return TRUE;
}

/* Exchanges through the inboxes of the other ranks.  The end of this step's first piece implies
 * that the sum of the last step, which was submitted before it, has ended. */
static gboolean
run_by_peers (DynoExchange *x, GCancellable *cancellable, Moments *moments, guint64 *timeline_value,
              GError **error)
{
  for (guint i = 0; i < x->shares->len; i++)
    {
      const Share *share = get_share (x, i);

      if (!wait_for (x, DYNO_QUEUE_COMPUTE, x->ends[share->piece], error))
        return FALSE;
      moments->backward_us = g_get_monotonic_time ();
      moments->first_us = i == 0 ? moments->backward_us : moments->first_us;
      if ((i == 0 && !meet (x, cancellable, error))
          || !dyno_peer_sum_copy (x->peers, share->state ? DYNO_PEER_STATES : DYNO_PEER_GRADIENTS,
                                  share->state ? 0 : share->at / sizeof (float), share->n, error))
        return FALSE;
    }
  if (!wait_for_copies (x, error) || !meet (x, cancellable, error))
    return FALSE;
  moments->end_us = g_get_monotonic_time ();
  return dyno_peer_sum_submit (x->peers, timeline_value, error);
}

/* Exchanges through the host's memory; *last: the timeline value for which the optimizer waits. */
static gboolean
run_by_host (DynoExchange *x, GCancellable *cancellable, Moments *moments, DynoWait *last,
             GError **error)
{
  for (guint i = 0; i < x->shares->len; i++)
    {
      Share *share = get_share (x, i);

      if ((!x->one_queue && !submit_down (x, share, error))
          || !wait_for (x, DYNO_QUEUE_TRANSFER, share->down_value, error))
        return FALSE;
      moments->backward_us = g_get_monotonic_time ();
      moments->first_us = i == 0 ? moments->backward_us : moments->first_us;
      if (!send (x, share, error)
          || !take_back (x, i, FALSE, cancellable, &last->timeline_value, error))
        return FALSE;
    }
  if (!take_back (x, x->shares->len, TRUE, cancellable, &last->timeline_value, error))
    return FALSE;
  moments->end_us = g_get_monotonic_time ();
  return TRUE;
}

static gboolean
run (DynoExchange *x, GCancellable *cancellable, guint64 *timeline_value, GError **error)
{
  DynoWait last = { DYNO_QUEUE_TRANSFER, 0 };
  Moments moments = { 0 };

  if (!(x->peers ? run_by_peers (x, cancellable, &moments, timeline_value, error)
                 : run_by_host (x, cancellable, &moments, &last, error)))
    return FALSE;
  if (x->times.steps++ == 0 || x->longest_us > HANG_LEAST_MS * 1000 / HANG_FACTOR)
    dyno_device_set_watchdog (x->device,
                              dyno_exchange_watchdog_ms (x->longest_us, is_software (x)));
  x->times.total_us += moments.end_us - moments.first_us;
  x->times.exposed_us += moments.end_us - moments.backward_us;
  if (x->halves && !x->peers && !dyno_command_submit (x->unpack, &last, 1, timeline_value, error))
    return FALSE;
  return dyno_program_submit (x->program, DYNO_COMMAND_OPTIMIZER, x->slot, &last, 1, timeline_value,
                              error);
}

/* Ends the exchange after an error.  Waits for all requests, since none of their buffers may be
 * freed while the communicator writes to it. */
static void
give_up (DynoExchange *x, const GError *problem)
{
  x->failed = TRUE;
  if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    dyno_comm_stop (x->comm);
  else if (problem->domain != DYNO_COMM_ERROR)
    dyno_comm_abort (x->comm, problem->message);
  if (x->meeting)
    dyno_comm_wait (x->comm, g_steal_pointer (&x->meeting), -1, NULL, NULL);
  for (guint i = 0; i < x->shares->len; i++)
    if (get_share (x, i)->request)
      {
        dyno_comm_wait (x->comm, get_share (x, i)->request, -1, NULL, NULL);
        get_share (x, i)->request = NULL;
      }
}

gboolean
dyno_exchange_finish (DynoExchange *x, GCancellable *cancellable, guint64 *timeline_value,
                      GError **error)
{
  g_autoptr (GError) problem = NULL;

  g_return_val_if_fail (x->begun, FALSE);
  if (x->failed)
    {
      g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER,
                   "The exchange with the other ranks has failed before");
      return FALSE;
    }
  if (run (x, cancellable, timeline_value, &problem))
    {
      x->begun = FALSE;
      return TRUE;
    }
  give_up (x, problem);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

void
dyno_exchange_get_times (DynoExchange *x, DynoExchangeTimes *times)
{
  *times = x->times;
}
