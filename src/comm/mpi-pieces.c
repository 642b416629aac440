/* SPDX-License-Identifier: MIT */
/* Requests as rounds of messages.
 *
 * A request is cut into pieces, a few of which are under way at once, in the order of the requests,
 * which is the same on all ranks: the n-th piece of one rank meets the n-th of the others, by its
 * tag.  A large piece of a sum goes in two rounds: each rank gets the others' values of its own
 * segment, adds them up in the order of the ranks, and sends the sums to all.  Each byte is sent
 * and received twice by (N-1)/N, as by the best of algorithms, and each sum is computed once: equal
 * bits everywhere.  A small one goes to all at once, and all add it up. */
#include "mpi-private.h"
#include <string.h>

enum { TAGS = 8192, ALIGNMENT = 16 };

static int
tag_of (const Piece *piece)
{
  return (int) (piece->number % TAGS) * 2 + piece->spreads;
}

static gboolean
is_direct (const Piece *piece)
{
  return piece->size_bytes <= DIRECT_BYTES;
}

/* The part of a piece that a rank adds up, in bytes from the piece's begin. */
static void
segment_of (const Mpi *mpi, const Piece *piece, guint rank, gsize *begin, gsize *size_bytes)
{
  gsize unit = dyno_comm_type_size (piece->request->job.type) * ALIGNMENT;
  gsize units = piece->size_bytes / unit;
  gsize first = units * rank / mpi->parent.size * unit,
        end = rank + 1 == mpi->parent.size ? piece->size_bytes
                                           : units * (rank + 1) / mpi->parent.size * unit;

  *begin = first;
  *size_bytes = end - first;
}

static void
add_message (Mpi *mpi, Piece *piece, guint peer, int expected_bytes, MPI_Request handle)
{
  Message message = { piece, peer, expected_bytes };

  g_array_append_val (mpi->handles, handle);
  g_array_append_val (mpi->messages, message);
  piece->messages++;
}

static void
send_to (Mpi *mpi, Piece *piece, guint peer, const void *data, gsize size_bytes)
{
  MPI_Request handle;
  int code;

  if (size_bytes == 0)
    return;
  code =
      MPI_Isend (data, (int) size_bytes, MPI_BYTE, (int) peer, tag_of (piece), mpi->jobs, &handle);
  if (code != MPI_SUCCESS)
    dyno_mpi_fail_code (mpi, peer, "MPI_Isend", code);
  else
    add_message (mpi, piece, peer, -1, handle);
}

static void
receive_from (Mpi *mpi, Piece *piece, guint peer, void *data, gsize size_bytes)
{
  MPI_Request handle;
  int code;

  if (size_bytes == 0)
    return;
  code =
      MPI_Irecv (data, (int) size_bytes, MPI_BYTE, (int) peer, tag_of (piece), mpi->jobs, &handle);
  if (code != MPI_SUCCESS)
    dyno_mpi_fail_code (mpi, peer, "MPI_Irecv", code);
  else
    add_message (mpi, piece, peer, (int) size_bytes, handle);
}

/* The n-th of the other ranks, beginning behind this one: not all send to the same one first. */
static guint
other_rank (const Mpi *mpi, guint n)
{
  return (mpi->parent.rank + n) % mpi->parent.size;
}

static char *
scratch_of (Piece *piece, gsize size_bytes)
{
  if (piece->scratch_bytes < size_bytes)
    {
      g_free (piece->scratch);
      piece->scratch = g_malloc (size_bytes);
      piece->scratch_bytes = size_bytes;
    }
  return piece->scratch;
}

static void
start_sum (Mpi *mpi, Piece *piece)
{
  char *data = (char *) piece->request->job.data + piece->at, *scratch;
  gsize begin = 0, mine = piece->size_bytes;

  if (!is_direct (piece))
    segment_of (mpi, piece, mpi->parent.rank, &begin, &mine);
  scratch = scratch_of (piece, mine * mpi->parent.size);
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint from = other_rank (mpi, mpi->parent.size - n);
      receive_from (mpi, piece, from, scratch + from * mine, mine);
    }
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint to = other_rank (mpi, n);
      gsize its_begin = 0, its = piece->size_bytes;
      if (!is_direct (piece))
        segment_of (mpi, piece, to, &its_begin, &its);
      send_to (mpi, piece, to, data + its_begin, its);
    }
}

