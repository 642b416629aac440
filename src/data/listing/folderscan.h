/* SPDX-License-Identifier: MIT */
/* Finds the image files of an image folder (folderscan.c) and reads the headers of the found files
 * (folderprobe.c); both results can be kept on disk (folderindex.c). */
#pragma once
#include "dataset-class.h"
#include <sys/stat.h>

G_BEGIN_DECLS

/* A file in 8 bytes, its name in one block with all names: a million files take a few tens of
 * megabytes. */
typedef struct {
  guint32 folder; /* index in folders */
  guint32 name;   /* offset in names */
} DynoScanFile;

typedef struct {
  char *path; /* a path that can be opened: the path given by the user, with the levels below */
  gint32 class_id;
  DynoPart part;
  guint64 stamp; /* its dyno_scan_stamp before it was listed */
} DynoScanFolder;

/* A folder that was searched for other folders, or could not be entered. */
typedef struct {
  char *path;
  guint64 stamp;
} DynoScanWatched;

typedef struct {
  char *root;
  GArray *files;     /* DynoScanFile, by part, class, path */
  GArray *folders;   /* DynoScanFolder */
  GByteArray *names; /* names ended by 0 */
  /* Only for the index: */
  GArray *watched; /* DynoScanWatched */
  GArray *refused; /* DynoScanFile of files that are no images, whose stamps an index compares */
  guint64 n_refused;
  gint64 newest;   /* the latest time, in seconds, at which a folder changed */
  gboolean unsure; /* something could not be read, which may change unnoticed */
} DynoFolderScan;

/* Lists the files and folders, and the data set's unreadable files.
 * Errors: UNKNOWN (no class folders), TOO_LARGE, NOT_FOUND, READ; G_IO_ERROR_CANCELLED. */
gboolean dyno_folder_scan_run (DynoFolderScan *scan, DynoDataset *dataset,
                               const DynoOpenContext *context, GError **error);
/* Sets up empty lists in a zeroed scan. */
void dyno_folder_scan_init (DynoFolderScan *scan, const char *root);
void dyno_folder_scan_clear (DynoFolderScan *scan);

char *dyno_folder_scan_get_path (const DynoFolderScan *scan, const DynoScanFile *file);

/* A hash that changes when a folder gets or loses an entry, or a file gets other content; *newest
 * (may be NULL) is raised to the time of modification, in seconds. */
guint64 dyno_scan_stamp (const struct stat *status, gint64 *newest);

/* Counts a file that is not used, and lists it while there is room.  Not thread-safe. */
void dyno_folder_scan_note (DynoDataset *dataset, guint max_listed, const char *path,
                            const char *reason);

/* The second step of a scan: reads the headers of the scan's files by a few threads, drops files
 * that are not images, and fills the facts that come from headers.  Errors: those of
 * dyno_folder_scan_run. */
gboolean dyno_folder_probe (DynoFolderScan *scan, DynoDataset *dataset,
                            const DynoOpenContext *context, GError **error);

/* Fills the results of both steps from the index in the cache folder.  FALSE, and nothing is
 * filled: there is no index, the folder has changed since, or the opening was cancelled.  These
 * changes are detected: entries that were added, removed, renamed or replaced, by the times of
 * their folders; changes of refused files; and changes of every n-th other file, with n such that
 * at most DYNO_INDEX_WITNESSES files are checked.  Not detected are changes in place of the
 * remaining files, and links with new targets; their content is checked when they are decoded, as
 * always. */
gboolean dyno_folder_index_load (DynoFolderScan *scan, DynoDataset *dataset,
                                 const DynoOpenContext *context);

/* Writes the index of a folder that was scanned from `started` on, a wall-clock time in seconds.
 * It is not written for a small folder, for a folder that changed just before, or where something
 * could not be read.  A failure is logged and otherwise ignored. */
void dyno_folder_index_save (const DynoFolderScan *scan, DynoDataset *dataset,
                             const DynoOpenContext *context, gint64 started);

#define DYNO_INDEX_WITNESSES 4096

G_END_DECLS
