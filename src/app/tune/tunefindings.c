/* SPDX-License-Identifier: MIT */
/* A part is left out where the search did not get that far. */
#include "tunefindings.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

static GtkWidget *
new_part (GtkWidget *box, const char *title)
{
  GtkWidget *part = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  gtk_container_add (GTK_CONTAINER (part), new_label (title, "run-title"));
  gtk_container_add (GTK_CONTAINER (box), part);
  return part;
}

/* Adds a line of text with a bar below it, whose length is the share of the greatest value. */
static void
add_bar (GtkWidget *part, const char *name, const char *value, double share)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3),
            *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *title = new_label (name, NULL),
            *number = new_label (value, "numeric"), *bar = gtk_progress_bar_new ();
  gtk_widget_set_hexpand (title, TRUE);
  gtk_label_set_xalign (GTK_LABEL (number), 1);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (bar), CLAMP (share, 0, 1));
  dyno_widget_add_class (bar, "thin", TRUE);
  dyno_widget_set_accessible_name (bar, name);
  gtk_container_add (GTK_CONTAINER (line), title);
  gtk_container_add (GTK_CONTAINER (line), number);
  gtk_container_add (GTK_CONTAINER (row), line);
  gtk_container_add (GTK_CONTAINER (row), bar);
  gtk_container_add (GTK_CONTAINER (part), row);
}

static void
add_rate (GtkWidget *part, const char *name, double rate, double most)
{
  g_autofree char *text = dyno_format_throughput (rate);
  if (!(rate > 0) || !isfinite (rate))
    return;
  add_bar (part, name, text, rate / most);
}

static void
add_ceilings (GtkWidget *box, const DynoTuneResult *r)
{
  double rate = r->best.samples_per_s, most = rate;
  /* Infinite: nothing is loaded, or the ceiling was not measured. */
  if (isfinite (r->loader_ceiling))
    most = MAX (most, r->loader_ceiling);
  if (isfinite (r->gpu_ceiling))
    most = MAX (most, r->gpu_ceiling);
  if (!(most > 0) || (!isfinite (r->loader_ceiling) && !isfinite (r->gpu_ceiling)))
    return;
  GtkWidget *part = new_part (box, _ ("What Limits"));
  add_rate (part, _ ("The data pipeline alone"), r->loader_ceiling, most);
  add_rate (part, _ ("The device alone"), r->gpu_ceiling, most);
  add_rate (part, _ ("A whole run, validation included"), rate, most);
}

static const char *
name_value (const DynoSettingInfo *info, const char *value)
{
  if (info && info->type == DYNO_SETTING_BOOL)
    return g_str_equal (value, "true") ? _ ("on") : _ ("off");
  return value;
}

/* Settings that were measured together share a bar. */
static void
add_gains (GtkWidget *box, const DynoTuneResult *r)
{
  g_autoptr (GString) names = g_string_new (NULL);
  GtkWidget *part = NULL;
  double most = 0;
  for (guint i = 0; i < r->n_gains; i++)
    if (isfinite (r->gains[i].factor))
      most = MAX (most, log2 (r->gains[i].factor));
  for (guint i = 0; i < r->n_gains; i++)
    {
      const DynoTuneGain *gain = &r->gains[i];
      const DynoSettingInfo *info = dyno_setting_find (gain->key);
      g_string_append_printf (names, "%s%s: %s \342\206\222 %s", names->len > 0 ? "\n" : "",
                              info ? _ (info->title) : gain->key, name_value (info, gain->from),
                              name_value (info, gain->to));
      if (!isfinite (gain->factor))
        continue;
      /* Translators: how many times faster: "2.05×" */
      g_autofree char *factor = dyno_format_isolate (g_strdup_printf (_ ("%.2f×"), gain->factor));
      if (!part)
        part = new_part (box, _ ("What Each Setting Brought"));
      add_bar (part, names->str, factor,
               most > 0 && gain->factor > 0 ? log2 (gain->factor) / most : 0);
      g_string_truncate (names, 0);
    }
}

/* Adds the reasons but the first, which is in the card of the best. */
static void
add_reasons (GtkWidget *box, const DynoTuneResult *r)
{
  guint n = r->reasons ? g_strv_length (r->reasons) : 0;
  if (n < 2)
    return;
  GtkWidget *part = new_part (box, _ ("Why"));
  for (guint i = 1; i < n; i++)
    gtk_container_add (GTK_CONTAINER (part), new_label (r->reasons[i], NULL));
}

void
dyno_tune_findings_show (GtkWidget *box, const DynoTuneResult *result)
{
  dyno_widget_clear (box);
  add_ceilings (box, result);
  add_gains (box, result);
  add_reasons (box, result);
  gtk_widget_show_all (box);
}
