/* SPDX-License-Identifier: MIT */
#include "csvlines.h"
#include "csvcell.h"
#include "file.h"
#include <errno.h>
#include <unistd.h>

/* Written by one call, so that a line is there as a whole or is the last. */
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
    return size >= 0; /* it is no file of ours, which reading reports */
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
