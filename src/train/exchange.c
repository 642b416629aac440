/* SPDX-License-Identifier: MIT */
/* The exchange.  Invariants:
 * - All ranks sum the same buckets in the same order, which follows from the parameters.
 * - Nothing is allocated or recorded after dyno_exchange_new.
 * - The host waits for this device's own copies, which always end, and for sums, which end or fail;
 *   nothing is submitted that waits for another rank.
 * - A failure on this side is told to the others before anything of theirs is waited for.
 * - With halves on the device, a bucket is packed into them at the end of its piece and copied from
 *   there; its sum is copied back to them, and all are unpacked at once before the optimizer.
 * Where there is a queue for transfers, which does its work in the order of submitting, a copy to
 * the host is submitted when the one before it has ended: neither uploads nor sums on their way back
 * queue up behind what waits for the backward pass.  Where there is one queue, between the pieces. */
#include "exchange.h"
#include "wirehalf.h"
#include "wirepack.h"
#include <inttypes.h>
#include <string.h>

/* a stop at once is looked for this often */
#define TICK_US (G_USEC_PER_SEC / 10)

/* limits of dyno_exchange_watchdog_ms */
#define HANG_LEAST_MS 8000
#define HANG_MOST_MS  60000
#define HANG_FACTOR   8

/* A range that is summed: a bucket of gradients, or the running statistics. */
typedef struct {
  guint64 at; /* in the staging */
  guint64 n;  /* floats */
  guint piece;
  gboolean state;
  DynoCommand *down, *up;
  guint64 down_value;
  DynoCommRequest *request; /* in flight; or NULL */
} Share;

struct _DynoExchange {
  DynoDevice *device;
  DynoProgram *program;
  DynoComm *comm;
  gboolean half;
  gboolean one_queue;
  DynoBuffer *staging;
  GArray *shares; /* Share */
  guint64 *ends;  /* timeline values of the pieces */
  /* with conversion on the device; else NULL */
  DynoBuffer *halves;  /* of all gradients, in their order */
  GPtrArray *packs;    /* DynoCommand, one a piece */
  DynoCommand *unpack; /* of all */
  guint slot;          /* of the step that was begun */
  gboolean begun, failed;
  guint next;        /* the first share that has not come back */
  gint64 longest_us; /* that the host waited for a bucket */
  DynoExchangeTimes times;
};

static DynoHostBuffer
host_buffer (const DynoPlan *plan)
{
  return dyno_host_buffer ("exchange", DYNO_HOST_READBACK, 1,
                           plan->space_bytes[DYNO_SPACE_GRADIENT]
                               + plan->space_bytes[DYNO_SPACE_STATE]);
}

void
dyno_exchange_plan_host (const DynoPlan *plan, DynoHostPlan *host)
{
  DynoHostBuffer buffer = host_buffer (plan);

  dyno_host_plan_add (host, &buffer);
}

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

static gboolean
record_share (DynoExchange *x, Share *share, DynoBuffer *buffer, guint64 offset, guint64 size_bytes,
              GError **error)
{
  share->down = record_copy (x, buffer, offset, x->staging, share->at, size_bytes, error);
  share->up = share->down
                  ? record_copy (x, x->staging, share->at, buffer, offset, size_bytes, error)
                  : NULL;
  return share->up != NULL;
}

static void
clear_share (gpointer data)
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

  gboolean fine = record_share (x, &share, buffer, offset, size_bytes, error);

  g_array_append_val (x->shares, share);
  x->times.bytes += x->half && !state ? size_bytes / 2 : size_bytes;
  return fine;
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
  DynoBuffer *buffer = dyno_memory_locate (memory, states, 0, &offset);
  return add_share (x, buffer, offset, plan->space_bytes[DYNO_SPACE_GRADIENT], states->size_bytes,
                    dyno_program_get_pieces (x->program) - 1, TRUE, error);
}

DynoExchange *
dyno_exchange_new (DynoProgram *program, const DynoPlan *plan, DynoComm *comm, gboolean half,
                   GError **error)
{
  g_autoptr (DynoExchange) x = g_new0 (DynoExchange, 1);
  DynoHostBuffer planned = host_buffer (plan);

  x->device = dyno_device_ref (dyno_program_get_device (program));
  x->program = program;
  x->comm = dyno_comm_ref (comm);
  x->half = half;
  x->one_queue = !dyno_device_get_info (x->device)->transfer_queue;
  x->shares = g_array_new (FALSE, FALSE, sizeof (Share));
  g_array_set_clear_func (x->shares, clear_share);
  x->ends = g_new0 (guint64, dyno_program_get_pieces (program));
  x->staging = dyno_host_buffer_allocate (&planned, x->device, error);
  if (!x->staging || !add_shares (x, plan, error))
    return NULL;
  x->times.buckets = x->shares->len;
  return g_steal_pointer (&x);
}

