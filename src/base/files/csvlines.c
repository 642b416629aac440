/* SPDX-License-Identifier: MIT */
#include "csvlines.h"
#include "base-error.h"
#include "csvcell.h"
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each line is durable before the next one is written, so only the last line of a file can be
 * incomplete. */
gboolean
dyno_csv_append_line (int fd, const GString *line, const char *path, GError **error)
{
  const char *at = line->str;
  gsize left = line->len;

  while (left > 0)
    {
      gssize n = write (fd, at, left);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return dyno_file_set_error (error, errno, path);
      at += n;
      left -= (gsize) n;
    }
  if (fsync (fd) != 0 && errno != EINVAL && errno != EROFS)
    return dyno_file_set_error (error, errno, path);
  return TRUE;
}

gboolean
dyno_csv_cut_unfinished (int fd, gsize most_bytes)
{
  off_t size = lseek (fd, 0, SEEK_END), keep = 0;
  g_autofree char *text = NULL;
  gboolean quoted = FALSE;

  if (size < 0 || (gsize) size > most_bytes)
    return size >= 0; /* Dyno did not write this file, as a later read reports */
  text = g_malloc ((gsize) size + 1);
  if (pread (fd, text, (gsize) size, 0) != size)
    return FALSE;
  for (off_t i = 0; i < size; i++)
    {
      quoted ^= text[i] == '"';
      if (text[i] == '\n' && !quoted)
        keep = i + 1;
    }
  return keep == size || ftruncate (fd, keep) == 0;
}

int
dyno_csv_open (const char *path, const GString *first, gboolean append, gsize most_bytes,
               GError **error)
{
  int fd = -1;
  gboolean good = append || g_unlink (path) == 0 || errno == ENOENT;

  if (good)
    fd = open (path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0 || !dyno_csv_cut_unfinished (fd, most_bytes))
    good = dyno_file_set_error (error, errno, path);
  else
    good = lseek (fd, 0, SEEK_END) > 0 || dyno_csv_append_line (fd, first, path, error);
  if (good)
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

/* Reads size bytes, or fewer where the file has become shorter; FALSE: errno has the reason. */
static gboolean
read_all (int fd, char *text, gsize size)
{
  gsize at = 0;

  while (at < size)
    {
      gssize n = read (fd, text + at, size - at);

      if (n < 0 && errno != EINTR)
        return FALSE;
      if (n == 0) /* it has become shorter */
        return TRUE;
      at += n > 0 ? (gsize) n : 0;
    }
  return TRUE;
}

/* Only regular files are read: opening a pipe would wait for its writer, and a device has no
 * end. */
char *
dyno_csv_read (const char *path, gsize most_bytes, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts = { 0 };
  gboolean found = fd >= 0 && fstat (fd, &facts) == 0,
           fits = S_ISREG (facts.st_mode) && (guint64) facts.st_size <= most_bytes;
  g_autofree char *text = found && fits ? g_malloc0 ((gsize) facts.st_size + 1) : NULL;

  if (!found || (text && !read_all (fd, text, (gsize) facts.st_size)))
    {
      int code = errno;
      g_autofree char *shown = g_filename_display_name (path);

      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO, "Cannot read “%s”: %s", shown,
                   g_strerror (code));
      g_clear_pointer (&text, g_free);
    }
  else if (!fits)
    g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT,
                 "“%s” is no file of at most %" G_GSIZE_FORMAT " bytes", path, most_bytes);
  if (fd >= 0)
    close (fd);
  return g_steal_pointer (&text);
}

GPtrArray *
dyno_csv_next_line (const char **at)
{
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) field = g_string_new (NULL);
  gboolean quoted = FALSE;

  for (const char *c = *at; *c; c++)
    {
      if (quoted && *c == '"' && c[1] == '"')
        g_string_append_c (field, *c++);
      else if (*c == '"')
        quoted = !quoted;
      else if (!quoted && (*c == ',' || *c == '\n'))
        {
          g_ptr_array_add (fields, g_strdup (dyno_csv_cell_text (field->str)));
          g_string_truncate (field, 0);
          if (*c == '\n')
            {
              *at = c + 1;
              return g_steal_pointer (&fields);
            }
        }
      else
        g_string_append_c (field, *c);
    }
  return NULL;
}
