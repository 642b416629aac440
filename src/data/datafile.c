/* SPDX-License-Identifier: MIT */
/* Opens and reads data files carefully.  O_NONBLOCK keeps open from waiting for a FIFO's writer;
 * the type is checked on the open descriptor, so that the file cannot be swapped in between. */
#include "datafile.h"
#include "intl.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE 65536 /* bytes: the largest page of any machine */

gboolean
dyno_datafile_is_unreachable (int code)
{
  static const int codes[] = { EIO,       ENXIO,        ENODEV,     ENOMEDIUM,    ESTALE,
                               ENOTCONN,  ETIMEDOUT,    ECONNRESET, ECONNABORTED, ECONNREFUSED,
                               EHOSTDOWN, EHOSTUNREACH, ENETDOWN,   ENETUNREACH,  ENONET,
                               ESHUTDOWN, EREMOTEIO };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    if (code == codes[i])
      return TRUE;
  return FALSE;
}

void
dyno_datafile_set_error (GError **error, int code, const char *path)
{
  g_autofree char *shown = g_filename_display_name (path);
  gboolean missing = code == ENOENT || code == ENOTDIR;

  g_set_error (error, DYNO_DATA_ERROR,
               missing                               ? DYNO_DATA_ERROR_NOT_FOUND
               : dyno_datafile_is_unreachable (code) ? DYNO_DATA_ERROR_UNREACHABLE
                                                     : DYNO_DATA_ERROR_READ,
               _ ("Cannot read “%s”: %s"), shown, g_strerror (code));
}

/* open() refuses paths of PATH_MAX bytes and more: a longer path is walked in pieces, each relative
 * to the folder before. */
static int
open_path (const char *path, int flags)
{
  g_autofree char *copy = NULL;
  char *rest;
  int folder = AT_FDCWD;

  if (strlen (path) < PATH_MAX)
    return open (path, flags);
  copy = g_strdup (path);
  rest = copy;
  while (strlen (rest) >= PATH_MAX)
    {
      char *cut = rest + PATH_MAX - 2;
      int next;

      while (cut > rest && *cut != '/')
        cut--;
      if (cut == rest)
        {
          if (folder != AT_FDCWD)
            close (folder);
          errno = ENAMETOOLONG;
          return -1;
        }
      *cut = '\0';
      next = openat (folder, rest, O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (folder != AT_FDCWD)
        close (folder);
      if (next < 0)
        return -1;
      folder = next;
      rest = cut + 1;
      while (*rest == '/')
        rest++;
    }
  int fd = openat (folder, rest, flags);
  int code = errno;
  if (folder != AT_FDCWD)
    close (folder);
  errno = code;
  return fd;
}

int
dyno_datafile_open_any (const char *path, struct stat *status, GError **error)
{
  int fd;

  do
    fd = open_path (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0 || fstat (fd, status) != 0)
    {
      int code = errno;
      if (fd >= 0)
        close (fd);
      dyno_datafile_set_error (error, code, path);
      return -1;
    }
  return fd;
}

int
dyno_datafile_open (const char *path, guint64 *size_bytes, GError **error)
{
  struct stat status;
  int fd = dyno_datafile_open_any (path, &status, error);

  if (fd < 0)
    return -1;
  if (!S_ISREG (status.st_mode))
    {
      g_autofree char *shown = g_filename_display_name (path);
      close (fd);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ, _ ("“%s” is not a regular file"),
                   shown);
      return -1;
    }
  *size_bytes = (guint64) status.st_size;
  return fd;
}

gssize
dyno_datafile_pread (int fd, void *buffer, gsize size, guint64 offset)
{
  gsize have = 0;

  if (offset > G_MAXINT64 || size > (gsize) G_MAXSSIZE)
    {
      errno = EINVAL;
      return -1;
    }
  while (have < size)
    {
      gssize n = pread (fd, (guint8 *) buffer + have, MIN (size - have, (gsize) 1 << 30),
                        (off_t) (offset + have));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return -1;
      if (n == 0)
        break;
      have += (gsize) n;
    }
  return (gssize) have;
}

gboolean
dyno_datafile_read_at_once (int fd, void *buffer, gsize size, guint64 offset)
{
  struct iovec piece = { buffer, size };

  return preadv2 (fd, &piece, 1, (off_t) offset, RWF_NOWAIT) == (gssize) size;
}

gboolean
dyno_datafile_can_read_at_once (int fd)
{
  guint8 byte;
  struct iovec piece = { &byte, 1 };

  return preadv2 (fd, &piece, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
}

gboolean
dyno_datafile_reserve (GByteArray *scratch, guint64 size, GError **error)
{
  const gsize unsure = 1024 * 1024;

  size = MAX (size, 1); /* an empty file needs an address too */
  if (size <= scratch->len)
    return TRUE;
  if (size <= G_MAXUINT32 / 2)
    {
      /* The array rounds up to a power of two and aborts where there is no memory, so the size is
       * tried first. */
      gpointer probe = size > unsure ? g_try_malloc (2 * size) : NULL;
      if (size <= unsure || probe)
        {
          g_free (probe);
          g_byte_array_set_size (scratch, (guint) size);
          return TRUE;
        }
    }
  g_set_error (
      error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
      _ ("No memory for %" PRIu64 " MB to decode a sample; use fewer workers or smaller files"),
      size >> 20);
  return FALSE;
}

gboolean
dyno_datafile_read (const char *path, guint64 limit, GByteArray *scratch, gsize *size_bytes,
                    GError **error)
{
  guint64 size;
  gssize n;
  int fd = dyno_datafile_open (path, &size, error);

  if (fd < 0)
    return FALSE;
  if (size > limit)
    {
      g_autofree char *shown = g_filename_display_name (path);
      close (fd);
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
                   _ ("“%s” has %" PRIu64 " bytes, more than the limit of %" PRIu64), shown, size,
                   limit);
      return FALSE;
    }
  if (!dyno_datafile_reserve (scratch, size, error))
    {
      close (fd);
      return FALSE;
    }
  n = dyno_datafile_pread (fd, scratch->data, size, 0);
  if (n < 0)
    {
      int code = errno;
      close (fd);
      dyno_datafile_set_error (error, code, path);
      return FALSE;
    }
  close (fd);
  *size_bytes = (gsize) n;
  return TRUE;
}

gboolean
dyno_datafile_probe (const char *path, guint64 offset, GError **error)
{
  guint64 size;
  guint8 byte;
  gssize n;
  int code, fd = dyno_datafile_open (path, &size, error);

  if (fd < 0)
    return FALSE;
  /* Bytes in the page cache show nothing about the disk, so the page is dropped first.  Only whole
     pages can be dropped. */
  (void) posix_fadvise (fd, (off_t) (MIN (offset, (guint64) G_MAXINT64) / PIECE * PIECE), PIECE,
                        POSIX_FADV_DONTNEED);
  n = dyno_datafile_pread (fd, &byte, sizeof byte, offset);
  code = errno;
  close (fd);
  if (n < 0)
    dyno_datafile_set_error (error, code, path);
  return n >= 0;
}
