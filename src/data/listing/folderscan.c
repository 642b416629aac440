/* SPDX-License-Identifier: MIT */
/* Walks an image folder.
 *
 * Invariants:
 * - Classes are the sub-folders, ordered by the bytes of their names; with train/ and val/, or
 *   other names of parts (partnames.h), the sub-folders of both together.  A test part beside them
 *   adds no class.
 * - Within a class, files are ordered by the bytes of their paths, so that an index means the same
 *   file on each run.
 * - A folder is entered once, whatever links lead to it; links that leave the tree are not
 *   followed, but counted, unless the params allow them.
 * - Only regular files are opened later; FIFOs, sockets and devices are counted here. Names that
 *   begin with a dot, and names that systems leave behind, are skipped. */
#include "folderscan.h"
#include "datafile.h"
#include "foldernames.h"
#include "hash.h"
#include "intl.h"
#include "partnames.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH   64
#define MAX_DOUBLED 4                 /* nested folders of a part */
#define MAX_NAMES   (G_MAXUINT32 / 2) /* bytes */
/* memory of a name in a list besides its characters, in bytes */
#define NAME_BYTES 40

typedef struct {
  DynoFolderScan *scan;
  DynoDataset *dataset;
  const DynoOpenContext *context;
  char *real_root;     /* canonical, for links */
  GHashTable *entered; /* from "device:inode" of folders to RESERVED or ENTERED */
  GPtrArray *left;     /* names that were skipped, each once */
  gint64 reported_us;  /* time of the last call of progress */
} Walk;

typedef enum { ENTRY_FILE, ENTRY_FOLDER, ENTRY_OUTSIDE, ENTRY_BROKEN, ENTRY_SPECIAL } EntryKind;

void
dyno_folder_scan_note (DynoDataset *dataset, guint max_listed, const char *path, const char *reason)
{
  g_autofree char *shown = g_filename_display_name (path);

  dyno_dataset_info_refuse (&dataset->info, shown, FALSE, reason);
  if (dataset->unreadable->len < max_listed)
    g_ptr_array_add (dataset->unreadable, g_strdup_printf ("%s: %s", shown, reason));
}

static void
note (Walk *walk, const char *path, const char *reason)
{
  dyno_folder_scan_note (walk->dataset, walk->context->max_listed, path, reason);
}

guint64
dyno_scan_stamp (const struct stat *status, gint64 *newest)
{
  /* The device is not included: some systems give it another number after each mount. */
  const guint64 words[] = {
    (guint64) status->st_ino,         (guint64) status->st_size,
    (guint64) status->st_mtim.tv_sec, (guint64) status->st_mtim.tv_nsec,
    (guint64) status->st_ctim.tv_sec, (guint64) status->st_ctim.tv_nsec,
  };

  if (newest)
    *newest = MAX (*newest, (gint64) status->st_mtim.tv_sec);
  return dyno_hash_bytes (DYNO_HASH_START, words, sizeof words);
}

static void
watch (Walk *walk, const char *path)
{
  DynoFolderScan *scan = walk->scan;
  DynoScanWatched watched = { 0 };
  struct stat status;

  if (stat (path, &status) != 0)
    {
      scan->unsure = TRUE;
      return;
    }
  watched.path = g_strdup (path);
  watched.stamp = dyno_scan_stamp (&status, &scan->newest);
  g_array_append_val (scan->watched, watched);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Compares names of list_folder, by the bytes after their types. */
static int
compare_entries (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a + 1, *(char *const *) b + 1);
}

static gboolean
set_too_many (GError **error, const char *path)
{
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
               _ ("“%s” has more files than Dyno can hold (2 GB of names)"), shown);
  return FALSE;
}

/* The names in a folder without dot names, in byte order, each after a byte with its d_type; NULL
 * where the folder cannot be read, TOO_LARGE where there are too many names. */
static GPtrArray *
list_folder (const char *path, struct stat *status, GError **error)
{
  int fd = dyno_datafile_open_any (path, status, error);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;
  GPtrArray *names;
  gsize size = 0;

  if (!dir)
    {
      if (fd >= 0)
        {
          dyno_datafile_set_error (error, errno, path);
          close (fd);
        }
      return NULL;
    }
  names = g_ptr_array_new_with_free_func (g_free);
  while (size <= MAX_NAMES && (entry = dyno_folder_next_entry (dir)))
    if (entry->d_name[0] != '.')
      {
        gsize length = strlen (entry->d_name) + 1;
        char *typed = g_malloc (1 + length);

        typed[0] = (char) entry->d_type;
        memcpy (typed + 1, entry->d_name, length);
        g_ptr_array_add (names, typed);
        size += NAME_BYTES + length;
      }
  closedir (dir);
  if (size > MAX_NAMES)
    {
      set_too_many (error, path);
      g_ptr_array_unref (names);
      return NULL;
    }
  g_ptr_array_sort (names, compare_entries);
  return names;
}

