/* SPDX-License-Identifier: MIT */
/* Names in a folder, which may be millions on a slow server: reading them ends early once the data
 * set that this thread opens is cancelled (GLib's current cancellable, which dyno_dataset_open
 * sets).  Whoever reads need not care: dyno_dataset_open then fails, whatever came of the names. */
#pragma once
#include <dirent.h>
#include <gio/gio.h>

G_BEGIN_DECLS

/* g_dir_read_name and readdir; NULL also where that is cancelled. */
const char *dyno_folder_next_name (GDir *folder);
struct dirent *dyno_folder_next_entry (DIR *folder);

gboolean dyno_folder_is_cancelled (void);

G_END_DECLS
