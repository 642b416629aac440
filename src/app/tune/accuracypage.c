/* SPDX-License-Identifier: MIT */
/* The page shows the newest snapshot of the search.  Before a search it determines, in a thread,
 * the available metrics, the obstacles, and the earlier search that can be resumed. */
#include "accuracypage.h"
#include "accuracycard.h"
#include "accuracyform.h"
#include "accuracyplot.h"
#include "accuracystatus.h"
#include "accuracytable.h"
#include "accuracytune.h"
#include "barlist.h"
#include "bestfiles.h"
#include "format.h"
#include "keepfolder.h"
#include "obstacles.h"
#include "paramchooser.h"
#include "row.h"
#include "runwriter.h"
#include "settingtitles.h"
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>

#define DRAIN_MS 100

struct _DynoAccuracyPage {
  GtkBox parent_instance;
  GtkWidget *body, *head, *controls, *metric, *params, *minutes, *most_trials, *most_seeds, *start,
      *stop, *go_on, *refusal, *status_box, *status, *left, *next, *progress, *note, *empty,
      *stages, *card, *plot_card, *plot, *important_card, *important, *list_box, *list;
  DynoStageCells cells;
  DynoSetup *setup;
  char *runs;
  DynoAccuracyProspect *prospect; /* NULL: not known yet */
  gboolean probing, probe_again;
  DynoAccuracyTune *tune;
  DynoParamSpace space;
  gboolean has_space, over, freeing, selecting;
  DynoAccuracyResult *result; /* the newest snapshot, or NULL */
  char *folder, *refused;     /* refused: error of the last search, if it ended before a trial */
  gint64 begin_us;
  double seconds;
  guint timer;
};

enum { FAILED, NOT_SHOWN, KEPT, ACTIVE_CHANGED, READY_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoAccuracyPage, dyno_accuracy_page, GTK_TYPE_BOX)

/* --- what may begin --------------------------------------------------------------------------- */

gboolean
dyno_accuracy_page_is_ready (DynoAccuracyPage *self)
{
  return !self->tune && self->prospect && !self->prospect->error && !self->probing;
}

gboolean
dyno_accuracy_page_can_go_on (DynoAccuracyPage *self)
{
  return dyno_accuracy_page_is_ready (self) && self->prospect->folder;
}

static void
show_refusal (DynoAccuracyPage *self)
{
  const GError *error = self->prospect ? self->prospect->error : NULL;
  g_autofree char *text = dyno_setting_titles_put (error           ? error->message
                                                   : self->refused ? self->refused
                                                                   : "");
  gtk_label_set_text (GTK_LABEL (self->refusal), text);
  gtk_widget_set_visible (self->refusal, *text != '\0' && !self->tune);
}

static void
show_state (DynoAccuracyPage *self)
{
  gboolean active = self->tune != NULL;
  g_autofree char *obstacle = self->setup ? dyno_obstacle_to_start (self->setup) : NULL;
  gtk_widget_set_visible (self->start, !active);
  gtk_widget_set_tooltip_text (self->start, obstacle);
  /* Only one of the two buttons has the suggested style. */
  dyno_widget_add_class (self->start, "suggested-action",
                         !dyno_accuracy_page_has_best (self)
                             || self->result->verdict != DYNO_ACCURACY_PROVEN);
  gtk_widget_set_visible (self->controls, !active);
  gtk_widget_set_visible (self->stop, active);
  gtk_widget_set_sensitive (self->stop, !self->over);
  gtk_widget_set_visible (self->go_on, dyno_accuracy_page_can_go_on (self));
  gtk_widget_set_visible (self->status_box, active);
  show_refusal (self);
}

static void probe (DynoAccuracyPage *self);

static void
probed (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoAccuracyPage *self = DYNO_ACCURACY_PAGE (source);
  g_autoptr (DynoAccuracyProspect) prospect = dyno_accuracy_probe_finish (result);
  self->probing = FALSE;
  if (!self->setup)
    return;
  if (self->probe_again)
    {
      probe (self);
      return;
    }
  if (!self->prospect || !dyno_accuracy_form_has_same (self->prospect->metrics, prospect->metrics))
    dyno_accuracy_form_fill_metrics (GTK_COMBO_BOX_TEXT (self->metric), prospect->metrics);
  if (prospect->metrics)
    dyno_param_chooser_set_spaces (DYNO_PARAM_CHOOSER (self->params), &prospect->usual,
                                   &prospect->others);
  g_clear_pointer (&self->prospect, dyno_accuracy_prospect_free);
  self->prospect = g_steal_pointer (&prospect);
  if (self->prospect->folder)
    {
      g_autofree char *text = dyno_accuracy_form_describe_earlier (self->prospect);
      gtk_widget_set_tooltip_text (self->go_on, text);
    }
  show_state (self);
  g_signal_emit (self, signals[READY_CHANGED], 0);
}

