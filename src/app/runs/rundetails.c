/* SPDX-License-Identifier: MIT */
/* A tab is filled when it is shown.  Evaluations and predictions belong to their run: they go on,
 * and are there again, when another run was looked at meanwhile. */
#include "rundetails.h"
#include "diagnosiscard.h"
#include "evaluateview.h"
#include "predictdialog.h"
#include "predictview.h"
#include "row.h"
#include "runcompare.h"
#include "runexport.h"
#include <glib/gi18n.h>
#include <handy.h>

#define MOST_WIDTH 860
#define NONE       "none"     /* the child of a stack of views that says why there is no view */
#define UID        "dyno-uid" /* of the run that a view shows */

struct _DynoRunDetails {
  GtkBox parent_instance;
  GtkWidget *stack, *compare, *diagnosis, *no_diagnosis, *evaluations, *predictions, *export;
  DynoRunCurves *curves;
  DynoSetup *setup;
  const DynoStoredRun *run; /* the only run; NULL: there are none or several */
  char *judged;             /* folder of the run whose diagnosis was requested last */
  guint64 judged_steps;     /* its steps at that time */
  DynoRunState judged_state;
  char *tab;         /* the tab that was chosen */
  gboolean changing; /* the stack is being changed by this file */
};

enum { FAILED, EXPORTED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunDetails, dyno_run_details, GTK_TYPE_BOX)

/* --- views of runs ---------------------------------------------------------------------------- */

typedef struct {
  GtkWidget *(*make) (const DynoStoredRun *run);
  gboolean (*is_busy) (GtkWidget *view);
  void (*set_device) (GtkWidget *view, int device);
  void (*set_steps) (GtkWidget *view, guint64 steps);
} ViewKind;

static GtkWidget *
make_evaluation (const DynoStoredRun *run)
{
  DynoJob *job = dyno_stored_run_get_job (run);
  GtkWidget *view = dyno_evaluate_view_new (run->folder, job);
  dyno_job_unref (job);
  return view;
}

static GtkWidget *
make_predictions (const DynoStoredRun *run)
{
  return dyno_predict_view_new (run->folder);
}

static const ViewKind evaluations = { make_evaluation, dyno_evaluate_view_is_busy,
                                      dyno_evaluate_view_set_device, dyno_evaluate_view_set_steps };
static const ViewKind predictions = { make_predictions, dyno_predict_view_is_busy,
                                      dyno_predict_view_set_device, dyno_predict_view_set_steps };

/* A stack of the views of runs, named by their folders, the latest first. */
static GtkWidget *
new_views (void)
{
  GtkWidget *stack = gtk_stack_new (), *none = gtk_label_new (_ ("This run has kept no weights."));
  gtk_stack_set_vhomogeneous (GTK_STACK (stack), FALSE);
  gtk_stack_set_hhomogeneous (GTK_STACK (stack), FALSE);
  g_object_set (none, "wrap", TRUE, "margin", 24, "visible", TRUE, NULL);
  dyno_widget_add_class (none, "dim-label", TRUE);
  gtk_stack_add_named (GTK_STACK (stack), none, NONE);
  return stack;
}

/* Destroys the views that were not looked at for longest, but none that works. */
static void
limit_views (GtkWidget *stack, const ViewKind *kind)
{
  g_autoptr (GList) children = gtk_container_get_children (GTK_CONTAINER (stack));
  guint n = 0;
  for (GList *l = children; l; l = l->next)
    if (!GTK_IS_LABEL (l->data) && ++n > DYNO_RUN_DETAILS_KEPT && !kind->is_busy (l->data))
      gtk_widget_destroy (l->data);
}

/* Shows the view of the run, which is made if there is none.  NULL: the run has no weights. */
static GtkWidget *
show_view (DynoRunDetails *self, GtkWidget *stack, const ViewKind *kind)
{
  if (!self->run || !dyno_predict_can_use (self->run->folder))
    {
      gtk_stack_set_visible_child_name (GTK_STACK (stack), NONE);
      return NULL;
    }
  GtkWidget *view = gtk_stack_get_child_by_name (GTK_STACK (stack), self->run->folder);
  const guint64 *uid = view ? g_object_get_data (G_OBJECT (view), UID) : NULL;
  if (uid && *uid != self->run->uid) /* the view is of a run that had the folder before */
    {
      gtk_widget_destroy (view);
      view = NULL;
    }
  if (!view)
    {
      view = kind->make (self->run);
      g_object_set_data_full (G_OBJECT (view), UID,
                              g_memdup2 (&self->run->uid, sizeof self->run->uid), g_free);
      gtk_widget_show (view);
      gtk_stack_add_named (GTK_STACK (stack), view, self->run->folder);
    }
  gtk_container_child_set (GTK_CONTAINER (stack), view, "position", 0, NULL);
  gtk_stack_set_visible_child (GTK_STACK (stack), view);
  if (self->setup)
    kind->set_device (view, dyno_setup_get_job (self->setup)->device);
  kind->set_steps (view, self->run->steps);
  limit_views (stack, kind);
  return view;
}

