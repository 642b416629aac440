/* SPDX-License-Identifier: MIT */
#include "cores.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

guint
dyno_cores_count (void)
{
  cpu_set_t set;

  return sched_getaffinity (0, sizeof set, &set) == 0 ? MAX ((guint) CPU_COUNT (&set), 1)
                                                      : g_get_num_processors ();
}

/* The hardware threads of one core have the same first sibling; on a system that does not report
 * it, each counts as a core. */
static guint
first_sibling (guint cpu)
{
  g_autofree char *path =
      g_strdup_printf ("/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) && g_ascii_isdigit (*text)
             ? (guint) g_ascii_strtoull (text, NULL, 10)
             : cpu;
}

typedef struct {
  guint cpu, first;
} Place;

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const Place *x = a, *y = b;

  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  return x->cpu < y->cpu ? -1 : 1;
}

/* Chooses n of the cores that the calling thread has, in *kept; FALSE: the system does not report
 * them. */
static gboolean
choose_first (guint n, cpu_set_t *kept)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof set, &set) != 0)
    return FALSE;
  for (guint cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, &set))
      {
        const Place place = { cpu, first_sibling (cpu) };
        g_array_append_val (places, place);
      }
  g_array_sort (places, compare_places);
  CPU_ZERO (kept);
  for (guint i = 0; i < MIN (n, places->len); i++)
    CPU_SET (g_array_index (places, Place, i).cpu, kept);
  return TRUE;
}

guint
dyno_cores_keep (guint n)
{
  cpu_set_t kept;

  return n > 0 && choose_first (n, &kept) && sched_setaffinity (0, sizeof kept, &kept) == 0
             ? (guint) CPU_COUNT (&kept)
             : 0;
}

guint
dyno_cores_keep_part (guint parts)
{
  return dyno_cores_keep (MAX (dyno_cores_count () / MAX (parts, 1), 1));
}

struct _DynoCoresHold {
  cpu_set_t before;
};

DynoCoresHold *
dyno_cores_hold (guint n)
{
  DynoCoresHold hold;

  if (n == 0 || sched_getaffinity (0, sizeof hold.before, &hold.before) != 0
      || dyno_cores_keep (n) == 0)
    return NULL;
  return g_memdup2 (&hold, sizeof hold);
}

void
dyno_cores_release (DynoCoresHold *hold)
{
  if (hold)
    (void) sched_setaffinity (0, sizeof hold->before, &hold->before);
  g_free (hold);
}

gint
dyno_cores_be_nice (gint nice)
{
  const id_t thread = (id_t) syscall (SYS_gettid);
  gint now;

  errno = 0;
  now = getpriority (PRIO_PROCESS, thread);
  if (errno != 0 || nice <= now || setpriority (PRIO_PROCESS, thread, nice) != 0)
    return now;
  return nice;
}
