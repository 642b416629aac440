/* SPDX-License-Identifier: MIT */
/* See comm.h. */
#include "comm-class.h"
#include <string.h>

G_DEFINE_QUARK (dyno - comm - error - quark, dyno_comm_error)

void
dyno_comm_init (DynoComm *comm, const DynoCommClass *class, guint rank, guint size,
                const char *const *hosts)
{
  comm->class = class;
  g_atomic_ref_count_init (&comm->references);
  comm->rank = rank;
  comm->size = size;
  comm->lost_rank = -1;
  comm->hosts = g_new0 (char *, size + 1);
  for (guint r = 0; r < size; r++)
    {
      comm->hosts[r] = g_strdup (hosts[r]);
      if (g_str_equal (hosts[r], hosts[rank]))
        {
          comm->local_size++;
          comm->local_rank += r < rank;
        }
    }
}

void
dyno_comm_clear (DynoComm *comm)
{
  g_strfreev (comm->hosts);
  comm->hosts = NULL;
}

DynoComm *
dyno_comm_ref (DynoComm *comm)
{
  g_atomic_ref_count_inc (&comm->references);
  return comm;
}

void
dyno_comm_unref (DynoComm *comm)
{
  if (comm && g_atomic_ref_count_dec (&comm->references))
    comm->class->free (comm);
}

guint
dyno_comm_get_rank (const DynoComm *comm)
{
  return comm->rank;
}

guint
dyno_comm_get_size (const DynoComm *comm)
{
  return comm->size;
}

guint
dyno_comm_get_local_rank (const DynoComm *comm)
{
  return comm->local_rank;
}

guint
dyno_comm_get_local_size (const DynoComm *comm)
{
  return comm->local_size;
}

gint64
dyno_comm_get_spin_us (const DynoComm *comm)
{
  return comm->spin_us;
}

const char *
dyno_comm_get_host (const DynoComm *comm, guint rank)
{
  g_return_val_if_fail (rank < comm->size, NULL);
  return comm->hosts[rank];
}

gboolean
dyno_comm_is_speaker (const DynoComm *comm)
{
  return comm->rank == (g_atomic_int_get (&comm->lost_rank) == 0 ? 1 : 0);
}

void
dyno_comm_note_begun (DynoComm *comm, const DynoCommJob *job)
{
  if (job->kind == DYNO_COMM_SUM && comm->sums++ == 0)
    comm->sums_since_us = g_get_monotonic_time ();
}

void
dyno_comm_note_done (DynoComm *comm, const DynoCommJob *job)
{
  if (job->kind == DYNO_COMM_SUM && --comm->sums == 0)
    comm->sums_us += g_get_monotonic_time () - comm->sums_since_us;
}

gint64
dyno_comm_get_sum_time (const DynoComm *comm)
{
  return comm->sums_us;
}

gsize
dyno_comm_type_size (DynoCommType type)
{
  return type == DYNO_COMM_FLOAT16 ? 2 : type == DYNO_COMM_FLOAT32 ? 4 : 8;
}

void
dyno_comm_set_peer_error (GError **error, const DynoComm *comm, guint rank, DynoCommFate fate,
                          const char *reason)
{
  g_set_error (error, DYNO_COMM_ERROR,
               fate == DYNO_COMM_STOPPED ? DYNO_COMM_ERROR_STOPPED : DYNO_COMM_ERROR_PEER,
               "rank %u on %s: %s", rank, comm->hosts[rank], reason);
}

char *
dyno_comm_job_describe (const DynoCommJob *job)
{
  switch (job->kind)
    {
    case DYNO_COMM_SUM:
      return g_strdup_printf ("a sum of %" G_GSIZE_FORMAT " values of %" G_GSIZE_FORMAT " bytes",
                              job->size_bytes / dyno_comm_type_size (job->type),
                              dyno_comm_type_size (job->type));
    case DYNO_COMM_BROADCAST:
      return g_strdup_printf ("a broadcast of %" G_GSIZE_FORMAT " bytes from rank %u",
                              job->size_bytes, job->root);
    case DYNO_COMM_GATHER:
      return g_strdup_printf ("a gathering of %" G_GSIZE_FORMAT " bytes of each", job->size_bytes);
    }
  return g_strdup ("nothing known");
}

static gboolean
do_job (DynoComm *comm, const DynoCommJob *job, GError **error)
{
  DynoCommRequest *request = comm->class->begin (comm, job, error);

  return request && dyno_comm_wait (comm, request, -1, NULL, error);
}

DynoCommRequest *
dyno_comm_sum_begin (DynoComm *comm, void *values, gsize n, DynoCommType type, GError **error)
{
  DynoCommJob job = { .kind = DYNO_COMM_SUM,
                      .type = type,
                      .size_bytes = n * dyno_comm_type_size (type),
                      .data = values };

  return comm->class->begin (comm, &job, error);
}

gboolean
dyno_comm_wait (DynoComm *comm, DynoCommRequest *request, gint64 timeout_us, gboolean *done,
                GError **error)
{
  gboolean finished = FALSE;

  g_return_val_if_fail (done || timeout_us < 0, FALSE);
  return comm->class->wait (comm, request, timeout_us, done ? done : &finished, error);
}

gboolean
dyno_comm_sum (DynoComm *comm, void *values, gsize n, DynoCommType type, GError **error)
{
  DynoCommRequest *request = dyno_comm_sum_begin (comm, values, n, type, error);

  return request && dyno_comm_wait (comm, request, -1, NULL, error);
}

gboolean
dyno_comm_all (DynoComm *comm, gboolean mine, gboolean *all, GError **error)
{
  guint64 n = mine != FALSE;

  if (!dyno_comm_sum (comm, &n, 1, DYNO_COMM_UINT64, error))
    return FALSE;
  *all = n == comm->size;
  return TRUE;
}

gboolean
dyno_comm_agree (DynoComm *comm, gboolean fine, GError **problem, GError **error)
{
  gboolean all;

  if (!dyno_comm_all (comm, fine, &all, error))
    {
      g_clear_error (problem);
      return FALSE;
    }
  if (all)
    return TRUE;
  if (*problem)
    g_propagate_error (error, g_steal_pointer (problem));
  else
    g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_LOCAL, "another rank cannot");
  return FALSE;
}

gboolean
dyno_comm_broadcast (DynoComm *comm, void *data, gsize size_bytes, guint root, GError **error)
{
  DynoCommJob job = {
    .kind = DYNO_COMM_BROADCAST, .root = root, .size_bytes = size_bytes, .data = data
  };

  g_return_val_if_fail (root < comm->size, FALSE);
  return do_job (comm, &job, error);
}

gboolean
dyno_comm_gather (DynoComm *comm, const void *mine, gsize size_bytes, void *all, GError **error)
{
  DynoCommJob job = {
    .kind = DYNO_COMM_GATHER, .size_bytes = size_bytes, .data = (void *) mine, .all = all
  };

  return do_job (comm, &job, error);
}

gboolean
dyno_comm_check (DynoComm *comm, gint64 timeout_us, GError **error)
{
  return comm->class->check (comm, timeout_us, error);
}

void
dyno_comm_abort (DynoComm *comm, const char *reason)
{
  if (!g_atomic_int_get (&comm->differs))
    comm->class->abort (comm, DYNO_COMM_FAILED, reason);
}

void
dyno_comm_stop (DynoComm *comm)
{
  comm->class->abort (comm, DYNO_COMM_STOPPED, "it was told to stop");
}