/* --- tabs ------------------------------------------------------------------------------------- */

/* The run is judged again when it has gone on, or has ended. */
static void
judge (DynoRunDetails *self)
{
  const DynoStoredRun *run = self->run;
  if (!run || !self->setup)
    return;
  if (!run->folder || g_strcmp0 (run->folder, self->judged) != 0)
    gtk_widget_hide (self->diagnosis); /* the diagnosis of another run */
  else if (run->steps == self->judged_steps && run->state == self->judged_state)
    return;
  g_free (self->judged);
  self->judged = g_strdup (run->folder);
  self->judged_steps = run->steps;
  self->judged_state = run->state;
  gtk_label_set_text (GTK_LABEL (self->no_diagnosis),
                      run->folder ? _ ("Reading the run…") : _ ("This run has kept no log."));
  dyno_diagnosis_card_set_folder (DYNO_DIAGNOSIS_CARD (self->diagnosis), run->folder, self->setup);
}

static void
fill_tab (DynoRunDetails *self)
{
  const char *tab = gtk_stack_get_visible_child_name (GTK_STACK (self->stack));
  if (g_strcmp0 (tab, "diagnosis") == 0)
    judge (self);
  else if (g_strcmp0 (tab, "evaluate") == 0)
    show_view (self, self->evaluations, &evaluations);
  else if (g_strcmp0 (tab, "predict") == 0)
    show_view (self, self->predictions, &predictions);
}

static void
tab_changed (DynoRunDetails *self)
{
  if (self->changing)
    return;
  g_free (self->tab);
  self->tab = g_strdup (gtk_stack_get_visible_child_name (GTK_STACK (self->stack)));
  fill_tab (self);
}

/* Shows the tabs that the runs have, and of these the one that was chosen, or the first. */
static void
show_tabs (DynoRunDetails *self)
{
  static const char *const of_one[] = { "diagnosis", "evaluate", "predict" };
  GtkStack *stack = GTK_STACK (self->stack);
  self->changing = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (of_one); i++)
    gtk_widget_set_visible (gtk_stack_get_child_by_name (stack, of_one[i]), self->run != NULL);
  GtkWidget *chosen = self->tab ? gtk_stack_get_child_by_name (stack, self->tab) : NULL;
  if (chosen && gtk_widget_get_visible (chosen))
    gtk_stack_set_visible_child (stack, chosen);
  else
    gtk_stack_set_visible_child_name (stack, "curves");
  self->changing = FALSE;
  fill_tab (self);
}

void
dyno_run_details_forget (DynoRunDetails *self)
{
  self->run = NULL;
  dyno_run_export_forget (self->export);
  dyno_run_compare_forget (DYNO_RUN_COMPARE (self->compare));
}

void
dyno_run_details_show (DynoRunDetails *self, const DynoStoredRun *const *runs, guint n)
{
  self->run = n == 1 ? runs[0] : NULL;
  dyno_run_export_set_runs (self->export, runs, n);
  dyno_run_compare_show (DYNO_RUN_COMPARE (self->compare), self->curves, runs, n);
  gtk_widget_set_visible (GTK_WIDGET (self), n > 0);
  if (n > 0)
    show_tabs (self);
}

gboolean
dyno_run_details_predict (DynoRunDetails *self, const char *const *paths)
{
  if (!self->run || !dyno_predict_can_use (self->run->folder))
    return FALSE;
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), "predict");
  GtkWidget *view = show_view (self, self->predictions, &predictions);
  if (paths)
    dyno_predict_view_start (view, paths);
  else
    dyno_predict_view_choose (view);
  return TRUE;
}

static void
setup_changed (DynoRunDetails *self)
{
  int device = self->setup ? dyno_setup_get_job (self->setup)->device : -1;
  GtkWidget *evaluation = gtk_stack_get_visible_child (GTK_STACK (self->evaluations)),
            *predicted = gtk_stack_get_visible_child (GTK_STACK (self->predictions));
  if (evaluation && !GTK_IS_LABEL (evaluation))
    dyno_evaluate_view_set_device (evaluation, device);
  if (predicted && !GTK_IS_LABEL (predicted))
    dyno_predict_view_set_device (predicted, device);
}

void
dyno_run_details_set_setup (DynoRunDetails *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, G_CONNECT_SWAPPED);
}

/* --- the widgets ------------------------------------------------------------------------------ */

