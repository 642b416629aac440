/* SPDX-License-Identifier: MIT */
/* See ranks.h.  Each rank adds the sums in the order of the ranks: all ranks get bit-identical
 * results, and so take the same decisions. */
#include "ranks.h"
#include <string.h>

#define NAMES_BYTES 16384 /* bytes of a rank's unreadable samples that fit into the message */
/* bytes of a state that are sent at once */
#define BLOCK_BYTES (G_GUINT64_CONSTANT (8) << 20)

typedef struct {
  double n_samples, loss, nonfinite;
  double metrics[DYNO_MAX_METRICS];
  DynoRankStep time; /* times of a step, which are not summed */
} Sums;

/* Replaces sums by those over all ranks; times receives each rank's, where it is not NULL. */
static gboolean
add_up (DynoComm *comm, Sums *sums, DynoRankStep *times, GError **error)
{
  guint size = dyno_comm_get_size (comm);
  g_autofree Sums *all = g_new (Sums, size);

  if (!dyno_comm_gather (comm, sums, sizeof *sums, all, error))
    return FALSE;
  for (guint rank = 0; rank < size && times; rank++)
    times[rank] = all[rank].time;
  *sums = all[0];
  for (guint rank = 1; rank < size; rank++)
    {
      sums->n_samples += all[rank].n_samples;
      sums->loss += all[rank].loss;
      sums->nonfinite += all[rank].nonfinite;
      for (guint i = 0; i < DYNO_MAX_METRICS; i++)
        sums->metrics[i] += all[rank].metrics[i];
    }
  return TRUE;
}

gboolean
dyno_ranks_sum_step (DynoComm *comm, DynoStepResult *result, const DynoRankStep *mine,
                     DynoRankStep *all, GError **error)
{
  Sums sums = { .n_samples = (double) result->n_samples,
                .loss = result->loss_sum,
                .nonfinite = result->nonfinite_loss,
                .time = *mine };

  memcpy (sums.metrics, result->metric_sums, sizeof sums.metrics);
  if (!add_up (comm, &sums, all, error))
    return FALSE;
  result->n_samples = (guint64) sums.n_samples;
  result->loss_sum = sums.loss;
  result->nonfinite_loss = sums.nonfinite > 0;
  memcpy (result->metric_sums, sums.metrics, sizeof sums.metrics);
  return TRUE;
}

gboolean
dyno_ranks_sum_evaluation (DynoComm *comm, DynoEvaluation *sum, GError **error)
{
  Sums sums = { .n_samples = (double) sum->n_samples, .loss = sum->loss };

  memcpy (sums.metrics, sum->metrics, sizeof sums.metrics);
  if (!add_up (comm, &sums, NULL, error))
    return FALSE;
  sum->n_samples = (guint64) sums.n_samples;
  sum->loss = sums.loss;
  memcpy (sum->metrics, sums.metrics, sizeof sums.metrics);
  return TRUE;
}

/* Packs the rank's names, each with its terminator; names that do not fit are not sent. */
static void
pack_names (const GPtrArray *names, char *text)
{
  gsize at = 0;

  memset (text, 0, NAMES_BYTES);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      gsize size = strlen (name) + 1;

      if (at + size >= NAMES_BYTES)
        return;
      memcpy (text + at, name, size);
      at += size;
    }
}

/* An empty name marks the end. */
static void
unpack_names (const char *text, GPtrArray *names, guint most)
{
  for (gsize at = 0; at < NAMES_BYTES && text[at]; at += strnlen (text + at, NAMES_BYTES - at) + 1)
    {
      g_autofree char *name = g_strndup (text + at, NAMES_BYTES - at);

      if (names->len < most && !g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, g_steal_pointer (&name));
    }
}

gboolean
dyno_ranks_share_unreadable (DynoComm *comm, GPtrArray *names, guint most, guint64 *count,
                             GError **error)
{
  guint size = dyno_comm_get_size (comm);
  g_autofree guint64 *counts = g_new (guint64, size);
  g_autofree char *mine = NULL, *all = NULL;
  guint64 largest = 0;

  if (!dyno_comm_gather (comm, count, sizeof *count, counts, error))
    return FALSE;
  for (guint rank = 0; rank < size; rank++)
    largest = MAX (largest, counts[rank]);
  if (largest == 0)
    return TRUE;
  mine = g_malloc (NAMES_BYTES);
  all = g_malloc_n (size, NAMES_BYTES);
  pack_names (names, mine);
  if (!dyno_comm_gather (comm, mine, NAMES_BYTES, all, error))
    return FALSE;
  for (guint rank = 0; rank < size; rank++)
    unpack_names (all + (gsize) rank * NAMES_BYTES, names, most);
  *count = MAX (largest, names->len);
  return TRUE;
}

