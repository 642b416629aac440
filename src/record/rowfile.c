/* SPDX-License-Identifier: MIT */
/* A file that grows: made atomically, then appended to. */
#include "rowfile.h"
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define FLUSH_US    G_USEC_PER_SEC
#define FLUSH_BYTES 65536

void
dyno_row_file_init (DynoRowFile *file, char *path)
{
  *file = (DynoRowFile){ .path = path, .fd = -1, .text = g_string_new (NULL) };
}

void
dyno_row_file_clear (DynoRowFile *file)
{
  if (file->fd >= 0)
    close (file->fd);
  if (file->text)
    g_string_free (file->text, TRUE);
  g_clear_error (&file->problem);
  g_free (file->path);
  *file = (DynoRowFile){ .fd = -1 };
}

static gboolean
append (DynoRowFile *file, GError **error)
{
  while (file->text->len > 0)
    {
      gssize n = write (file->fd, file->text->str, file->text->len);
      int code = errno;

      if (n < 0 && code == EINTR)
        continue;
      if (n <= 0)
        return dyno_file_set_error (error, code, file->path);
      g_string_erase (file->text, 0, n);
    }
  return TRUE;
}

/* Makes the file with all text that is not written yet, and opens it for appending. */
static gboolean
create (DynoRowFile *file, GError **error)
{
  int code;

  if (file->write_begin
          ? !file->write_begin (file->data, file->path, error)
          : !dyno_file_write_atomic (file->path, file->text->str, file->text->len, error))
    return FALSE;
  file->fd = g_open (file->path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  code = errno;
  if (file->fd < 0)
    return dyno_file_set_error (error, code, file->path);
  if (file->write_begin)
    return append (file, error);
  g_string_truncate (file->text, 0);
  return TRUE;
}

gboolean
dyno_row_file_begin (DynoRowFile *file, GError **error)
{
  file->begun = TRUE;
  return dyno_row_file_flush (file, TRUE, error);
}

gboolean
dyno_row_file_flush (DynoRowFile *file, gboolean now, GError **error)
{
  gint64 time = g_get_monotonic_time ();

  if (!file->begun)
    return TRUE;
  if (now || file->text->len >= FLUSH_BYTES || time - file->flushed_us >= FLUSH_US)
    {
      file->flushed_us = time;
      g_clear_error (&file->problem);
      if (file->fd < 0)
        create (file, &file->problem);
      else
        append (file, &file->problem);
    }
  if (file->problem)
    g_propagate_error (error, g_error_copy (file->problem));
  return !file->problem;
}
