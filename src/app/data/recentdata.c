/* SPDX-License-Identifier: MIT */
#include "recentdata.h"
#include <gtk/gtk.h>

/* --- one more --------------------------------------------------------------------------------- */

static void
look_at (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_boolean (task, g_file_test (data, G_FILE_TEST_IS_DIR));
}

static void
looked_at (GObject *source, GAsyncResult *result, gpointer data)
{
  const char *path = g_task_get_task_data (G_TASK (result));
  gboolean folder = g_task_propagate_boolean (G_TASK (result), NULL);
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  g_autofree char *name = g_filename_display_basename (path);
  GtkRecentData recent = {
    .display_name = name,
    .mime_type = (char *) (folder ? "inode/directory" : "application/octet-stream"),
    .app_name = (char *) "dyno",
    .app_exec = (char *) "dyno %u",
  };
  if (uri)
    gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &recent);
}

void
dyno_recent_data_add (const DynoDatasetInfo *info)
{
  if (info->generated || !g_path_is_absolute (info->location))
    return;
  g_autoptr (GTask) task = g_task_new (NULL, NULL, looked_at, NULL);
  g_task_set_task_data (task, g_strdup (info->location), g_free);
  g_task_run_in_thread (task, look_at);
}

/* --- all -------------------------------------------------------------------------------------- */

#define ASKED "dyno-recent-asked" /* the Asked of an owner, while a request is pending */

/* The newest request that came while another was pending. */
typedef struct {
  guint most;
  DynoRecentDataListed listed; /* NULL: there was none */
} Asked;

typedef struct {
  GPtrArray *paths;
  guint most;
  DynoRecentDataListed listed;
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  g_ptr_array_unref (self->paths);
  g_free (self);
}

static void
find_existing (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < request->paths->len && found->len < request->most; i++)
    if (g_file_test (request->paths->pdata[i], G_FILE_TEST_EXISTS))
      g_ptr_array_add (found, g_strdup (request->paths->pdata[i]));
  g_task_return_pointer (task, found, (GDestroyNotify) g_ptr_array_unref);
}

static void
existing_found (GObject *source, GAsyncResult *result, gpointer data)
{
  const Request *request = g_task_get_task_data (G_TASK (result));
  g_autoptr (GPtrArray) found = g_task_propagate_pointer (G_TASK (result), NULL);
  const Asked next = *(Asked *) g_object_get_data (source, ASKED);
  g_object_set_data (source, ASKED, NULL);
  request->listed (source, found);
  if (next.listed) /* the list may have changed since it was read */
    dyno_recent_data_list (next.most, source, next.listed);
}

/* When Dyno opened the item last; 0: never. */
static time_t
get_last_use (GtkRecentInfo *item)
{
  const char *exec;
  guint count;
  time_t when = 0;
  if (gtk_recent_info_has_application (item, "dyno"))
    gtk_recent_info_get_application_info (item, "dyno", &exec, &count, &when);
  return when;
}

static int
compare_last_uses (gconstpointer a, gconstpointer b)
{
  time_t when_a = get_last_use ((GtkRecentInfo *) a), when_b = get_last_use ((GtkRecentInfo *) b);
  return when_a > when_b ? -1 : when_a < when_b;
}

void
dyno_recent_data_list (guint most, GObject *owner, DynoRecentDataListed listed)
{
  Asked *asked = g_object_get_data (owner, ASKED);
  if (asked)
    {
      *asked = (Asked){ most, listed };
      return;
    }
  g_autolist (GtkRecentInfo) items =
      g_list_sort (gtk_recent_manager_get_items (gtk_recent_manager_get_default ()),
                   compare_last_uses); /* the manager's order is that of the first uses */
  Request *request = g_new0 (Request, 1);
  request->paths = g_ptr_array_new_with_free_func (g_free);
  request->most = most;
  request->listed = listed;
  for (GList *l = items; l; l = l->next)
    {
      GtkRecentInfo *item = l->data;
      if (!gtk_recent_info_has_application (item, "dyno") || !gtk_recent_info_is_local (item))
        continue;
      g_autofree char *path = g_filename_from_uri (gtk_recent_info_get_uri (item), NULL, NULL);
      if (path && g_utf8_validate (path, -1, NULL))
        g_ptr_array_add (request->paths, g_steal_pointer (&path));
    }
  g_object_set_data_full (owner, ASKED, g_new0 (Asked, 1), g_free);
  g_autoptr (GTask) task = g_task_new (owner, NULL, existing_found, NULL);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, find_existing);
}
