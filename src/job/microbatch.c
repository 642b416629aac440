/* SPDX-License-Identifier: MIT */
/* Divides batches.  Invariant: the parts into which a run divides a batch by itself are always
 * equal. */
#include "microbatch.h"

DynoMicroBatch
dyno_micro_batch_of (gint64 effective, gint64 fitting)
{
  gint64 most = MIN (fitting, effective), count;

  for (gint64 size = most; size > 0 && 4 * size >= most; size--)
    if (effective % size == 0)
      return (DynoMicroBatch){ size, effective / size };
  count = (effective + most - 1) / most;
  return (DynoMicroBatch){ (effective + count - 1) / count, count };
}

guint
dyno_micro_batch_divide (gint64 batch, gint64 least, gint64 most)
{
  for (gint64 size = MIN (most, batch); size >= MAX (least, 1); size--)
    if (batch % size == 0)
      return (guint) (batch / size);
  return 0;
}
