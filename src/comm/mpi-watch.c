/* SPDX-License-Identifier: MIT */
/* Checks that the other ranks are alive, and sends and receives the notes, which are messages
 * between ranks that belong to no request.
 *
 * Rank 0 and each other rank report to each other twice a second that they are alive; a rank that
 * hears nothing for too long gives up the other one and notifies all ranks.  The end of a process
 * on the same host is detected within a few ticks.  A rank that leaves sends a note first, with the
 * reason where it failed.  A rank that was itself suspended for a while, perhaps with the whole
 * job, does not count that time as silence of the others. */
#include "mpi-private.h"
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOTE_ALIVE = 1, NOTE_ABORT, NOTE_LEAVES, NOTE_TAG = 1 };

/* A rank that was just suspended may have been given up by the other ranks: their failures, as it
 * sees them, are a consequence. */
static gboolean
was_stopped (const Mpi *mpi)
{
  return mpi->gap_us > 0 && g_get_monotonic_time () - mpi->resumed_us < SILENCE_US;
}

void
dyno_mpi_end (Mpi *mpi, guint rank, DynoCommFate fate, const char *reason)
{
  if (mpi->found_failure)
    return;
  if (fate == DYNO_COMM_LOST && was_stopped (mpi))
    {
      mpi->found_failure = g_strdup_printf (
          "it was itself stopped for %d s, and the other ranks have gone on without it",
          (int) (mpi->gap_us / G_USEC_PER_SEC));
      mpi->found_rank = mpi->parent.rank;
      return;
    }
  mpi->found_failure = g_strdup (reason);
  mpi->found_rank = rank;
  mpi->found_fate = fate;
}

void
dyno_mpi_fail (Mpi *mpi, guint rank, const char *format, ...)
{
  g_autofree char *reason = NULL;
  va_list args;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  dyno_mpi_end (mpi, rank, DYNO_COMM_FAILED, reason);
}

void
dyno_mpi_lose (Mpi *mpi, guint rank, const char *format, ...)
{
  g_autofree char *reason = NULL;
  va_list args;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  dyno_mpi_end (mpi, rank, DYNO_COMM_LOST, reason);
}

void
dyno_mpi_fail_code (Mpi *mpi, guint rank, const char *call, int code)
{
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0, class = 0;

  MPI_Error_class (code, &class);
  if (MPI_Error_string (code, text, &length) != MPI_SUCCESS)
    g_strlcpy (text, "an error without a name", sizeof text);
  if (class == MPI_ERR_TRUNCATE)
    dyno_mpi_fail (mpi, rank,
                   "it sends more than rank %u expects of it: it does something else (%s: %s)",
                   mpi->parent.rank, call, text);
  else if (rank == mpi->parent.rank)
    dyno_mpi_fail (mpi, rank, "%s says: %s", call, text);
  else
    dyno_mpi_lose (mpi, rank, "%s says: %s", call, text);
}

static void
receive_note (Mpi *mpi)
{
  int code = MPI_Irecv (&mpi->incoming, sizeof mpi->incoming, MPI_BYTE, MPI_ANY_SOURCE, NOTE_TAG,
                        mpi->notes, &mpi->receiving);

  if (code != MPI_SUCCESS)
    {
      mpi->receiving = MPI_REQUEST_NULL;
      dyno_mpi_fail_code (mpi, mpi->parent.rank, "MPI_Irecv", code);
    }
}

/* TRUE where the last note to a rank has been sent completely. */
static gboolean
may_send (Peer *peer)
{
  int sent = 1;

  if (peer->sending != MPI_REQUEST_NULL)
    MPI_Test (&peer->sending, &sent, MPI_STATUS_IGNORE);
  return sent;
}

/* FALSE: the last note to the rank is still under way. */
static gboolean
send_note (Mpi *mpi, guint rank, const Note *note)
{
  Peer *peer = &mpi->peers[rank];
  int code;

  if (!may_send (peer))
    return FALSE;
  peer->note = *note;
  code = MPI_Isend (&peer->note, sizeof peer->note, MPI_BYTE, (int) rank, NOTE_TAG, mpi->notes,
                    &peer->sending);
  if (code != MPI_SUCCESS)
    {
      peer->sending = MPI_REQUEST_NULL;
      dyno_mpi_fail_code (mpi, rank, "MPI_Isend", code);
    }
  return TRUE;
}

