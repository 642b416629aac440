/* SPDX-License-Identifier: MIT */
/* Two requests run in threads: the division, and the comparison of the samples.  Each has a
 * cancellable while it is under way; the result of a cancelled request is dropped. */
#include "datainspector.h"
#include "format.h"
#include "parts.h"
#include "settingtitles.h"
#include <glib/gi18n.h>

typedef struct {
  DynoDataset *dataset;
  DynoSettings settings;
  guint64 most_bytes;
} Question;

typedef struct {
  guint64 n_train, n_validation, n_test;
  char **notes;
} Division;

struct _DynoDataInspector {
  GObject parent_instance;
  DynoSetup *setup;
  DynoDataset *dataset;
  DynoSettings settings;              /* the settings of the last division */
  guint64 most_bytes;                 /* limit for an automatic comparison; 0: none */
  GCancellable *dividing, *comparing; /* NULL: no such request is under way */
  Division *division;                 /* NULL: not known */
  DynoSurvey *survey;                 /* NULL: not known */
  char *failure;                      /* error of the comparison; NULL: none */
  GPtrArray *warnings, *remarks;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoDataInspector, dyno_data_inspector, G_TYPE_OBJECT)

static void
question_free (gpointer data)
{
  Question *q = data;
  dyno_dataset_unref (q->dataset);
  g_free (q);
}

static void
division_free (gpointer data)
{
  Division *division = data;
  g_strfreev (division->notes);
  g_free (division);
}

/* --- the threads ------------------------------------------------------------------------------ */

static void
divide_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Question *q = data;
  Division *division = g_new0 (Division, 1);
  g_auto (DynoDatasetParts) parts = { 0 };
  dyno_settings_divide (&q->settings, q->dataset, &parts);
  division->n_train = parts.train->len;
  division->n_validation = parts.validation->len;
  division->n_test = parts.test->len;
  division->notes = dyno_dataset_list_notes (q->dataset, parts.train, parts.validation);
  g_task_return_pointer (task, division, division_free);
}

static void
compare_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Question *q = data;
  GError *error = NULL;
  DynoSurvey *survey =
      dyno_dataset_survey (q->dataset, q->most_bytes, NULL, NULL, cancellable, &error);
  if (survey)
    g_task_return_pointer (task, survey, (GDestroyNotify) dyno_survey_free);
  else
    g_task_return_error (task, error);
}

/* --- what is known ---------------------------------------------------------------------------- */

static void
add (GPtrArray *list, const char *sentence)
{
  g_ptr_array_add (list, dyno_setting_titles_put (sentence));
}

static void
remark_uncompared (DynoDataInspector *self)
{
  g_autofree char *limit = dyno_format_bytes (DYNO_SURVEY_MOST_BYTES);
  if (self->failure)
    add (self->remarks, self->failure);
  else if (dyno_data_inspector_can_compare (self))
    /* Translators: a size of files */
    g_ptr_array_add (self->remarks,
                     g_strdup_printf (_ ("The samples have more than %s and were not compared with "
                                         "each other"),
                                      limit));
  else if (self->dataset && !self->survey && !self->comparing)
    add (self->remarks, _ ("The samples are compared with each other once no run is in progress"));
}