/* The first round of a sum has ended. */
static void
add_up (Mpi *mpi, Piece *piece)
{
  const DynoCommJob *job = &piece->request->job;
  char *data = (char *) job->data + piece->at;
  gsize begin = 0, mine = piece->size_bytes;
  const void **in = g_newa (const void *, mpi->parent.size);

  if (!is_direct (piece))
    segment_of (mpi, piece, mpi->parent.rank, &begin, &mine);
  for (guint r = 0; r < mpi->parent.size; r++)
    in[r] = r == mpi->parent.rank ? data + begin : piece->scratch + r * mine;
  dyno_comm_add_ranks (data + begin, in, mpi->parent.size, mine / dyno_comm_type_size (job->type),
                       job->type);
}

static void
spread_sums (Mpi *mpi, Piece *piece)
{
  char *data = (char *) piece->request->job.data + piece->at;
  gsize begin, mine;

  piece->spreads = TRUE;
  segment_of (mpi, piece, mpi->parent.rank, &begin, &mine);
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint from = other_rank (mpi, mpi->parent.size - n);
      gsize its_begin, its;
      segment_of (mpi, piece, from, &its_begin, &its);
      receive_from (mpi, piece, from, data + its_begin, its);
    }
  for (guint n = 1; n < mpi->parent.size; n++)
    send_to (mpi, piece, other_rank (mpi, n), data + begin, mine);
}

static void
start_broadcast (Mpi *mpi, Piece *piece)
{
  const DynoCommJob *job = &piece->request->job;
  char *data = (char *) job->data + piece->at;

  if (mpi->parent.rank != job->root)
    receive_from (mpi, piece, job->root, data, piece->size_bytes);
  else
    for (guint n = 1; n < mpi->parent.size; n++)
      send_to (mpi, piece, other_rank (mpi, n), data, piece->size_bytes);
}

static void
start_gather (Mpi *mpi, Piece *piece)
{
  const DynoCommJob *job = &piece->request->job;
  const char *data = (const char *) job->data + piece->at;
  char *all = (char *) job->all + piece->at;

  memmove (all + mpi->parent.rank * job->size_bytes, data, piece->size_bytes);
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint from = other_rank (mpi, mpi->parent.size - n);
      receive_from (mpi, piece, from, all + from * job->size_bytes, piece->size_bytes);
    }
  for (guint n = 1; n < mpi->parent.size; n++)
    send_to (mpi, piece, other_rank (mpi, n), data, piece->size_bytes);
}

/* No message of the piece is under way any more. */
static void
go_on (Mpi *mpi, Piece *piece)
{
  DynoCommRequest *request = piece->request;

  if (request->job.kind == DYNO_COMM_SUM && !piece->spreads)
    {
      add_up (mpi, piece);
      if (!is_direct (piece))
        spread_sums (mpi, piece);
      if (piece->messages > 0)
        return;
    }
  piece->request = NULL;
  request->pieces--;
  if (request->pieces == 0 && request->started_bytes == request->job.size_bytes)
    dyno_mpi_finish (mpi, request);
}

static void
start_piece (Mpi *mpi, Piece *piece, DynoCommRequest *request)
{
  piece->request = request;
  piece->at = request->started_bytes;
  piece->size_bytes = MIN (request->job.size_bytes - piece->at, (gsize) PIECE_BYTES);
  piece->number = mpi->n_pieces++;
  piece->spreads = FALSE;
  request->started_bytes += piece->size_bytes;
  request->pieces++;
  switch (request->job.kind)
    {
    case DYNO_COMM_SUM:
      start_sum (mpi, piece);
      break;
    case DYNO_COMM_BROADCAST:
      start_broadcast (mpi, piece);
      break;
    case DYNO_COMM_GATHER:
      start_gather (mpi, piece);
      break;
    }
  if (piece->messages == 0)
    go_on (mpi, piece);
}

