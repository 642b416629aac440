/* SPDX-License-Identifier: MIT */
/* The newest request has a cancellable while it is under way; the result of an older one is
 * dropped. */
#include "pathcheck.h"
#include "keepfolder.h"
#include <errno.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <unistd.h>

typedef struct {
  char *folder, *weights;
  char *folder_problem, *weights_problem; /* the result */
} Question;

struct _DynoPathCheck {
  GObject parent_instance;
  char *folder, *weights;
  GCancellable *asking; /* NULL: no request is under way */
  Question *answer;     /* NULL: not known */
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoPathCheck, dyno_path_check, G_TYPE_OBJECT)

static void
question_free (gpointer data)
{
  Question *q = data;
  g_free (q->folder);
  g_free (q->weights);
  g_free (q->folder_problem);
  g_free (q->weights_problem);
  g_free (q);
}

static void
look_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Question *asked = data;
  Question *q = g_new0 (Question, 1);
  g_autoptr (GError) error = NULL;
  if (!dyno_folder_may_keep (asked->folder, &error))
    q->folder_problem = g_strdup (error->message);
  if (asked->weights && g_access (asked->weights, R_OK) != 0)
    {
      int problem = errno;
      g_autofree char *shown = g_filename_display_name (asked->weights);
      q->weights_problem =
          g_strdup_printf (_ ("Cannot read “%s”: %s"), shown, g_strerror (problem));
    }
  g_task_return_pointer (task, q, question_free);
}

static void
looked (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoPathCheck *self = data;
  Question *answer = g_task_propagate_pointer (G_TASK (result), NULL);
  if (!answer) /* superseded by a newer request; self may be freed */
    return;
  g_clear_object (&self->asking);
  g_clear_pointer (&self->answer, question_free);
  self->answer = answer;
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
stop_asking (DynoPathCheck *self)
{
  if (self->asking)
    g_cancellable_cancel (self->asking);
  g_clear_object (&self->asking);
}

void
dyno_path_check_ask (DynoPathCheck *self, const char *folder, const char *weights)
{
  gboolean same = g_strcmp0 (folder, self->folder) == 0 && g_strcmp0 (weights, self->weights) == 0;
  Question *q = g_new0 (Question, 1);
  q->folder = g_strdup (folder);
  q->weights = g_strdup (weights);
  stop_asking (self);
  if (!same)
    {
      g_free (self->folder);
      g_free (self->weights);
      self->folder = g_strdup (folder);
      self->weights = g_strdup (weights);
      g_clear_pointer (&self->answer, question_free);
    }
  self->asking = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->asking, looked, self);
  g_task_set_task_data (task, q, question_free);
  g_task_run_in_thread (task, look_in_thread);
  if (!same)
    g_signal_emit (self, signals[CHANGED], 0);
}

const char *
dyno_path_check_get_folder (DynoPathCheck *self)
{
  return self->folder;
}

gboolean
dyno_path_check_is_known (DynoPathCheck *self)
{
  return self->answer != NULL;
}

const char *
dyno_path_check_get_folder_problem (DynoPathCheck *self)
{
  return self->answer ? self->answer->folder_problem : NULL;
}

const char *
dyno_path_check_get_weights_problem (DynoPathCheck *self)
{
  return self->answer ? self->answer->weights_problem : NULL;
}

DynoPathCheck *
dyno_path_check_new (void)
{
  return g_object_new (DYNO_TYPE_PATH_CHECK, NULL);
}

static void
dyno_path_check_dispose (GObject *object)
{
  stop_asking (DYNO_PATH_CHECK (object));
  G_OBJECT_CLASS (dyno_path_check_parent_class)->dispose (object);
}

static void
dyno_path_check_finalize (GObject *object)
{
  DynoPathCheck *self = DYNO_PATH_CHECK (object);
  g_free (self->folder);
  g_free (self->weights);
  g_clear_pointer (&self->answer, question_free);
  G_OBJECT_CLASS (dyno_path_check_parent_class)->finalize (object);
}

static void
dyno_path_check_class_init (DynoPathCheckClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_path_check_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_path_check_finalize;
  signals[CHANGED] = g_signal_new ("changed", DYNO_TYPE_PATH_CHECK, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_path_check_init (DynoPathCheck *self)
{
}
