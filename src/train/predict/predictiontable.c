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

/* Orders labels by their probabilities, of equal ones the lower number first. */
static int
compare_labels (gconstpointer a, gconstpointer b, gpointer data)
{
  const float *probabilities = data;
  guint32 i = *(const guint32 *) a, k = *(const guint32 *) b;

  if (probabilities[i] != probabilities[k])
    return probabilities[i] > probabilities[k] ? -1 : 1;
  return i < k ? -1 : i > k;
}

GArray *
dyno_prediction_choose_labels (const float *probabilities, const DynoWeightsInfo *info)
{
  GArray *chosen = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < info->n_outputs; i++)
    if (probabilities[i] >= (info->thresholds ? info->thresholds[i] : 0.5f))
      g_array_append_val (chosen, i);
  g_array_sort_with_data (chosen, compare_labels, (gpointer) probabilities);
  return chosen;
}

/* Each value has a column, each label a column of its probability, behind the names of the labels
 * that were chosen. */
static void
append_columns (GString *line, const DynoWeightsInfo *info)
{
  if (info->is_labels)
    dyno_csv_add_cell (line, "labels");
  for (guint32 i = 0; i < info->n_outputs; i++)
    {
      g_autofree char *name = info->is_labels ? dyno_weights_info_name_class (info, i)
                                              : dyno_weights_info_name_value (info, i);
      dyno_csv_add_cell (line, name);
    }
}

void
dyno_prediction_table_append_head (GString *text, const DynoWeightsInfo *info, guint top)
{
  g_autoptr (GString) line = g_string_new ("sample");

  if (info->is_values || info->is_labels)
    append_columns (line, info);
  else
    for (guint i = 0; i < top; i++)
      {
        g_autofree char *name = top == 1 ? g_strdup ("class") : g_strdup_printf ("class_%u", i + 1),
                        *share = top == 1 ? g_strdup ("probability")
                                          : g_strdup_printf ("probability_%u", i + 1);

        dyno_csv_add_cell (line, name);
        dyno_csv_add_cell (line, share);
      }
  dyno_csv_add_cell (line, "problem");
  g_string_append_printf (text, "%s\n", line->str);
}

static void
append_classes (GString *line, const DynoWeightsInfo *info, guint top,
                const DynoPrediction *prediction)
{
  g_autofree guint32 *ranked = g_new0 (guint32, top);

  dyno_prediction_rank (prediction->shares, info->n_outputs, top, ranked);
  for (guint i = 0; i < top; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (info, ranked[i]);

      dyno_csv_add_cell (line, name);
      add_number (line, prediction->shares[ranked[i]]);
    }
}

static void
append_labels (GString *line, const DynoWeightsInfo *info, const DynoPrediction *prediction)
{
  g_autoptr (GArray) chosen = dyno_prediction_choose_labels (prediction->shares, info);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < chosen->len; i++)
    {
      g_autofree char *name =
          dyno_weights_info_name_class (info, g_array_index (chosen, guint32, i));
      g_string_append_printf (names, "%s%s", i > 0 ? "|" : "", name);
    }
  dyno_csv_add_cell (line, names->str);
  for (guint32 i = 0; i < info->n_outputs; i++)
    add_number (line, prediction->shares[i]);
}

void
dyno_prediction_table_append (GString *text, const DynoWeightsInfo *info, guint top,
                              const char *sample, const DynoPrediction *prediction)
{
  g_autoptr (GString) line = g_string_new (NULL);
  guint n = info->is_values ? info->n_outputs : info->is_labels ? 1 + info->n_outputs : 2 * top;

  dyno_csv_add_cell (line, sample);
  for (guint i = 0; prediction->problem && i < n; i++)
    g_string_append_c (line, ',');
  for (guint32 i = 0; !prediction->problem && info->is_values && i < info->n_outputs; i++)
    add_number (line, prediction->logits[i]);
  if (!prediction->problem && info->is_labels)
    append_labels (line, info, prediction);
  else if (!prediction->problem && !info->is_values)
    append_classes (line, info, top, prediction);
  dyno_csv_add_cell (line, prediction->problem ? prediction->problem : "");
  g_string_append_printf (text, "%s\n", line->str);
}
