/* SPDX-License-Identifier: MIT */
/* The page of the tuner.  It owns the current tuner, takes its events ten times per second, and
 * frees it in a thread.  Every trial becomes a row; no row is removed. */
#include "speedpage.h"
#include "cores.h"
#include "curveview.h"
#include "file.h"
#include "format.h"
#include "obstacles.h"
#include "row.h"
#include "searchfolder.h"
#include "settingtitles.h"
#include "trialtable.h"
#include "tunefindings.h"
#include "tunereport.h"
#include "tunestages.h"
#include "words.h"
#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>

#define DRAIN_MS 100

struct _DynoSpeedPage {
  GtkBox parent_instance;
  GtkWidget *intro, *minutes, *minutes_label, *start, *pause, *stop, *status_box, *status, *note,
      *progress, *head, *empty, *stages;
  GtkWidget *best_card, *speedup, *speedup_of, *gain, *best_title, *best_text, *best_rate,
      *best_memory, *best_settings, *today_box, *today_rate, *today_memory, *today_settings,
      *base_rate, *base_memory, *base_settings;
  GtkWidget *use, *report, *details, *curve_card, *curve, *findings, *list_box, *list;
  GtkListStore *trials;
  DynoSetup *setup;
  DynoTune *tune;
  DynoTuneResult *result; /* of the last search, once it has a best trial */
  /* Copies of the setup's values at the start of the search, for its report. */
  guint64 limit; /* memory limit */
  gboolean has_device;
  DynoDeviceInfo device;
  DynoDataset *dataset;
  char *folder; /* of the search, for its measurements and its report; or NULL */
  gboolean over, paused, stopping, freeing, has_best, worth_using;
  DynoSettings best;
  guint timer;
};

enum { FAILED, NOT_KEPT, REPORT_FAILED, KEPT, ACTIVE_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSpeedPage, dyno_speed_page, GTK_TYPE_BOX)

static void
set_text (GtkWidget *label, char *text)
{
  gtk_label_set_text (GTK_LABEL (label), text ? text : "");
  g_free (text);
}

static void
show_trial (const DynoTrial *trial, GtkWidget *rate, GtkWidget *settings, GtkWidget *memory)
{
  gboolean measured = trial->samples_per_s > 0;
  set_text (rate, measured ? dyno_format_throughput (trial->samples_per_s)
                           : g_strdup (_ ("not measured")));
  set_text (memory, dyno_format_bytes (trial->vram_bytes));
  gtk_widget_set_visible (memory, trial->vram_bytes > 0);
  set_text (settings, dyno_trial_describe (&trial->settings));
}

/* Shows the present settings, unless they equal the base line or the best, which are shown
 * already. */
static void
show_today (DynoSpeedPage *self)
{
  const DynoTuneResult *r = self->result;
  gboolean apart = r->today.stage && *r->today.stage
                   && !dyno_trial_is_like (&r->today.settings, &r->baseline.settings)
                   && !dyno_trial_is_like (&r->today.settings, &r->best.settings);
  if (apart)
    show_trial (&r->today, self->today_rate, self->today_settings, self->today_memory);
  gtk_widget_set_visible (self->today_box, apart);
  gtk_widget_set_visible (self->gain, apart && r->gain > 0 && dyno_tune_result_claims_gain (r));
  g_autofree char *factor = dyno_format_isolate (g_strdup_printf (_ ("%.1f×"), r->gain));
  /* Translators: how many times faster: "1.8× your settings" */
  set_text (self->gain, g_strdup_printf (_ ("%s your settings"), factor));
}

static void
show_result (DynoSpeedPage *self)
{
  const DynoTuneResult *r = self->result;
  g_autofree char *first =
      dyno_setting_titles_put (r->reasons && r->reasons[0] ? r->reasons[0] : "");
  gtk_label_set_text (GTK_LABEL (self->best_text), first);
  gtk_widget_set_visible (self->best_text, *first != '\0');
  show_today (self);
  dyno_trial_table_mark (GTK_TREE_VIEW (self->list), self->result, &self->best);
  gtk_widget_set_visible (self->curve_card, r->curve.n > 1);
  dyno_curve_view_set_result (DYNO_CURVE_VIEW (self->curve), self->result, self->limit);
  dyno_tune_findings_show (self->findings, r);
  gtk_widget_show (self->details);
}

