/* SPDX-License-Identifier: MIT */
/* The module dyno-mpi: a communicator over MPI, which open.c opens at run time.  See mpi-private.h.
 */
#include "mpi-private.h"
#include <gmodule.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

G_MODULE_EXPORT DynoComm *dyno_mpi_join (GError **error);

static void set_join_error (Mpi *mpi, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
set_join_error (Mpi *mpi, const char *format, ...)
{
  va_list args;

  if (mpi->join_error)
    return;
  va_start (args, format);
  mpi->join_error = g_error_new_valist (DYNO_COMM_ERROR, DYNO_COMM_ERROR_MODULE, format, args);
  va_end (args);
}

/* DYNO_COMM_SPIN_US is for comparisons and tests. */
static gint64
choose_spin (const Mpi *mpi)
{
  const char *text = g_getenv ("DYNO_COMM_SPIN_US");
  guint64 spin_us;

  if (text && g_ascii_string_to_unsigned (text, 10, 0, G_USEC_PER_SEC, &spin_us, NULL))
    return (gint64) spin_us;
  return g_get_num_processors () >= SPIN_CORES * mpi->parent.local_size ? SPIN_US : 0;
}

/* Gathers hosts, processes and their namespaces from all ranks. */
static gboolean
introduce (Mpi *mpi, guint rank, guint size)
{
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  g_autofree char *names = g_malloc0_n (size, sizeof name);
  g_autofree const char **hosts = g_new0 (const char *, size);
  g_autofree guint64 *processes = g_new0 (guint64, (gsize) 2 * size);
  guint64 mine[2] = { (guint64) getpid (), 0 };
  struct stat namespace;
  int length = 0;

  if (stat ("/proc/self/ns/pid", &namespace) == 0)
    mine[1] = (guint64) namespace.st_ino;
  if (MPI_Get_processor_name (name, &length) != MPI_SUCCESS || length <= 0)
    g_strlcpy (name, g_get_host_name (), sizeof name);
  if (MPI_Allgather (name, sizeof name, MPI_BYTE, names, sizeof name, MPI_BYTE, mpi->notes)
          != MPI_SUCCESS
      || MPI_Allgather (mine, sizeof mine, MPI_BYTE, processes, sizeof mine, MPI_BYTE, mpi->notes)
             != MPI_SUCCESS)
    return FALSE;
  for (guint r = 0; r < size; r++)
    {
      hosts[r] = names + r * sizeof name;
      names[(r + 1) * sizeof name - 1] = '\0';
    }
  g_strfreev (mpi->parent.hosts);
  dyno_comm_init (&mpi->parent, mpi->parent.class, rank, size, hosts);
  mpi->parent.spin_us = choose_spin (mpi);
  dyno_mpi_watch_start (mpi, processes);
  dyno_mpi_shared_open (mpi, mine[1]);
  return TRUE;
}

static gboolean
join_ranks (Mpi *mpi)
{
  int given = 0, rank = 0, size = 0, code;

  code = MPI_Init_thread (NULL, NULL, MPI_THREAD_SERIALIZED, &given);
  if (code != MPI_SUCCESS)
    {
      set_join_error (mpi, "MPI does not start (MPI_Init_thread gives %d)", code);
      return FALSE;
    }
  MPI_Comm_set_errhandler (MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &size);
  if (size == 1)
    {
      char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
      int length = 0;
      MPI_Get_library_version (version, &length);
      version[strcspn (version, ",\n")] = '\0';
      set_join_error (mpi,
                      "several processes were started, but MPI sees each as a program of its own: "
                      "use the mpirun of %s, with which this Dyno was built, or srun --mpi=pmix "
                      "(srun --mpi=list shows the choices)",
                      version);
      MPI_Finalize ();
      return FALSE;
    }
  if (MPI_Comm_dup (MPI_COMM_WORLD, &mpi->jobs) != MPI_SUCCESS
      || MPI_Comm_dup (MPI_COMM_WORLD, &mpi->notes) != MPI_SUCCESS
      || !introduce (mpi, (guint) rank, (guint) size))
    {
      set_join_error (mpi, "the ranks cannot talk to each other over MPI");
      return FALSE;
    }
  return TRUE;
}

/* Takes the requests of the callers; TRUE where they want this rank to leave. */
static gboolean
take_requests (Mpi *mpi)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&mpi->mutex);
  DynoCommRequest *request;

  while ((request = g_queue_pop_head (&mpi->queue)))
    g_queue_push_tail (&mpi->requests, request);
  if (mpi->abort_reason)
    dyno_mpi_end (mpi, mpi->parent.rank, mpi->abort_fate, mpi->abort_reason);
  return mpi->leaving;
}