static void
changed (DynoDataInspector *self)
{
  g_ptr_array_set_size (self->warnings, 0);
  g_ptr_array_set_size (self->remarks, 0);
  for (guint i = 0; self->survey && self->survey->sentences[i]; i++)
    add (i < self->survey->n_harmful ? self->warnings : self->remarks, self->survey->sentences[i]);
  for (guint i = 0; self->division && self->division->notes[i]; i++)
    add (self->warnings, self->division->notes[i]);
  remark_uncompared (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

/* --- asking ----------------------------------------------------------------------------------- */

static void
drop (GCancellable **cancellable)
{
  if (*cancellable)
    g_cancellable_cancel (*cancellable);
  g_clear_object (cancellable);
}

static void
ask (DynoDataInspector *self, GCancellable **cancellable, GTaskThreadFunc work,
     GAsyncReadyCallback done)
{
  Question *q = g_new0 (Question, 1);
  drop (cancellable);
  *cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, *cancellable, done, self);
  q->dataset = dyno_dataset_ref (self->dataset);
  q->settings = self->settings;
  q->most_bytes = self->most_bytes;
  g_task_set_task_data (task, q, question_free);
  g_task_run_in_thread (task, work);
}

static void
divided (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDataInspector *self = data;
  Division *division = g_task_propagate_pointer (G_TASK (result), NULL);
  if (!division) /* the request was dropped; the inspector may be freed */
    return;
  g_clear_object (&self->dividing);
  g_clear_pointer (&self->division, division_free);
  self->division = division;
  changed (self);
}

void
dyno_data_inspector_take_survey (DynoDataInspector *self, DynoSurvey *survey, const GError *error)
{
  g_clear_object (&self->comparing);
  g_clear_pointer (&self->survey, dyno_survey_free);
  g_clear_pointer (&self->failure, g_free);
  self->survey = survey;
  self->failure = error ? g_strdup (error->message) : NULL;
  changed (self);
}

static void
compared (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  DynoSurvey *survey = g_task_propagate_pointer (G_TASK (result), &error);
  if (survey || !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    dyno_data_inspector_take_survey (data, survey, error);
}

/* Compares the samples, unless this was done, is under way, or would disturb a run or
 * measurement.  Returns whether a comparison was begun or ended. */
static gboolean
compare_if_idle (DynoDataInspector *self)
{
  gboolean busy = dyno_setup_is_busy (self->setup);
  if (busy && self->comparing)
    drop (&self->comparing);
  else if (!busy && self->dataset && !self->survey && !self->failure && !self->comparing)
    ask (self, &self->comparing, compare_in_thread, compared);
  else
    return FALSE;
  return TRUE;
}

static void
forget (DynoDataInspector *self)
{
  drop (&self->dividing);
  drop (&self->comparing);
  g_clear_pointer (&self->division, division_free);
  g_clear_pointer (&self->survey, dyno_survey_free);
  g_clear_pointer (&self->failure, g_free);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  self->most_bytes = DYNO_SURVEY_MOST_BYTES;
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoDataInspector *self)
{
  const DynoSettings *settings = &dyno_setup_get_job (setup)->settings;
  DynoDataset *dataset = dyno_setup_get_dataset (setup);
  gboolean same = dataset == self->dataset;
  if (!same)
    {
      forget (self);
      self->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
      changed (self);
    }
  if (dataset && (!same || !dyno_settings_divide_alike (settings, &self->settings)))
    {
      self->settings = *settings;
      ask (self, &self->dividing, divide_in_thread, divided);
    }
  if (compare_if_idle (self))
    changed (self);
}

/* --- its users -------------------------------------------------------------------------------- */

gboolean
dyno_data_inspector_get_split (DynoDataInspector *self, guint64 *n_train, guint64 *n_validation,
                               guint64 *n_test)
{
  if (!self->division || self->dividing)
    return FALSE;
  *n_train = self->division->n_train;
  *n_validation = self->division->n_validation;
  *n_test = self->division->n_test;
  return TRUE;
}

const GPtrArray *
dyno_data_inspector_get_warnings (DynoDataInspector *self)
{
  return self->warnings;
}

const GPtrArray *
dyno_data_inspector_get_remarks (DynoDataInspector *self)
{
  return self->remarks;
}

gboolean
dyno_data_inspector_is_busy (DynoDataInspector *self)
{
  return self->dividing || self->comparing;
}

gboolean
dyno_data_inspector_can_compare (DynoDataInspector *self)
{
  return self->survey && !self->survey->compared && !self->comparing;
}

void
dyno_data_inspector_compare (DynoDataInspector *self)
{
  if (!dyno_data_inspector_can_compare (self))
    return;
  self->most_bytes = 0;
  g_clear_pointer (&self->survey, dyno_survey_free);
  compare_if_idle (self); /* a run that is in progress delays it */
  changed (self);
}

DynoDataInspector *
dyno_data_inspector_new (DynoSetup *setup)
{
  DynoDataInspector *self = g_object_new (DYNO_TYPE_DATA_INSPECTOR, NULL);
  self->setup = g_object_ref (setup);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
  return self;
}

static void
dyno_data_inspector_dispose (GObject *object)
{
  DynoDataInspector *self = DYNO_DATA_INSPECTOR (object);
  forget (self);
  g_clear_object (&self->setup);
  G_OBJECT_CLASS (dyno_data_inspector_parent_class)->dispose (object);
}

static void
dyno_data_inspector_finalize (GObject *object)
{
  DynoDataInspector *self = DYNO_DATA_INSPECTOR (object);
  g_ptr_array_unref (self->warnings);
  g_ptr_array_unref (self->remarks);
  G_OBJECT_CLASS (dyno_data_inspector_parent_class)->finalize (object);
}

static void
dyno_data_inspector_class_init (DynoDataInspectorClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_data_inspector_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_data_inspector_finalize;
  signals[CHANGED] = g_signal_new ("changed", DYNO_TYPE_DATA_INSPECTOR, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_data_inspector_init (DynoDataInspector *self)
{
  self->warnings = g_ptr_array_new_with_free_func (g_free);
  self->remarks = g_ptr_array_new_with_free_func (g_free);
  self->most_bytes = DYNO_SURVEY_MOST_BYTES;
}