static char *
folder_key (const struct stat *status)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64) status->st_dev,
                          (guint64) status->st_ino);
}

static EntryKind
kind_of_mode (mode_t mode)
{
  return S_ISREG (mode) ? ENTRY_FILE : S_ISDIR (mode) ? ENTRY_FOLDER : ENTRY_SPECIAL;
}

/* entry: from list_folder.  The type that came with the name saves a stat call for each of a
 * million files. */
static EntryKind
look_at (Walk *walk, int folder, const char *entry, const char *path)
{
  const char *name = entry + 1;
  struct stat status;
  char *target;
  gsize length = strlen (walk->real_root);
  gboolean inside;

  if (entry[0] == DT_REG || entry[0] == DT_DIR)
    return entry[0] == DT_REG ? ENTRY_FILE : ENTRY_FOLDER;
  if (fstatat (folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return ENTRY_BROKEN;
  if (!S_ISLNK (status.st_mode))
    return kind_of_mode (status.st_mode);
  target = realpath (path, NULL);
  if (!target || fstatat (folder, name, &status, 0) != 0)
    {
      free (target);
      return ENTRY_BROKEN;
    }
  inside = strncmp (target, walk->real_root, length) == 0
           && (target[length] == '/' || target[length] == '\0' || length == 1);
  free (target);
  return inside || walk->context->params->links ? kind_of_mode (status.st_mode) : ENTRY_OUTSIDE;
}

static gboolean
add_file (Walk *walk, guint32 folder, const char *name, GError **error)
{
  DynoFolderScan *scan = walk->scan;
  gsize length = strlen (name) + 1;
  DynoScanFile file = { .folder = folder, .name = scan->names->len };

  if (scan->names->len > MAX_NAMES - length || scan->files->len >= G_MAXINT32)
    return set_too_many (error, scan->root);
  g_byte_array_append (scan->names, (const guint8 *) name, (guint) length);
  g_array_append_val (scan->files, file);
  if (scan->files->len % 256 != 0)
    return TRUE;
  if (walk->context->progress && g_get_monotonic_time () - walk->reported_us > G_USEC_PER_SEC / 10)
    {
      walk->reported_us = g_get_monotonic_time ();
      walk->context->progress (scan->files->len, walk->context->progress_data);
    }
  return TRUE;
}

static gboolean walk_folder (Walk *walk, const char *path, gint32 class_id, DynoPart part,
                             guint depth, GError **error);

static gboolean
walk_entry (Walk *walk, int fd, guint32 folder, const char *path, const char *entry, guint depth,
            GError **error)
{
  DynoScanFolder of = g_array_index (walk->scan->folders, DynoScanFolder, folder);
  g_autofree char *full = entry[0] == DT_REG ? NULL : g_build_filename (path, entry + 1, NULL);

  switch (look_at (walk, fd, entry, full))
    {
    case ENTRY_FILE:
      return add_file (walk, folder, entry + 1, error);
    case ENTRY_FOLDER:
      return walk_folder (walk, full, of.class_id, of.part, depth + 1, error);
    case ENTRY_OUTSIDE:
      note (walk, full, "a symbolic link that leaves the folder; data.links follows it");
      return TRUE;
    case ENTRY_BROKEN:
      walk->scan->unsure = TRUE;
      note (walk, full, "a symbolic link or entry that leads nowhere");
      return TRUE;
    case ENTRY_SPECIAL:
    default:
      note (walk, full, "not a regular file");
      return TRUE;
    }
}

/* The classes' own folders are reserved before any folder is walked, so that no link within one
 * class leads into another. */
enum { RESERVED = 1, ENTERED };

static void
reserve (Walk *walk, const char *path)
{
  struct stat status;

  if (stat (path, &status) == 0)
    g_hash_table_insert (walk->entered, folder_key (&status), GINT_TO_POINTER (RESERVED));
}

static gboolean
enter (Walk *walk, const struct stat *status, gboolean is_class)
{
  char *key = folder_key (status);
  int state = GPOINTER_TO_INT (g_hash_table_lookup (walk->entered, key));

  if (state == ENTERED || (state == RESERVED && !is_class))
    {
      g_free (key);
      return FALSE;
    }
  g_hash_table_insert (walk->entered, key, GINT_TO_POINTER (ENTERED));
  return TRUE;
}

/* Adds all files under path to one class. */
static gboolean
walk_folder (Walk *walk, const char *path, gint32 class_id, DynoPart part, guint depth,
             GError **error)
{
  DynoScanFolder folder = { .class_id = class_id, .part = part };
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GError) reason = NULL;
  guint32 place = walk->scan->folders->len;
  struct stat status;
  gboolean ok = TRUE;
  int fd;

  if (g_cancellable_set_error_if_cancelled (walk->context->cancellable, error))
    return FALSE;
  if (depth > MAX_DEPTH)
    {
      note (walk, path, "folders nested too deeply");
      return TRUE;
    }
  names = list_folder (path, &status, &reason);
  if (g_error_matches (reason, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  if (!names)
    {
      walk->scan->unsure = TRUE;
      note (walk, path, reason->message);
      return TRUE;
    }
  if (!enter (walk, &status, depth == 1))
    return TRUE;
  folder.stamp = dyno_scan_stamp (&status, &walk->scan->newest);
  fd = dyno_datafile_open_any (path, &status, &reason);
  if (fd < 0)
    {
      walk->scan->unsure = TRUE;
      note (walk, path, reason->message);
      return TRUE;
    }
  folder.path = g_strdup (path);
  g_array_append_val (walk->scan->folders, folder);
  for (guint i = 0; ok && i < names->len; i++)
    {
      ok = !g_cancellable_set_error_if_cancelled (walk->context->cancellable, error);
      if (ok && !dyno_name_is_left_behind ((char *) g_ptr_array_index (names, i) + 1, walk->left))
        ok = walk_entry (walk, fd, place, path, g_ptr_array_index (names, i), depth, error);
    }
  close (fd);
  return ok;
}

/* Adds the names of the folders in path, which are classes or parts, to the list; outside: links
 * out of the root are noted. */
static gboolean
list_subfolders (Walk *walk, const char *path, GPtrArray *list, gboolean outside, GError **error)
{
  g_autoptr (GPtrArray) names = NULL;
  struct stat status;
  int fd;

  watch (walk, path);
  names = list_folder (path, &status, error);
  fd = names ? dyno_datafile_open_any (path, &status, error) : -1;
  if (fd < 0)
    return FALSE;
  for (guint i = 0; i < names->len && !dyno_folder_is_cancelled (); i++)
    {
      const char *entry = g_ptr_array_index (names, i), *name = entry + 1;
      g_autofree char *full = g_build_filename (path, name, NULL);
      EntryKind kind = look_at (walk, fd, entry, full);
      if (kind == ENTRY_FOLDER && !dyno_name_is_left_behind (name, walk->left)
          && !g_ptr_array_find_with_equal_func (list, name, g_str_equal, NULL))
        g_ptr_array_add (list, g_strdup (name));
      else if (kind == ENTRY_OUTSIDE && outside)
        note (walk, full, "a symbolic link that leaves the folder; data.links follows it");
    }
  close (fd);
  return TRUE;
}

/* The test part adds no class, since contests give it without labels, in a folder of any name:
 * folders in it that are no class are noted. */
static gboolean
note_strangers (Walk *walk, const char *test, GPtrArray *classes, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) others = g_string_new (NULL);

  if (!list_subfolders (walk, test, names, TRUE, error))
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *shown = g_filename_display_name (names->pdata[i]);

      if (!g_ptr_array_find_with_equal_func (classes, names->pdata[i], g_str_equal, NULL))
        g_string_append_printf (others, "%s“%s”", others->len > 0 ? ", " : "", shown);
    }
  if (others->len > 0)
    g_ptr_array_add (walk->dataset->notes, dyno_part_note_strangers (others->str));
  return TRUE;
}

static gboolean
walk_parts (Walk *walk, char *const parts[3], GError **error)
{
  DynoDatasetInfo *info = &walk->dataset->info;
  g_autoptr (GPtrArray) classes = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < 2; i++)
    if (parts[i] && !list_subfolders (walk, parts[i], classes, TRUE, error))
      return FALSE;
  if (classes->len == 0)
    {
      g_autofree char *shown = g_filename_display_name (parts[0]);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNKNOWN,
                   _ ("“%s” has no sub-folders; put the images of each class into a folder of its "
                      "own, named after the class"),
                   shown);
      return FALSE;
    }
  g_ptr_array_sort (classes, compare_names);
  dyno_dataset_info_set_classes (info, classes->len);
  for (guint i = 0; i < classes->len; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_filename_display_name (g_ptr_array_index (classes, i));
    }
  if (parts[2] && !note_strangers (walk, parts[2], classes, error))
    return FALSE;
  reserve (walk, walk->scan->root);
  for (guint part = 0; part < 3; part++)
    for (guint i = 0; parts[part] && i < classes->len && !dyno_folder_is_cancelled (); i++)
      {
        g_autofree char *path =
            g_build_filename (parts[part], g_ptr_array_index (classes, i), NULL);
        reserve (walk, parts[part]);
        reserve (walk, path);
      }
  for (guint part = 0; part < 3; part++)
    for (guint i = 0; parts[part] && i < classes->len; i++)
      {
        g_autofree char *path =
            g_build_filename (parts[part], g_ptr_array_index (classes, i), NULL);
        if (g_cancellable_set_error_if_cancelled (walk->context->cancellable, error))
          return FALSE;
        if (g_file_test (path, G_FILE_TEST_IS_DIR)
            && !walk_folder (walk, path, (gint32) i, DYNO_PART_TRAIN + part, 1, error))
          return FALSE;
      }
  info->has_split = parts[1] != NULL;
  return TRUE;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* TRUE where path contains folders. */
