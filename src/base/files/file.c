/* SPDX-License-Identifier: MIT */
/* Atomic replacement of files, and the cache folder. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

gboolean
dyno_file_set_error (GError **error, int code, const char *path)
{
  gboolean disk = code == ENOSPC || code == EDQUOT || code == EFBIG;
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, DYNO_BASE_ERROR, disk ? DYNO_BASE_ERROR_DISK : DYNO_BASE_ERROR_IO,
               "Cannot write “%s”: %s", shown, g_strerror (code));
  return FALSE;
}

void
dyno_file_ignore_size_signal (void)
{
  struct sigaction action = { .sa_handler = SIG_IGN };

  sigaction (SIGXFSZ, &action, NULL);
}

static gboolean
write_all (int fd, const guint8 *data, gsize size)
{
  while (size > 0)
    {
      gssize n = write (fd, data, MIN (size, (gsize) 1 << 30));
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      data += n;
      size -= (gsize) n;
    }
  return TRUE;
}

int
dyno_file_open_temporary (const char *path, char **temporary)
{
  g_autofree char *folder = g_path_get_dirname (path);

  *temporary = g_build_filename (folder, DYNO_FILE_TEMPORARY_PREFIX "XXXXXX", NULL);
  return g_mkstemp_full (*temporary, O_RDWR | O_CLOEXEC, 0644);
}

gboolean
dyno_file_is_temporary (const char *name)
{
  gsize prefix = strlen (DYNO_FILE_TEMPORARY_PREFIX);

  if (!g_str_has_prefix (name, DYNO_FILE_TEMPORARY_PREFIX) || strlen (name) != prefix + 6)
    return FALSE;
  for (const char *c = name + prefix; *c; c++)
    if (!g_ascii_isalnum (*c))
      return FALSE;
  return TRUE;
}

gboolean
dyno_file_replace (const char *temporary, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int code, fd;

  if (g_rename (temporary, path) != 0)
    {
      code = errno;
      g_unlink (temporary);
      return dyno_file_set_error (error, code, path);
    }
  fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0)
    {
      /* The rename itself is made durable; a file system that cannot do so keeps the file none the
       * less. */
      (void) fsync (fd);
      close (fd);
    }
  return TRUE;
}

gboolean
dyno_file_write_atomic (const char *path, const void *data, gsize size_bytes, GError **error)
{
  g_autofree char *temporary = NULL;
  int fd = dyno_file_open_temporary (path, &temporary), code;
  gboolean written;

  if (fd < 0)
    return dyno_file_set_error (error, errno, path);
  written = write_all (fd, data, size_bytes) && fsync (fd) == 0;
  code = errno;
  if (close (fd) != 0 && written)
    {
      code = errno;
      written = FALSE;
    }
  if (written)
    return dyno_file_replace (temporary, path, error);
  g_unlink (temporary);
  return dyno_file_set_error (error, code, path);
}

gboolean
dyno_file_test_writable (const char *path, GError **error)
{
  static const guint8 block[4096];
  g_autofree char *temporary = NULL;
  int fd, code;
  gboolean written;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return dyno_file_set_error (error, EISDIR, path);
  fd = dyno_file_open_temporary (path, &temporary);
  if (fd < 0)
    return dyno_file_set_error (error, errno, path);
  written = write_all (fd, block, sizeof block) && fsync (fd) == 0;
  code = errno;
  close (fd);
  g_unlink (temporary);
  return written ? TRUE : dyno_file_set_error (error, code, path);
}

static char *state_dir; /* written once, before there are threads */

/* TRUE for the folder of dyno_data_dir, and for Dyno's own folders there with all that they hold; a
 * state folder may also hold other folders of its user. */
static gboolean
is_private (const char *path)
{
  static const char *const names[] = { "", "cache", "presets", "queue", "runs", "searches" };
  g_autofree char *whole = g_canonicalize_filename (path, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *data = dyno_data_dir (names[i]), *own = g_canonicalize_filename (data, NULL);
      gsize length = strlen (own);

      if (strncmp (whole, own, length) == 0
          && (whole[length] == '\0' || (*names[i] && whole[length] == '/')))
        return TRUE;
    }
  return FALSE;
}

gboolean
dyno_dir_make (const char *path)
{
  return g_mkdir_with_parents (path, is_private (path) ? 0700 : 0755) == 0;
}

gboolean
dyno_dir_test_writable (const char *folder)
{
  return g_mkdir_with_parents (folder, 0700) == 0 && g_access (folder, W_OK | X_OK) == 0;
}

gboolean
dyno_dir_may_be_writable (const char *folder)
{
  g_autofree char *at = g_strdup (folder);

  while (g_access (at, F_OK) != 0 && errno == ENOENT)
    {
      char *above = g_path_get_dirname (at);
      gboolean top = g_str_equal (above, at);

      g_free (at);
      at = above;
      if (top)
        break;
    }
  if (g_access (at, F_OK) != 0)
    return FALSE;
  if (g_file_test (at, G_FILE_TEST_IS_DIR))
    return g_access (at, W_OK | X_OK) == 0;
  errno = ENOTDIR;
  return FALSE;
}

gboolean
dyno_state_dir_set (const char *folder, GError **error)
{
  if (!dyno_dir_test_writable (folder))
    return dyno_file_set_error (error, errno, folder);
  g_free (state_dir);
  state_dir = g_canonicalize_filename (folder, NULL);
  return TRUE;
}

const char *
dyno_state_dir_get (void)
{
  return state_dir;
}

static void
note_no_cache (const char *path, int code)
{
  static gint reported;
  g_autofree char *shown = g_filename_display_name (path);

  if (g_atomic_int_compare_and_exchange (&reported, FALSE, TRUE))
    g_message ("Caches are not kept, so kernels are compiled at every start: cannot write into "
               "“%s”: %s; --state-dir names another folder",
               shown, g_strerror (code));
}

char *
dyno_cache_dir (const char *child)
{
  g_autofree char *path = state_dir
                              ? g_build_filename (state_dir, "cache", child, NULL)
                              : g_build_filename (g_get_user_cache_dir (), "dyno", child, NULL);

  if (dyno_dir_test_writable (path))
    return g_steal_pointer (&path);
  note_no_cache (path, errno);
  return g_file_test (path, G_FILE_TEST_IS_DIR) ? g_steal_pointer (&path) : NULL;
}

char *
dyno_data_dir (const char *child)
{
  return state_dir ? g_build_filename (state_dir, child, NULL)
                   : g_build_filename (g_get_user_data_dir (), "dyno", child, NULL);
}