static void
show_best (DynoSpeedPage *self, const DynoTuneEvent *event)
{
  self->has_best = TRUE;
  self->worth_using = !event->keep_today;
  self->best = event->trial.settings;
  /* Translators: how many times faster than the base line: "3.4×" */
  /* Without a proof the page claims nothing, not even that the present settings are the best. */
  gboolean as_fast = event->proven && event->keep_today;
  gboolean noise = event->result && event->result->inside_noise;
  set_text (self->speedup, as_fast ? g_strdup ("\342\234\223") /* check mark */
                           : event->speedup > 0
                               ? dyno_format_isolate (g_strdup_printf (_ ("%.1f×"), event->speedup))
                               : g_strdup ("\342\200\223"));
  gtk_label_set_text (GTK_LABEL (self->speedup_of), as_fast ? _ ("already as fast")
                                                    : noise ? _ ("not surely faster")
                                                            : _ ("as fast as the base line"));
  gtk_widget_set_visible (gtk_widget_get_parent (self->speedup),
                          as_fast || noise || event->speedup > 0);
  gtk_label_set_text (GTK_LABEL (self->best_title), as_fast ? _ ("Today's settings")
                                                    : event->proven
                                                        ? _ ("Best, proven by a second run")
                                                        : _ ("Best so far, not proven"));
  gboolean use = event->proven && !event->keep_today;
  dyno_widget_add_class (self->use, "suggested-action", use);
  dyno_widget_add_class (self->start, "suggested-action", !use); /* only one button has it */
  gtk_widget_set_visible (self->use, !event->keep_today);
  show_trial (&event->trial, self->best_rate, self->best_settings, self->best_memory);
  show_trial (&event->baseline, self->base_rate, self->base_settings, self->base_memory);
  g_clear_pointer (&self->result, dyno_tune_result_unref);
  if (event->result)
    {
      self->result = dyno_tune_result_ref (event->result);
      show_result (self);
    }
  gtk_widget_show (self->best_card);
}

static void
show_state (DynoSpeedPage *self)
{
  gboolean active = self->tune != NULL;
  g_autofree char *obstacle = dyno_obstacle_to_start (self->setup);
  gtk_widget_set_visible (self->start, !active);
  gtk_widget_set_visible (self->minutes, !active);
  gtk_widget_set_visible (self->minutes_label, !active);
  gtk_widget_set_visible (self->stop, active);
  gtk_widget_set_sensitive (self->stop, !self->over);
  gtk_widget_set_visible (self->pause, active);
  gtk_widget_set_sensitive (self->pause, !self->over);
  gtk_button_set_label (GTK_BUTTON (self->pause), self->paused ? _ ("Resum_e") : _ ("P_ause"));
  gtk_widget_set_visible (self->status_box, active);
  gtk_widget_set_visible (self->list_box,
                          gtk_tree_model_iter_n_children (GTK_TREE_MODEL (self->trials), NULL) > 0
                              || active);
  gtk_widget_set_sensitive (self->use, self->has_best && !active);
  gtk_widget_set_visible (self->report, self->result && !active);
  gtk_widget_set_tooltip_text (self->start, obstacle);
}

void
dyno_speed_page_set_narrow (DynoSpeedPage *self, gboolean narrow)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->head),
                                  narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
}

static void
free_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  dyno_tune_free (data);
  g_task_return_boolean (task, TRUE);
}

static void
free_done (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoSpeedPage *self = DYNO_SPEED_PAGE (source);
  self->tune = NULL;
  self->freeing = FALSE;
  if (self->setup)
    show_state (self);
  g_signal_emit (self, signals[ACTIVE_CHANGED], 0);
}

static void
free_tune (DynoSpeedPage *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  self->freeing = TRUE;
  g_autoptr (GTask) task = g_task_new (self, NULL, free_done, NULL);
  g_task_set_task_data (task, self->tune, NULL);
  g_task_run_in_thread (task, free_in_thread);
}

