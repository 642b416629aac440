/* SPDX-License-Identifier: MIT */
#include "evaluatelabels.h"
#include <glib/gi18n.h>
#include <math.h>

#define MOST_NAMED 12 /* labels of a line */

/* --- the thread ------------------------------------------------------------------------------- */

static GHashTable *
find_worst (const DynoScores *scores)
{
  GHashTable *places = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < scores->worst->len; i++)
    {
      const DynoScored *one = &g_array_index (scores->worst, DynoScored, i);
      g_hash_table_insert (places, GUINT_TO_POINTER ((guint) one->index), NULL);
    }
  for (guint i = 0; i < scores->samples->len; i++)
    {
      gpointer index =
          GUINT_TO_POINTER ((guint) g_array_index (scores->samples, DynoScored, i).index);
      if (g_hash_table_contains (places, index))
        g_hash_table_insert (places, index, GUINT_TO_POINTER (i));
    }
  return places;
}

DynoLabelDetails *
dyno_label_details_new (const DynoScores *scores, GCancellable *cancellable)
{
  DynoLabelDetails *self = g_new0 (DynoLabelDetails, 1);
  self->areas = g_new (DynoLabelAreas, scores->n_outputs + 1);
  for (guint32 i = 0; i < scores->n_outputs; i++)
    {
      DynoLabelAreas *areas = &self->areas[i];
      if (g_cancellable_is_cancelled (cancellable))
        {
          dyno_label_details_free (self);
          return NULL;
        }
      if (!dyno_label_sums_get_areas (&scores->labels, i, &areas->roc_auc,
                                      &areas->average_precision))
        *areas = (DynoLabelAreas){ (double) NAN, (double) NAN };
    }
  dyno_label_sums_get_figures (&scores->labels, &self->figures);
  self->places = find_worst (scores);
  return self;
}

void
dyno_label_details_free (DynoLabelDetails *self)
{
  if (!self)
    return;
  g_free (self->areas);
  g_clear_pointer (&self->places, g_hash_table_unref);
  g_free (self);
}

/* --- a sample --------------------------------------------------------------------------------- */

/* The names of the labels of the sample at this place that are wrong in one of the two ways; ""
 * where there are none. */
static char *
name_wrong (const DynoScores *scores, const DynoWeightsInfo *info, gsize place, gboolean missed)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint n = 0;
  for (guint32 i = 0; i < scores->n_outputs && n <= MOST_NAMED; i++)
    {
      gsize at = place * scores->n_outputs + i;
      float truth = g_array_index (scores->labels.truth, float, at),
            limit = scores->labels.limits ? scores->labels.limits[i] : 0;
      gboolean there = truth > 0.5f,
               predicted = g_array_index (scores->labels.logits, float, at) >= limit;
      if (isnan (truth) || there == predicted || there != missed)
        continue;
      g_autofree char *name = dyno_weights_info_name_class (info, i);
      g_string_append_printf (names, "%s%s", n > 0 ? ", " : "",
                              n < MOST_NAMED ? name : "\342\200\246");
      n++;
    }
  return g_string_free (g_steal_pointer (&names), FALSE);
}

char *
dyno_label_details_describe (const DynoLabelDetails *self, const DynoScores *scores,
                             const DynoWeightsInfo *info, const DynoScored *one)
{
  gsize place =
      GPOINTER_TO_UINT (g_hash_table_lookup (self->places, GUINT_TO_POINTER ((guint) one->index)));
  guint32 n_wrong = one->n_wrong, n_known = one->n_known;
  if (n_known == 0)
    return g_strdup (_ ("no label is known"));
  if (n_wrong == 0)
    return g_strdup (_ ("all labels are right"));
  g_autofree char *missed = name_wrong (scores, info, place, TRUE),
                  *added = name_wrong (scores, info, place, FALSE);
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, ngettext ("%u of %u label wrong", "%u of %u labels wrong", n_known),
                   n_wrong, n_known);
  g_string_append (text, *missed ? "\n" : "");
  if (*missed)
    /* Translators: labels that a sample has and that were not predicted */
    g_string_append_printf (text, _ ("missed: %s"), missed);
  g_string_append (text, *added ? "\n" : "");
  if (*added)
    /* Translators: labels that a sample does not have and that were predicted */
    g_string_append_printf (text, _ ("wrongly predicted: %s"), added);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
