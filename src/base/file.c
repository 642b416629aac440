/* SPDX-License-Identifier: MIT */
/* Atomic replacement of files, and the cache folder. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

static void
set_errno_error (GError **error, int code, const char *path)
{
  gboolean disk = code == ENOSPC || code == EDQUOT || code == EFBIG;
  g_set_error (error, DYNO_BASE_ERROR, disk ? DYNO_BASE_ERROR_DISK : DYNO_BASE_ERROR_IO, "Cannot write “%s”: %s", path,
               g_strerror (code));
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

gboolean
dyno_file_write_atomic (const char *path, const void *data, gsize size_bytes, GError **error)
{
  g_autofree char *temporary = g_strconcat (path, ".XXXXXX", NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  int fd = g_mkstemp_full (temporary, O_RDWR | O_CLOEXEC, 0644);
  int code;

  if (fd < 0)
    {
      set_errno_error (error, errno, path);
      return FALSE;
    }
  if (!write_all (fd, data, size_bytes) || fsync (fd) != 0)
    {
      code = errno;
      close (fd);
      g_unlink (temporary);
      set_errno_error (error, code, path);
      return FALSE;
    }
  if (close (fd) != 0 || g_rename (temporary, path) != 0)
    {
      code = errno;
      g_unlink (temporary);
      set_errno_error (error, code, path);
      return FALSE;
    }

  fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0)
    {
      /* The rename itself is made durable; a file system that cannot do so keeps the file none the less. */
      (void) fsync (fd);
      close (fd);
    }
  return TRUE;
}

char *
dyno_cache_dir (const char *child)
{
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "dyno", child, NULL);
  return g_mkdir_with_parents (path, 0755) == 0 ? g_steal_pointer (&path) : NULL;
}
