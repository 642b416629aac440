/* SPDX-License-Identifier: MIT */
/* A part is omitted where the search ended before it. */
#include "tunefindings.h"
#include "barlist.h"
#include "format.h"
#include "row.h"
#include "settingtitles.h"
#include <glib/gi18n.h>
#include <math.h>

static GtkWidget *
new_part (GtkWidget *box, const char *title)
{
  GtkWidget *part = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  gtk_container_add (GTK_CONTAINER (part), dyno_text_new (title, "run-title"));
  gtk_container_add (GTK_CONTAINER (box), part);
  return part;
}

static void
add_rate (GtkWidget *part, const char *name, double rate, double most)
{
  g_autofree char *text = dyno_format_throughput (rate);
  if (!(rate > 0) || !isfinite (rate))
    return;
  gtk_container_add (GTK_CONTAINER (part), dyno_bar_row_new (name, text, rate / most));
}

static void
add_ceilings (GtkWidget *box, const DynoTuneResult *r)
{
  double rate = r->best.samples_per_s, most = rate;
  /* A ceiling is infinite where nothing is loaded, or where it was not measured. */
  if (isfinite (r->loader_ceiling))
    most = MAX (most, r->loader_ceiling);
  if (isfinite (r->gpu_ceiling))
    most = MAX (most, r->gpu_ceiling);
  if (!(most > 0) || (!isfinite (r->loader_ceiling) && !isfinite (r->gpu_ceiling)))
    return;
  GtkWidget *part = new_part (box, _ ("What Limits"));
  add_rate (part, _ ("The data pipeline by itself"), r->loader_ceiling, most);
  add_rate (part, _ ("The device by itself"), r->gpu_ceiling, most);
  add_rate (part, _ ("A whole run, validation included"), rate, most);
}

/* The exchange between the devices is computed; where its rate is not known, nothing is. */
static void
add_ranks (GtkWidget *box, const DynoTuneResult *r)
{
  double all = r->ranks.samples_per_s, one = all / r->ranks.speedup;
  if (r->ranks.ranks <= 1 || !(all > 0) || !(one > 0) || !isfinite (all) || !isfinite (one))
    return;
  /* Translators: devices that train together */
  g_autofree char *together = g_strdup_printf (
      ngettext ("%u device together", "%u devices together", r->ranks.ranks), r->ranks.ranks);
  GtkWidget *part = new_part (box, _ ("Several Devices"));
  add_rate (part, _ ("One device by itself"), one, MAX (one, all));
  add_rate (part, together, all, MAX (one, all));
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
      double share = most > 0 && gain->factor > 0 ? log2 (gain->factor) / most : 0;
      gtk_container_add (GTK_CONTAINER (part), dyno_bar_row_new (names->str, factor, share));
      g_string_truncate (names, 0);
    }
}

/* Adds all reasons except the first, which is shown in the card of the best. */
static void
add_reasons (GtkWidget *box, const DynoTuneResult *r)
{
  guint n = r->reasons ? g_strv_length (r->reasons) : 0;
  if (n < 2)
    return;
  GtkWidget *part = new_part (box, _ ("Why"));
  for (guint i = 1; i < n; i++)
    {
      g_autofree char *reason = dyno_setting_titles_put (r->reasons[i]);
      gtk_container_add (GTK_CONTAINER (part), dyno_text_new (reason, NULL));
    }
}

void
dyno_tune_findings_show (GtkWidget *box, const DynoTuneResult *result)
{
  dyno_widget_clear (box);
  add_ceilings (box, result);
  add_ranks (box, result);
  add_gains (box, result);
  add_reasons (box, result);
  gtk_widget_show_all (box);
}