/* --- conversion on the device ----------------------------------------------------------------- */

/* What it needs, made apart so that a failure changes nothing. */
typedef struct {
  DynoWireKernels kernels;
  DynoBuffer *gradients, *halves;
  GPtrArray *packs;
  DynoCommand *unpack;
  GArray *shares;
} Conversion;

static void
conversion_clear (Conversion *c)
{
  g_clear_pointer (&c->shares, g_array_unref);
  g_clear_pointer (&c->packs, g_ptr_array_unref);
  g_clear_pointer (&c->unpack, dyno_command_free);
  g_clear_pointer (&c->halves, dyno_buffer_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Conversion, conversion_clear)

/* A piece's buckets at the end of it; an empty command where it has none. */
static DynoCommand *
record_pack (DynoExchange *x, const Conversion *c, guint piece, GError **error)
{
  g_autoptr (DynoCommand) command = dyno_command_new (x->device, DYNO_QUEUE_COMPUTE, error);

  if (!command)
    return NULL;
  for (guint i = 0; i < x->shares->len; i++)
    {
      const Share *share = &g_array_index (x->shares, Share, i);
      if (!share->state && share->piece == piece)
        dyno_wire_record_pack (&c->kernels, command, c->gradients, share->at, c->halves,
                               share->at / 2, share->n);
    }
  return dyno_command_end (command, error) ? g_steal_pointer (&command) : NULL;
}

static gboolean
record_conversion (DynoExchange *x, Conversion *c, guint64 n, GError **error)
{
  for (guint piece = 0; piece < dyno_program_get_pieces (x->program); piece++)
    {
      DynoCommand *pack = record_pack (x, c, piece, error);
      if (!pack)
        return FALSE;
      g_ptr_array_add (c->packs, pack);
    }
  c->unpack = dyno_command_new (x->device, DYNO_QUEUE_COMPUTE, error);
  if (!c->unpack)
    return FALSE;
  dyno_wire_record_unpack (&c->kernels, c->unpack, c->halves, 0, c->gradients, 0, n);
  if (!dyno_command_end (c->unpack, error))
    return FALSE;
  for (guint i = 0; i < x->shares->len; i++)
    {
      const Share *old = &g_array_index (x->shares, Share, i);
      Share share = { .at = old->at, .n = old->n, .piece = old->piece };
      gboolean fine =
          old->state || record_share (x, &share, c->halves, share.at / 2, share.n * 2, error);
      g_array_append_val (c->shares, share);
      if (!fine)
        return FALSE;
    }
  return TRUE;
}

static gboolean
make_conversion (DynoExchange *x, Conversion *c, GError **error)
{
  guint64 n = 0;

  for (guint i = 0; i < x->shares->len; i++)
    {
      const Share *share = &g_array_index (x->shares, Share, i);
      n += share->state ? 0 : share->n;
    }
  c->gradients =
      dyno_memory_get_buffer (dyno_program_get_memory (x->program), DYNO_SPACE_GRADIENT, 0);
  c->packs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_command_free);
  c->shares = g_array_new (FALSE, FALSE, sizeof (Share));
  g_array_set_clear_func (c->shares, clear_share);
  if (!dyno_wire_kernels_get (x->device, &c->kernels, error))
    return FALSE;
  c->halves = dyno_buffer_new (x->device, n * 2, DYNO_MEMORY_GRADIENTS, DYNO_BUFFER_DEVICE, error);
  return c->halves && record_conversion (x, c, n, error);
}

gboolean
dyno_exchange_convert_on_device (DynoExchange *x)
{
  g_auto (Conversion) c = { 0 };
  g_autoptr (GError) problem = NULL;

  g_return_val_if_fail (!x->begun && !x->halves, FALSE);
  if (!x->half)
    return FALSE;
  if (!make_conversion (x, &c, &problem))
    {
      g_info ("Gradients are converted to fp16 by the host: %s", problem->message);
      return FALSE;
    }
  for (guint i = 0; i < x->shares->len; i++)
    {
      Share *share = &g_array_index (x->shares, Share, i),
            *other = &g_array_index (c.shares, Share, i), kept = *share;
      if (share->state)
        continue;
      share->down = other->down;
      share->up = other->up;
      other->down = kept.down;
      other->up = kept.up;
    }
  x->halves = g_steal_pointer (&c.halves);
  x->packs = g_steal_pointer (&c.packs);
  x->unpack = g_steal_pointer (&c.unpack);
  return TRUE;
}

