/* SPDX-License-Identifier: MIT */
/* metrics.csv: numbers with as many digits as they are good for, '.' decimals in any locale. */
#include "metricscsv.h"
#include <math.h>

#define N_STEP_COLUMNS 18
#define N_COLUMNS      25

static void
append_number (GString *text, double value, const char *format)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_c (text, ',');
  if (isnan (value))
    g_string_append (text, "nan");
  else if (isinf (value))
    g_string_append (text, value > 0 ? "inf" : "-inf");
  else
    g_string_append (text, g_ascii_formatd (number, sizeof number, format, value));
}

void
dyno_metrics_csv_append (GString *text, const DynoStepMetrics *step, const DynoEpochMetrics *epoch)
{
  g_string_append_printf (text, "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, step->step,
                          step->epoch);
  append_number (text, step->loss, "%.9g");
  append_number (text, step->accuracy, "%.6g");
  append_number (text, step->lr, "%.9g");
  append_number (text, step->samples_per_s, "%.6g");
  append_number (text, step->step_ms, "%.4f");
  append_number (text, step->wait_data_ms, "%.4f");
  append_number (text, step->upload_ms, "%.4f");
  append_number (text, step->forward_ms, "%.4f");
  append_number (text, step->backward_ms, "%.4f");
  append_number (text, step->optimizer_ms, "%.4f");
  append_number (text, step->grad_norm, "%.6g");
  append_number (text, step->loss_scale, "%.9g");
  g_string_append_printf (text, ",%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT,
                          step->skipped ? 1 : 0, step->vram_bytes, step->vram_all_bytes);
  append_number (text, step->seconds, "%.4f");
  if (epoch)
    {
      append_number (text, epoch->train_loss, "%.9g");
      append_number (text, epoch->train_accuracy, "%.6g");
      append_number (text, epoch->val_loss, "%.9g");
      append_number (text, epoch->val_accuracy, "%.6g");
      g_string_append (text, epoch->is_error ? ",1" : ",0");
      append_number (text, epoch->samples_per_s, "%.6g");
      append_number (text, epoch->seconds, "%.4f");
    }
  else
    g_string_append (text, ",,,,,,,");
  g_string_append_c (text, '\n');
}

gboolean
dyno_metrics_csv_parse (const char *line, DynoStepMetrics *step, DynoEpochMetrics *epoch,
                        gboolean *has_epoch)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);
  double v[N_COLUMNS];

  if (g_strv_length (cells) != N_COLUMNS)
    return FALSE;
  for (guint i = 0; i < N_COLUMNS; i++)
    {
      char *end;
      v[i] = g_ascii_strtod (cells[i], &end);
      if (*end != '\0' || (end == cells[i] && i < N_STEP_COLUMNS))
        return FALSE;
    }
  *step = (DynoStepMetrics){ .step = (guint64) v[0],
                             .epoch = (guint64) v[1],
                             .loss = v[2],
                             .accuracy = v[3],
                             .lr = v[4],
                             .samples_per_s = v[5],
                             .step_ms = v[6],
                             .wait_data_ms = v[7],
                             .upload_ms = v[8],
                             .forward_ms = v[9],
                             .backward_ms = v[10],
                             .optimizer_ms = v[11],
                             .grad_norm = v[12],
                             .loss_scale = v[13],
                             .skipped = v[14] != 0,
                             .vram_bytes = (guint64) v[15],
                             .vram_all_bytes = (guint64) v[16],
                             .seconds = v[17] };
  *has_epoch = cells[N_STEP_COLUMNS][0] != '\0';
  *epoch = (DynoEpochMetrics){ .epoch = step->epoch,
                               .step = step->step,
                               .train_loss = v[18],
                               .train_accuracy = v[19],
                               .val_loss = v[20],
                               .val_accuracy = v[21],
                               .is_error = v[22] != 0,
                               .samples_per_s = v[23],
                               .seconds = v[24] };
  return TRUE;
}
