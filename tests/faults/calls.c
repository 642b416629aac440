/* SPDX-License-Identifier: MIT */
/* The definitions that replace those of libc. */
#include "calls.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
  gboolean armed;
  guint at, count;
  int code;
  GString *list;
} calls;

void
calls_arm (guint at, int code)
{
  calls.list = g_string_new (NULL);
  calls.at = at;
  calls.code = code;
  calls.count = 0;
  calls.armed = TRUE;
}

guint
calls_disarm (char **list)
{
  char *text;

  calls.armed = FALSE;
  text = g_string_free (calls.list, FALSE);
  if (list)
    *list = text;
  else
    g_free (text);
  return calls.count;
}

/* Counts a call; returns TRUE for the call that fails. */
static gboolean G_GNUC_PRINTF (1, 2) meet (const char *format, ...)
{
  va_list arguments;

  if (!calls.armed)
    return FALSE;
  va_start (arguments, format);
  g_string_append_vprintf (calls.list, format, arguments);
  g_string_append_c (calls.list, '\n');
  va_end (arguments);
  if (++calls.count != calls.at)
    return FALSE;
  if (calls.code == 0)
    return TRUE;
  errno = calls.code;
  return TRUE;
}

static void
die (void)
{
  kill (getpid (), SIGKILL);
  for (;;)
    pause ();
}

#define LIBC(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, G_STRINGIFY (name)))

ssize_t
write (int fd, const void *data, size_t size)
{
  if (meet ("write %d", fd))
    {
      if (calls.code != 0)
        return -1;
      LIBC (write) (fd, data, size / 2);
      die ();
    }
  return LIBC (write) (fd, data, size);
}

/* Fails with 0 or -1, as the calls below do. */
static int
fail (void)
{
  if (calls.code == 0)
    die ();
  return -1;
}

static GMutex lock;
static GCond let_go;
static const char *holding; /* name of the threads; NULL: none */
static gboolean gave_up;
static guint held;

void
calls_hold_fsync (const char *thread_name)
{
  g_mutex_lock (&lock);
  holding = thread_name;
  gave_up = FALSE;
  held = 0;
  g_mutex_unlock (&lock);
}

void
calls_let_go (void)
{
  g_mutex_lock (&lock);
  holding = NULL;
  g_cond_broadcast (&let_go);
  g_mutex_unlock (&lock);
}

guint
calls_get_held (void)
{
  guint n;

  g_mutex_lock (&lock);
  n = held;
  g_mutex_unlock (&lock);
  return n;
}

gboolean
calls_gave_up (void)
{
  gboolean gave;

  g_mutex_lock (&lock);
  gave = gave_up;
  g_mutex_unlock (&lock);
  return gave;
}

static void
wait_while_held (void)
{
  gint64 deadline = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  char name[16] = "";

  pthread_getname_np (pthread_self (), name, sizeof name);
  g_mutex_lock (&lock);
  held += g_strcmp0 (holding, name) == 0;
  while (holding && strcmp (holding, name) == 0 && !gave_up)
    gave_up = !g_cond_wait_until (&let_go, &lock, deadline);
  g_mutex_unlock (&lock);
}

int
fsync (int fd)
{
  wait_while_held ();
  return meet ("fsync %d", fd) ? fail () : LIBC (fsync) (fd);
}

int
rename (const char *from, const char *to)
{
  return meet ("rename %s %s", from, to) ? fail () : LIBC (rename) (from, to);
}

int
link (const char *from, const char *to)
{
  return meet ("link %s %s", from, to) ? fail () : LIBC (link) (from, to);
}

int
unlink (const char *path)
{
  return meet ("unlink %s", path) ? fail () : LIBC (unlink) (path);
}

#ifdef __USE_FILE_OFFSET64
#define OPEN "open64"
#else
#define OPEN "open"
#endif

int
open (const char *path, int flags, ...)
{
  int (*libc) (const char *, int, ...) = (int (*) (const char *, int, ...)) dlsym (RTLD_NEXT, OPEN);
  va_list arguments;
  mode_t mode = 0;
  int fd;

  va_start (arguments, flags);
  if (flags & O_CREAT)
    mode = va_arg (arguments, mode_t);
  va_end (arguments);
  if (!(flags & (O_WRONLY | O_RDWR)) && !(flags & O_DIRECTORY))
    return libc (path, flags, mode);
  if (meet ("open %s", path))
    return fail ();
  fd = libc (path, flags, mode);
  if (calls.armed)
    g_string_append_printf (calls.list, "opened %d %s\n", fd, path);
  return fd;
}
