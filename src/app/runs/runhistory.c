/* SPDX-License-Identifier: MIT */
/* Uses of the history by the page of runs.  Uses of one object are made one after another, so that
 * the answer of an earlier one never replaces that of a later one. */
#include "runhistory.h"
#include "heldtask.h"

static void
deleted_free (gpointer data)
{
  DynoDeletedRun *self = data;
  dyno_stored_run_free (self->run);
  g_clear_pointer (&self->epochs, g_array_unref);
  g_free (self);
}

typedef struct {
  DynoRunHistoryUse use;
  GArray *ids; /* gint64 */
  char *text;
  GPtrArray *deleted; /* DynoDeletedRun: deleted now, or to be restored */
  GAsyncReadyCallback used;
} Request;

/* Belongs to the object that uses the history. */
typedef struct {
  GQueue tasks; /* GTask: those that wait for the present one */
  gboolean working;
} Line;

static void
line_free (gpointer data)
{
  Line *self = data;
  g_queue_clear_full (&self->tasks, g_object_unref);
  g_free (self);
}

static Line *
get_line (GObject *source)
{
  static const char key[] = "dyno-run-history";
  Line *line = g_object_get_data (source, key);
  if (line)
    return line;
  line = g_new0 (Line, 1);
  g_queue_init (&line->tasks);
  g_object_set_data_full (source, key, line, line_free);
  return line;
}

static void
request_free (gpointer data)
{
  Request *self = data;
  g_clear_pointer (&self->ids, g_array_unref);
  g_clear_pointer (&self->deleted, g_ptr_array_unref);
  g_free (self->text);
  g_free (self);
}

static gboolean
delete_run (DynoStore *store, gint64 id, GPtrArray *deleted, GError **error)
{
  DynoDeletedRun *one = g_new0 (DynoDeletedRun, 1);
  g_ptr_array_add (deleted, one);
  one->run = dyno_store_find_run (store, id, error);
  one->epochs = one->run ? dyno_store_list_epochs (store, id, error) : NULL;
  if (one->epochs && dyno_store_delete_run (store, id, error))
    return TRUE;
  g_ptr_array_remove (deleted, one);
  return FALSE;
}

static gboolean
carry_out (DynoStore *store, Request *request, GError **error)
{
  for (guint i = 0; request->ids && i < request->ids->len; i++)
    {
      gint64 id = g_array_index (request->ids, gint64, i);
      if (request->use == DYNO_RUN_HISTORY_RENAME
          && !dyno_store_rename_run (store, id, request->text, error))
        return FALSE;
      if (request->use == DYNO_RUN_HISTORY_TAG
          && !dyno_store_tag_run (store, id, request->text, error))
        return FALSE;
      if (request->use == DYNO_RUN_HISTORY_DELETE
          && !delete_run (store, id, request->deleted, error))
        return FALSE;
    }
  for (guint i = 0; request->use == DYNO_RUN_HISTORY_UNDELETE && i < request->deleted->len; i++)
    {
      const DynoDeletedRun *one = request->deleted->pdata[i];
      if (!dyno_store_put_run (store, one->run,
                               (const DynoEpochMetrics *) (const void *) one->epochs->data,
                               one->epochs->len, error))
        return FALSE;
    }
  return TRUE;
}

static void
use_history (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  GPtrArray *runs = NULL;
  if (store && carry_out (store, data, &error))
    runs = dyno_store_list_runs (store, NULL, &error);
  if (runs)
    g_task_return_pointer (task, runs, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

static void
begin_next (Line *line)
{
  g_autoptr (GTask) task = line->working ? NULL : g_queue_pop_head (&line->tasks);
  if (!task)
    return;
  line->working = TRUE;
  dyno_task_run_held (task, use_history);
}

static void
use_answered (GObject *source, GAsyncResult *result, gpointer data)
{
  const Request *request = g_task_get_task_data (G_TASK (result));
  Line *line = get_line (source);
  line->working = FALSE;
  request->used (source, result, NULL);
  begin_next (line);
}

void
dyno_run_history_use (GObject *source, DynoRunHistoryUse use, GArray *ids, const char *text,
                      GPtrArray *deleted, GAsyncReadyCallback used)
{
  Line *line = get_line (source);
  if (use == DYNO_RUN_HISTORY_LIST && !g_queue_is_empty (&line->tasks))
    return; /* the use that waits lists the runs anyway */
  Request *request = g_new0 (Request, 1);
  request->use = use;
  request->ids = ids;
  request->text = g_strdup (text);
  request->deleted = deleted ? deleted : g_ptr_array_new_with_free_func (deleted_free);
  request->used = used;
  GTask *task = g_task_new (source, NULL, use_answered, NULL);
  g_task_set_task_data (task, request, request_free);
  g_queue_push_tail (&line->tasks, task);
  begin_next (line);
}

GPtrArray *
dyno_run_history_finish (GAsyncResult *result, GPtrArray **deleted, GError **error)
{
  const Request *request = g_task_get_task_data (G_TASK (result));
  *deleted = request->use == DYNO_RUN_HISTORY_DELETE && request->deleted->len > 0
                 ? g_ptr_array_ref (request->deleted)
                 : NULL;
  return g_task_propagate_pointer (G_TASK (result), error);
}