static gboolean
has_subfolders (Walk *walk, const char *path)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);

  return list_subfolders (walk, path, list, FALSE, NULL) && list->len > 0;
}

static gboolean
can_be_part (const char *name, gpointer data)
{
  Walk *walk = data;
  g_autofree char *path = g_build_filename (walk->scan->root, name, NULL);

  return has_subfolders (walk, path);
}

/* The folder of a part.  Repeated packing and unpacking often nests a folder in one of the same
 * name or part: where that is its only folder, the inner folder is returned. */
static char *
enter_part (Walk *walk, const char *name)
{
  char *path = g_build_filename (walk->scan->root, name, NULL);
  DynoPart part = dyno_part_of_name (name, NULL);

  for (guint i = 0; i < MAX_DOUBLED; i++)
    {
      g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *inner = NULL;
      const char *only;

      if (!list_subfolders (walk, path, list, FALSE, NULL) || list->len != 1)
        break;
      only = g_ptr_array_index (list, 0);
      inner = g_build_filename (path, only, NULL);
      if ((g_ascii_strcasecmp (only, name) != 0
           && (part == DYNO_PART_NONE || dyno_part_of_name (only, NULL) != part))
          || !has_subfolders (walk, inner))
        break;
      g_free (path);
      path = g_steal_pointer (&inner);
    }
  return path;
}