/* Sleeps until there is something to do: not at all for a while after something moved, for a short
 * time while something is under way, else for a tick. */
static void
pause_for_work (Mpi *mpi)
{
  gint64 now = g_get_monotonic_time (), still = now - mpi->moved_us;
  gboolean busy = dyno_mpi_is_busy (mpi);

  if (still < mpi->parent.spin_us || (busy && still < YIELD_US))
    {
      sched_yield ();
      return;
    }
  if (busy)
    {
      g_usleep (still < 20000 ? 50 : still < 1000000 ? 200 : 1000);
      return;
    }
  g_mutex_lock (&mpi->mutex);
  if (g_queue_is_empty (&mpi->queue) && !mpi->abort_reason)
    {
      /* A rank that leaves looks often for the other ranks' leave notes. */
      gint64 wait_us = mpi->leaving ? 1000 : TICK_US;
      g_cond_wait_until (&mpi->wake, &mpi->mutex, now + wait_us);
    }
  g_mutex_unlock (&mpi->mutex);
}

/* Runs until this rank leaves or something fails. */
static void
serve (Mpi *mpi)
{
  gboolean sent_goodbye = FALSE;

  while (!mpi->found_failure)
    {
      gboolean leaving = take_requests (mpi);
      if (!mpi->found_failure && dyno_mpi_move (mpi))
        mpi->moved_us = g_get_monotonic_time ();
      if (!mpi->found_failure)
        dyno_mpi_watch (mpi);
      if (leaving && !mpi->found_failure && !dyno_mpi_is_busy (mpi))
        {
          if (!sent_goodbye)
            dyno_mpi_send_goodbye (mpi);
          sent_goodbye = TRUE;
          if (dyno_mpi_all_left (mpi))
            break;
        }
      pause_for_work (mpi);
    }
}

static void
end_mpi (Mpi *mpi)
{
  if (mpi->found_failure)
    {
      dyno_mpi_send_failure (mpi);
      return;
    }
  MPI_Cancel (&mpi->receiving);
  MPI_Wait (&mpi->receiving, MPI_STATUS_IGNORE);
  for (guint r = 0; r < mpi->parent.size; r++)
    if (mpi->peers[r].sending != MPI_REQUEST_NULL)
      MPI_Wait (&mpi->peers[r].sending, MPI_STATUS_IGNORE);
  MPI_Comm_free (&mpi->jobs);
  MPI_Comm_free (&mpi->notes);
  MPI_Finalize ();
}

/* All signals are blocked here, so they go to the main thread. */
static gpointer
run_thread (gpointer data)
{
  Mpi *mpi = data;
  gboolean joined;
  sigset_t all;

  sigfillset (&all);
  pthread_sigmask (SIG_BLOCK, &all, NULL);
  joined = join_ranks (mpi);
  g_mutex_lock (&mpi->mutex);
  mpi->joined = TRUE;
  g_cond_broadcast (&mpi->changed);
  g_mutex_unlock (&mpi->mutex);
  if (!joined)
    return NULL;
  serve (mpi);
  dyno_mpi_shared_stop (mpi);
  end_mpi (mpi);
  g_mutex_lock (&mpi->mutex);
  mpi->left = TRUE;
  mpi->failure = g_steal_pointer (&mpi->found_failure);
  mpi->failed_rank = mpi->found_rank;
  if (mpi->failure && mpi->found_fate == DYNO_COMM_LOST)
    g_atomic_int_set (&mpi->parent.lost_rank, (int) mpi->failed_rank);
  g_cond_broadcast (&mpi->changed);
  g_mutex_unlock (&mpi->mutex);
  return NULL;
}

