/* SPDX-License-Identifier: MIT */
/* Image folders: one sub-folder per class, or train/ and val/ with one sub-folder per class each.
 * Invariants: the content of a file decides its type; samples are (H, W, 3) bytes of any wanted
 * size; a file that cannot be decoded when its turn comes is an error of that sample, never of the
 * data set. */
#include "dataset-class.h"
#include "datafile.h"
#include "folderscan.h"
#include "image.h"
#include <string.h>

static const DynoScanFolder *
folder_of (DynoDataset *dataset, guint64 index)
{
  const DynoFolderScan *scan = dataset->state;
  return &g_array_index (scan->folders, DynoScanFolder,
                         g_array_index (scan->files, DynoScanFile, index).folder);
}

static gboolean
imagefolder_matches (const DynoLocation *location)
{
  return !location->scheme && location->is_folder;
}

static gboolean
imagefolder_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoDatasetInfo *info = &dataset->info;
  DynoFolderScan *scan = dataset->state = g_new0 (DynoFolderScan, 1);
  gint64 started = g_get_real_time () / G_USEC_PER_SEC;

  info->resizable = TRUE;
  if (!dyno_folder_index_load (scan, dataset, context))
    {
      if (!dyno_folder_scan_run (scan, dataset, context, error)
          || !dyno_folder_probe (scan, dataset, context, error))
        return FALSE;
      dyno_folder_index_save (scan, dataset, context, started);
    }
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, info->max_height, info->max_width, 3, 0);
  dyno_dataset_info_photographs (info);
  return TRUE;
}

static void
imagefolder_close (DynoDataset *dataset)
{
  if (dataset->state)
    dyno_folder_scan_clear (dataset->state);
  g_free (dataset->state);
}

static gint32
imagefolder_label (DynoDataset *dataset, guint64 index)
{
  return folder_of (dataset, index)->class_id;
}

static DynoPart
imagefolder_part (DynoDataset *dataset, guint64 index)
{
  return folder_of (dataset, index)->part;
}

static char *
imagefolder_describe (DynoDataset *dataset, guint64 index)
{
  const DynoFolderScan *scan = dataset->state;
  g_autofree char *path =
      dyno_folder_scan_get_path (scan, &g_array_index (scan->files, DynoScanFile, index));
  const char *within = path + strlen (scan->root);

  while (*within == '/')
    within++;
  return g_filename_display_name (within);
}

static gboolean
imagefolder_fetch (DynoDataset *dataset, guint64 index, GByteArray *scratch, gsize *fetched,
                   GError **error)
{
  const DynoFolderScan *scan = dataset->state;
  g_autofree char *path =
      dyno_folder_scan_get_path (scan, &g_array_index (scan->files, DynoScanFile, index));

  return dyno_datafile_read (path, DYNO_IMAGE_MAX_FILE_BYTES, scratch, fetched, error);
}

static gboolean
name_error (DynoDataset *dataset, guint64 index, GError **error)
{
  const DynoFolderScan *scan = dataset->state;
  g_autofree char *path =
      dyno_folder_scan_get_path (scan, &g_array_index (scan->files, DynoScanFile, index));
  g_autofree char *shown = g_filename_display_name (path);

  g_prefix_error (error, "“%s”: ", shown);
  return FALSE;
}

static gboolean
imagefolder_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                    gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  *(gint32 *) fields[DYNO_DATASET_TARGET] = imagefolder_label (dataset, index);
  return dyno_image_decode (scratch, fetched, width, height, fields[DYNO_DATASET_INPUT], error)
         || name_error (dataset, index, error);
}

static gboolean
imagefolder_decode_crop (DynoDataset *dataset, guint64 index, const DynoCrop *crop, guint32 seed,
                         guint32 width, guint32 height, gpointer const *fields, GByteArray *scratch,
                         gsize fetched, GError **error)
{
  *(gint32 *) fields[DYNO_DATASET_TARGET] = imagefolder_label (dataset, index);
  return dyno_image_decode_crop (scratch, fetched, NULL, crop, seed, width, height,
                                 fields[DYNO_DATASET_INPUT], error)
         || name_error (dataset, index, error);
}

static gboolean
imagefolder_probe (DynoDataset *dataset, guint64 index, GError **error)
{
  const DynoFolderScan *scan = dataset->state;
  g_autofree char *path =
      dyno_folder_scan_get_path (scan, &g_array_index (scan->files, DynoScanFile, index));

  return dyno_datafile_probe (path, 0, error);
}

const DynoDatasetClass dyno_dataset_class_imagefolder = {
  .kind = "image-folder",
  .title = "Image folder",
  .matches = imagefolder_matches,
  .open = imagefolder_open,
  .close = imagefolder_close,
  .fetch = imagefolder_fetch,
  .has_files = TRUE,
  .decode = imagefolder_decode,
  .decode_crop = imagefolder_decode_crop,
  .label = imagefolder_label,
  .probe = imagefolder_probe,
  .describe = imagefolder_describe,
  .part = imagefolder_part,
};