static guint64
count_begun (Mpi *mpi)
{
  guint64 begun;

  g_mutex_lock (&mpi->mutex);
  begun = mpi->begun;
  g_mutex_unlock (&mpi->mutex);
  return begun;
}

/* The oldest request under way; NULL: there is none. */
static const DynoCommRequest *
oldest_request (Mpi *mpi)
{
  const DynoCommRequest *oldest = g_queue_peek_head (&mpi->requests);

  for (guint i = 0; i < PIECES; i++)
    if (mpi->pieces[i].request && (!oldest || mpi->pieces[i].request->number < oldest->number))
      oldest = mpi->pieces[i].request;
  return oldest;
}

static void
read_note (Mpi *mpi, guint from)
{
  Note *note = &mpi->incoming;
  Peer *peer = &mpi->peers[from];
  guint rank = MIN (note->rank, mpi->parent.size - 1);

  note->reason[REASON_BYTES - 1] = '\0';
  peer->heard_us = g_get_monotonic_time ();
  peer->begun = note->begun;
  if (note->kind == NOTE_LEAVES)
    peer->left = TRUE;
  if (note->kind == NOTE_ABORT)
    {
      g_autofree char *reason = g_utf8_make_valid (note->reason, -1);
      dyno_mpi_end (mpi, rank, (DynoCommFate) MIN (note->fate, DYNO_COMM_LOST), reason);
    }
}

static void
receive_notes (Mpi *mpi)
{
  while (!mpi->found_failure)
    {
      MPI_Status status;
      int arrived = 0;
      int code = MPI_Test (&mpi->receiving, &arrived, &status);
      if (code != MPI_SUCCESS)
        dyno_mpi_fail_code (mpi, mpi->parent.rank, "MPI_Test", code);
      if (code != MPI_SUCCESS || !arrived)
        return;
      read_note (mpi, (guint) status.MPI_SOURCE);
      receive_note (mpi);
    }
}

static void
send_beats (Mpi *mpi, gint64 now)
{
  Note note = { .kind = NOTE_ALIVE, .begun = count_begun (mpi) };
  guint end = mpi->parent.rank == 0 ? mpi->parent.size : 1;

  for (guint r = mpi->parent.rank == 0; r < end; r++)
    if (!mpi->peers[r].left)
      send_note (mpi, r, &note);
  mpi->beat_us = now;
}

static void
check_processes (Mpi *mpi)
{
  for (guint r = 0; r < mpi->parent.size; r++)
    {
      Peer *peer = &mpi->peers[r];
      struct pollfd process = { .fd = peer->process, .events = POLLIN };
      if (peer->process < 0 || peer->left)
        continue;
      /* The rank is lost only at the call after poll has seen its end: in between, its last note
         was read. */
      if (peer->ended)
        dyno_mpi_lose (mpi, r, "its process has ended unexpectedly");
      else
        peer->ended = poll (&process, 1, 0) == 1;
    }
}

static void
check_silence (Mpi *mpi, gint64 now)
{
  guint end = mpi->parent.rank == 0 ? mpi->parent.size : 1;

  for (guint r = mpi->parent.rank == 0; r < end; r++)
    if (!mpi->peers[r].left && now - mpi->peers[r].heard_us > SILENCE_US)
      dyno_mpi_lose (mpi, r,
                     "it has not answered for %d s: it hangs, was stopped, or its host or "
                     "network is down",
                     SILENCE_US / 1000000);
}

/* Logs the rank for which the others wait, and again whenever the wait has doubled.  The rank may
 * wait for a slow disk, so it is not given up. */
static void
name_slow (Mpi *mpi, guint rank, const DynoCommRequest *oldest, gint64 late_us)
{
  gboolean again = mpi->named == oldest->number + 1;

  if (mpi->parent.rank > 0 || late_us < (again ? 2 * mpi->named_after_us : SLOW_US))
    return;
  g_message (again
                 ? "still waiting for rank %u on %s, which is %d s behind: its data or its device "
                   "do not answer"
                 : "waiting for rank %u on %s, which is %d s behind",
             rank, mpi->parent.hosts[rank], (int) (late_us / 1000000));
  mpi->named = oldest->number + 1;
  mpi->named_after_us = late_us;
}