/* Of the time that the exchange took, the share that the backward pass hid. */
static void
tell_times (const DynoExchangeTimes *times)
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
  tell_times (&x->times);
  dyno_device_set_watchdog (x->device, 0);
  g_array_unref (x->shares);
  g_clear_pointer (&x->packs, g_ptr_array_unref);
  dyno_command_free (x->unpack);
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

/* The copies to the host of what is final with a piece. */
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
dyno_exchange_begin (DynoExchange *x, guint slot, const DynoWait *wait, guint64 *timeline_value,
                     GError **error)
{
  g_return_val_if_fail (!x->begun, FALSE);
  for (guint piece = 0; piece < dyno_program_get_pieces (x->program); piece++)
    if (!dyno_program_submit_piece (x->program, piece, slot, wait, piece == 0, &x->ends[piece],
                                    error)
        || (x->halves
            && !dyno_command_submit (x->packs->pdata[piece], NULL, 0, &x->ends[piece], error))
        || (x->one_queue && !submit_downs (x, piece, error)))
      return FALSE;
  *timeline_value = x->ends[dyno_program_get_pieces (x->program) - 1];
  x->slot = slot;
  x->begun = TRUE;
  x->next = 0;
  return TRUE;
}

/* A share is on the host: its sum begins. */
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

/* The share whose sum is there goes back to the device. */
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

/* A CPU that is the device has no core to spare. */
static gboolean
is_software (const DynoExchange *x)
{
  return dyno_device_get_info (x->device)->type == DYNO_DEVICE_TYPE_SOFTWARE;
}

/* What ends within a while is not slept for. */
static void
spin_for_share (DynoExchange *x, const Share *share, gint64 end_us)
{
  while (!is_software (x) && g_get_monotonic_time () < end_us
         && dyno_queue_get_completed (x->device, DYNO_QUEUE_TRANSFER) < share->down_value)
    g_thread_yield ();
}

/* A bucket is on the host.  A step has nothing of its own that takes long, and after the first the
 * device has shown how long that is. */
static gboolean
wait_for_share (DynoExchange *x, const Share *share, GError **error)
{
  gint64 begin_us = g_get_monotonic_time ();
  gboolean fine;

  spin_for_share (x, share, begin_us + dyno_comm_get_spin_us (x->comm));
  fine = dyno_queue_wait (x->device, DYNO_QUEUE_TRANSFER, share->down_value, 0, error);

  x->longest_us = MAX (x->longest_us, g_get_monotonic_time () - begin_us);
  return fine;
}

/* Takes the sums [x->next, end) back; those that are not there yet are waited for with wait. */
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

static gboolean
run (DynoExchange *x, GCancellable *cancellable, guint64 *timeline_value, GError **error)
{
  DynoWait last = { DYNO_QUEUE_TRANSFER, 0 };
  gint64 first_us = 0, backward_us = 0, end_us;

  for (guint i = 0; i < x->shares->len; i++)
    {
      Share *share = get_share (x, i);

      if (!x->one_queue && !submit_down (x, share, error))
        return FALSE;
      if (!wait_for_share (x, share, error))
        return FALSE;
      backward_us = g_get_monotonic_time ();
      first_us = i == 0 ? backward_us : first_us;
      if (!send (x, share, error)
          || !take_back (x, i, FALSE, cancellable, &last.timeline_value, error))
        return FALSE;
    }
  if (!take_back (x, x->shares->len, TRUE, cancellable, &last.timeline_value, error))
    return FALSE;
  end_us = g_get_monotonic_time ();
  if (x->times.steps++ == 0 || x->longest_us > HANG_LEAST_MS * 1000 / HANG_FACTOR)
    dyno_device_set_watchdog (x->device,
                              dyno_exchange_watchdog_ms (x->longest_us, is_software (x)));
  x->times.total_us += end_us - first_us;
  x->times.exposed_us += end_us - backward_us;
  if (x->halves && !dyno_command_submit (x->unpack, &last, 1, timeline_value, error))
    return FALSE;
  return dyno_program_submit (x->program, DYNO_COMMAND_OPTIMIZER, x->slot, &last, 1, timeline_value,
                              error);
}

/* No memory of a request may go while the communicator writes to it. */
static void
give_up (DynoExchange *x, const GError *problem)
{
  x->failed = TRUE;
  if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    dyno_comm_abort (x->comm, "it was stopped");
  else if (problem->domain != DYNO_COMM_ERROR)
    dyno_comm_abort (x->comm, problem->message);
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