static void
show_progress (DynoSpeedPage *self, const DynoTuneEvent *event)
{
  g_autofree char *settings = dyno_trial_describe (&event->trial.settings);
  if (self->paused || self->stopping)
    return;
  g_autofree char *what = NULL;
  if (event->preparing && event->n_to_prepare > 0)
    /* Translators: "Compiling kernels (12 of 40)" */
    what = g_strdup_printf (_ ("%s (%u of %u)"), dyno_words_progress (event->preparing),
                            event->n_prepared, event->n_to_prepare);
  else if (event->preparing)
    what = g_strdup (dyno_words_progress (event->preparing));
  g_autofree char *text =
      g_strdup_printf ("%s: %s%s%s", dyno_words_stage (event->trial.stage), settings,
                       what ? " \342\200\223 " : "", what ? what : "");
  gtk_label_set_text (GTK_LABEL (self->status), text);
}

static void
report_saved (const GError *error, gpointer data)
{
  if (error)
    g_signal_emit (data, signals[REPORT_FAILED], 0, error);
}

static void
report_kept (const GError *error, gpointer data)
{
  if (error)
    g_signal_emit (data, signals[REPORT_FAILED], 0, error);
  else
    g_signal_emit (data, signals[KEPT], 0);
}

/* Stops using the folder, which is removed if it is empty. */
static void
leave_folder (DynoSpeedPage *self)
{
  if (self->folder)
    g_rmdir (self->folder);
  g_clear_pointer (&self->folder, g_free);
}

static void
keep_report (DynoSpeedPage *self)
{
  g_autofree char *path =
      self->folder && self->result ? g_build_filename (self->folder, "report.html", NULL) : NULL;
  if (path)
    dyno_tune_report_write (path, self->result, self->has_device ? &self->device : NULL,
                            self->dataset, self->limit, report_kept, G_OBJECT (self));
  else
    leave_folder (self);
}

/* Adds a line to those that are shown. */
static void
add_note (DynoSpeedPage *self, const char *text)
{
  const char *before = gtk_label_get_text (GTK_LABEL (self->note));
  gboolean more = gtk_widget_get_visible (self->note);
  set_text (self->note, more ? g_strdup_printf ("%s\n%s", before, text) : g_strdup (text));
  gtk_widget_show (self->note);
}

void
dyno_speed_page_take_event (DynoSpeedPage *self, const DynoTuneEvent *event)
{
  g_autofree char *text = NULL;
  dyno_tune_stages_take_event (DYNO_TUNE_STAGES (self->stages), event);
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_PROGRESS:
      show_progress (self, event);
      gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress),
                                     CLAMP (event->fraction, 0, 1));
      break;
    case DYNO_TUNE_EVENT_TRIAL:
      dyno_trial_table_add (GTK_TREE_VIEW (self->list), &event->trial);
      break;
    case DYNO_TUNE_EVENT_BEST:
      show_best (self, event);
      break;
    case DYNO_TUNE_EVENT_NOTE:
      text = dyno_setting_titles_put (event->text);
      add_note (self, text);
      break;
    case DYNO_TUNE_EVENT_WARNING:
      leave_folder (self);
      g_signal_emit (self, signals[NOT_KEPT], 0, event->error);
      break;
    case DYNO_TUNE_EVENT_ERROR:
      g_signal_emit (self, signals[FAILED], 0, event->error);
      break;
    case DYNO_TUNE_EVENT_DONE:
      self->over = TRUE;
      break;
    case DYNO_TUNE_EVENT_CEILING:
    default:
      break;
    }
}

static gboolean
drain (gpointer data)
{
  DynoSpeedPage *self = data;
  DynoTuneEvent *event;
  while ((event = dyno_tune_try_pop (self->tune)))
    {
      dyno_speed_page_take_event (self, event);
      dyno_tune_event_free (event);
    }
  if (!self->over)
    return G_SOURCE_CONTINUE;
  self->timer = 0;
  keep_report (self);
  free_tune (self);
  show_state (self);
  return G_SOURCE_REMOVE;
}

