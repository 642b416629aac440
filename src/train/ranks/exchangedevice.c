/* SPDX-License-Identifier: MIT */
/* The part of an exchange that the device does in place of the host: gradients to fp16 and back,
 * and copies to the other ranks' devices.  Both are set up after the exchange, and leave it
 * unchanged where they are not possible. */
#include "exchange-private.h"
#include "wirepack.h"
#include <inttypes.h>

typedef DynoExchangeShare Share;

/* --- conversion on the device ----------------------------------------------------------------- */

/* The objects for conversion, made separately so that a failure changes nothing. */
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

/* Records the command that packs the buckets of a piece; it is empty where the piece has none. */
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
          old->state
          || dyno_exchange_record_share (x, &share, c->halves, share.at / 2, share.n * 2, error);
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
  g_array_set_clear_func (c->shares, dyno_exchange_clear_share);
  if (!dyno_wire_kernels_get (x->device, &c->kernels, error))
    return FALSE;
  c->halves = dyno_buffer_new (x->device, n * 2, DYNO_MEMORY_GRADIENTS, DYNO_BUFFER_SHARED, error);
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

/* --- without the host ------------------------------------------------------------------------- */

/* Fills in the ranges: gradients in their wire format, and the running statistics, whose sum
 * becomes a mean. */
static void
find_ranges (DynoExchange *x, DynoPeerRange ranges[DYNO_PEER_N_RANGES])
{
  DynoMemory *memory = dyno_program_get_memory (x->program);
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (x->program));
  DynoBuffer *gradients = dyno_memory_get_buffer (memory, DYNO_SPACE_GRADIENT, 0);
  DynoPeerRange *g = &ranges[DYNO_PEER_GRADIENTS], *s = &ranges[DYNO_PEER_STATES];
  DynoTensor *states, *kept;

  *g = (DynoPeerRange){ .source = x->halves ? x->halves : gradients,
                        .target = gradients,
                        .half = x->halves != NULL,
                        .scale = 1 };
  *s = (DynoPeerRange){ .scale = 1.0f / (float) dyno_comm_get_size (x->comm) };
  for (guint i = 0; i < x->shares->len; i++)
    {
      const Share *share = &g_array_index (x->shares, Share, i);
      if (!share->state)
        g->n += share->n;
    }
  if (!dyno_graph_flat_states (graph, &states, &kept))
    return;
  s->source = s->target = dyno_memory_locate (memory, states, 0, &s->source_offset);
  s->target_offset = s->source_offset;
  s->n = states->size_bytes / sizeof (float);
}

/* Frees the page-locked memory and the copies to it. */
static void
drop_staging (DynoExchange *x)
{
  for (guint i = 0; i < x->shares->len; i++)
    {
      Share *share = &g_array_index (x->shares, Share, i);
      g_clear_pointer (&share->down, dyno_command_free);
      g_clear_pointer (&share->up, dyno_command_free);
    }
  g_clear_pointer (&x->staging, dyno_buffer_free);
}

gboolean
dyno_exchange_use_peers (DynoExchange *x, const DynoPlan *plan, const char *why, gboolean *used,
                         GError **error)
{
  DynoPeerRange ranges[DYNO_PEER_N_RANGES] = { { 0 } };
  g_autoptr (GError) problem = NULL;

  g_return_val_if_fail (!x->begun && !x->peers, FALSE);
  find_ranges (x, ranges);
  if (!dyno_device_get_info (x->device)->peer_memory)
    why = "other devices cannot write into this one's memory";
  else if (x->half && !x->halves)
    why = "gradients become fp16 on the host";
  x->peers = dyno_peer_sum_new (x->device, x->comm, plan, ranges, why, &problem);
  *used = x->peers != NULL;
  if (x->peers)
    {
      drop_staging (x);
      x->times.bytes = dyno_peer_sum_get_bytes (x->peers);
      g_info ("Gradients go from device to device, %" PRIu64 " bytes a step", x->times.bytes);
      return TRUE;
    }
  if (problem->domain == DYNO_COMM_ERROR && problem->code != DYNO_COMM_ERROR_LOCAL)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  g_info ("Gradients go through the host: %s", problem->message);
  return TRUE;
}