/* To be called only while the page is visible, since it builds the network and reads files. */
static void
probe (DynoAccuracyPage *self)
{
  DynoDataset *dataset = self->setup ? dyno_setup_get_dataset (self->setup) : NULL;
  g_auto (GStrv) over = dyno_param_chooser_get_texts (DYNO_PARAM_CHOOSER (self->params));
  self->probe_again = self->probing;
  if (self->probing || !dataset || self->tune || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->probing = TRUE;
  dyno_accuracy_probe (dyno_setup_get_job (self->setup), dataset,
                       gtk_combo_box_get_active_id (GTK_COMBO_BOX (self->metric)),
                       (const char *const *) over, self->runs, G_OBJECT (self), probed, NULL);
  show_state (self);
  g_signal_emit (self, signals[READY_CHANGED], 0);
}

static void
params_changed (DynoAccuracyPage *self)
{
  g_clear_pointer (&self->refused, g_free);
  probe (self);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoAccuracyPage *self)
{
  if (flags & (DYNO_SETUP_DATASET | DYNO_SETUP_MODEL | DYNO_SETUP_SETTINGS))
    {
      g_clear_pointer (&self->refused, g_free);
      probe (self);
    }
  show_state (self);
}

/* --- what is found ---------------------------------------------------------------------------- */

static int
find_best (const DynoAccuracyResult *r)
{
  guint best;
  if (r->text)
    return r->trials->len > 0 ? (int) r->best : -1;
  return dyno_accuracy_result_rank (r, &best, 1) > 0 ? (int) best : -1;
}

static void
show_important (DynoAccuracyPage *self)
{
  guint params[DYNO_PARAMS_MOST], n = dyno_accuracy_result_list_important (self->result, params);
  dyno_widget_clear (self->important);
  for (guint i = 0; i < n && params[i] < self->space.n; i++)
    {
      double share = self->result->importance[params[i]];
      g_autofree char *text = dyno_format_share (share);
      GtkWidget *child = gtk_flow_box_child_new ();
      gtk_widget_set_can_focus (child, FALSE);
      gtk_container_add (
          GTK_CONTAINER (child),
          dyno_bar_row_new (dyno_accuracy_get_title (&self->space.params[params[i]]), text, share));
      gtk_container_add (GTK_CONTAINER (self->important), child);
    }
  gtk_widget_show_all (self->important);
  gtk_widget_set_visible (self->important_card, n > 0);
}

static void
show_search (DynoAccuracyPage *self)
{
  const DynoAccuracyResult *r = self->result;
  if (!r || !self->has_space)
    return;
  g_autoptr (GArray) rows = dyno_accuracy_list_rows (r);
  int best = find_best (r);
  guint64 n_epochs = r->n_rungs > 0 ? r->rungs[r->n_rungs - 1] : 0;
  self->selecting = TRUE;
  dyno_accuracy_table_set_rows (GTK_TREE_VIEW (self->list), &self->space, &r->metric, rows,
                                n_epochs, best);
  self->selecting = FALSE;
  dyno_accuracy_plot_set_rows (DYNO_ACCURACY_PLOT (self->plot), &self->space, &r->metric, rows,
                               best);
  dyno_accuracy_card_show (DYNO_ACCURACY_CARD (self->card), &self->space, r, best);
  dyno_accuracy_status_show_stages (&self->cells, r);
  show_important (self);
  gtk_widget_show (self->stages);
  gtk_widget_set_visible (self->plot_card, rows->len > 0);
  gtk_widget_set_visible (self->list_box, rows->len > 0);
}

static void
plot_pointed (DynoAccuracyPlot *plot, int trial, DynoAccuracyPage *self)
{
  self->selecting = TRUE;
  dyno_accuracy_table_select (GTK_TREE_VIEW (self->list), trial);
  self->selecting = FALSE;
}

static void
row_selected (GtkTreeSelection *selection, DynoAccuracyPage *self)
{
  if (!self->selecting)
    dyno_accuracy_plot_point (DYNO_ACCURACY_PLOT (self->plot),
                              dyno_accuracy_table_get_selected (GTK_TREE_VIEW (self->list)));
}

/* --- the search ------------------------------------------------------------------------------- */

static void
free_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  dyno_accuracy_tune_free (data);
  g_task_return_boolean (task, TRUE);
}

