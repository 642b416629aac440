/* SPDX-License-Identifier: MIT */
/* Carries out requests as rounds of messages.
 *
 * A request is cut into pieces, a few of which are under way at once.  They follow the order of the
 * requests, which is the same on all ranks: the n-th piece of one rank matches the n-th piece of
 * the others, by its tag.  A large piece of a sum goes in two rounds: each rank gets the others'
 * values of its own segment, adds them up in the order of the ranks, and sends the sums to all.
 * Each byte is sent and received 2 (N-1)/N times, as by the best algorithms, and each sum is
 * computed once, so that the bits are equal everywhere.  A small piece goes to all ranks at once,
 * and all ranks add it up.  Ranks that share memory send no messages for large pieces
 * (mpi-shared.c). */
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

void
dyno_mpi_segment (const Mpi *mpi, const Piece *piece, guint rank, gsize *begin, gsize *size_bytes)
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

/* The n-th of the other ranks, counted from the one after this rank, so that not all ranks send to
 * the same one first. */
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

static gboolean
is_by_message (const Mpi *mpi, const Piece *piece, guint rank)
{
  return is_direct (piece) || !dyno_mpi_shares_with (mpi, rank);
}

static void
start_sum (Mpi *mpi, Piece *piece)
{
  char *data = (char *) piece->request->job.data + piece->at, *scratch;
  gsize begin = 0, mine = piece->size_bytes;

  if (!is_direct (piece))
    dyno_mpi_segment (mpi, piece, mpi->parent.rank, &begin, &mine);
  scratch = scratch_of (piece, mine * mpi->parent.size);
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint from = other_rank (mpi, mpi->parent.size - n);
      if (is_by_message (mpi, piece, from))
        receive_from (mpi, piece, from, scratch + from * mine, mine);
    }
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint to = other_rank (mpi, n);
      gsize its_begin = 0, its = piece->size_bytes;
      if (!is_direct (piece))
        dyno_mpi_segment (mpi, piece, to, &its_begin, &its);
      if (is_by_message (mpi, piece, to))
        send_to (mpi, piece, to, data + its_begin, its);
    }
  if (mpi->shared && !is_direct (piece))
    dyno_mpi_shared_begin (mpi, piece);
}

/* Called when the first round of a sum has ended. */
static void
add_up (Mpi *mpi, Piece *piece)
{
  const DynoCommJob *job = &piece->request->job;
  char *data = (char *) job->data + piece->at;
  gsize begin = 0, mine = piece->size_bytes;
  const void **in = g_newa (const void *, mpi->parent.size);

  if (!is_direct (piece))
    dyno_mpi_segment (mpi, piece, mpi->parent.rank, &begin, &mine);
  for (guint r = 0; r < mpi->parent.size; r++)
    in[r] = r == mpi->parent.rank ? data + begin : piece->scratch + r * mine;
  dyno_comm_add_ranks (data + begin, in, mpi->parent.size, mine / dyno_comm_type_size (job->type),
                       job->type);
}

void
dyno_mpi_spread_sums (Mpi *mpi, Piece *piece)
{
  char *data = (char *) piece->request->job.data + piece->at;
  gsize begin, mine;

  piece->spreads = TRUE;
  dyno_mpi_segment (mpi, piece, mpi->parent.rank, &begin, &mine);
  for (guint n = 1; n < mpi->parent.size; n++)
    {
      guint from = other_rank (mpi, mpi->parent.size - n);
      gsize its_begin, its;
      dyno_mpi_segment (mpi, piece, from, &its_begin, &its);
      if (is_by_message (mpi, piece, from))
        receive_from (mpi, piece, from, data + its_begin, its);
    }
  for (guint n = 1; n < mpi->parent.size; n++)
    if (is_by_message (mpi, piece, other_rank (mpi, n)))
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

static void
end_piece (Mpi *mpi, Piece *piece)
{
  DynoCommRequest *request = piece->request;

  piece->request = NULL;
  request->pieces--;
  if (request->pieces == 0 && request->started_bytes == request->job.size_bytes)
    dyno_mpi_finish (mpi, request);
}

/* Called when no message of the piece is under way any more. */
static void
go_on (Mpi *mpi, Piece *piece)
{
  DynoCommRequest *request = piece->request;

  if (piece->stage != STAGE_MESSAGES)
    return;
  if (request->job.kind == DYNO_COMM_SUM && !piece->spreads)
    {
      add_up (mpi, piece);
      if (!is_direct (piece))
        dyno_mpi_spread_sums (mpi, piece);
      if (piece->messages > 0)
        return;
    }
  end_piece (mpi, piece);
}

static void
start_piece (Mpi *mpi, Piece *piece, DynoCommRequest *request)
{
  piece->request = request;
  piece->at = request->started_bytes;
  piece->size_bytes = MIN (request->job.size_bytes - piece->at, mpi->piece_bytes);
  piece->number = mpi->n_pieces++;
  piece->spreads = FALSE;
  piece->stage = STAGE_MESSAGES;
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

/* Starts pieces in the order of their numbers, each in its slot, which is the same on all ranks. */
static gboolean
start_pieces (Mpi *mpi)
{
  gboolean started = FALSE;

  while (!g_queue_is_empty (&mpi->requests) && !mpi->found_failure)
    {
      DynoCommRequest *request = g_queue_peek_head (&mpi->requests);
      guint slot = (guint) (mpi->n_pieces % mpi->slots);
      if (mpi->pieces[slot].request || !dyno_mpi_slot_is_free (mpi, slot))
        break;
      if (request->started_bytes + mpi->piece_bytes >= request->job.size_bytes)
        g_queue_pop_head (&mpi->requests);
      start_piece (mpi, &mpi->pieces[slot], request);
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

/* Orders indices downwards: take_ended removes completed messages from the end of the arrays on. */
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

/* Moves the pieces that go through shared memory. */
static gboolean
move_shared (Mpi *mpi)
{
  gboolean moved = FALSE;

  for (guint i = 0; i < mpi->slots && mpi->shared; i++)
    {
      Piece *piece = &mpi->pieces[i];
      gboolean ended = FALSE;
      if (!piece->request || piece->stage == STAGE_MESSAGES)
        continue;
      moved |= dyno_mpi_shared_move (mpi, piece, &ended);
      if (ended)
        end_piece (mpi, piece);
    }
  return moved;
}

gboolean
dyno_mpi_move (Mpi *mpi)
{
  gboolean moved = start_pieces (mpi);

  if (!mpi->found_failure)
    moved |= test_messages (mpi);
  if (!mpi->found_failure)
    moved |= move_shared (mpi);
  return moved;
}

gboolean
dyno_mpi_is_busy (const Mpi *mpi)
{
  for (guint i = 0; i < mpi->slots; i++)
    if (mpi->pieces[i].request)
      return TRUE;
  return !g_queue_is_empty ((GQueue *) &mpi->requests);
}

void
dyno_mpi_pieces_clear (Mpi *mpi)
{
  for (guint i = 0; i < PIECES; i++)
    g_free (mpi->pieces[i].scratch);
}
