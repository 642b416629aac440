/* SPDX-License-Identifier: MIT */
/* metrics.csv: numbers with as many digits as they are good for, '.' decimals in any locale. */
#include "metricscsv.h"
#include <math.h>

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
  g_string_append_printf (text, "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, step->step, step->epoch);
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
  g_string_append_printf (text, ",%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, step->skipped ? 1 : 0, step->vram_bytes,
                          step->vram_all_bytes);
  append_number (text, step->seconds, "%.4f");
  if (epoch)
    {
      append_number (text, epoch->train_loss, "%.9g");
      append_number (text, epoch->train_accuracy, "%.6g");
      append_number (text, epoch->val_loss, "%.9g");
      append_number (text, epoch->val_accuracy, "%.6g");
      append_number (text, epoch->seconds, "%.4f");
    }
  else
    g_string_append (text, ",,,,,");
  g_string_append_c (text, '\n');
}
