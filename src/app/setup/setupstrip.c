/* SPDX-License-Identifier: MIT */
/* The steps wrap into as many lines as the width needs.  The flow box and its children take no
 * focus, so that Tab goes from button to button. */
#include "setupstrip.h"
#include "fittingmodel.h"
#include "format.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

#define VALUE_CHARS  8 /* minimum width of a step's text; it is wider where there is room */
#define REASON_CHARS 44
#define FRAME_PIXELS 110 /* width of a popover besides its text: sign, margins, shadow */

typedef struct {
  GtkWidget *button, *icon, *spinner, *value;
  DynoSetupStep *step;
} Part;

struct _DynoSetupStrip {
  GtkBox parent_instance;
  GtkWidget *flow, *popover, *reasons;
  GtkWidget *first; /* first button of the popover */
  Part parts[DYNO_SETUP_N_STEPS];
  DynoSetupStepKind explained; /* the step whose reasons the popover shows */
  DynoSetup *setup;
  DynoDataInspector *inspector;
  DynoPathCheck *paths;
};

enum { GO, CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSetupStrip, dyno_setup_strip, GTK_TYPE_BOX)

static const struct {
  const char *icon_name, *class;
} signs[] = {
  [DYNO_STEP_READY] = { "emblem-ok-symbolic", "sign-good" },
  [DYNO_STEP_PENDING] = { NULL, "sign-note" },
  [DYNO_STEP_WARNING] = { "dialog-warning-symbolic", "sign-warning" },
  [DYNO_STEP_BLOCKED] = { "dialog-error-symbolic", "bad-text" },
};

static void
set_sign (GtkWidget *icon, DynoStepState state)
{
  for (guint i = 0; i < G_N_ELEMENTS (signs); i++)
    dyno_widget_add_class (icon, signs[i].class, i == state);
  gtk_image_set_from_icon_name (GTK_IMAGE (icon), signs[state].icon_name, GTK_ICON_SIZE_MENU);
}

/* --- the reasons ------------------------------------------------------------------------------ */

static void
go (DynoSetupStrip *self, DynoSetupStepKind kind)
{
  gtk_popover_popdown (GTK_POPOVER (self->popover));
  g_signal_emit (self, signals[GO], 0, (guint) kind);
}

static void
go_clicked (DynoSetupStrip *self)
{
  go (self, self->explained);
}

static void
mend_clicked (GtkWidget *button, DynoSetupStrip *self)
{
  DynoStepMend mend = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (button), "dyno-mend"));
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  gint64 batch =
      plan ? dyno_words_better_batch (&dyno_setup_get_job (self->setup)->settings, plan) : 0;
  const DynoModel *model = dyno_fitting_model_find (self->setup);
  if (mend == DYNO_STEP_MEND_FOLDER)
    gtk_popover_popdown (GTK_POPOVER (self->popover)); /* the button's action opens a dialog */
  else if (mend == DYNO_STEP_MEND_AMP_OFF)
    dyno_setup_set_number (self->setup, "amp", 0, NULL);
  else if (mend == DYNO_STEP_MEND_WEIGHTS)
    dyno_setup_set_weights (self->setup, NULL);
  else if (mend == DYNO_STEP_MEND_MODEL && model)
    dyno_setup_set_model (self->setup, model->name);
  else if (mend == DYNO_STEP_MEND_BATCH && batch > 0)
    dyno_setup_set_number (self->setup, "batch_size", (double) batch, NULL);
}

static char *
name_mend (DynoSetupStrip *self, DynoStepMend mend)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  const DynoModel *model = dyno_fitting_model_find (self->setup);
  if (mend == DYNO_STEP_MEND_MODEL)
    /* Translators: a model: "Use U-Net" */
    return model ? g_strdup_printf (_ ("_Use %s"), model->title) : NULL;
  if (mend == DYNO_STEP_MEND_AMP_OFF)
    return g_strdup (_ ("Switch AMP Off"));
  if (mend == DYNO_STEP_MEND_WEIGHTS)
    return g_strdup (_ ("Start from Random Values"));
  if (mend == DYNO_STEP_MEND_FOLDER)
    return g_strdup (_ ("Choose _Another Folder…"));
  if (mend != DYNO_STEP_MEND_BATCH || !plan)
    return NULL;
  g_autofree char *batch = dyno_format_count (
      (guint64) dyno_words_better_batch (&dyno_setup_get_job (self->setup)->settings, plan));
  return g_strdup_printf (_ ("_Use Batch Size %s"), batch);
}

