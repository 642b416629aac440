/* SPDX-License-Identifier: MIT */
/* Decides from the environment whether this process is one of several that a launcher started.
 *
 * A variable by itself proves nothing: all processes that a rank starts inherit the variables that
 * the launcher sets for the rank.  Invariant: the answer is TRUE only where the environment gives a
 * number of processes above 1 and no ancestor of this process in the same rank has MPI loaded.
 * Such an ancestor is the rank, and a second start of MPI in the rank would end both. */
#include "comm.h"
#include <string.h>
#include <unistd.h>

#define MOST_PARENTS 64

static guint64
read_number (const char *variable)
{
  const char *text = g_getenv (variable);
  guint64 value = 0;

  return text && g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32, &value, NULL) ? value : 0;
}

/* Open MPI; MPICH, Intel MPI and others of its kind; Slurm, whose batch scripts have SLURM_NTASKS
 * but no step.  PMIX_RANK and PMIX_NAMESPACE give no number of processes: a single process may have
 * them too. */
static gboolean
names_several (void)
{
  static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                       "SLURM_STEP_NUM_TASKS" };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (read_number (sizes[i]) > 1)
      return TRUE;
  return FALSE;
}

/* The content of a file of a process in /proc; NULL: it cannot be read.  g_free. */
static char *
read_of_process (guint64 process, const char *name, gsize *size)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GUINT64_FORMAT "/%s", process, name);
  char *text = NULL;

  return g_file_get_contents (path, &text, size, NULL) ? text : NULL;
}

/* The parent of a process; 0: not known.  The name, in brackets, may hold any characters. */
static guint64
find_parent (guint64 process)
{
  g_autofree char *text = read_of_process (process, "stat", NULL);
  const char *end = text ? strrchr (text, ')') : NULL;

  return end && strlen (end) > 4 ? g_ascii_strtoull (end + 4, NULL, 10) : 0;
}

static gboolean
has_mpi (guint64 process)
{
  g_autofree char *maps = read_of_process (process, "maps", NULL);

  return maps && (strstr (maps, "/libmpi.so") || strstr (maps, "/libmpich.so"));
}

/* TRUE where the environment of the process names the same rank of the same job as ours. */
static gboolean
is_same_rank (guint64 process)
{
  static const char *const names[] = { "PMIX_NAMESPACE", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                       "PMI_RANK",       "PMI_FD",    "SLURM_PROCID" };
  gsize size = 0;
  g_autofree char *text = read_of_process (process, "environ", &size);
  guint n_same = 0;

  for (guint i = 0; text && i < G_N_ELEMENTS (names); i++)
    {
      const char *ours = g_getenv (names[i]);
      g_autofree char *entry = g_strdup_printf ("%s=%s", names[i], ours ? ours : "");
      gboolean found = FALSE;

      if (!ours)
        continue;
      for (gsize at = 0; at < size && !found; at += strlen (text + at) + 1)
        found = strcmp (text + at, entry) == 0;
      if (!found)
        return FALSE;
      n_same++;
    }
  return n_same > 0;
}

/* The loop ends at the first ancestor that is not of the same rank, such as the launcher. */
static gboolean
is_rank_of_another (void)
{
  guint64 process = (guint64) getppid ();

  for (guint i = 0; i < MOST_PARENTS && process > 1; i++)
    {
      if (has_mpi (process))
        return TRUE;
      if (!is_same_rank (process))
        return FALSE;
      process = find_parent (process);
    }
  return FALSE;
}

gboolean
dyno_comm_is_launched (void)
{
  return names_several () && !is_rank_of_another ();
}
