/* SPDX-License-Identifier: MIT */
/* Opens samples for prediction: decides the kind of the paths, and lists the files among them.
 *
 * Invariants: the first path that exists decides between images, arrays and sequences; arrays are
 * sequences where the input of the weights is one, and where the input is not known, they are read
 * as in the formats with labels. */
#include "foldernames.h"
#include "unlabelled.h"
#include "intl.h"
#include "partnames.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH      64
#define DEFAULT_LISTED 100

void
dyno_unlabelled_note (DynoDataset *dataset, const DynoOpenContext *context, const char *path,
                      const char *reason)
{
  g_autofree char *shown = g_filename_display_name (path);

  dataset->info.n_unreadable++;
  if (dataset->unreadable->len < context->max_listed)
    g_ptr_array_add (dataset->unreadable, g_strdup_printf ("%s: %s", shown, reason));
}

/* --- the files among the paths ---------------------------------------------------------------- */

typedef struct {
  DynoDataset *dataset;
  const DynoOpenContext *context;
  gboolean arrays;
  GPtrArray *files;
} Walk;

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static gboolean
is_wanted (const Walk *walk, const char *name)
{
  return (g_str_has_suffix (name, ".npy") && !dyno_npy_is_target_name (name))
         || (walk->arrays && g_str_has_suffix (name, ".npz"));
}

static gboolean
walk_folder (Walk *walk, const char *path, guint depth, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *x = walk->arrays ? dyno_npy_find_samples (path) : NULL;
  const char *name;

  if (g_cancellable_set_error_if_cancelled (walk->context->cancellable, error))
    return FALSE;
  if (!dir || depth > MAX_DEPTH)
    dyno_unlabelled_note (walk->dataset, walk->context, path,
                          dir ? _ ("folders nested too deeply") : _ ("the folder cannot be read"));
  if (!dir || depth > MAX_DEPTH || x)
    {
      if (x)
        g_ptr_array_add (walk->files, g_steal_pointer (&x));
      return TRUE;
    }
  while ((name = dyno_folder_next_name (dir)))
    if (name[0] != '.' && !dyno_name_is_left_behind (name, NULL))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *full = g_build_filename (path, g_ptr_array_index (names, i), NULL);
      struct stat status;

      if (g_cancellable_set_error_if_cancelled (walk->context->cancellable, error))
        return FALSE;
      if (lstat (full, &status) != 0)
        continue;
      if (S_ISLNK (status.st_mode) && (!walk->context->params->links || stat (full, &status) != 0))
        continue;
      if (S_ISDIR (status.st_mode) && !walk_folder (walk, full, depth + 1, error))
        return FALSE;
      if (S_ISREG (status.st_mode) && is_wanted (walk, g_ptr_array_index (names, i)))
        g_ptr_array_add (walk->files, g_steal_pointer (&full));
    }
  return TRUE;
}

GPtrArray *
dyno_unlabelled_list (DynoDataset *dataset, const DynoOpenContext *context, gboolean arrays,
                      GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  Walk walk = { dataset, context, arrays, files };

  for (guint i = 0; context->paths[i]; i++)
    {
      const char *path = context->paths[i];
      struct stat status;

      if (stat (path, &status) != 0)
        dyno_unlabelled_note (dataset, context, path, g_strerror (errno));
      else if (S_ISDIR (status.st_mode))
        {
          if (!walk_folder (&walk, path, 1, error))
            return NULL;
        }
      else if (!S_ISREG (status.st_mode))
        dyno_unlabelled_note (dataset, context, path, _ ("not a regular file"));
      else
        g_ptr_array_add (files, g_strdup (path));
    }
  return g_steal_pointer (&files);
}

/* --- of which kind they are ------------------------------------------------------------------- */

/* The class that reads path without labels; NULL: path is read with labels. */
static const DynoDatasetClass *
choose_class (const char *path, const DynoBatchField *wanted)
{
  g_autoptr (DynoLocation) location = dyno_location_new (path, NULL);
  const DynoDatasetClass *found = NULL;

  for (guint i = 0; location && !found && dyno_dataset_classes[i]; i++)
    if (dyno_dataset_classes[i]->matches (location))
      found = dyno_dataset_classes[i];
  if (found == &dyno_dataset_class_npy || found == &dyno_dataset_class_npz
      || found == &dyno_dataset_class_sequences)
    return (wanted ? wanted->n_axes == 2
                         && (wanted->variable || found == &dyno_dataset_class_sequences)
                   : found == &dyno_dataset_class_sequences)
               ? &dyno_dataset_class_sequencefiles
               : &dyno_dataset_class_arrayfiles;
  if ((found && found != &dyno_dataset_class_imagefolder) || (location && location->scheme))
    return NULL;
  return &dyno_dataset_class_imagefiles;
}

DynoDataset *
dyno_dataset_open_unlabelled (const char *const *paths, const DynoBatchField *wanted,
                              const DynoDatasetParams *params, DynoScanProgress progress,
                              gpointer data, GCancellable *cancellable, GError **error)
{
  DynoDatasetParams own = params ? *params : (DynoDatasetParams){ 0 };
  g_autoptr (DynoLocation) location = g_new0 (DynoLocation, 1);
  DynoOpenContext context = { .location = location,
                              .params = &own,
                              .max_listed = own.max_listed > 0 ? own.max_listed : DEFAULT_LISTED,
                              .progress = progress,
                              .progress_data = data,
                              .cancellable = cancellable,
                              .paths = paths,
                              .wanted = wanted };
  const DynoDatasetClass *klass;
  DynoDataset *dataset;
  GError *problem = NULL;
  guint first = 0;

  g_return_val_if_fail (paths && paths[0], NULL);
  if (cancellable)
    g_cancellable_push_current (cancellable);
  own.one_class = TRUE;
  own.wanted = wanted;
  while (paths[1] && paths[first + 1] && !g_file_test (paths[first], G_FILE_TEST_EXISTS))
    first++;
  klass = choose_class (paths[first], wanted);
  if (!klass && !paths[1])
    {
      dataset = dyno_dataset_open (paths[0], &own, progress, data, cancellable, &problem);
      return dyno_dataset_end_open (dataset, cancellable, problem, error);
    }
  location->text = g_strdup (paths[0]);
  location->body = g_strdup (paths[0]);
  location->options = g_new0 (char *, 1);
  dataset = dyno_dataset_new (klass ? klass : &dyno_dataset_class_imagefiles, &context, &problem);
  return dyno_dataset_end_open (dataset, cancellable, problem, error);
}