static gboolean
start_pieces (Mpi *mpi)
{
  gboolean started = FALSE;

  for (guint i = 0; i < PIECES && !g_queue_is_empty (&mpi->requests); i++)
    {
      DynoCommRequest *request = g_queue_peek_head (&mpi->requests);
      if (mpi->pieces[i].request)
        continue;
      if (request->started_bytes + PIECE_BYTES >= request->job.size_bytes)
        g_queue_pop_head (&mpi->requests);
      start_piece (mpi, &mpi->pieces[i], request);
      started = TRUE;
    }
  return started;
}

static void
check_arrival (Mpi *mpi, const Message *message, MPI_Status *status)
{
  int count = 0;

  if (message->expected_bytes < 0)
    return;
  MPI_Get_count (status, MPI_BYTE, &count);
  if (count == message->expected_bytes)
    return;
  g_autofree char *job = dyno_comm_job_describe (&message->piece->request->job);
  dyno_mpi_fail (mpi, message->peer,
                 "it sends %d bytes where %d are expected in %s: it does something else than rank "
                 "%u",
                 count, message->expected_bytes, job, mpi->parent.rank);
}

/* Takes the messages that have ended out of the arrays, from behind. */
static int
compare_down (gconstpointer a, gconstpointer b)
{
  return *(const int *) b - *(const int *) a;
}

static void
take_ended (Mpi *mpi, int *indices, int n)
{
  Piece *ready[PIECES];
  guint n_ready = 0;

  qsort (indices, (gsize) n, sizeof *indices, compare_down);
  for (int i = 0; i < n; i++)
    {
      Piece *piece = g_array_index (mpi->messages, Message, indices[i]).piece;
      g_array_remove_index_fast (mpi->messages, (guint) indices[i]);
      g_array_remove_index_fast (mpi->handles, (guint) indices[i]);
      if (--piece->messages == 0)
        ready[n_ready++] = piece;
    }
  for (guint i = 0; i < n_ready && !mpi->found_failure; i++)
    go_on (mpi, ready[i]);
}

static gboolean
test_messages (Mpi *mpi)
{
  int n = 0, code;
  int *indices;
  MPI_Status *statuses;

  if (mpi->handles->len == 0)
    return FALSE;
  g_array_set_size (mpi->indices, mpi->handles->len);
  g_array_set_size (mpi->statuses, mpi->handles->len);
  indices = (int *) (void *) mpi->indices->data;
  statuses = (MPI_Status *) (void *) mpi->statuses->data;
  code = MPI_Testsome ((int) mpi->handles->len, (MPI_Request *) (void *) mpi->handles->data, &n,
                       indices, statuses);
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
    {
      dyno_mpi_fail_code (mpi, mpi->parent.rank, "MPI_Testsome", code);
      return FALSE;
    }
  if (n == MPI_UNDEFINED || n <= 0)
    return FALSE;
  for (int i = 0; i < n; i++)
    {
      const Message *message = &g_array_index (mpi->messages, Message, indices[i]);
      if (code == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_SUCCESS)
        dyno_mpi_fail_code (mpi, message->peer, "MPI_Testsome", statuses[i].MPI_ERROR);
      else
        check_arrival (mpi, message, &statuses[i]);
    }
  if (!mpi->found_failure)
    take_ended (mpi, indices, n);
  return TRUE;
}

gboolean
dyno_mpi_move (Mpi *mpi)
{
  gboolean moved = start_pieces (mpi);

  if (!mpi->found_failure)
    moved |= test_messages (mpi);
  return moved;
}

gboolean
dyno_mpi_is_busy (const Mpi *mpi)
{
  return mpi->handles->len > 0 || !g_queue_is_empty ((GQueue *) &mpi->requests);
}

void
dyno_mpi_pieces_clear (Mpi *mpi)
{
  for (guint i = 0; i < PIECES; i++)
    g_free (mpi->pieces[i].scratch);
}