static void
free_done (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoAccuracyPage *self = DYNO_ACCURACY_PAGE (source);
  self->tune = NULL;
  self->freeing = FALSE;
  if (self->setup)
    {
      show_state (self);
      probe (self);
    }
  g_signal_emit (self, signals[ACTIVE_CHANGED], 0);
}

static void
free_tune (DynoAccuracyPage *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  self->freeing = TRUE;
  g_autoptr (GTask) task = g_task_new (self, NULL, free_done, NULL);
  g_task_set_task_data (task, self->tune, NULL);
  g_task_run_in_thread (task, free_in_thread);
}

static double
get_elapsed (DynoAccuracyPage *self)
{
  return (double) (g_get_monotonic_time () - self->begin_us) / G_USEC_PER_SEC;
}

static void
show_time (DynoAccuracyPage *self)
{
  double elapsed = get_elapsed (self);
  g_autofree char *span = dyno_format_span (MAX (self->seconds - elapsed, 0)),
                  *text = g_strdup_printf (_ ("%s left"), span);
  gtk_label_set_text (GTK_LABEL (self->left), text);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress),
                                 CLAMP (elapsed / self->seconds, 0, 1));
}

/* The search space is known from the first event with a result. */
static void
take_space (DynoAccuracyPage *self, const DynoAccuracyEvent *event)
{
  if (self->has_space)
    return;
  self->space = *dyno_accuracy_tune_get_space (self->tune);
  self->has_space = TRUE;
  dyno_accuracy_table_begin (GTK_TREE_VIEW (self->list), &self->space, &event->result->metric);
  gtk_widget_hide (self->empty);
}

static void
take_result (DynoAccuracyPage *self, DynoAccuracyEvent *event)
{
  g_clear_pointer (&self->result, dyno_accuracy_result_free);
  self->result = g_steal_pointer (&event->result);
  show_search (self);
}

static void
take_error (DynoAccuracyPage *self, const GError *error)
{
  if (self->result && self->result->runs->len > 0)
    {
      g_signal_emit (self, signals[FAILED], 0, error);
      return;
    }
  g_free (self->refused);
  self->refused = g_strdup (error->message);
}

static void
show_warning (DynoAccuracyPage *self, const DynoAccuracyEvent *event)
{
  g_autofree char *warning = dyno_accuracy_status_describe_warning (event),
                  *text = dyno_setting_titles_put (warning);
  gtk_label_set_text (GTK_LABEL (self->note), text);
  gtk_widget_show (self->note);
}

static void
take_event (DynoAccuracyPage *self, DynoAccuracyEvent *event)
{
  g_autofree char *text = dyno_accuracy_status_describe (event);
  if (text && !self->over)
    gtk_label_set_text (GTK_LABEL (self->status), text);
  switch (event->type)
    {
    case DYNO_ACCURACY_EVENT_BEGIN:
      take_space (self, event);
      gtk_label_set_text (GTK_LABEL (self->next), dyno_accuracy_status_describe_next (event->run));
      take_result (self, event);
      break;
    case DYNO_ACCURACY_EVENT_END:
      take_result (self, event);
      g_signal_emit (self, signals[KEPT], 0);
      break;
    case DYNO_ACCURACY_EVENT_RESULT:
      if (event->result->trials->len > 0)
        {
          take_space (self, event); /* a resumed search may have no run left */
          take_result (self, event);
        }
      break;
    case DYNO_ACCURACY_EVENT_WARNING:
      show_warning (self, event);
      break;
    case DYNO_ACCURACY_EVENT_ERROR:
      take_error (self, event->error);
      break;
    case DYNO_ACCURACY_EVENT_DONE:
      self->over = TRUE;
      break;
    case DYNO_ACCURACY_EVENT_PROGRESS:
    case DYNO_ACCURACY_EVENT_EPOCH:
    default:
      break;
    }
}

