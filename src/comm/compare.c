/* SPDX-License-Identifier: MIT */
/* dyno_comm_compare: checks that all ranks were started alike.  Rank 0's text goes to all ranks,
 * each rank looks for its first difference, and the result of each rank goes to all: every rank
 * ends with the same sentence, the one of the lowest rank that differs. */
#include "comm-class.h"
#include <string.h>

enum { MAX_LINES_BYTES = 1 << 20, FINDING_BYTES = 512 };

/* The difference between two lines "name<TAB>value". */
static char *
describe (const DynoComm *comm, const char *mine, const char *first)
{
  g_auto (GStrv) my = g_strsplit (mine ? mine : "", "\t", 2),
                 its = g_strsplit (first ? first : "", "\t", 2);
  gboolean same_name = my[0] && its[0] && g_str_equal (my[0], its[0]);
  const char *my_value = my[0] && my[1] ? my[1] : "nothing",
             *its_value = its[0] && its[1] ? its[1] : "nothing";

  if (same_name || !my[0] || !its[0])
    return g_strdup_printf ("rank %u on %s has %s = %s where rank 0 on %s has %s", comm->rank,
                            comm->hosts[comm->rank], my[0] ? my[0] : its[0], my_value,
                            comm->hosts[0], its_value);
  return g_strdup_printf ("rank %u on %s has %s = %s where rank 0 on %s has %s = %s", comm->rank,
                          comm->hosts[comm->rank], my[0], my_value, comm->hosts[0], its[0],
                          its_value);
}

/* The first difference; NULL: there is none. */
static char *
find_difference (const DynoComm *comm, const char *mine, const char *first)
{
  g_auto (GStrv) my = g_strsplit (mine, "\n", -1), its = g_strsplit (first, "\n", -1);
  guint i = 0;

  while (my[i] && its[i] && g_str_equal (my[i], its[i]))
    i++;
  return my[i] || its[i] ? describe (comm, my[i], its[i]) : NULL;
}

gboolean
dyno_comm_compare (DynoComm *comm, const char *lines, GError **error)
{
  guint64 size = comm->rank == 0 ? MIN (strlen (lines), MAX_LINES_BYTES - 1) : 0;
  g_autofree char *first = NULL, *found = NULL, *all = g_malloc0_n (comm->size, FINDING_BYTES);
  char mine[FINDING_BYTES] = "";

  if (!dyno_comm_broadcast (comm, &size, sizeof size, 0, error))
    return FALSE;
  if (size >= MAX_LINES_BYTES)
    {
      dyno_comm_set_peer_error (error, comm, 0, DYNO_COMM_FAILED, "it sent settings without end");
      return FALSE;
    }
  first = g_malloc0 (size + 1);
  if (comm->rank == 0)
    memcpy (first, lines, size);
  if (!dyno_comm_broadcast (comm, first, size, 0, error))
    return FALSE;
  found = find_difference (comm, lines, first);
  if (found)
    g_strlcpy (mine, found, sizeof mine);
  if (!dyno_comm_gather (comm, mine, sizeof mine, all, error))
    return FALSE;
  for (guint r = 0; r < comm->size; r++)
    {
      g_autofree char *finding = g_utf8_make_valid (all + (gsize) r * FINDING_BYTES, -1);
      if (!*finding)
        continue;
      g_atomic_int_set (&comm->differs, TRUE);
      g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_DIFFERS,
                   "the ranks were not started alike: %s", finding);
      return FALSE;
    }
  return TRUE;
}
