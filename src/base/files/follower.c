/* SPDX-License-Identifier: MIT */
/* Lines of a growing file. */
#include "follower.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK     65536
#define MOST_LINE 1048576

struct _DynoFollower {
  char *path;
  int fd; /* -1: not there yet */
  dev_t device;
  ino_t file;
  gint64 offset; /* read so far */
  GString *text; /* not given out yet, from `given` on */
  gsize given;
  gboolean skips; /* the text up to the end of a line that is too long */
  gboolean anew;  /* the next line is the first of this file */
};

DynoFollower *
dyno_follower_new (const char *path)
{
  DynoFollower *follower = g_new0 (DynoFollower, 1);

  follower->path = g_strdup (path);
  follower->fd = -1;
  follower->text = g_string_new (NULL);
  return follower;
}

static void
forget (DynoFollower *follower)
{
  if (follower->fd >= 0)
    close (follower->fd);
  follower->fd = -1;
  follower->offset = 0;
  follower->given = 0;
  follower->skips = FALSE;
  g_string_truncate (follower->text, 0);
}

void
dyno_follower_free (DynoFollower *follower)
{
  if (!follower)
    return;
  forget (follower);
  g_string_free (follower->text, TRUE);
  g_free (follower->path);
  g_free (follower);
}

/* Opens the file that is at the path now, if it is another one than before or was shortened. */
static void
look (DynoFollower *follower)
{
  struct stat status;

  if (stat (follower->path, &status) != 0 || !S_ISREG (status.st_mode))
    return;
  if (follower->fd >= 0 && status.st_dev == follower->device && status.st_ino == follower->file
      && status.st_size >= follower->offset)
    return;
  forget (follower);
  follower->fd = open (follower->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (follower->fd < 0)
    return;
  if (fstat (follower->fd, &status) != 0 || !S_ISREG (status.st_mode))
    {
      forget (follower);
      return;
    }
  follower->device = status.st_dev;
  follower->file = status.st_ino;
  follower->anew = TRUE;
}

/* FALSE: there is nothing more now. */
static gboolean
read_more (DynoFollower *follower)
{
  gsize had;
  gssize n;

  if (follower->fd < 0)
    return FALSE;
  g_string_erase (follower->text, 0, (gssize) follower->given);
  follower->given = 0;
  had = follower->text->len;
  g_string_set_size (follower->text, had + CHUNK);
  do
    n = pread (follower->fd, follower->text->str + had, CHUNK, follower->offset);
  while (n < 0 && errno == EINTR);
  g_string_set_size (follower->text, had + (gsize) MAX (n, 0));
  follower->offset += MAX (n, 0);
  return n > 0;
}

/* A whole line of what was read; NULL: there is none. */
static const char *
take_line (DynoFollower *follower)
{
  for (;;)
    {
      char *line = follower->text->str + follower->given;
      gsize length = follower->text->len - follower->given;
      char *end = memchr (line, '\n', length);
      gboolean skipped = follower->skips;

      if (!end)
        {
          if (length > MOST_LINE)
            {
              follower->skips = TRUE;
              follower->given = follower->text->len;
            }
          return NULL;
        }
      *end = '\0';
      follower->given += (gsize) (end - line) + 1;
      follower->skips = FALSE;
      if (!skipped && (gsize) (end - line) <= MOST_LINE)
        return line;
    }
}

const char *
dyno_follower_next (DynoFollower *follower, gboolean *anew)
{
  const char *line = take_line (follower);

  if (!line)
    look (follower);
  while (!line && read_more (follower))
    line = take_line (follower);
  *anew = line && follower->anew;
  if (line)
    follower->anew = FALSE;
  return line;
}