/* A rank that left before it began the request that this rank waits for will never begin it. */
static void
check_requests (Mpi *mpi, gint64 now)
{
  const DynoCommRequest *oldest = oldest_request (mpi);

  for (guint r = 0; r < mpi->parent.size && oldest; r++)
    {
      const Peer *peer = &mpi->peers[r];
      if (r == mpi->parent.rank || peer->begun > oldest->number)
        continue;
      if (peer->left)
        dyno_mpi_lose (mpi, r, "it has ended while rank %u still waits for it", mpi->parent.rank);
      else
        name_slow (mpi, r, oldest, now - oldest->begun_us);
    }
}

void
dyno_mpi_watch (Mpi *mpi)
{
  gint64 now = g_get_monotonic_time ();

  if (now - mpi->looked_us > SILENCE_US / 3)
    {
      mpi->gap_us = now - mpi->looked_us;
      mpi->resumed_us = mpi->looked_us = now;
      for (guint r = 0; r < mpi->parent.size; r++)
        mpi->peers[r].heard_us = now;
    }
  receive_notes (mpi);
  if (now - mpi->looked_us < TICK_US || mpi->found_failure)
    return;
  mpi->looked_us = now;
  if (now - mpi->beat_us >= BEAT_US)
    send_beats (mpi, now);
  check_processes (mpi);
  check_silence (mpi, now);
  check_requests (mpi, now);
}

/* Sends a note to all ranks but `without`, and waits until it is sent, for at most NOTIFY_US. */
static void
send_to_all (Mpi *mpi, const Note *note, guint without)
{
  gint64 deadline = g_get_monotonic_time () + NOTIFY_US;
  guint8 *reported = g_newa (guint8, mpi->parent.size);
  guint left = 0;

  memset (reported, 0, mpi->parent.size);
  do
    {
      left = 0;
      for (guint r = 0; r < mpi->parent.size; r++)
        {
          if (r == mpi->parent.rank || r == without || reported[r] == 2)
            continue;
          if (reported[r] == 0)
            reported[r] = send_note (mpi, r, note);
          else if (may_send (&mpi->peers[r]))
            reported[r] = 2;
          left += reported[r] != 2;
        }
      if (left > 0)
        g_usleep (100);
    }
  while (left > 0 && g_get_monotonic_time () < deadline);
}

void
dyno_mpi_send_failure (Mpi *mpi)
{
  Note note = {
    .kind = NOTE_ABORT, .rank = mpi->found_rank, .fate = mpi->found_fate, .begun = count_begun (mpi)
  };

  g_strlcpy (note.reason, mpi->found_failure, sizeof note.reason);
  send_to_all (mpi, &note, mpi->found_rank == mpi->parent.rank ? G_MAXUINT : mpi->found_rank);
}

void
dyno_mpi_send_goodbye (Mpi *mpi)
{
  Note note = { .kind = NOTE_LEAVES, .begun = count_begun (mpi) };

  send_to_all (mpi, &note, G_MAXUINT);
}

gboolean
dyno_mpi_all_left (const Mpi *mpi)
{
  for (guint r = 0; r < mpi->parent.size; r++)
    if (r != mpi->parent.rank && !mpi->peers[r].left)
      return FALSE;
  return TRUE;
}

/* processes: two numbers for each rank, the number of its process and the namespace of that number;
 * 0: not known. */
void
dyno_mpi_watch_start (Mpi *mpi, const guint64 *processes)
{
  const guint64 *mine = processes + 2 * mpi->parent.rank;
  gint64 now = g_get_monotonic_time ();

  mpi->peers = g_new0 (Peer, mpi->parent.size);
  for (guint r = 0; r < mpi->parent.size; r++)
    {
      Peer *peer = &mpi->peers[r];
      const guint64 *its = processes + 2 * r;
      peer->sending = MPI_REQUEST_NULL;
      peer->heard_us = now;
      peer->process = -1;
#ifdef SYS_pidfd_open
      if (r != mpi->parent.rank && its[1] != 0 && its[1] == mine[1]
          && g_str_equal (mpi->parent.hosts[r], mpi->parent.hosts[mpi->parent.rank]))
        peer->process = (int) syscall (SYS_pidfd_open, (pid_t) its[0], 0);
#endif
    }
  mpi->looked_us = now;
  receive_note (mpi);
}

void
dyno_mpi_watch_clear (Mpi *mpi)
{
  for (guint r = 0; mpi->peers && r < mpi->parent.size; r++)
    if (mpi->peers[r].process >= 0)
      close (mpi->peers[r].process);
  g_free (mpi->peers);
}
