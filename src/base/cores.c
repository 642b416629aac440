/* SPDX-License-Identifier: MIT */
#include "cores.h"
#include <sched.h>
#include <stdlib.h>

guint
dyno_cores_count (void)
{
  cpu_set_t set;

  return sched_getaffinity (0, sizeof set, &set) == 0 ? MAX ((guint) CPU_COUNT (&set), 1)
                                                      : g_get_num_processors ();
}

/* Hardware threads of one core have the same first; a system that does not tell has cores alone. */
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

guint
dyno_cores_keep_part (guint parts)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));
  cpu_set_t set;
  guint n;

  if (sched_getaffinity (0, sizeof set, &set) != 0)
    return 0;
  for (guint cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, &set))
      {
        const Place place = { cpu, first_sibling (cpu) };
        g_array_append_val (places, place);
      }
  g_array_sort (places, compare_places);
  n = MAX (places->len / MAX (parts, 1), 1);
  CPU_ZERO (&set);
  for (guint i = 0; i < n; i++)
    CPU_SET (g_array_index (places, Place, i).cpu, &set);
  return sched_setaffinity (0, sizeof set, &set) == 0 ? n : 0;
}
