/* SPDX-License-Identifier: MIT */
/* Image files without labels, for prediction: files by name, and folders with all files in them at
 * any depth.
 *
 * Invariants: the order is that of the arguments, within a folder that of the paths' bytes; a file
 * that is no image is listed as unreadable, never fatal while another can be read; links are
 * followed where they are arguments, below a folder only with links set in the params, and no
 * folder is entered twice. */
#include "datafile.h"
#include "dataset-class.h"
#include "foldernames.h"
#include "folderscan.h"
#include "image.h"
#include "partnames.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 64

typedef struct {
  DynoFolderScan *scan;
  DynoDataset *dataset;
  const DynoOpenContext *context;
  GHashTable *folders; /* from a path to its place in scan->folders + 1 */
  GHashTable *entered; /* "device:inode" */
} Walk;

static void
note (Walk *walk, const char *path, const char *reason)
{
  dyno_folder_scan_note (walk->dataset, walk->context->max_listed, path, reason);
}

static guint32
place_of_folder (Walk *walk, const char *path)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (walk->folders, path));
  DynoScanFolder folder = { .path = g_strdup (path) };

  if (place > 0)
    {
      g_free (folder.path);
      return place - 1;
    }
  g_array_append_val (walk->scan->folders, folder);
  g_hash_table_insert (walk->folders, g_strdup (path), GUINT_TO_POINTER (walk->scan->folders->len));
  return walk->scan->folders->len - 1;
}

static gboolean
add_file (Walk *walk, const char *folder, const char *name, GError **error)
{
  DynoFolderScan *scan = walk->scan;
  gsize length = strlen (name) + 1;
  DynoScanFile file = { .folder = place_of_folder (walk, folder), .name = scan->names->len };

  if (scan->names->len > G_MAXUINT32 / 2 - length || scan->files->len >= G_MAXINT32)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   "There are more files than Dyno can hold (2 GB of names)");
      return FALSE;
    }
  g_byte_array_append (scan->names, (const guint8 *) name, (guint) length);
  g_array_append_val (scan->files, file);
  return TRUE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* The names in a folder except those that begin with a dot or that systems leave behind; NULL: the
 * folder cannot be read, for *reason, or was listed before (*reason NULL). */
static GPtrArray *
list_folder (Walk *walk, const char *path, const char **reason)
{
  g_autoptr (GDir) dir = NULL;
  struct stat status;
  const char *name;
  GPtrArray *names;
  char *key;

  *reason = NULL;
  if (stat (path, &status) != 0)
    {
      *reason = g_strerror (errno);
      return NULL;
    }
  key = g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64) status.st_dev,
                         (guint64) status.st_ino);
  if (!g_hash_table_add (walk->entered, key))
    return NULL;
  dir = g_dir_open (path, 0, NULL);
  if (!dir)
    {
      *reason = "the folder cannot be read";
      return NULL;
    }
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = dyno_folder_next_name (dir)))
    if (name[0] != '.' && !dyno_name_is_left_behind (name, NULL))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static gboolean
walk_folder (Walk *walk, const char *path, guint depth, GError **error)
{
  const char *reason;
  g_autoptr (GPtrArray) names = NULL;

  if (g_cancellable_set_error_if_cancelled (walk->context->cancellable, error))
    return FALSE;
  names = depth > MAX_DEPTH ? NULL : list_folder (walk, path, &reason);
  if (depth > MAX_DEPTH)
    reason = "folders nested too deeply";
  if (!names && reason)
    note (walk, path, reason);
  for (guint i = 0; names && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *full = g_build_filename (path, name, NULL);
      struct stat status;

      if (g_cancellable_set_error_if_cancelled (walk->context->cancellable, error))
        return FALSE;
      if (lstat (full, &status) == 0 && S_ISLNK (status.st_mode) && !walk->context->params->links)
        note (walk, full, "a symbolic link; data.links follows it");
      else if (stat (full, &status) != 0)
        note (walk, full, g_strerror (errno));
      else if (S_ISDIR (status.st_mode))
        {
          if (!walk_folder (walk, full, depth + 1, error))
            return FALSE;
        }
      else if (!S_ISREG (status.st_mode))
        note (walk, full, "not a regular file");
      else if (!add_file (walk, path, name, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
walk_argument (Walk *walk, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  struct stat status;

  if (stat (path, &status) != 0)
    note (walk, path, g_strerror (errno));
  else if (S_ISDIR (status.st_mode))
    return walk_folder (walk, path, 1, error);
  else if (!S_ISREG (status.st_mode))
    note (walk, path, "not a regular file");
  else
    return add_file (walk, strchr (path, '/') ? folder : "", name, error);
  return TRUE;
}

static gboolean
imagefiles_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoFolderScan *scan = dataset->state = g_new0 (DynoFolderScan, 1);
  DynoDatasetInfo *info = &dataset->info;
  g_autoptr (GHashTable) folders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                         entered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Walk walk = { scan, dataset, context, folders, entered };

  dyno_folder_scan_init (scan, "");
  info->resizable = TRUE;
  for (guint i = 0; context->paths[i]; i++)
    if (!walk_argument (&walk, context->paths[i], error))
      return FALSE;
  dyno_dataset_info_set_classes (info, 1); /* for the counts of dyno_folder_probe */
  if (!dyno_folder_probe (scan, dataset, context, error))
    return FALSE;
  dyno_dataset_info_set_classes (info, 0);
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, info->max_height, info->max_width, 3, 0);
  dyno_dataset_info_drop_targets (info);
  dyno_dataset_info_photographs (info);
  return TRUE;
}

static void
imagefiles_close (DynoDataset *dataset)
{
  if (dataset->state)
    dyno_folder_scan_clear (dataset->state);
  g_free (dataset->state);
}

static char *
path_of (DynoDataset *dataset, guint64 index)
{
  const DynoFolderScan *scan = dataset->state;

  return dyno_folder_scan_get_path (scan, &g_array_index (scan->files, DynoScanFile, index));
}

static char *
imagefiles_describe (DynoDataset *dataset, guint64 index)
{
  g_autofree char *path = path_of (dataset, index);

  return g_filename_display_name (path);
}

static gboolean
imagefiles_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                  GError **error)
{
  g_autofree char *path = path_of (dataset, index);

  return dyno_datafile_read (path, DYNO_IMAGE_MAX_FILE_BYTES, scratch, fetched, error);
}

static gboolean
imagefiles_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                   gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  (void) dataset;
  (void) index;
  return dyno_image_decode (scratch, fetched, width, height, fields[DYNO_DATASET_INPUT], error);
}

const DynoDatasetClass dyno_dataset_class_imagefiles = {
  .kind = "image-files",
  .title = "Image files",
  .open = imagefiles_open,
  .close = imagefiles_close,
  .fetch = imagefiles_fetch,
  .has_files = TRUE,
  .decode = imagefiles_decode,
  .describe = imagefiles_describe,
};
