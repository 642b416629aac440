/* SPDX-License-Identifier: MIT */
#include "trialtable.h"
#include "format.h"
#include "words.h"
#include <glib/gi18n.h>

enum {
  COLUMN_NUMBER,
  COLUMN_STAGE,
  COLUMN_SETTINGS,
  COLUMN_RATE,
  COLUMN_SHARE,
  COLUMN_MEMORY,
  COLUMN_OUTCOME,
  COLUMN_TEXT,
  COLUMN_VALUE,
  COLUMN_INTERVAL,
  COLUMN_PREDICTED,
  COLUMN_WEIGHT, /* of the font: the chosen settings are bold */
  COLUMN_TRIAL,  /* index of the trial in the result */
  N_COLUMNS
};

/* The bars are shares of the fastest trial so far. */
static void
rescale (GtkListStore *trials)
{
  GtkTreeIter iter;
  GtkTreeModel *model = GTK_TREE_MODEL (trials);
  double most = 0, value;
  for (gboolean more = gtk_tree_model_get_iter_first (model, &iter); more;
       more = gtk_tree_model_iter_next (model, &iter))
    {
      gtk_tree_model_get (model, &iter, COLUMN_VALUE, &value, -1);
      most = MAX (most, value);
    }
  for (gboolean more = gtk_tree_model_get_iter_first (model, &iter); more;
       more = gtk_tree_model_iter_next (model, &iter))
    {
      gtk_tree_model_get (model, &iter, COLUMN_VALUE, &value, -1);
      gtk_list_store_set (trials, &iter, COLUMN_SHARE,
                          most > 0 ? (int) (100 * value / most + 0.5) : 0, -1);
    }
}

/* "2,390 – 2,460"; empty where there is no interval. */
static char *
describe_interval (const DynoTrial *trial)
{
  g_autofree char *low = dyno_format_rate (trial->low), *high = dyno_format_rate (trial->high);
  if (!(trial->low > 0) || !(trial->high > trial->low))
    return g_strdup ("");
  return dyno_format_isolate (g_strdup_printf ("%s\302\240\342\200\223\302\240%s", low, high));
}

void
dyno_trial_table_add (GtkTreeView *list, const DynoTrial *trial)
{
  GtkTreeIter iter;
  GtkTreeModel *model = gtk_tree_view_get_model (list);
  guint at = (guint) gtk_tree_model_iter_n_children (model, NULL);
  gboolean rated = trial->samples_per_s > 0;
  g_autofree char *rate = rated ? dyno_format_rate (trial->samples_per_s) : g_strdup ("");
  g_autofree char *memory =
      trial->vram_bytes > 0 ? dyno_format_bytes (trial->vram_bytes) : g_strdup ("");
  g_autofree char *settings = dyno_trial_describe (&trial->settings);
  g_autofree char *interval = describe_interval (trial);
  g_autofree char *predicted =
      trial->predicted > 0 ? dyno_format_rate (trial->predicted) : g_strdup ("");
  gtk_list_store_insert_with_values (
      GTK_LIST_STORE (model), &iter, -1, COLUMN_NUMBER, trial->number, COLUMN_STAGE,
      dyno_words_stage (trial->stage), COLUMN_SETTINGS, settings, COLUMN_RATE, rate, COLUMN_MEMORY,
      memory, COLUMN_OUTCOME, dyno_words_outcome (trial->outcome), COLUMN_TEXT, trial->text,
      COLUMN_VALUE, rated ? trial->samples_per_s : 0.0, COLUMN_INTERVAL, interval, COLUMN_PREDICTED,
      predicted, COLUMN_WEIGHT, PANGO_WEIGHT_NORMAL, COLUMN_TRIAL, at, -1);
  rescale (GTK_LIST_STORE (model));
  g_autoptr (GtkTreePath) path = gtk_tree_model_get_path (model, &iter);
  gtk_tree_view_scroll_to_cell (list, path, NULL, FALSE, 0, 0);
}

gboolean
dyno_trial_is_like (const DynoSettings *a, const DynoSettings *b)
{
  g_autofree char *one = dyno_trial_describe (a), *other = dyno_trial_describe (b);
  return g_str_equal (one, other);
}

void
dyno_trial_table_mark (GtkTreeView *list, const DynoTuneResult *result, const DynoSettings *chosen)
{
  GtkTreeIter iter;
  GtkTreeModel *model = gtk_tree_view_get_model (list);
  for (gboolean more = gtk_tree_model_get_iter_first (model, &iter); more;
       more = gtk_tree_model_iter_next (model, &iter))
    {
      guint i;
      gtk_tree_model_get (model, &iter, COLUMN_TRIAL, &i, -1);
      const DynoTrial *trial = i < result->trials->len ? result->trials->pdata[i] : NULL;
      if (trial && trial->outcome == DYNO_TRIAL_OK && dyno_trial_is_like (&trial->settings, chosen))
        gtk_list_store_set (GTK_LIST_STORE (model), &iter, COLUMN_WEIGHT, PANGO_WEIGHT_BOLD,
                            COLUMN_OUTCOME, _ ("Measured, chosen"), -1);
    }
}