static const char *
name_place (DynoSetupStepKind kind)
{
  switch (kind)
    {
    case DYNO_SETUP_STEP_DATA:
      return _ ("Show the Data");
    case DYNO_SETUP_STEP_MODEL:
      return _ ("Choose a Model");
    case DYNO_SETUP_STEP_WEIGHTS:
      return _ ("Choose Start Weights");
    case DYNO_SETUP_STEP_DEVICE:
      return _ ("Choose Device and Preset");
    default:
      return _ ("Open the Preferences");
    }
}

static void
add_mend (DynoSetupStrip *self, GtkWidget *box, DynoStepMend mend)
{
  g_autofree char *name = name_mend (self, mend);
  if (!name)
    return;
  GtkWidget *button = gtk_button_new_with_label (name);
  gtk_button_set_use_underline (GTK_BUTTON (button), TRUE);
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  g_object_set_data (G_OBJECT (button), "dyno-mend", GINT_TO_POINTER (mend));
  g_signal_connect (button, "clicked", G_CALLBACK (mend_clicked), self);
  if (mend == DYNO_STEP_MEND_FOLDER)
    gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.change-runs-folder");
  self->first = self->first ? self->first : button;
  gtk_container_add (GTK_CONTAINER (box), button);
}

/* The width of a reason in characters, such that the popover is no wider than the window. */
static int
count_chars (DynoSetupStrip *self)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  int each = MAX (PANGO_PIXELS (pango_font_metrics_get_approximate_char_width (metrics)), 1);
  pango_font_metrics_unref (metrics);
  return CLAMP ((gtk_widget_get_allocated_width (window) - FRAME_PIXELS) / each, 16, REASON_CHARS);
}

static void
add_reason (DynoSetupStrip *self, const DynoStepReason *reason)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8), *icon = gtk_image_new (),
            *label = gtk_label_new (reason->text);
  set_sign (icon, reason->state);
  if (reason->state <= DYNO_STEP_PENDING)
    {
      gtk_image_set_from_icon_name (GTK_IMAGE (icon), "dialog-information-symbolic",
                                    GTK_ICON_SIZE_MENU);
      dyno_widget_add_class (icon, "sign-good", FALSE);
      dyno_widget_add_class (icon, "sign-note", TRUE);
    }
  gtk_widget_set_valign (icon, GTK_ALIGN_START);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_line_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), count_chars (self));
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_container_add (GTK_CONTAINER (box), label);
  add_mend (self, box, reason->mend);
  gtk_container_add (GTK_CONTAINER (row), icon);
  gtk_container_add (GTK_CONTAINER (row), box);
  gtk_container_add (GTK_CONTAINER (self->reasons), row);
}

/* Fills the popover with the reasons of the step. */
static void
explain (DynoSetupStrip *self)
{
  const DynoSetupStep *step = self->parts[self->explained].step;
  GtkWidget *button = gtk_button_new_with_label (name_place (self->explained));
  dyno_widget_clear (self->reasons);
  self->first = NULL;
  for (int state = DYNO_STEP_BLOCKED; state >= DYNO_STEP_READY; state--)
    for (guint i = 0; i < step->reasons->len; i++)
      {
        const DynoStepReason *reason = step->reasons->pdata[i];
        if ((int) reason->state == state)
          add_reason (self, reason);
      }
  gtk_widget_set_halign (button, GTK_ALIGN_END);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (go_clicked), self);
  gtk_container_add (GTK_CONTAINER (self->reasons), button);
  self->first = self->first ? self->first : button;
  gtk_widget_show_all (self->reasons);
}

static void
step_clicked (GtkWidget *button, DynoSetupStrip *self)
{
  DynoSetupStepKind kind = 0;
  GdkRectangle place;
  while (self->parts[kind].button != button)
    kind++;
  if (dyno_setup_step_get_state (self->parts[kind].step) < DYNO_STEP_WARNING)
    {
      go (self, kind);
      return;
    }
  self->explained = kind;
  explain (self);
  gtk_widget_get_allocation (button, &place);
  gtk_widget_translate_coordinates (button, self->flow, 0, 0, &place.x, &place.y);
  gtk_popover_set_pointing_to (GTK_POPOVER (self->popover), &place);
  gtk_popover_popup (GTK_POPOVER (self->popover));
  gtk_widget_grab_focus (self->first);
}

