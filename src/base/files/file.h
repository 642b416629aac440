/* SPDX-License-Identifier: MIT */
/* Files that are written completely or not at all. */
#pragma once
#include "base-error.h"

G_BEGIN_DECLS

/* Writes data to path so that path holds either its old content or the new one, also after a crash:
 * temporary file beside it, fsync, rename.  A symbolic link at path is replaced, not followed.
 * Errors: DYNO_BASE_ERROR_DISK (no space, quota, size limit), DYNO_BASE_ERROR_IO; the message names
 * the path. */
gboolean dyno_file_write_atomic (const char *path, const void *data, gsize size_bytes,
                                 GError **error);

/* All writers name their temporary files with this prefix, beside the file that they become.  No
 * other file is named so: a file of this name that is found while no writer is at work was left by
 * a killed process, and may be removed. */
#define DYNO_FILE_TEMPORARY_PREFIX ".dyno-"

/* For writers that stream: a temporary file beside path, open for reading and writing; -1 with
 * errno.  Free *temporary with g_free; the caller ends with dyno_file_replace or unlink. */
int dyno_file_open_temporary (const char *path, char **temporary);
gboolean dyno_file_is_temporary (const char *name); /* a file's name without its folder */

/* Renames a temporary file, written and closed, to path and makes the rename durable; removes the
 * temporary file on failure.  Errors: as above. */
gboolean dyno_file_replace (const char *temporary, const char *path, GError **error);

/* Whether a file could be written at path now: its folder takes a temporary file with a block of
 * data, and path itself is no folder.  An existing file at path is not changed.  Errors: as of
 * dyno_file_write_atomic. */
gboolean dyno_file_test_writable (const char *path, GError **error);

/* Sets the error for an errno of writing to path: DYNO_BASE_ERROR_DISK or _IO.  Returns FALSE. */
gboolean dyno_file_set_error (GError **error, int code, const char *path);

/* From now on a write past RLIMIT_FSIZE fails with EFBIG, like a full disk, in all threads, instead
 * of raising a signal that ends the process.  Call once from main. */
void dyno_file_ignore_size_signal (void);

/* From now on all files that are kept between two starts of the program lie in this folder
 * (--state-dir): caches, presets, and the training runs and settings of the window.  The folder is
 * created where it is missing, and checked for write access.  Call once, from main, before anything
 * else uses files.  Errors: DYNO_BASE_ERROR_DISK, _IO. */
gboolean dyno_state_dir_set (const char *folder, GError **error);
const char *dyno_state_dir_get (void); /* absolute; NULL: none was set */

/* The folder for caches of compiled shaders and tuning results, $XDG_CACHE_HOME/dyno/CHILD or
 * cache/CHILD in the state folder; created when missing.  NULL when it cannot be created: callers
 * then work without a cache.  The first failure to write to it is logged.  Free with g_free. */
char *dyno_cache_dir (const char *child);

/* $XDG_DATA_HOME/dyno/CHILD, or CHILD in the state folder; not created. */
char *dyno_data_dir (const char *child);

/* Creates a folder and its missing parents: accessible to the user only where it is the folder of
 * dyno_data_dir, or is or lies in a folder of Dyno's own there ("runs", "cache" and so on), else by
 * the process's umask.  FALSE with errno on failure. */
gboolean dyno_dir_make (const char *path);

/* Creates a folder, accessible to the user only, where it is missing; FALSE, with errno, when
 * nothing can be written into it. */
gboolean dyno_dir_test_writable (const char *folder);
/* Whether dyno_dir_test_writable would succeed, as far as can be seen without creating anything:
 * the folder, or its nearest existing parent, can be written into.  FALSE: errno has the reason. */
gboolean dyno_dir_may_be_writable (const char *folder);

G_END_DECLS