static void
export_done (const char *path, const GError *error, gpointer data)
{
  if (error)
    g_signal_emit (data, signals[FAILED], 0, error);
  else
    g_signal_emit (data, signals[EXPORTED], 0, path);
}

static void
emit_failed (DynoRunDetails *self, const GError *error)
{
  export_done (NULL, error, self);
}

static void
emit_exported (DynoRunDetails *self, const char *path)
{
  export_done (path, NULL, self);
}

/* width: the greatest, at which lines can be read; 0: that of the page. */
static void
add_tab (DynoRunDetails *self, GtkWidget *content, const char *name, const char *title, int width)
{
  GtkWidget *tab = width > 0 ? hdy_clamp_new () : gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  if (width > 0)
    g_object_set (tab, "maximum-size", width, "tightening-threshold", width, NULL);
  gtk_container_add (GTK_CONTAINER (tab), content);
  gtk_widget_show (content);
  gtk_widget_show (tab);
  gtk_stack_add_titled (GTK_STACK (self->stack), tab, name, title);
}

/* The switcher scrolls where it is wider than the window. */
static void
add_switcher (DynoRunDetails *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (NULL, NULL), *switcher = gtk_stack_switcher_new ();
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (switcher), GTK_STACK (self->stack));
  gtk_widget_set_halign (switcher, GTK_ALIGN_START);
  dyno_widget_set_accessible_name (switcher, _ ("Views of the run"));
  dyno_widget_set_accessible_name (scrolled, _ ("Views of the run"));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_AUTOMATIC,
                                  GTK_POLICY_NEVER);
  gtk_container_add (GTK_CONTAINER (scrolled), switcher);
  gtk_container_add (GTK_CONTAINER (self), scrolled);
  gtk_widget_show_all (scrolled);
}

static void
dyno_run_details_dispose (GObject *object)
{
  DynoRunDetails *self = DYNO_RUN_DETAILS (object);
  self->run = NULL;
  self->setup = NULL;
  self->changing = TRUE;
  g_clear_object (&self->curves);
  g_clear_pointer (&self->judged, g_free);
  g_clear_pointer (&self->tab, g_free);
  G_OBJECT_CLASS (dyno_run_details_parent_class)->dispose (object);
}

static void
dyno_run_details_class_init (DynoRunDetailsClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_run_details_dispose;
  signals[FAILED] = g_signal_new ("failed", DYNO_TYPE_RUN_DETAILS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[EXPORTED] = g_signal_new ("exported", DYNO_TYPE_RUN_DETAILS, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
dyno_run_details_init (DynoRunDetails *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  self->stack = gtk_stack_new ();
  gtk_stack_set_vhomogeneous (GTK_STACK (self->stack), FALSE);
  gtk_stack_set_hhomogeneous (GTK_STACK (self->stack), FALSE);
  add_switcher (self);
  self->compare = dyno_run_compare_new ();
  self->diagnosis = g_object_new (DYNO_TYPE_DIAGNOSIS_CARD, NULL);
  self->no_diagnosis = gtk_label_new ("");
  g_object_set (self->no_diagnosis, "wrap", TRUE, "margin", 24, "visible", TRUE, NULL);
  dyno_widget_add_class (self->no_diagnosis, "dim-label", TRUE);
  GtkWidget *judged = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_container_add (GTK_CONTAINER (judged), self->no_diagnosis);
  gtk_container_add (GTK_CONTAINER (judged), self->diagnosis);
  g_object_bind_property (self->diagnosis, "visible", self->no_diagnosis, "visible",
                          G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN);
  self->evaluations = new_views ();
  self->predictions = new_views ();
  self->export = dyno_run_export_new (export_done, self);
  add_tab (self, self->compare, "curves", _ ("Curves"), 0);
  add_tab (self, judged, "diagnosis", _ ("Diagnosis"), MOST_WIDTH);
  add_tab (self, self->evaluations, "evaluate", _ ("Evaluation"), 0);
  add_tab (self, self->predictions, "predict", _ ("Predictions"), MOST_WIDTH);
  add_tab (self, self->export, "export", _ ("Export"), MOST_WIDTH);
  gtk_container_add (GTK_CONTAINER (self), self->stack);
  gtk_widget_show (self->stack);
  g_signal_connect_object (self->compare, "failed", G_CALLBACK (emit_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->compare, "exported", G_CALLBACK (emit_exported), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->stack, "notify::visible-child", G_CALLBACK (tab_changed), self,
                           G_CONNECT_SWAPPED);
}

GtkWidget *
dyno_run_details_new (DynoRunCurves *curves)
{
  DynoRunDetails *self = g_object_new (DYNO_TYPE_RUN_DETAILS, NULL);
  self->curves = g_object_ref (curves);
  return GTK_WIDGET (self);
}
