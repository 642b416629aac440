/* SPDX-License-Identifier: MIT */
/* Walking an image folder.
 *
 * Invariants:
 * - Classes are the sub-folders, ordered by the bytes of their names; with train/ and val/ those of
 *   both together.
 * - Within a class, files are ordered by the bytes of their paths, so an index means the same file
 *   on each run.
 * - A folder is entered once, whatever links lead to it; links that leave the tree are not
 *   followed, but counted, unless that is asked for.
 * - Only regular files are opened later; FIFOs, sockets and devices are counted here. Names that
 *   begin with a dot are passed over. */
#include "folderscan.h"
#include "datafile.h"
#include "hash.h"
#include "intl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 64

typedef struct {
  DynoFolderScan *scan;
  DynoDataset *dataset;
  const DynoOpenContext *context;
  char *real_root;     /* canonical, for links */
  GHashTable *entered; /* "device:inode" of folders to RESERVED or ENTERED */
  gint64 told_us;      /* when progress was called last */
} Walk;

typedef enum { ENTRY_FILE, ENTRY_FOLDER, ENTRY_OUTSIDE, ENTRY_BROKEN, ENTRY_SPECIAL } EntryKind;

void
dyno_folder_scan_note (DynoDataset *dataset, guint max_listed, const char *path, const char *reason)
{
  dataset->info.n_unreadable++;
  if (dataset->unreadable->len < max_listed)
    {
      g_autofree char *shown = g_filename_display_name (path);
      g_ptr_array_add (dataset->unreadable, g_strdup_printf ("%s: %s", shown, reason));
    }
}

static void
note (Walk *walk, const char *path, const char *reason)
{
  dyno_folder_scan_note (walk->dataset, walk->context->max_listed, path, reason);
}

guint64
dyno_scan_stamp (const struct stat *status, gint64 *newest)
{
  /* Not the device: some systems give another number after each mount. */
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

/* Of names out of list_folder: by the bytes behind their types. */
static int
compare_entries (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a + 1, *(char *const *) b + 1);
}

/* The names in a folder without dot names, in byte order, each behind a byte of its d_type; NULL
 * when
 * it cannot be read. */
static GPtrArray *
list_folder (const char *path, struct stat *status, GError **error)
{
  int fd = dyno_datafile_open_any (path, status, error);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;
  GPtrArray *names;

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
  while ((entry = readdir (dir)))
    if (entry->d_name[0] != '.')
      {
        gsize length = strlen (entry->d_name) + 1;
        char *typed = g_malloc (1 + length);

        typed[0] = (char) entry->d_type;
        memcpy (typed + 1, entry->d_name, length);
        g_ptr_array_add (names, typed);
      }
  closedir (dir);
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

/* entry: of list_folder.  The type that came with the name spares a look at a million files. */
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

  if (scan->names->len > G_MAXUINT32 / 2 - length || scan->files->len >= G_MAXINT32)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has more files than Dyno can hold (2 GB of names)"), scan->root);
      return FALSE;
    }
  g_byte_array_append (scan->names, (const guint8 *) name, (guint) length);
  g_array_append_val (scan->files, file);
  if (scan->files->len % 256 != 0)
    return TRUE;
  if (walk->context->progress && g_get_monotonic_time () - walk->told_us > G_USEC_PER_SEC / 10)
    {
      walk->told_us = g_get_monotonic_time ();
      walk->context->progress (scan->files->len, walk->context->progress_data);
    }
  return !g_cancellable_set_error_if_cancelled (walk->context->cancellable, error);
}