/* Keeps device, data set and limit, since the setup may change before the report is requested. */
static void
remember_setup (DynoSpeedPage *self)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  DynoDataset *dataset = dyno_setup_get_dataset (self->setup);
  self->limit = plan ? plan->limit_bytes : 0;
  self->has_device = device != NULL;
  if (device)
    self->device = *device;
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  self->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
}

void
dyno_speed_page_show_search (DynoSpeedPage *self, DynoTune *tune, const char *folder)
{
  g_free (self->folder);
  self->folder = g_strdup (folder);
  gtk_list_store_clear (self->trials);
  self->has_best = FALSE;
  self->over = self->paused = self->stopping = FALSE;
  g_clear_pointer (&self->result, dyno_tune_result_unref);
  remember_setup (self);
  dyno_widget_add_class (self->start, "suggested-action", TRUE);
  gtk_widget_hide (self->best_card);
  gtk_widget_hide (self->details);
  gtk_widget_hide (self->empty);
  gtk_widget_hide (self->note);
  gtk_widget_show (self->stages);
  dyno_tune_stages_begin (DYNO_TUNE_STAGES (self->stages));
  gtk_label_set_text (GTK_LABEL (self->status), _ ("Preparing"));
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), 0);
  self->tune = tune;
  self->timer = g_timeout_add (DRAIN_MS, drain, self);
  show_state (self);
  g_signal_emit (self, signals[ACTIVE_CHANGED], 0);
}

/* Several devices have a process each: the search measures one of them, on its share of the cores,
 * and computes the exchange. */
static void
start_search (DynoSpeedPage *self, DynoTune *tune)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  guint n = dyno_used_devices_count (&used);
  g_autoptr (DynoCoresHold) hold = NULL;
  if (n > 1)
    {
      dyno_tune_set_ranks (tune, n, 1);
      hold = dyno_cores_hold (MAX (dyno_cores_count () / n, 1));
    }
  dyno_tune_start (tune);
}

static void
show_ranks (DynoSpeedPage *self)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  guint n = dyno_used_devices_count (&used);
  if (n <= 1)
    return;
  set_text (self->note, g_strdup_printf (ngettext ("Measured as one of %u device, on its share of "
                                                   "the processor's cores: all rates are those of "
                                                   "each device.",
                                                   "Measured as one of %u devices, on its share of "
                                                   "the processor's cores: all rates are those of "
                                                   "each device.",
                                                   n),
                                         n));
  gtk_widget_show (self->note);
}

gboolean
dyno_speed_page_start (DynoSpeedPage *self, const char *runs, GError **error)
{
  g_autofree char *obstacle = dyno_obstacle_to_start (self->setup), *folder = NULL;
  if (self->tune || (obstacle && !dyno_setup_get_plan (self->setup)))
    return TRUE;
  if (!(folder = dyno_search_folder_make (runs, error)))
    return FALSE;
  DynoTune *tune = dyno_tune_new (dyno_setup_get_job (self->setup),
                                  gtk_spin_button_get_value (GTK_SPIN_BUTTON (self->minutes)));
  dyno_tune_set_dataset (tune, dyno_setup_get_dataset (self->setup));
  dyno_tune_keep_in (tune, folder);
  start_search (self, tune);
  dyno_speed_page_show_search (self, tune, folder);
  show_ranks (self);
  return TRUE;
}

void
dyno_speed_page_stop (DynoSpeedPage *self)
{
  if (!self->tune || self->over || self->freeing)
    return;
  self->stopping = TRUE;
  gtk_label_set_text (GTK_LABEL (self->status), _ ("Stopping; what was measured stays"));
  dyno_tune_stop (self->tune);
}

static void
pause_clicked (GtkButton *button, DynoSpeedPage *self)
{
  if (!self->tune || self->over || self->freeing)
    return;
  self->paused = !self->paused;
  dyno_tune_pause (self->tune, self->paused);
  gtk_label_set_text (GTK_LABEL (self->status),
                      self->paused ? _ ("Paused after the measurement that runs") : _ ("Resuming"));
  show_state (self);
}

