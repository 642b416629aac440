/* SPDX-License-Identifier: MIT */
/* The numbers of a run: four large ones and four small ones below.  Digits have equal widths, so
 * that nothing moves while numbers change.  Texts that are too long wrap and are never cut: the bar
 * requests the width of its longest word. */
#include "statsbar.h"
#include "format.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

enum { LEFT, RATE, LOSS, METRIC, EPOCH, STEP, WAIT, MEMORY, N_TILES };

static const char metric_help[] = N_ ("On the validation part after the last epoch");

struct _DynoStatsBar {
  GtkBox parent_instance;
  GtkWidget *rows[2];
  GtkWidget *tiles[N_TILES], *titles[N_TILES], *values[N_TILES], *units[N_TILES];
};

G_DEFINE_FINAL_TYPE (DynoStatsBar, dyno_stats_bar, GTK_TYPE_BOX)

static void
set_tile (DynoStatsBar *self, guint tile, char *value, const char *unit)
{
  if (!g_str_equal (value, gtk_label_get_text (GTK_LABEL (self->values[tile]))))
    gtk_label_set_text (GTK_LABEL (self->values[tile]), value);
  if (!g_str_equal (unit, gtk_label_get_text (GTK_LABEL (self->units[tile]))))
    gtk_label_set_text (GTK_LABEL (self->units[tile]), unit);
  g_free (value);
}

/* Shows the number with its unit, and the limit below: "2.69 MiB", "of 2.00 GiB". */
static void
show_memory (DynoStatsBar *self, const DynoRunStatus *s)
{
  if (s->n_steps == 0)
    {
      set_tile (self, MEMORY, g_strdup ("\342\200\223"), "");
      return;
    }
  g_autofree char *bytes = dyno_format_bytes (s->released ? 0 : s->step.vram_bytes);
  g_autofree char *below = NULL;
  if (s->has_plan && s->plan.limit_bytes > 0)
    {
      g_autofree char *budget = dyno_format_bytes (s->plan.limit_bytes);
      below = g_strdup_printf (_ ("of %s"), budget);
    }
  set_tile (self, MEMORY, g_steal_pointer (&bytes), below ? below : "");
}

/* Lists all metrics, one per line, where there are more than the first. */
static void
show_metric_help (DynoStatsBar *self, const DynoRunStatus *s, gboolean validated)
{
  g_autoptr (GString) help = g_string_new (_ (metric_help));
  for (guint i = 0; s->n_epochs > 0 && s->metrics.n > 1 && i < s->metrics.n; i++)
    {
      const double *values = validated ? s->epoch.val_metrics : s->epoch.train_metrics;
      if (s->metrics.infos[i].of_validation && !validated)
        continue;
      g_autofree char *label = dyno_metric_get_label (&s->metrics.infos[i]);
      g_autofree char *value = dyno_format_metric (&s->metrics.infos[i], values[i]);
      g_string_append_printf (help, "\n%s: %s", label, value);
    }
  gtk_widget_set_tooltip_text (self->tiles[METRIC], help->str);
}

/* Shows the metric that chooses the best epoch, of the validation if there is one, with the best
 * value so far below. */
static void
show_metric (DynoStatsBar *self, const DynoRunStatus *s)
{
  guint shown = dyno_words_find_metric (s);
  const DynoMetricInfo *metric = &s->metrics.infos[shown];
  gboolean validated =
      s->n_epochs > 0 && shown < s->metrics.n && isfinite (s->epoch.val_metrics[shown]);
  gboolean known = s->n_epochs > 0 && s->metrics.n > 0 && (validated || !metric->of_validation);
  g_autofree char *title =
      s->metrics.n > 0 ? dyno_metric_get_label (metric) : g_strdup (_ ("Accuracy"));
  gtk_label_set_text (GTK_LABEL (self->titles[METRIC]), title);
  show_metric_help (self, s, validated);
  if (!known)
    {
      set_tile (self, METRIC, g_strdup ("\342\200\223"), "");
      return;
    }
  g_autofree char *below = g_strdup (validated ? "" : _ ("training"));
  if (validated && isfinite (s->best[shown]))
    {
      g_autofree char *best = dyno_format_metric (metric, s->best[shown]);
      g_free (below);
      below = g_strdup_printf (_ ("best %s"), best);
    }
  set_tile (self, METRIC,
            dyno_format_metric (metric, validated ? s->epoch.val_metrics[shown]
                                                  : s->epoch.train_metrics[shown]),
            below);
}