static gboolean
drain (gpointer data)
{
  DynoAccuracyPage *self = data;
  DynoAccuracyEvent *event;
  while ((event = dyno_accuracy_tune_try_pop (self->tune)))
    {
      take_event (self, event);
      dyno_accuracy_event_free (event);
    }
  show_time (self);
  if (!self->over)
    return G_SOURCE_CONTINUE;
  self->timer = 0;
  if (self->result) /* the last event of a search that failed may be the begin of a run */
    g_ptr_array_set_size (self->result->running, 0);
  show_search (self);
  gtk_widget_hide (self->note);
  gtk_widget_set_visible (self->empty, !self->result || self->result->trials->len == 0);
  g_rmdir (self->folder); /* succeeds only for a search that kept nothing */
  free_tune (self);
  show_state (self);
  return G_SOURCE_REMOVE;
}

static void
clear_search (DynoAccuracyPage *self)
{
  g_clear_pointer (&self->result, dyno_accuracy_result_free);
  g_clear_pointer (&self->refused, g_free);
  self->has_space = self->over = FALSE;
  dyno_accuracy_plot_set_rows (DYNO_ACCURACY_PLOT (self->plot), NULL, NULL, NULL, -1);
  GtkWidget *const parts[] = { self->stages,         self->card,     self->plot_card,
                               self->important_card, self->list_box, self->note };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    gtk_widget_hide (parts[i]);
}

void
dyno_accuracy_page_show_search (DynoAccuracyPage *self, DynoAccuracyTune *tune, double minutes,
                                const char *folder)
{
  g_free (self->folder);
  self->folder = g_strdup (folder);
  clear_search (self);
  self->seconds = minutes * 60;
  self->begin_us = g_get_monotonic_time ();
  gtk_label_set_text (GTK_LABEL (self->status), _ ("Preparing"));
  gtk_label_set_text (GTK_LABEL (self->next), "");
  self->tune = tune;
  self->timer = g_timeout_add (DRAIN_MS, drain, self);
  show_time (self);
  show_state (self);
  g_signal_emit (self, signals[ACTIVE_CHANGED], 0);
}

static void
begin (DynoAccuracyPage *self, gboolean go_on, const char *folder)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  g_auto (GStrv) over = dyno_param_chooser_get_texts (DYNO_PARAM_CHOOSER (self->params));
  const DynoAccuracyTuneParams params = {
    .job = dyno_setup_get_job (self->setup),
    .dataset = dyno_setup_get_dataset (self->setup),
    .metric =
        go_on ? self->prospect->metric : gtk_combo_box_get_active_id (GTK_COMBO_BOX (self->metric)),
    .device = device ? device->name : NULL,
    .folder = folder,
    .minutes = gtk_spin_button_get_value (GTK_SPIN_BUTTON (self->minutes)),
    .most_trials = (guint) gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->most_trials)),
    .most_seeds = (guint) gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->most_seeds)),
    .over = (const char *const *) over,
    .resume = go_on,
    .write_best = dyno_best_files_write_accuracy,
    .writer = &dyno_run_writer,
  };
  DynoAccuracyTune *tune = dyno_accuracy_tune_new (&params);
  dyno_accuracy_tune_start (tune);
  dyno_accuracy_page_show_search (self, tune, params.minutes, folder);
}

gboolean
dyno_accuracy_page_start (DynoAccuracyPage *self, gboolean go_on, GError **error)
{
  g_autofree char *folder = NULL;
  const char *metric = gtk_combo_box_get_active_id (GTK_COMBO_BOX (self->metric));
  /* A new search may begin before the probe has ended, since the search makes the same checks. */
  if (self->tune || !metric || !dyno_setup_get_dataset (self->setup)
      || (go_on && !dyno_accuracy_page_can_go_on (self)))
    return TRUE;
  if (!dyno_folder_can_keep (go_on ? self->prospect->folder : self->runs, error))
    return FALSE;
  folder = go_on
               ? g_strdup (self->prospect->folder)
               : dyno_run_writer_claim_folder (self->runs, dyno_setup_get_job (self->setup), error);
  if (!folder)
    return FALSE;
  begin (self, go_on, folder);
  return TRUE;
}

void
dyno_accuracy_page_stop (DynoAccuracyPage *self)
{
  if (!self->tune || self->over || self->freeing)
    return;
  gtk_label_set_text (GTK_LABEL (self->status), _ ("Stopping; what was measured stays"));
  dyno_accuracy_tune_stop (self->tune);
}

gboolean
dyno_accuracy_page_is_active (DynoAccuracyPage *self)
{
  return self->tune != NULL;
}

gboolean
dyno_accuracy_page_has_best (DynoAccuracyPage *self)
{
  return !self->tune && self->result && dyno_accuracy_result_is_usable (self->result);
}

