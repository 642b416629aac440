/* SPDX-License-Identifier: MIT */
#include "predictiontable.h"
#include "csvcell.h"

guint
dyno_prediction_rank (const float *probabilities, guint32 n_classes, guint most, guint32 *ranked)
{
  guint n = 0;

  for (guint32 i = 0; i < n_classes; i++)
    {
      guint place = n < most ? n++ : n;

      for (; place > 0 && probabilities[ranked[place - 1]] < probabilities[i]; place--)
        if (place < most)
          ranked[place] = ranked[place - 1];
      if (place < most)
        ranked[place] = i;
    }
  return n;
}

static void
add_number (GString *line, float value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  dyno_csv_add_cell (line, g_ascii_formatd (text, sizeof text, "%.7g", (double) value));
}

void
dyno_prediction_table_append_head (GString *text, const DynoWeightsInfo *info, guint top)
{
  g_autoptr (GString) line = g_string_new ("sample");

  for (guint i = 0; i < (info->is_values ? info->n_outputs : top); i++)
    {
      g_autofree char *name = info->is_values ? dyno_weights_info_name_value (info, i)
                              : top == 1      ? g_strdup ("class")
                                              : g_strdup_printf ("class_%u", i + 1);
      g_autofree char *share =
          top == 1 ? g_strdup ("probability") : g_strdup_printf ("probability_%u", i + 1);

      dyno_csv_add_cell (line, name);
      if (!info->is_values)
        dyno_csv_add_cell (line, share);
    }
  dyno_csv_add_cell (line, "problem");
  g_string_append_printf (text, "%s\n", line->str);
}

void
dyno_prediction_table_append (GString *text, const DynoWeightsInfo *info, guint top,
                              const char *sample, const DynoPrediction *prediction)
{
  g_autoptr (GString) line = g_string_new (NULL);
  g_autofree guint32 *ranked = g_new0 (guint32, top);
  guint n = info->is_values ? info->n_outputs : top;

  if (prediction->shares)
    dyno_prediction_rank (prediction->shares, info->n_outputs, top, ranked);
  dyno_csv_add_cell (line, sample);
  for (guint i = 0; i < n; i++)
    {
      if (prediction->problem)
        g_string_append (line, info->is_values ? "," : ",,");
      else if (info->is_values)
        add_number (line, prediction->logits[i]);
      else
        {
          g_autofree char *name = dyno_weights_info_name_class (info, ranked[i]);

          dyno_csv_add_cell (line, name);
          add_number (line, prediction->shares[ranked[i]]);
        }
    }
  dyno_csv_add_cell (line, prediction->problem ? prediction->problem : "");
  g_string_append_printf (text, "%s\n", line->str);
}