static gboolean walk_folder (Walk *walk, const char *path, gint32 class_id, gboolean validation,
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
      return walk_folder (walk, full, of.class_id, of.validation, depth + 1, error);
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

/* Classes' own folders are reserved before any is walked, so that no link within one class leads
 * into another. */
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

/* All files under path into one class. */
static gboolean
walk_folder (Walk *walk, const char *path, gint32 class_id, gboolean validation, guint depth,
             GError **error)
{
  DynoScanFolder folder = { .class_id = class_id, .validation = validation };
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
    ok = walk_entry (walk, fd, place, path, g_ptr_array_index (names, i), depth, error);
  close (fd);
  return ok;
}

/* Names of the class folders in path, added to classes. */
static gboolean
find_classes (Walk *walk, const char *path, GPtrArray *classes, GError **error)
{
  g_autoptr (GPtrArray) names = NULL;
  struct stat status;
  int fd;

  watch (walk, path);
  names = list_folder (path, &status, error);
  fd = names ? dyno_datafile_open_any (path, &status, error) : -1;
  if (fd < 0)
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      const char *entry = g_ptr_array_index (names, i), *name = entry + 1;
      g_autofree char *full = g_build_filename (path, name, NULL);
      EntryKind kind = look_at (walk, fd, entry, full);
      if (kind == ENTRY_FOLDER
          && !g_ptr_array_find_with_equal_func (classes, name, g_str_equal, NULL))
        g_ptr_array_add (classes, g_strdup (name));
      else if (kind == ENTRY_OUTSIDE)
        note (walk, full, "a symbolic link that leaves the folder; data.links follows it");
    }
  close (fd);
  return TRUE;
}

static char *
find_part (const char *root, const char *const *names)
{
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *path = g_build_filename (root, names[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        return g_steal_pointer (&path);
    }
  return NULL;
}

static gboolean
walk_parts (Walk *walk, char *const *parts, GError **error)
{
  DynoDatasetInfo *info = &walk->dataset->info;
  g_autoptr (GPtrArray) classes = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < 2; i++)
    if (parts[i] && !find_classes (walk, parts[i], classes, error))
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
  reserve (walk, walk->scan->root);
  for (guint part = 0; part < 2; part++)
    for (guint i = 0; parts[part] && i < classes->len; i++)
      {
        g_autofree char *path =
            g_build_filename (parts[part], g_ptr_array_index (classes, i), NULL);
        reserve (walk, parts[part]);
        reserve (walk, path);
      }
  for (guint part = 0; part < 2; part++)
    for (guint i = 0; parts[part] && i < classes->len; i++)
      {
        g_autofree char *path =
            g_build_filename (parts[part], g_ptr_array_index (classes, i), NULL);
        if (g_file_test (path, G_FILE_TEST_IS_DIR)
            && !walk_folder (walk, path, (gint32) i, part == 1, 1, error))
          return FALSE;
      }
  info->has_split = parts[1] != NULL;
  return TRUE;
}

static const char *const train_names[] = { "train", "training", NULL };
static const char *const validation_names[] = { "val", "valid", "validation", "test", NULL };

/* Of several folders that could be a part one is taken: the others are said. */
static void
note_unused_parts (DynoDataset *dataset, const char *root, const char *train,
                   const char *validation)
{
  const char *const *names[] = { train_names, validation_names };

  for (guint part = 0; train && part < 2; part++)
    for (guint i = 0; names[part][i]; i++)
      {
        g_autofree char *path = g_build_filename (root, names[part][i], NULL);
        g_autofree char *taken =
            g_filename_display_basename (part == 0 || !validation ? train : validation);
        if (g_file_test (path, G_FILE_TEST_IS_DIR) && g_strcmp0 (path, train) != 0
            && g_strcmp0 (path, validation) != 0)
          g_ptr_array_add (
              dataset->notes,
              g_strdup_printf ("The folder “%s” is not used: “%s” is taken for its part",
                               names[part][i], taken));
      }
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
  g_autofree char *train = NULL, *validation = NULL;
  char *parts[2];
  gboolean ok;

  dyno_folder_scan_init (scan, context->location->body);
  walk.real_root = realpath (scan->root, NULL);
  if (!walk.real_root)
    walk.real_root = strdup (scan->root);
  walk.entered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  watch (&walk, scan->root);

  train = find_part (scan->root, train_names);
  validation = train ? find_part (scan->root, validation_names) : NULL;
  parts[0] = train ? train : scan->root;
  parts[1] = validation;
  note_unused_parts (dataset, scan->root, train, validation);
  ok = walk_parts (&walk, parts, error);
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