static void
report_clicked (GtkButton *button, DynoSpeedPage *self)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  if (self->result)
    dyno_tune_report_save (GTK_WINDOW (window), self->result,
                           self->has_device ? &self->device : NULL, self->dataset, self->limit,
                           report_saved, G_OBJECT (self));
}

gboolean
dyno_speed_page_is_active (DynoSpeedPage *self)
{
  return self->tune != NULL;
}

gboolean
dyno_speed_page_has_best (DynoSpeedPage *self)
{
  return self->has_best && self->worth_using;
}

void
dyno_speed_page_use_best (DynoSpeedPage *self)
{
  if (self->has_best && !self->tune)
    dyno_setup_set_settings (self->setup, &self->best);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoSpeedPage *self)
{
  show_state (self);
}

void
dyno_speed_page_set_setup (DynoSpeedPage *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  show_state (self);
}

static void
dyno_speed_page_dispose (GObject *object)
{
  DynoSpeedPage *self = DYNO_SPEED_PAGE (object);
  if (self->tune && !self->freeing)
    free_tune (self);
  self->setup = NULL;
  g_clear_pointer (&self->result, dyno_tune_result_unref);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  g_clear_pointer (&self->folder, g_free);
  G_OBJECT_CLASS (dyno_speed_page_parent_class)->dispose (object);
}

static void
dyno_speed_page_class_init (DynoSpeedPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dyno_speed_page_dispose;
  signals[FAILED] = g_signal_new ("failed", DYNO_TYPE_SPEED_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[REPORT_FAILED] = g_signal_new ("report-failed", DYNO_TYPE_SPEED_PAGE, G_SIGNAL_RUN_LAST,
                                         0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[NOT_KEPT] = g_signal_new ("not-kept", DYNO_TYPE_SPEED_PAGE, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[KEPT] = g_signal_new ("kept", DYNO_TYPE_SPEED_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  signals[ACTIVE_CHANGED] = g_signal_new ("active-changed", DYNO_TYPE_SPEED_PAGE, G_SIGNAL_RUN_LAST,
                                          0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_type_ensure (DYNO_TYPE_CURVE_VIEW);
  g_type_ensure (DYNO_TYPE_TUNE_STAGES);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/speedpage.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoSpeedPage, name)
  BIND (intro);
  BIND (minutes);
  BIND (minutes_label);
  BIND (start);
  BIND (pause);
  BIND (stop);
  BIND (status_box);
  BIND (status);
  BIND (note);
  BIND (progress);
  BIND (head);
  BIND (empty);
  BIND (stages);
  BIND (best_card);
  BIND (speedup);
  BIND (speedup_of);
  BIND (gain);
  BIND (best_title);
  BIND (best_text);
  BIND (best_rate);
  BIND (best_memory);
  BIND (best_settings);
  BIND (today_box);
  BIND (today_rate);
  BIND (today_memory);
  BIND (today_settings);
  BIND (base_rate);
  BIND (base_memory);
  BIND (base_settings);
  BIND (use);
  BIND (report);
  BIND (details);
  BIND (curve_card);
  BIND (curve);
  BIND (findings);
  BIND (list_box);
  BIND (list);
  BIND (trials);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, pause_clicked);
  gtk_widget_class_bind_template_callback (widget_class, report_clicked);
}

/* "3", and "1.5" where it is no whole number. */
static gboolean
show_minutes (GtkSpinButton *minutes)
{
  g_autofree char *text = g_strdup_printf ("%.4g", gtk_spin_button_get_value (minutes));
  if (!g_str_equal (text, gtk_entry_get_text (GTK_ENTRY (minutes))))
    gtk_entry_set_text (GTK_ENTRY (minutes), text);
  return TRUE;
}

static void
dyno_speed_page_init (DynoSpeedPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (self->minutes, "output", G_CALLBACK (show_minutes), NULL);
  show_minutes (GTK_SPIN_BUTTON (self->minutes));
  dyno_status_page_announce (self->empty);
}
