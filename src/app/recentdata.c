/* SPDX-License-Identifier: MIT */
#include "recentdata.h"
#include <gtk/gtk.h>

void
dyno_recent_data_add (const DynoDatasetInfo *info)
{
  if (info->generated || !g_path_is_absolute (info->location))
    return;
  g_autofree char *uri = g_filename_to_uri (info->location, NULL, NULL);
  g_autofree char *name = g_filename_display_basename (info->location);
  GtkRecentData recent = {
    .display_name = name,
    .mime_type =
        (char *) (g_file_test (info->location, G_FILE_TEST_IS_DIR) ? "inode/directory"
                                                                   : "application/octet-stream"),
    .app_name = (char *) "dyno",
    .app_exec = (char *) "dyno %u",
  };
  if (uri)
    gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &recent);
}

GPtrArray *
dyno_recent_data_list (guint most)
{
  g_autolist (GtkRecentInfo) items =
      gtk_recent_manager_get_items (gtk_recent_manager_get_default ());
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  for (GList *l = items; l && paths->len < most; l = l->next)
    {
      GtkRecentInfo *item = l->data;
      if (!gtk_recent_info_has_application (item, "dyno") || !gtk_recent_info_is_local (item))
        continue;
      g_autofree char *path = g_filename_from_uri (gtk_recent_info_get_uri (item), NULL, NULL);
      if (path && g_file_test (path, G_FILE_TEST_EXISTS) && g_utf8_validate (path, -1, NULL))
        g_ptr_array_add (paths, g_steal_pointer (&path));
    }
  return paths;
}