/* --- the steps -------------------------------------------------------------------------------- */

static void
show_step (DynoSetupStrip *self, DynoSetupStepKind kind)
{
  Part *part = &self->parts[kind];
  DynoStepState state = dyno_setup_step_get_state (part->step);
  const char *whole = part->step->whole ? part->step->whole : part->step->value;
  g_autofree char *words = dyno_setup_step_describe (part->step),
                  *name = g_strdup_printf ("%s: %s", dyno_setup_steps_get_title (kind),
                                           part->step->value),
                  *tip = g_strjoin ("\n", whole, words, NULL);
  set_sign (part->icon, state);
  gtk_widget_set_visible (part->icon, state != DYNO_STEP_PENDING);
  g_object_set (part->spinner, "active", state == DYNO_STEP_PENDING, NULL);
  gtk_label_set_text (GTK_LABEL (part->value), part->step->value);
  gtk_widget_set_tooltip_text (part->button, tip);
  dyno_widget_set_accessible_name (part->button, name);
  atk_object_set_description (gtk_widget_get_accessible (part->button), words);
}

/* The popover stays as long as there is a warning to explain. */
static void
explain_anew (DynoSetupStrip *self, DynoSetupStepKind kind)
{
  if (kind != self->explained || !gtk_widget_get_visible (self->popover))
    return;
  if (dyno_setup_step_get_state (self->parts[kind].step) < DYNO_STEP_WARNING)
    gtk_popover_popdown (GTK_POPOVER (self->popover));
  else
    {
      explain (self);
      gtk_widget_grab_focus (self->first);
    }
}

static void
look (DynoSetupStrip *self)
{
  gboolean any = FALSE;
  for (DynoSetupStepKind kind = 0; kind < DYNO_SETUP_N_STEPS; kind++)
    {
      Part *part = &self->parts[kind];
      g_autoptr (DynoSetupStep) step =
          dyno_setup_steps_look (kind, self->setup, self->inspector, self->paths);
      if (part->step && dyno_setup_step_equal (part->step, step))
        continue;
      dyno_setup_step_free (part->step);
      part->step = g_steal_pointer (&step);
      show_step (self, kind);
      explain_anew (self, kind);
      any = TRUE;
    }
  if (any)
    g_signal_emit (self, signals[CHANGED], 0);
}

const DynoSetupStep *
dyno_setup_strip_get_step (DynoSetupStrip *self, DynoSetupStepKind kind)
{
  return self->parts[kind].step;
}

DynoStepState
dyno_setup_strip_get_state (DynoSetupStrip *self)
{
  DynoStepState state = DYNO_STEP_READY;
  for (DynoSetupStepKind kind = 0; kind < DYNO_SETUP_N_STEPS; kind++)
    state = MAX (state, dyno_setup_step_get_state (self->parts[kind].step));
  return state;
}

