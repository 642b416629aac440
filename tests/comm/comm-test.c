/* SPDX-License-Identifier: MIT */
/* See comm-test.h.  The n-th jobs of all ranks meet in a slot; the last rank to arrive does the
 * work for all, while the other ranks wait and lend their buffers. */
#include "comm-test.h"
#include "comm-class.h"
#include <string.h>

typedef struct {
  GMutex mutex;
  GCond changed;
  guint size, references, failed_rank;
  DynoCommFate fate;
  char *failure;    /* the reason for which all ranks fail; NULL: none */
  DynoComm **ranks; /* NULL: the rank has left */
  /* Maps the number of a job (guint64) to its Slot, for jobs that were begun and that some rank has
   * not yet waited for. */
  GHashTable *slots;
} Group;

typedef struct {
  guint64 number;
  guint arrived, left;
  gboolean done;
  DynoCommJob *jobs; /* by rank */
} Slot;

typedef struct {
  DynoComm parent;
  Group *group;
  guint64 begun;
} Rank;

struct _DynoCommRequest {
  Slot *slot;
};

static void
slot_free (gpointer data)
{
  Slot *slot = data;

  g_free (slot->jobs);
  g_free (slot);
}

/* The group's mutex must be held. */
static void
fail (Group *group, guint rank, DynoCommFate fate, const char *reason)
{
  if (!group->failure)
    {
      group->failure = g_strdup (reason);
      group->failed_rank = rank;
      group->fate = fate;
      for (guint r = 0; r < group->size && fate == DYNO_COMM_LOST; r++)
        if (group->ranks[r])
          g_atomic_int_set (&group->ranks[r]->lost_rank, (int) rank);
    }
  g_cond_broadcast (&group->changed);
}

static void
do_jobs (Group *group, const DynoCommJob *jobs)
{
  const DynoCommJob *job = &jobs[0];
  g_autofree const void **in = g_new (const void *, group->size);
  g_autofree char *sum = NULL;

  for (guint r = 0; r < group->size; r++)
    in[r] = jobs[r].data;
  for (guint r = 0; r < group->size; r++)
    switch (job->kind)
      {
      case DYNO_COMM_SUM:
        if (!sum)
          {
            sum = g_malloc (MAX (job->size_bytes, 1));
            dyno_comm_add_ranks (sum, in, group->size,
                                 job->size_bytes / dyno_comm_type_size (job->type), job->type);
          }
        memcpy (jobs[r].data, sum, job->size_bytes);
        break;
      case DYNO_COMM_BROADCAST:
        if (r != job->root)
          memcpy (jobs[r].data, jobs[job->root].data, job->size_bytes);
        break;
      case DYNO_COMM_GATHER:
        for (guint from = 0; from < group->size; from++)
          memcpy ((char *) jobs[r].all + from * job->size_bytes, jobs[from].data, job->size_bytes);
        break;
      }
}

/* Whether all ranks requested the same operation.  The group's mutex must be held. */
static gboolean
agree (Rank *rank, Slot *slot)
{
  const DynoCommJob *mine = &slot->jobs[rank->parent.rank];

  for (guint r = 0; r < rank->group->size; r++)
    {
      const DynoCommJob *job = &slot->jobs[r];
      if (job->kind != mine->kind || job->type != mine->type || job->root != mine->root
          || job->size_bytes != mine->size_bytes)
        {
          g_autofree char *one = dyno_comm_job_describe (mine),
                          *other = dyno_comm_job_describe (job);
          g_autofree char *reason =
              g_strdup_printf ("it asks for %s where rank %u asks for %s", one, r, other);
          fail (rank->group, rank->parent.rank, DYNO_COMM_FAILED, reason);
          return FALSE;
        }
    }
  return TRUE;
}

/* The group's mutex must be held. */
static gboolean
check (Rank *rank, GError **error)
{
  if (!rank->group->failure)
    return TRUE;
  dyno_comm_set_peer_error (error, &rank->parent, rank->group->failed_rank, rank->group->fate,
                            rank->group->failure);
  return FALSE;
}

static DynoCommRequest *
begin (DynoComm *comm, const DynoCommJob *job, GError **error)
{
  Rank *rank = (Rank *) comm;
  Group *group = rank->group;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&group->mutex);
  guint64 number = rank->begun++;
  DynoCommRequest *request;
  Slot *slot = g_hash_table_lookup (group->slots, &number);

  if (!check (rank, error))
    return NULL;
  if (!slot)
    {
      slot = g_new0 (Slot, 1);
      slot->number = number;
      slot->jobs = g_new0 (DynoCommJob, group->size);
      g_hash_table_insert (group->slots, &slot->number, slot);
    }
  slot->jobs[comm->rank] = *job;
  dyno_comm_note_begun (comm, job);
  if (++slot->arrived == group->size && agree (rank, slot))
    {
      do_jobs (group, slot->jobs);
      for (guint r = 0; r < group->size; r++)
        if (group->ranks[r])
          dyno_comm_note_done (group->ranks[r], job);
      slot->done = TRUE;
      g_cond_broadcast (&group->changed);
    }
  request = g_new (DynoCommRequest, 1);
  request->slot = slot;
  return request;
}

