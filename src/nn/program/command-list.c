/* SPDX-License-Identifier: MIT */
/* Command lists: the places of barriers, submit splits and timestamps.
 *
 * Splits keep a submit well under the time after which drivers reset a slow card (2 s on Windows,
 * some 10 s elsewhere, less on embedded devices), and short enough that a desktop on the same card
 * stays usable: 0.1 s, estimated with rates that even the slowest useful card reaches.  A CPU needs
 * no splits.  A split costs some 5 us, so the rates are not lower than necessary. */
#include "command-list.h"
#include <string.h>

#define SUBMIT_LIMIT_S      0.1
#define DISPATCH_OVERHEAD_S 5e-6

/* Rates that kernels reach, not peak rates of cards: of any GPU; of a GPU with matrix units; of the
 * matrix units. */
#define SLOW_FLOPS        1e12
#define SLOW_BYTES_PER_S  1e11
#define CARD_FLOPS        2e12
#define CARD_BYTES_PER_S  2e11
#define CARD_MATRIX_FLOPS 1e13

static double
dispatch_seconds (const DynoDispatch *dispatch, const DynoDeviceInfo *info)
{
  gboolean is_card = info->matrix != DYNO_MATRIX_NONE;
  double flops = is_card ? CARD_FLOPS : SLOW_FLOPS;
  if (is_card && strstr (dispatch->spec.macros, "MATRIX_"))
    flops = CARD_MATRIX_FLOPS;
  return MAX ((double) dispatch->flops / flops,
              (double) dispatch->bytes / (is_card ? CARD_BYTES_PER_S : SLOW_BYTES_PER_S))
         + DISPATCH_OVERHEAD_S;
}

double
dyno_dispatches_seconds (GPtrArray *dispatches, const DynoDeviceInfo *info)
{
  double seconds = 0;
  for (guint i = 0; i < dispatches->len; i++)
    seconds += dispatch_seconds (g_ptr_array_index (dispatches, i), info);
  return seconds;
}

static void
list_add (GArray *list, DynoCommandListKind kind, guint index)
{
  DynoCommandListItem item = { kind, index };
  g_array_append_val (list, item);
}

GArray *
dyno_command_list_new (GPtrArray *dispatches, guint stage_mask, const GArray *ends,
                       const DynoDeviceInfo *info)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (DynoCommandListItem));
  g_autofree guint8 *before = dyno_barriers_find (dispatches);
  guint mark = 0, piece = 0;
  gboolean pending = FALSE; /* a left-out dispatch's barrier moves to the next dispatch */
  double seconds = 0;
  list_add (list, DYNO_COMMAND_LIST_TIMESTAMP, mark++);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      pending |= before[i];
      if (!(stage_mask & (1u << dispatch->stage)))
        continue;
      for (; mark <= dispatch->stage; mark++)
        list_add (list, DYNO_COMMAND_LIST_TIMESTAMP, mark);
      double more = dispatch_seconds (dispatch, info);
      for (; ends && piece + 1 < ends->len && i >= g_array_index (ends, guint, piece); piece++)
        {
          list_add (list, DYNO_COMMAND_LIST_SUBMIT_SPLIT, 1);
          seconds = 0;
          pending = FALSE;
        }
      if (info->type != DYNO_DEVICE_TYPE_SOFTWARE && seconds > 0 && seconds + more > SUBMIT_LIMIT_S)
        {
          list_add (list, DYNO_COMMAND_LIST_SUBMIT_SPLIT, 0);
          seconds = 0;
          pending = FALSE;
        }
      if (pending)
        list_add (list, DYNO_COMMAND_LIST_BARRIER, 0);
      pending = FALSE;
      seconds += more;
      list_add (list, DYNO_COMMAND_LIST_DISPATCH, i);
    }
  for (; mark < DYNO_COMMAND_LIST_TIMESTAMPS; mark++)
    list_add (list, DYNO_COMMAND_LIST_TIMESTAMP, mark);
  return list;
}