/* Adds notes on the other folders that could be a part, and on the folders beside the parts, which
 * are not used. */
static void
note_unused (Walk *walk, const DynoPartFolders *folders, const GPtrArray *names)
{
  g_autoptr (GString) others = g_string_new (NULL);

  dyno_part_folders_note (folders, walk->dataset->notes);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *shown = g_filename_display_name (name);

      if (!g_str_equal (name, folders->train) && g_strcmp0 (name, folders->validation) != 0
          && g_strcmp0 (name, folders->test) != 0
          && !g_ptr_array_find_with_equal_func (folders->unused, name, g_str_equal, NULL))
        g_string_append_printf (others, "%s“%s”", others->len > 0 ? ", " : "", shown);
    }
  if (others->len > 0)
    g_ptr_array_add (
        walk->dataset->notes,
        g_strdup_printf (_ ("Folders beside the parts are not used: %s"), others->str));
}

/* Fills the folders that contain the classes: the parts, or the root.  A folder with the name of a
 * part and without folders in it is a class ("train" beside "bus"), unless the folder of the other
 * part exists, too, or no other folder does. */
static gboolean
find_parts (Walk *walk, char *parts[3], GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  DynoPartFolders folders, flat;

  if (!list_subfolders (walk, walk->scan->root, names, FALSE, error))
    return FALSE;
  g_ptr_array_add (names, NULL);
  dyno_part_folders_choose (&folders, (const char *const *) names->pdata, can_be_part, walk);
  dyno_part_folders_choose (&flat, (const char *const *) names->pdata, NULL, NULL);
  g_ptr_array_set_size (names, (int) names->len - 1);
  if (folders.train)
    {
      note_unused (walk, &folders, names);
      parts[0] = enter_part (walk, folders.train);
      parts[1] = folders.validation ? enter_part (walk, folders.validation) : NULL;
      parts[2] = folders.test ? enter_part (walk, folders.test) : NULL;
    }
  else if (flat.train && (flat.validation || names->len == 1))
    parts[0] = enter_part (walk, flat.train);
  else
    parts[0] = g_strdup (walk->scan->root);
  dyno_part_folders_clear (&folders);
  dyno_part_folders_clear (&flat);
  return TRUE;
}