static gboolean
wait_for (DynoComm *comm, DynoCommRequest *request, gint64 timeout_us, gboolean *done,
          GError **error)
{
  Rank *rank = (Rank *) comm;
  Group *group = rank->group;
  Slot *slot = request->slot;
  gint64 deadline = g_get_monotonic_time () + timeout_us;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&group->mutex);
  gboolean in_time = timeout_us != 0;

  while (!slot->done && !group->failure && in_time)
    {
      if (timeout_us < 0)
        g_cond_wait (&group->changed, &group->mutex);
      else
        in_time = g_cond_wait_until (&group->changed, &group->mutex, deadline);
    }
  *done = slot->done;
  if (!slot->done && !group->failure)
    return TRUE;
  g_free (request);
  if (!slot->done)
    return check (rank, error);
  if (++slot->left == group->size)
    g_hash_table_remove (group->slots, &slot->number);
  return TRUE;
}

static gboolean
check_for (DynoComm *comm, gint64 timeout_us, GError **error)
{
  Rank *rank = (Rank *) comm;
  gint64 deadline = g_get_monotonic_time () + timeout_us;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&rank->group->mutex);

  while (!rank->group->failure
         && g_cond_wait_until (&rank->group->changed, &rank->group->mutex, deadline))
    ;
  return check (rank, error);
}

static void
abort_all (DynoComm *comm, DynoCommFate fate, const char *reason)
{
  Rank *rank = (Rank *) comm;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&rank->group->mutex);

  fail (rank->group, comm->rank, fate, reason);
}

guint64
comm_test_count_begun (DynoComm *comm)
{
  Rank *rank = (Rank *) comm;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&rank->group->mutex);

  return rank->begun;
}

void
comm_test_die (DynoComm *comm)
{
  Rank *rank = (Rank *) comm;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&rank->group->mutex);

  fail (rank->group, comm->rank, DYNO_COMM_LOST, "it no longer answers");
}

static void
free_rank (DynoComm *comm)
{
  Rank *rank = (Rank *) comm;
  Group *group = rank->group;
  gboolean last;

  g_mutex_lock (&group->mutex);
  last = --group->references == 0;
  group->ranks[comm->rank] = NULL;
  g_mutex_unlock (&group->mutex);
  if (last)
    {
      g_hash_table_unref (group->slots);
      g_free (group->ranks);
      g_mutex_clear (&group->mutex);
      g_cond_clear (&group->changed);
      g_free (group->failure);
      g_free (group);
    }
  dyno_comm_clear (comm);
  g_free (rank);
}

static const DynoCommClass threads_class = {
  .name = "threads",
  .begin = begin,
  .wait = wait_for,
  .check = check_for,
  .abort = abort_all,
  .free = free_rank,
};

static DynoComm **
make (guint size, guint per_host)
{
  Group *group = g_new0 (Group, 1);
  DynoComm **comms = g_new0 (DynoComm *, size);
  g_auto (GStrv) hosts = g_new0 (char *, size + 1);

  g_mutex_init (&group->mutex);
  g_cond_init (&group->changed);
  group->size = group->references = size;
  group->ranks = g_new0 (DynoComm *, size);
  group->slots = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, slot_free);
  for (guint r = 0; r < size; r++)
    hosts[r] = g_strdup_printf ("host%u", r / per_host);
  for (guint r = 0; r < size; r++)
    {
      Rank *rank = g_new0 (Rank, 1);
      rank->group = group;
      dyno_comm_init (&rank->parent, &threads_class, r, size, (const char *const *) hosts);
      comms[r] = group->ranks[r] = &rank->parent;
    }
  return comms;
}

DynoComm **
comm_test_new (guint size)
{
  return make (size, 2);
}

DynoComm **
comm_test_new_local (guint size)
{
  return make (size, size);
}

typedef struct {
  DynoComm *comm;
  CommTestFunc func;
  gpointer data;
} Start;

static gpointer
run_rank (gpointer data)
{
  Start *start = data;

  start->func (start->comm, start->data);
  return NULL;
}

static void
run (guint size, DynoComm **comms, CommTestFunc func, gpointer data)
{
  g_autofree Start *starts = g_new (Start, size);
  g_autofree GThread **threads = g_new (GThread *, size);

  for (guint r = 0; r < size; r++)
    {
      starts[r] = (Start){ comms[r], func, data };
      threads[r] = g_thread_new ("rank", run_rank, &starts[r]);
    }
  for (guint r = 0; r < size; r++)
    g_thread_join (threads[r]);
  for (guint r = 0; r < size; r++)
    dyno_comm_unref (comms[r]);
}

void
comm_test_run (guint size, CommTestFunc func, gpointer data)
{
  g_autofree DynoComm **comms = comm_test_new (size);

  run (size, comms, func, data);
}

void
comm_test_run_local (guint size, CommTestFunc func, gpointer data)
{
  g_autofree DynoComm **comms = comm_test_new_local (size);

  run (size, comms, func, data);
}
