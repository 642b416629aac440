/* SPDX-License-Identifier: MIT */
#include "statusbar.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>

/* Widths of the bar of the memory, in pixels. */
#define LEVEL       90
#define TIGHT_LEVEL 48

struct _DynoStatusBar {
  GtkBox parent_instance;
  GtkWidget *device, *memory, *level, *queue; /* of the button that shows the jobs */
  gboolean tight;
};

G_DEFINE_FINAL_TYPE (DynoStatusBar, dyno_status_bar, GTK_TYPE_BOX)

static void
set_text (GtkWidget *label, const char *text)
{
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (label)), text))
    gtk_label_set_text (GTK_LABEL (label), text);
}

/* Shows the memory in use, if any, the planned memory, and the memory limit. */
static void
show_memory (DynoStatusBar *self, const DynoJobPlan *plan, guint64 used)
{
  guint64 planned = plan ? plan->plan.total_bytes : 0, limit = plan ? plan->limit_bytes : 0;
  g_autofree char *need = dyno_format_bytes (planned), *most = dyno_format_bytes (limit),
                  *live = dyno_format_bytes (used), *text = NULL;
  if (used > 0 && limit > 0)
    /* Translators: memory in use, planned, and allowed */
    text = g_strdup_printf (_ ("Device memory %s in use, %s planned, of %s"), live, need, most);
  else if (limit > 0)
    /* Translators: memory planned, and allowed */
    text = g_strdup_printf (_ ("Device memory %s planned, of %s"), need, most);
  set_text (self->memory, text ? text : "");
  gtk_widget_set_visible (self->memory, text != NULL && !self->tight);
  if (g_strcmp0 (gtk_widget_get_tooltip_text (self->level), text) != 0)
    gtk_widget_set_tooltip_text (self->level, text);
  gtk_widget_set_visible (self->level, limit > 0);
  dyno_widget_add_class (self->level, "over", limit > 0 && MAX (used, planned) > limit);
  if (limit > 0)
    gtk_level_bar_set_value (GTK_LEVEL_BAR (self->level),
                             CLAMP ((double) MAX (used, planned) / (double) limit, 0, 1));
}

void
dyno_status_bar_show (DynoStatusBar *self, DynoSetup *setup, const DynoRunStatus *status)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (setup);
  gboolean going =
      status && status->state > DYNO_SESSION_NEW && status->state < DYNO_SESSION_FINISHED;
  set_text (self->device, dyno_setup_get_device_error (setup) ? _ ("No device to train on")
                          : device                            ? device->name
                                                              : _ ("Looking for devices…"));
  show_memory (self, going && status->has_plan ? &status->plan : dyno_setup_get_plan (setup),
               going && status->n_steps > 0 && !status->released ? status->step.vram_bytes : 0);
}

void
dyno_status_bar_set_tight (DynoStatusBar *self, gboolean tight)
{
  self->tight = tight;
  gtk_widget_set_size_request (self->level, tight ? TIGHT_LEVEL : LEVEL, -1);
  gtk_widget_set_visible (self->memory, !tight && *gtk_label_get_text (GTK_LABEL (self->memory)));
}

void
dyno_status_bar_set_queue (DynoStatusBar *self, guint n_open, guint n_failed)
{
  g_autofree char *open = g_strdup_printf (
                      ngettext ("%u job in the queue", "%u jobs in the queue", n_open), n_open),
                  *failed = g_strdup_printf (ngettext ("%u job failed", "%u jobs failed", n_failed),
                                             n_failed),
                  /* Translators: jobs in the queue, jobs that failed */
                      *both = g_strdup_printf (_ ("%s, %s"), open, failed);
  set_text (self->queue, n_open > 0 && n_failed > 0 ? both
                         : n_open > 0               ? open
                         : n_failed > 0             ? failed
                                                    : _ ("Queue empty"));
}

static GtkWidget *
new_label (GtkWidget *box)
{
  GtkWidget *label = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  dyno_widget_add_class (label, "numeric", TRUE);
  gtk_container_add (GTK_CONTAINER (box), label);
  return label;
}

/* The button shows the list of jobs. */
static GtkWidget *
new_jobs_button (GtkWidget *box)
{
  GtkWidget *button = gtk_button_new ();
  gtk_button_set_relief (GTK_BUTTON (button), GTK_RELIEF_NONE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.show-jobs");
  gtk_widget_set_tooltip_text (button, _ ("Show all jobs (Ctrl+J)"));
  gtk_container_add (GTK_CONTAINER (box), button);
  return button;
}

static void
dyno_status_bar_class_init (DynoStatusBarClass *class)
{
}

static void
dyno_status_bar_init (DynoStatusBar *self)
{
  GtkWidget *box = GTK_WIDGET (self);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  dyno_widget_add_class (box, "status-bar", TRUE);
  atk_object_set_role (gtk_widget_get_accessible (box), ATK_ROLE_STATUSBAR);
  self->device = new_label (box);
  gtk_widget_set_hexpand (self->device, TRUE);
  self->level = gtk_level_bar_new ();
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (self->level), GTK_LEVEL_BAR_OFFSET_LOW, 0);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (self->level), GTK_LEVEL_BAR_OFFSET_HIGH, 1);
  gtk_widget_set_size_request (self->level, LEVEL, -1);
  gtk_widget_set_valign (self->level, GTK_ALIGN_CENTER);
  dyno_widget_set_accessible_name (self->level, _ ("Graphics memory"));
  gtk_container_add (GTK_CONTAINER (box), self->level);
  self->memory = new_label (box);
  gtk_container_add (GTK_CONTAINER (box), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  self->queue = new_label (new_jobs_button (box));
  gtk_label_set_ellipsize (GTK_LABEL (self->queue), PANGO_ELLIPSIZE_NONE);
  gtk_widget_show_all (box);
  dyno_status_bar_set_queue (self, 0, 0);
}
