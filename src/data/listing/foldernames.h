/* SPDX-License-Identifier: MIT */
/* Reads the names in a folder, which may be millions on a slow server: reading ends early when the
 * opening of the data set is cancelled (GLib's current cancellable of the thread, which
 * dyno_dataset_open sets).  Callers need not check for that: dyno_dataset_open then fails in any
 * case. */
#pragma once
#include <dirent.h>
#include <gio/gio.h>

G_BEGIN_DECLS

/* Wrappers of g_dir_read_name and readdir; NULL also where the opening is cancelled. */
const char *dyno_folder_next_name (GDir *folder);
struct dirent *dyno_folder_next_entry (DIR *folder);

gboolean dyno_folder_is_cancelled (void);

/* TRUE where an entry of the folder at path is a folder, or a link to one.  No stat call is made
 * for a file whose type readdir returns. */
gboolean dyno_folder_entry_is_folder (const char *path, const struct dirent *entry);

G_END_DECLS
