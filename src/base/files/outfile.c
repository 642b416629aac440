/* SPDX-License-Identifier: MIT */
/* Pieces are gathered, and written in blocks. */
#include "outfile.h"
#include "file.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define BLOCK 65536

struct _DynoOutFile {
  char *path, *temporary;
  int fd;
  GByteArray *pending;
  GError *problem;
};

DynoOutFile *
dyno_out_file_new (const char *path, GError **error)
{
  g_autofree char *temporary = NULL;
  int fd = dyno_file_open_temporary (path, &temporary);
  DynoOutFile *file;

  if (fd < 0)
    {
      dyno_file_set_error (error, errno, path);
      return NULL;
    }
  file = g_new0 (DynoOutFile, 1);
  file->path = g_strdup (path);
  file->temporary = g_steal_pointer (&temporary);
  file->fd = fd;
  file->pending = g_byte_array_new ();
  return file;
}

static gboolean
flush (DynoOutFile *file)
{
  for (guint done = 0; done < file->pending->len && !file->problem;)
    {
      gssize n = write (file->fd, file->pending->data + done, file->pending->len - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        dyno_file_set_error (&file->problem, errno, file->path);
      else
        done += (guint) n;
    }
  g_byte_array_set_size (file->pending, 0);
  return !file->problem;
}

gboolean
dyno_out_file_append (DynoOutFile *file, const void *data, gsize size)
{
  if (file->problem)
    return FALSE;
  while (size > 0)
    {
      guint part = (guint) MIN (size, (gsize) BLOCK);

      g_byte_array_append (file->pending, data, part);
      data = (const guint8 *) data + part;
      size -= part;
      if (file->pending->len >= BLOCK && !flush (file))
        return FALSE;
    }
  return TRUE;
}

static void
free_file (DynoOutFile *file)
{
  if (file->fd >= 0)
    close (file->fd);
  g_clear_error (&file->problem);
  g_byte_array_unref (file->pending);
  g_free (file->path);
  g_free (file->temporary);
  g_free (file);
}

gboolean
dyno_out_file_finish (DynoOutFile *file, GError **error)
{
  gboolean replaced;

  if (flush (file) && fsync (file->fd) != 0)
    dyno_file_set_error (&file->problem, errno, file->path);
  if (close (file->fd) != 0 && !file->problem)
    dyno_file_set_error (&file->problem, errno, file->path);
  file->fd = -1;
  if (file->problem)
    {
      g_propagate_error (error, g_steal_pointer (&file->problem));
      dyno_out_file_abandon (file);
      return FALSE;
    }
  replaced = dyno_file_replace (file->temporary, file->path, error);
  free_file (file);
  return replaced;
}

void
dyno_out_file_abandon (DynoOutFile *file)
{
  if (!file)
    return;
  g_unlink (file->temporary);
  free_file (file);
}
