/* SPDX-License-Identifier: MIT */
#include "feederengine.h"
#include "device.h"
#include "feeder.h"

static gboolean
feeder_submit (gpointer engine, gconstpointer const *samples, const gint32 *lengths, guint32 n,
               GError **error)
{
  return dyno_feeder_submit (engine, samples, lengths, n, error);
}

static gboolean
feeder_collect (gpointer engine, gpointer outputs, GError **error)
{
  return dyno_feeder_collect (engine, outputs, error);
}

static gboolean
feeder_is_lost (const GError *error)
{
  return g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
         || g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT);
}

const DynoBatchEngine dyno_feeder_engine = {
  .slots = DYNO_FEEDER_SLOTS,
  .submit = feeder_submit,
  .collect = feeder_collect,
  .is_lost = feeder_is_lost,
};