void
dyno_mpi_finish (Mpi *mpi, DynoCommRequest *request)
{
  g_mutex_lock (&mpi->mutex);
  g_atomic_int_set (&request->done, TRUE);
  dyno_comm_note_done (&mpi->parent, &request->job);
  g_cond_broadcast (&mpi->changed);
  g_mutex_unlock (&mpi->mutex);
}

/* Called with the mutex held. */
static gboolean
check (Mpi *mpi, GError **error)
{
  if (!mpi->failure)
    return TRUE;
  dyno_comm_set_peer_error (error, &mpi->parent, mpi->failed_rank, mpi->found_fate, mpi->failure);
  return FALSE;
}

static DynoCommRequest *
begin (DynoComm *comm, const DynoCommJob *job, GError **error)
{
  Mpi *mpi = (Mpi *) comm;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&mpi->mutex);
  DynoCommRequest *request;

  if (!check (mpi, error))
    return NULL;
  request = g_new0 (DynoCommRequest, 1);
  request->job = *job;
  request->number = mpi->begun++;
  request->begun_us = g_get_monotonic_time ();
  dyno_comm_note_begun (comm, job);
  g_queue_push_tail (&mpi->queue, request);
  g_cond_signal (&mpi->wake);
  return request;
}

/* A caller does not sleep for a request that is done within a short while. */
static void
spin_for (const DynoComm *comm, DynoCommRequest *request, gint64 timeout_us)
{
  gint64 most_us = timeout_us < 0 ? comm->spin_us : MIN (timeout_us, comm->spin_us);
  gint64 end = g_get_monotonic_time () + most_us;

  while (!g_atomic_int_get (&request->done) && g_get_monotonic_time () < end)
    sched_yield ();
}

static gboolean
wait_for (DynoComm *comm, DynoCommRequest *request, gint64 timeout_us, gboolean *done,
          GError **error)
{
  Mpi *mpi = (Mpi *) comm;
  gint64 deadline = g_get_monotonic_time () + timeout_us;
  gboolean in_time = timeout_us != 0, fine;

  spin_for (comm, request, timeout_us);
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&mpi->mutex);
  while (!request->done && !mpi->failure && in_time)
    {
      if (timeout_us < 0)
        g_cond_wait (&mpi->changed, &mpi->mutex);
      else
        in_time = g_cond_wait_until (&mpi->changed, &mpi->mutex, deadline);
    }
  *done = request->done;
  if (!request->done && !mpi->failure)
    return TRUE;
  fine = request->done || check (mpi, error);
  g_free (request);
  return fine;
}

static gboolean
check_for (DynoComm *comm, gint64 timeout_us, GError **error)
{
  Mpi *mpi = (Mpi *) comm;
  gint64 deadline = g_get_monotonic_time () + timeout_us;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&mpi->mutex);

  while (!mpi->failure && g_cond_wait_until (&mpi->changed, &mpi->mutex, deadline))
    ;
  return check (mpi, error);
}

/* Returns when the others have been notified, or after 2 NOTIFY_US: the caller may end the process
 * then. */
static void
abort_all (DynoComm *comm, DynoCommFate fate, const char *reason)
{
  Mpi *mpi = (Mpi *) comm;
  gint64 deadline = g_get_monotonic_time () + 2 * NOTIFY_US;
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&mpi->mutex);

  if (!mpi->abort_reason)
    {
      mpi->abort_reason = g_strdup (reason);
      mpi->abort_fate = fate;
    }
  g_cond_signal (&mpi->wake);
  while (!mpi->left && g_cond_wait_until (&mpi->changed, &mpi->mutex, deadline))
    ;
}