gboolean
dyno_ranks_agree (DynoComm *comm, DynoRankOrders *orders, GError **error)
{
  guint size = dyno_comm_get_size (comm);
  g_autofree DynoRankOrders *all = g_new (DynoRankOrders, size);

  if (!dyno_comm_gather (comm, orders, sizeof *orders, all, error))
    return FALSE;
  *orders = all[0];
  for (guint rank = 1; rank < size; rank++)
    {
      orders->stop = MAX (orders->stop, all[rank].stop);
      orders->checkpoint |= all[rank].checkpoint;
    }
  return TRUE;
}

gboolean
dyno_ranks_share_devices (DynoComm *comm, const char *device, DynoRankReport *reports,
                          GError **error)
{
  guint size = dyno_comm_get_size (comm);
  DynoRankReport mine = { 0 };
  g_autofree DynoRankReport *all = g_new (DynoRankReport, size);

  g_strlcpy (mine.device, device, sizeof mine.device);
  if (!dyno_comm_gather (comm, &mine, sizeof mine, all, error))
    return FALSE;
  for (guint rank = 0; rank < size; rank++)
    {
      g_strlcpy (reports[rank].host, dyno_comm_get_host (comm, rank), sizeof reports[rank].host);
      g_strlcpy (reports[rank].device, all[rank].device, sizeof reports[rank].device);
    }
  return TRUE;
}

/* --- settings --------------------------------------------------------------------------------- */

/* Returns the settings that can change in a run, as lines of key=value; g_free. */
static char *
print_live (const DynoSettings *settings)
{
  GString *text = g_string_new (NULL);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value =
          table[i].live == DYNO_SETTING_LIVE_NO ? NULL : dyno_settings_get (settings, table[i].key);
      if (value)
        g_string_append_printf (text, "%s=%s\n", table[i].key, value);
    }
  return g_string_free (text, FALSE);
}

static gboolean
read_live (DynoSettings *settings, const char *text, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    {
      char *value = strchr (lines[i], '=');
      if (!value)
        continue;
      *value++ = '\0';
      if (!dyno_settings_set (settings, lines[i], value, error))
        return FALSE;
    }
  return TRUE;
}

const DynoJob *
dyno_ranks_share_job (DynoComm *comm, const DynoJob *job, GError **error)
{
  g_autofree char *text = print_live (&job->settings);
  guint64 length = strlen (text);
  g_autoptr (DynoJob) changed = NULL;

  if (!dyno_comm_broadcast (comm, &length, sizeof length, 0, error))
    return NULL;
  text = g_realloc (text, length + 1);
  text[length] = '\0';
  if (!dyno_comm_broadcast (comm, text, length, 0, error))
    return NULL;
  if (dyno_comm_get_rank (comm) == 0)
    return dyno_job_ref (job);
  changed = dyno_job_copy (job);
  return read_live (&changed->settings, text, error) ? g_steal_pointer (&changed) : NULL;
}

/* --- state ------------------------------------------------------------------------------------ */

static gboolean
share_buffer (DynoComm *comm, DynoBuffer *buffer, guint8 *block, GError **error)
{
  guint64 size = dyno_buffer_get_size (buffer);
  gboolean sends = dyno_comm_get_rank (comm) == 0;

  for (guint64 offset = 0; offset < size; offset += BLOCK_BYTES)
    {
      guint64 n = MIN (BLOCK_BYTES, size - offset);
      if ((sends && !dyno_buffer_read (buffer, offset, block, n, error))
          || !dyno_comm_broadcast (comm, block, n, 0, error)
          || (!sends && !dyno_buffer_write (buffer, offset, block, n, error)))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_ranks_share_state (DynoComm *comm, DynoMemory *memory, DynoPosition *position, GError **error)
{
  g_autoptr (GPtrArray) buffers = dyno_memory_list_state (memory);
  g_autofree guint8 *block = g_malloc (BLOCK_BYTES);

  if (!dyno_comm_broadcast (comm, position, sizeof *position, 0, error))
    return FALSE;
  for (guint i = 0; i < buffers->len; i++)
    if (!share_buffer (comm, buffers->pdata[i], block, error))
      return FALSE;
  return TRUE;
}