/* --- doubts ----------------------------------------------------------------------------------- */

static void
note_doubts (Walk *walk, char *const parts[3])
{
  const DynoFolderScan *scan = walk->scan;
  DynoDataset *dataset = walk->dataset;
  DynoSubfolders subfolders;
  char *doubt;

  dyno_subfolders_init (&subfolders);
  for (guint i = 0; i < scan->folders->len; i++)
    {
      const DynoScanFolder *folder = &g_array_index (scan->folders, DynoScanFolder, i);
      const char *within = folder->path + strlen (parts[folder->part - DYNO_PART_TRAIN]);
      const char *slash;

      within += strspn (within, "/");
      slash = strchr (within, '/');
      if (slash && !strchr (slash + 1, '/'))
        dyno_subfolders_add (&subfolders, folder->class_id, slash + 1, strlen (slash + 1));
    }
  doubt = dyno_subfolders_doubt (&subfolders, dataset->info.class_names, dataset->info.n_classes);
  if (doubt)
    g_ptr_array_add (dataset->notes, doubt);
  dyno_subfolders_clear (&subfolders);
}

void
dyno_folder_scan_init (DynoFolderScan *scan, const char *root)
{
  scan->root = g_strdup (root);
  scan->files = g_array_new (FALSE, FALSE, sizeof (DynoScanFile));
  scan->folders = g_array_new (FALSE, FALSE, sizeof (DynoScanFolder));
  scan->names = g_byte_array_new ();
  scan->watched = g_array_new (FALSE, FALSE, sizeof (DynoScanWatched));
  scan->refused = g_array_new (FALSE, FALSE, sizeof (DynoScanFile));
}

gboolean
dyno_folder_scan_run (DynoFolderScan *scan, DynoDataset *dataset, const DynoOpenContext *context,
                      GError **error)
{
  Walk walk = { .scan = scan, .dataset = dataset, .context = context };
  char *parts[3] = { NULL, NULL, NULL }, *left;
  gboolean ok;

  dyno_folder_scan_init (scan, context->location->body);
  walk.real_root = realpath (scan->root, NULL);
  if (!walk.real_root)
    walk.real_root = strdup (scan->root);
  walk.entered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  walk.left = g_ptr_array_new_with_free_func (g_free);

  ok = find_parts (&walk, parts, error) && walk_parts (&walk, parts, error);
  if (ok)
    note_doubts (&walk, parts);
  left = dyno_left_behind_note (walk.left);
  if (left)
    g_ptr_array_add (dataset->notes, left);
  g_free (parts[0]);
  g_free (parts[1]);
  g_free (parts[2]);
  g_ptr_array_unref (walk.left);
  g_hash_table_unref (walk.entered);
  free (walk.real_root);
  return ok;
}

void
dyno_folder_scan_clear (DynoFolderScan *scan)
{
  for (guint i = 0; scan->folders && i < scan->folders->len; i++)
    g_free (g_array_index (scan->folders, DynoScanFolder, i).path);
  for (guint i = 0; scan->watched && i < scan->watched->len; i++)
    g_free (g_array_index (scan->watched, DynoScanWatched, i).path);
  g_clear_pointer (&scan->watched, g_array_unref);
  g_clear_pointer (&scan->refused, g_array_unref);
  g_clear_pointer (&scan->files, g_array_unref);
  g_clear_pointer (&scan->folders, g_array_unref);
  g_clear_pointer (&scan->names, g_byte_array_unref);
  g_clear_pointer (&scan->root, g_free);
}

char *
dyno_folder_scan_get_path (const DynoFolderScan *scan, const DynoScanFile *file)
{
  return g_build_filename (g_array_index (scan->folders, DynoScanFolder, file->folder).path,
                           (const char *) scan->names->data + file->name, NULL);
}
