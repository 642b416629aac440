/* SPDX-License-Identifier: MIT */
/* A summary of a run's log. */
#include "stretch.h"
#include "metricscsv.h"
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#define CHUNK 64 /* number of rows copied at once */

void
dyno_stretches_init (DynoStretches *log)
{
  memset (log, 0, sizeof *log);
  log->each = 1;
  log->first_loss = log->last_loss = (double) NAN;
}

static double
number (double value)
{
  return isfinite (value) ? value : 0;
}

static void
join (DynoStretch *a, const DynoStretch *b)
{
  if (a->n_steps == 0)
    a->first_step = b->first_step;
  a->n_steps += b->n_steps;
  a->samples += b->samples;
  a->step_ms += b->step_ms;
  a->wait_data_ms += b->wait_data_ms;
  a->upload_ms += b->upload_ms;
  a->forward_ms += b->forward_ms;
  a->backward_ms += b->backward_ms;
  a->optimizer_ms += b->optimizer_ms;
  a->gap_ms += b->gap_ms;
  a->decoded += b->decoded;
  a->decode_ms += b->decode_ms;
  a->fetch_ms += b->fetch_ms;
  a->host_copy_ms += b->host_copy_ms;
  a->workers += b->workers;
  a->loss += b->loss;
  a->n_losses += b->n_losses;
  a->n_bad += b->n_bad;
  a->n_skipped += b->n_skipped;
  a->vram_bytes = MAX (a->vram_bytes, b->vram_bytes);
  a->vram_all_bytes = MAX (a->vram_all_bytes, b->vram_all_bytes);
}

static void
append (DynoStretches *log, const DynoStretch *one)
{
  join (&log->whole, one);
  if (log->n > 0 && log->stretches[log->n - 1].n_steps < log->each)
    {
      join (&log->stretches[log->n - 1], one);
      return;
    }
  if (log->n == DYNO_STRETCHES)
    {
      for (guint i = 0; i < DYNO_STRETCHES / 2; i++)
        {
          DynoStretch pair = log->stretches[2 * i];

          join (&pair, &log->stretches[2 * i + 1]);
          log->stretches[i] = pair;
        }
      log->n = DYNO_STRETCHES / 2;
      log->each *= 2;
    }
  log->stretches[log->n++] = *one;
}

void
dyno_stretches_add_step (DynoStretches *log, const DynoStepMetrics *step)
{
  gboolean finite = isfinite (step->loss);
  DynoStretch one = {
    .first_step = step->step,
    .n_steps = 1,
    .samples = step->samples,
    .step_ms = number (step->step_ms),
    .wait_data_ms = number (step->wait_data_ms),
    .upload_ms = number (step->upload_ms),
    .forward_ms = number (step->forward_ms),
    .backward_ms = number (step->backward_ms),
    .optimizer_ms = number (step->optimizer_ms),
    .decoded = step->decoded,
    .decode_ms = number (step->decode_ms),
    .fetch_ms = number (step->fetch_ms),
    .host_copy_ms = number (step->host_copy_ms),
    .workers = (double) step->workers,
    .loss = finite ? step->loss : 0,
    .n_losses = finite,
    .n_bad = !finite,
    .n_skipped = step->skipped != FALSE,
    .vram_bytes = step->vram_bytes,
    .vram_all_bytes = step->vram_all_bytes,
  };

  dyno_run_rate_add (&log->rate, step);
  /* Time on the run's clock between the end of the last step and the beginning of this one. */
  one.gap_ms = MAX (0, (number (step->seconds) - log->end_seconds) * 1e3 - one.step_ms);
  if (log->n_steps++ > 0)
    append (log, &one);
  else
    log->whole.n_bad = one.n_bad;
  if (finite && isnan (log->first_loss))
    log->first_loss = step->loss;
  log->last_loss = step->loss;
  log->end_seconds = number (step->seconds);
  log->last_validation_seconds = 0;
}

void
dyno_stretches_add_epoch (DynoStretches *log, const DynoEpochMetrics *epoch)
{
  log->n_epochs++;
  log->validation_seconds += epoch->validation_seconds;
  log->saving_seconds += epoch->saving_seconds;
  log->last_validation_seconds = number (epoch->validation_seconds);
  log->worse_epochs++;
  if (isfinite (epoch->val_loss) && (log->best.epoch == 0 || epoch->val_loss < log->best.val_loss))
    {
      log->best = *epoch;
      log->worse_epochs = 0;
    }
  if (log->n_recent == DYNO_STRETCH_RECENT)
    memmove (log->recent, log->recent + 1, (DYNO_STRETCH_RECENT - 1) * sizeof log->recent[0]);
  else
    log->n_recent++;
  log->recent[log->n_recent - 1] = *epoch;
}

void
dyno_stretches_sum (const DynoStretches *log, guint first, guint count, DynoStretch *sum)
{
  memset (sum, 0, sizeof *sum);
  for (guint i = first; i < MIN (log->n, first + count); i++)
    join (sum, &log->stretches[i]);
}

void
dyno_stretches_add_log (DynoStretches *log, DynoMetrics *metrics)
{
  DynoStepMetrics rows[CHUNK];
  DynoEpochMetrics epoch;
  guint64 first = 0, n = CHUNK, epochs = 0;

  for (; n == CHUNK; first += n)
    {
      n = dyno_metrics_copy_steps (metrics, first, CHUNK, rows);
      for (guint64 i = 0; i < n; i++)
        {
          dyno_stretches_add_step (log, &rows[i]);
          for (; dyno_metrics_copy_epochs (metrics, epochs, 1, &epoch) == 1
                 && epoch.step <= rows[i].step;
               epochs++)
            dyno_stretches_add_epoch (log, &epoch);
        }
    }
}

gboolean
dyno_stretches_read (DynoStretches *log, const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL), *head = NULL;
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, NULL);
  g_autoptr (GDataInputStream) lines = NULL;
  g_autoptr (DynoMetricsCsv) csv = NULL;
  const DynoMetricTable none = { 0 };

  dyno_stretches_init (log);
  if (!stream)
    return FALSE;
  lines = g_data_input_stream_new (G_INPUT_STREAM (stream));
  g_buffered_input_stream_set_buffer_size (G_BUFFERED_INPUT_STREAM (lines), 256 * 1024);
  head = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
  csv = head ? dyno_metrics_csv_new (head, &none) : NULL;
  for (gboolean whole = csv != NULL; whole;)
    {
      g_autofree char *line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
      DynoStepMetrics step;
      DynoEpochMetrics epoch;
      gboolean has_epoch;

      whole = line && dyno_metrics_csv_parse (csv, line, &step, &epoch, &has_epoch);
      if (!whole)
        break;
      dyno_stretches_add_step (log, &step);
      if (has_epoch)
        dyno_stretches_add_epoch (log, &epoch);
    }
  return csv != NULL;
}