void
dyno_accuracy_page_use_best (DynoAccuracyPage *self)
{
  const DynoAccuracyResult *r = self->result;
  if (dyno_accuracy_page_has_best (self))
    dyno_setup_set_settings (self->setup,
                             &g_array_index (r->trials, DynoAccuracyTrial, r->best).settings);
}

static void
report_asked (DynoAccuracyPage *self)
{
  g_autofree char *path = g_build_filename (self->folder, "report.html", NULL),
                  *uri = g_filename_to_uri (path, NULL, NULL);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  g_autoptr (GError) error = NULL;
  if (uri && !gtk_show_uri_on_window (GTK_WINDOW (window), uri, GDK_CURRENT_TIME, &error))
    g_signal_emit (self, signals[NOT_SHOWN], 0, error);
}

/* --- the widget ------------------------------------------------------------------------------- */

void
dyno_accuracy_page_set_narrow (DynoAccuracyPage *self, gboolean narrow)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->head),
                                  narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  dyno_accuracy_card_set_narrow (DYNO_ACCURACY_CARD (self->card), narrow);
}

void
dyno_accuracy_page_set_runs_folder (DynoAccuracyPage *self, const char *runs)
{
  g_free (self->runs);
  self->runs = g_strdup (runs);
  probe (self);
}

void
dyno_accuracy_page_set_setup (DynoAccuracyPage *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  show_state (self);
}

static void
dyno_accuracy_page_dispose (GObject *object)
{
  DynoAccuracyPage *self = DYNO_ACCURACY_PAGE (object);
  if (self->tune && !self->freeing)
    free_tune (self);
  self->setup = NULL;
  g_clear_pointer (&self->result, dyno_accuracy_result_free);
  g_clear_pointer (&self->prospect, dyno_accuracy_prospect_free);
  g_clear_pointer (&self->folder, g_free);
  g_clear_pointer (&self->refused, g_free);
  g_clear_pointer (&self->runs, g_free);
  G_OBJECT_CLASS (dyno_accuracy_page_parent_class)->dispose (object);
}

static void
dyno_accuracy_page_class_init (DynoAccuracyPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GType type = DYNO_TYPE_ACCURACY_PAGE;
  G_OBJECT_CLASS (class)->dispose = dyno_accuracy_page_dispose;
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[NOT_SHOWN] = g_signal_new ("not-shown", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                     G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[KEPT] =
      g_signal_new ("kept", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[ACTIVE_CHANGED] =
      g_signal_new ("active-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[READY_CHANGED] =
      g_signal_new ("ready-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_type_ensure (DYNO_TYPE_ACCURACY_CARD);
  g_type_ensure (DYNO_TYPE_ACCURACY_PLOT);
  g_type_ensure (DYNO_TYPE_PARAM_CHOOSER);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/accuracypage.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoAccuracyPage, name)
  BIND (body);
  BIND (head);
  BIND (controls);
  BIND (metric);
  BIND (params);
  BIND (minutes);
  BIND (most_trials);
  BIND (most_seeds);
  BIND (start);
  BIND (stop);
  BIND (go_on);
  BIND (refusal);
  BIND (status_box);
  BIND (status);
  BIND (left);
  BIND (next);
  BIND (progress);
  BIND (note);
  BIND (empty);
  BIND (stages);
  BIND (card);
  BIND (plot_card);
  BIND (plot);
  BIND (important_card);
  BIND (important);
  BIND (list_box);
  BIND (list);
#undef BIND
}

static void
dyno_accuracy_page_init (DynoAccuracyPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  dyno_stage_cells_init (&self->cells, GTK_BOX (self->stages));
  dyno_accuracy_form_count (GTK_SPIN_BUTTON (self->most_trials));
  dyno_accuracy_form_count (GTK_SPIN_BUTTON (self->most_seeds));
  g_signal_connect_swapped (self->params, "changed", G_CALLBACK (params_changed), self);
  g_signal_connect_swapped (self->card, "report", G_CALLBACK (report_asked), self);
  g_signal_connect (self->plot, "pointed", G_CALLBACK (plot_pointed), self);
  g_signal_connect (gtk_tree_view_get_selection (GTK_TREE_VIEW (self->list)), "changed",
                    G_CALLBACK (row_selected), self);
  g_signal_connect (self, "map", G_CALLBACK (probe), NULL);
  dyno_status_page_announce (self->empty);
}