void
dyno_stats_bar_show (DynoStatsBar *self, const DynoRunStatus *s)
{
  const char *none = "\342\200\223";
  gboolean steps = s->n_steps > 0, done = s->state >= DYNO_SESSION_FINISHED;
  /* During the run this is the rate of the last second, afterwards the rate of the whole run.  The
   * time of a step is the mean over the same steps: a single one takes now more, now less. */
  double rate = !steps ? 0 : done ? s->run_rate : s->step.samples_per_s;
  double mean_ms =
      rate > 0 && s->step_samples > 0 ? 1e3 * (double) s->step_samples / rate : s->step.step_ms;
  set_tile (self, RATE, dyno_format_rate (rate), _ ("samples/s"));
  set_tile (self, STEP, dyno_format_ms (steps ? mean_ms : -1), steps ? _ ("mean") : "");
  g_autofree char *percent = dyno_format_share (s->step.wait_data_ms / s->step.step_ms),
                  *share = steps && s->step.step_ms > 0
                               /* Translators: a share: "3 % of a step" */
                               ? g_strdup_printf (_ ("%s of a step"), percent)
                               : g_strdup ("");
  set_tile (self, WAIT, dyno_format_ms (steps ? s->step.wait_data_ms : -1), share);
  g_autofree char *epochs =
      s->total_epochs > 0 ? dyno_format_count (s->total_epochs) : g_strdup (none);
  g_autofree char *of = g_strdup_printf (_ ("of %s"), epochs);
  set_tile (self, EPOCH, steps ? dyno_format_count (s->step.epoch) : g_strdup (none),
            steps ? of : "");
  gtk_label_set_text (GTK_LABEL (self->titles[LEFT]), done ? _ ("Time") : _ ("Time left"));
  set_tile (self, LEFT, dyno_format_span (done ? s->seconds : s->eta_s), "");

  show_metric (self, s);
  g_autofree char *val_loss = NULL;
  if (s->n_epochs > 0 && isfinite (s->epoch.val_loss))
    {
      g_autofree char *number = dyno_format_value (s->epoch.val_loss);
      /* Translators: short for validation, with the loss behind it */
      val_loss = g_strdup_printf (_ ("val. %s"), number);
    }
  set_tile (self, LOSS, dyno_format_value (steps ? s->step.loss : NAN), val_loss ? val_loss : "");
  show_memory (self, s);
}

void
dyno_stats_bar_set_tight (DynoStatsBar *self, gboolean tight)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->rows); i++)
    gtk_box_set_homogeneous (GTK_BOX (self->rows[i]), !tight);
}

static void
dyno_stats_bar_class_init (DynoStatsBarClass *class)
{
}

static GtkWidget *
new_label (GtkWidget *box, const char *text, const char *class)
{
  GtkWidget *label = dyno_text_new (text, class);
  gtk_container_add (GTK_CONTAINER (box), label);
  return label;
}

static void
dyno_stats_bar_init (DynoStatsBar *self)
{
  const char *const titles[N_TILES] = { _ ("Time left"), _ ("Throughput"), _ ("Loss"),
                                        _ ("Accuracy"),  _ ("Epoch"),      _ ("Step"),
                                        _ ("Data wait"), _ ("Memory") };
  const char *const helps[N_TILES] = {
    _ ("Estimated from the steps so far"),
    _ ("Samples trained per second, over the last second or so"),
    _ ("Of the last step"),
    _ (metric_help),
    _ ("Passes over the training data"),
    _ ("Mean time from the end of one step to the end of the next, over the steps of the "
       "throughput"),
    _ ("Part of a step spent waiting for the data pipeline; more workers or the cache lower it"),
    _ ("Device memory that Dyno holds"),
  };
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  dyno_widget_add_class (GTK_WIDGET (self), "stats", TRUE);
  for (guint i = 0; i < 2; i++)
    {
      self->rows[i] = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
      gtk_box_set_homogeneous (GTK_BOX (self->rows[i]), TRUE);
      gtk_container_add (GTK_CONTAINER (self), self->rows[i]);
      gtk_widget_show (self->rows[i]);
    }
  for (guint i = 0; i < N_TILES; i++)
    {
      self->tiles[i] = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
      dyno_widget_add_class (self->tiles[i], "stat", TRUE);
      gtk_widget_set_tooltip_text (self->tiles[i], helps[i]);
      self->titles[i] = new_label (self->tiles[i], titles[i], "stat-title");
      self->values[i] = new_label (self->tiles[i], "\342\200\223", "stat-value");
      self->units[i] = new_label (self->tiles[i], "", "stat-unit");
      gtk_box_pack_start (GTK_BOX (self->rows[i / (N_TILES / 2)]), self->tiles[i], TRUE, TRUE, 0);
      dyno_widget_add_class (self->tiles[i], "small", i >= N_TILES / 2);
      gtk_widget_show_all (self->tiles[i]);
    }
}
