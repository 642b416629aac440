/* SPDX-License-Identifier: MIT */
/* Finding the image files of an image folder (folderscan.c), and reading their headers
 * (folderprobe.c), which takes the list of the scan. */
#pragma once
#include "dataset-class.h"

G_BEGIN_DECLS

/* A file in 8 bytes, its name in one block of all names: a million files take some tens of
 * megabytes. */
typedef struct {
  guint32 folder; /* in folders */
  guint32 name;   /* offset in names */
} DynoScanFile;

typedef struct {
  char *path; /* openable, as given by the user and extended */
  gint32 class_id;
  gboolean validation;
} DynoScanFolder;

typedef struct {
  char *root;
  GArray *files;     /* DynoScanFile, by part, class, path */
  GArray *folders;   /* DynoScanFolder */
  GByteArray *names; /* names ended by 0 */
} DynoFolderScan;

/* Fills the lists, and the data set's unreadable files.
 * Errors: UNKNOWN (no class folders), TOO_LARGE, NOT_FOUND, READ; G_IO_ERROR_CANCELLED. */
gboolean dyno_folder_scan_run (DynoFolderScan *scan, DynoDataset *dataset,
                               const DynoOpenContext *context, GError **error);
void dyno_folder_scan_clear (DynoFolderScan *scan);

char *dyno_folder_scan_get_path (const DynoFolderScan *scan, const DynoScanFile *file);

/* Counts a file that is not used, and lists it while there is room. Not for several threads at
 * once. */
void dyno_folder_scan_note (DynoDataset *dataset, guint max_listed, const char *path,
                            const char *reason);

/* Second half: reads the headers of scan's files by a few threads, drops those that are not images,
 * and fills the facts that come from headers.  Errors: those of dyno_folder_scan_run. */
gboolean dyno_folder_probe (DynoFolderScan *scan, DynoDataset *dataset,
                            const DynoOpenContext *context, GError **error);

G_END_DECLS