static void
free_memory (Mpi *mpi)
{
  dyno_mpi_shared_close (mpi);
  dyno_mpi_pieces_clear (mpi);
  dyno_mpi_watch_clear (mpi);
  g_queue_clear (&mpi->requests);
  g_queue_clear (&mpi->queue);
  g_array_unref (mpi->handles);
  g_array_unref (mpi->messages);
  g_array_unref (mpi->indices);
  g_array_unref (mpi->statuses);
  g_free (mpi->failure);
  g_free (mpi->found_failure);
  g_free (mpi->abort_reason);
  g_clear_error (&mpi->join_error);
  g_mutex_clear (&mpi->mutex);
  g_cond_clear (&mpi->wake);
  g_cond_clear (&mpi->changed);
  dyno_comm_clear (&mpi->parent);
  g_free (mpi);
}

/* mpirun ends all ranks when one rank has ended with an error, and uses the exit code of that rank,
 * so the rank that reports to people ends first. */
static void
let_speaker_go (Mpi *mpi)
{
  guint speaker = mpi->parent.lost_rank == 0 ? 1 : 0;
  struct pollfd process = { .fd = mpi->peers[speaker].process, .events = POLLIN };

  if (!mpi->failure || mpi->parent.rank == speaker)
    return;
  poll (&process, process.fd >= 0, process.fd >= 0 ? REPORT_US / 1000 : NOTIFY_US / 1000);
  g_usleep (NOTICED_US);
}

/* A thread that does not return from MPI in time is abandoned, with all that it uses. */
static void
leave (DynoComm *comm)
{
  Mpi *mpi = (Mpi *) comm;
  gint64 deadline = g_get_monotonic_time () + LEAVE_US;
  gboolean left;

  g_mutex_lock (&mpi->mutex);
  mpi->leaving = TRUE;
  g_cond_signal (&mpi->wake);
  while (!mpi->left && g_cond_wait_until (&mpi->changed, &mpi->mutex, deadline))
    ;
  left = mpi->left;
  g_mutex_unlock (&mpi->mutex);
  if (!left)
    return;
  g_thread_join (mpi->thread);
  let_speaker_go (mpi);
  free_memory (mpi);
}

static const DynoCommClass mpi_class = {
  .name = "mpi",
  .begin = begin,
  .wait = wait_for,
  .check = check_for,
  .abort = abort_all,
  .free = leave,
};

static Mpi *
mpi_new (void)
{
  Mpi *mpi = g_new0 (Mpi, 1);

  mpi->parent.class = &mpi_class;
  g_mutex_init (&mpi->mutex);
  g_cond_init (&mpi->wake);
  g_cond_init (&mpi->changed);
  g_queue_init (&mpi->queue);
  g_queue_init (&mpi->requests);
  mpi->handles = g_array_new (FALSE, FALSE, sizeof (MPI_Request));
  mpi->messages = g_array_new (FALSE, FALSE, sizeof (Message));
  mpi->indices = g_array_new (FALSE, FALSE, sizeof (int));
  mpi->statuses = g_array_new (FALSE, FALSE, sizeof (MPI_Status));
  return mpi;
}

DynoComm *
dyno_mpi_join (GError **error)
{
  Mpi *mpi = mpi_new ();
  gint64 deadline = g_get_monotonic_time () + JOIN_US;
  gboolean joined;

  mpi->thread = g_thread_new ("mpi", run_thread, mpi);
  g_mutex_lock (&mpi->mutex);
  while (!mpi->joined && g_cond_wait_until (&mpi->changed, &mpi->mutex, deadline))
    ;
  joined = mpi->joined;
  g_mutex_unlock (&mpi->mutex);
  if (!joined) /* the MPI thread is still inside a call of MPI */
    {
      g_set_error (
          error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_TIMEOUT,
          "not all ranks were there within %d s: look whether each host can be reached and "
          "has this dynoctl",
          JOIN_US / 1000000);
      return NULL;
    }
  if (!mpi->join_error)
    return &mpi->parent;
  g_propagate_error (error, g_steal_pointer (&mpi->join_error));
  g_thread_join (mpi->thread);
  free_memory (mpi);
  return NULL;
}
