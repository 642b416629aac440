/* SPDX-License-Identifier: MIT */
/* Identifies processes by /proc.  The number of a process is reused; together with its start time,
 * in ticks since the boot, and the boot's identity it is unique. */
#include "process.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Field 22 of /proc/N/stat; 0: there is no such process.  A process that has ended still has the
 * file until its parent has asked for its exit status; its state in field 3 is then Z or X, which
 * gives 0, too. */
static guint64
find_start (const char *name)
{
  g_autofree char *path = g_build_filename ("/proc", name, "stat", NULL), *text = NULL;
  const char *at;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  at = strrchr (text, ')'); /* the name before the field may hold any characters */
  if (at && (g_str_has_prefix (at, ") Z") || g_str_has_prefix (at, ") X")))
    return 0;
  for (guint i = 0; at && i < 20; i++)
    at = strchr (at + 1, ' ');
  return at ? g_ascii_strtoull (at, NULL, 10) : 0;
}

static char *
find_boot (void)
{
  char *text = NULL;

  if (!g_file_get_contents ("/proc/sys/kernel/random/boot_id", &text, NULL, NULL))
    return g_strdup ("-");
  return g_strdelimit (g_strstrip (text), " ", '-');
}

static guint64
find_namespace (void)
{
  struct stat status;

  return stat ("/proc/self/ns/pid", &status) == 0 ? (guint64) status.st_ino : 0;
}

char *
dyno_process_describe (void)
{
  g_autofree char *boot = find_boot ();

  return g_strdup_printf ("%d %" G_GUINT64_FORMAT " %s %" G_GUINT64_FORMAT " %s", (int) getpid (),
                          find_start ("self"), boot, find_namespace (), g_get_host_name ());
}

DynoProcessState
dyno_process_find (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : "", " ", 5);
  g_autofree char *boot = find_boot ();
  guint64 start;

  if (g_strv_length (parts) < 5)
    return DYNO_PROCESS_UNKNOWN;
  if (strcmp (parts[2], boot) != 0)
    return strcmp (parts[4], g_get_host_name ()) == 0 ? DYNO_PROCESS_GONE : DYNO_PROCESS_UNKNOWN;
  if (g_ascii_strtoull (parts[3], NULL, 10) != find_namespace ())
    return DYNO_PROCESS_UNKNOWN;
  start = find_start (parts[0]);
  return start > 0 && start == g_ascii_strtoull (parts[1], NULL, 10) ? DYNO_PROCESS_ALIVE
                                                                     : DYNO_PROCESS_GONE;
}

gboolean
dyno_process_signal (const char *text, int signal_number)
{
  return dyno_process_find (text) == DYNO_PROCESS_ALIVE && kill (atoi (text), signal_number) == 0;
}

gboolean
dyno_process_locks_folder (const char *folder)
{
  int fd = folder ? open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  gboolean locked;

  if (fd < 0)
    return FALSE;
  locked = flock (fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close (fd);
  return locked;
}