void
dyno_setup_strip_set_setup (DynoSetupStrip *self, DynoSetup *setup, DynoDataInspector *inspector,
                            DynoPathCheck *paths)
{
  self->setup = setup;
  self->inspector = inspector;
  self->paths = paths;
  g_signal_connect_object (setup, "changed", G_CALLBACK (look), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (inspector, "changed", G_CALLBACK (look), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (paths, "changed", G_CALLBACK (look), self, G_CONNECT_SWAPPED);
  look (self);
}

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (label), VALUE_CHARS);
  gtk_label_set_max_width_chars (GTK_LABEL (label), VALUE_CHARS);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

static void
add_part (DynoSetupStrip *self, DynoSetupStepKind kind)
{
  Part *part = &self->parts[kind];
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6),
            *sign = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0),
            *words = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *child;
  part->button = gtk_button_new ();
  part->icon = gtk_image_new ();
  part->spinner = gtk_spinner_new ();
  part->value = new_label (NULL, NULL);
  if (kind == DYNO_SETUP_STEP_FOLDER) /* the end of a path is more informative */
    gtk_label_set_ellipsize (GTK_LABEL (part->value), PANGO_ELLIPSIZE_START);
  gtk_widget_set_no_show_all (part->icon, TRUE);
  g_object_bind_property (part->spinner, "active", part->spinner, "visible", G_BINDING_SYNC_CREATE);
  gtk_widget_set_no_show_all (part->spinner, TRUE);
  gtk_widget_set_size_request (sign, 16, 16);
  gtk_widget_set_valign (sign, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (sign), part->icon);
  gtk_container_add (GTK_CONTAINER (sign), part->spinner);
  gtk_container_add (GTK_CONTAINER (words),
                     new_label (dyno_setup_steps_get_title (kind), "caption"));
  gtk_container_add (GTK_CONTAINER (words), part->value);
  gtk_container_add (GTK_CONTAINER (box), sign);
  gtk_box_pack_start (GTK_BOX (box), words, TRUE, TRUE, 0);
  if (kind + 1 < DYNO_SETUP_N_STEPS)
    {
      GtkWidget *next = gtk_image_new_from_icon_name ("pan-end-symbolic", GTK_ICON_SIZE_MENU);
      dyno_widget_add_class (next, "next-step", TRUE);
      gtk_container_add (GTK_CONTAINER (box), next);
    }
  gtk_container_add (GTK_CONTAINER (part->button), box);
  gtk_button_set_relief (GTK_BUTTON (part->button), GTK_RELIEF_NONE);
  dyno_widget_add_class (part->button, "setup-step", TRUE);
  g_signal_connect (part->button, "clicked", G_CALLBACK (step_clicked), self);
  gtk_container_add (GTK_CONTAINER (self->flow), part->button);
  child = gtk_widget_get_parent (part->button);
  gtk_widget_set_can_focus (child, FALSE);
}

static void
dyno_setup_strip_dispose (GObject *object)
{
  DynoSetupStrip *self = DYNO_SETUP_STRIP (object);
  if (self->popover) /* NULL: the window, its parent, has already destroyed it */
    gtk_widget_destroy (self->popover);
  G_OBJECT_CLASS (dyno_setup_strip_parent_class)->dispose (object);
}

/* The steps are freed only here, since the window may request them until it is finalized. */
static void
dyno_setup_strip_finalize (GObject *object)
{
  DynoSetupStrip *self = DYNO_SETUP_STRIP (object);
  for (DynoSetupStepKind kind = 0; kind < DYNO_SETUP_N_STEPS; kind++)
    dyno_setup_step_free (self->parts[kind].step);
  g_clear_weak_pointer (&self->popover);
  G_OBJECT_CLASS (dyno_setup_strip_parent_class)->finalize (object);
}

static void
dyno_setup_strip_class_init (DynoSetupStripClass *class)
{
  GType type = DYNO_TYPE_SETUP_STRIP;
  G_OBJECT_CLASS (class)->dispose = dyno_setup_strip_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_setup_strip_finalize;
  signals[GO] = g_signal_new ("go", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                              G_TYPE_UINT);
  signals[CHANGED] =
      g_signal_new ("changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_setup_strip_init (DynoSetupStrip *self)
{
  self->flow = gtk_flow_box_new ();
  g_object_set (self->flow, "homogeneous", TRUE, "selection-mode", GTK_SELECTION_NONE, "can-focus",
                FALSE, "max-children-per-line", DYNO_SETUP_N_STEPS, "column-spacing", 2, NULL);
  gtk_box_pack_start (GTK_BOX (self), self->flow, TRUE, TRUE, 0);
  dyno_widget_add_class (GTK_WIDGET (self), "setup-strip", TRUE);
  dyno_widget_set_accessible_name (self->flow, _ ("The next run"));
  for (DynoSetupStepKind kind = 0; kind < DYNO_SETUP_N_STEPS; kind++)
    add_part (self, kind);
  gtk_widget_show_all (self->flow);
  g_set_weak_pointer (&self->popover, gtk_popover_new (self->flow));
  self->reasons = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  g_object_set (self->reasons, "margin", 12, "visible", TRUE, NULL);
  gtk_container_add (GTK_CONTAINER (self->popover), self->reasons);
}
