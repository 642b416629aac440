/* SPDX-License-Identifier: MIT */
/* Sums between the processes of one host through memory that they share, by several threads.
 *
 * Each rank has a slot for each piece that may be under way, which the others of its host map.  A
 * piece of a sum goes through it in three jobs, which a few threads do and which never wait:
 *
 *   send   copies the other ranks' segments of the piece into this rank's slot
 *   add    adds up this rank's segment from all slots (and the messages of other hosts),
 *          in the order of the ranks, into the data and into the slot
 *   take   copies the other ranks' sums out of their slots
 *
 * A sum of a single piece, where there are cores to spare, is not worth waking a thread: the MPI
 * thread does its jobs itself.
 *
 * At the end of each job its owner writes the number of the piece plus one into the head of the
 * slot; only the owner writes it, and the MPI thread polls it.  A slot is written anew once all
 * other ranks have taken its content.  Where memory cannot be shared, all ranks send messages
 * instead, with equal bits. */
#include "mpi-private.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE_BYTES = 128, MOST_THREADS = 8 };

/* Progress of a piece, written by the rank whose memory holds it; each number is written by one job
 * only. */
typedef struct {
  guint64 sent, summed, taken;
  guint64 size_bytes, type; /* of the sent data; equal on all ranks */
  guint8 padding[LINE_BYTES - 5 * sizeof (guint64)];
} SlotHead;

typedef struct {
  guint64 token; /* equals the token of the expected rank where the right memory was opened */
  guint8 padding[LINE_BYTES - sizeof (guint64)];
  SlotHead slots[PIECES];
} Head;

/* The memory of a rank of this host. */
typedef struct {
  Head *head; /* NULL: a rank of another host */
  char *values;
} Area;

struct _Shared {
  Mpi *mpi;
  Area *areas; /* of each rank */
  gsize area_bytes;
  GThreadPool *threads;
  guint64 last[PIECES]; /* the number of the last piece in this rank's slot, plus one */
};

/* The data from which the other ranks find the memory of a rank. */
typedef struct {
  gint64 process, descriptor;
  guint64 namespace, token;
} Place;

static guint64
load (const guint64 *number)
{
  return __atomic_load_n (number, __ATOMIC_ACQUIRE);
}

static void
store (guint64 *number, guint64 value)
{
  __atomic_store_n (number, value, __ATOMIC_RELEASE);
}

static guint
slot_of (const Shared *shared, const Piece *piece)
{
  return (guint) (piece->number % shared->mpi->slots);
}

static SlotHead *
head_of (const Shared *shared, guint rank, const Piece *piece)
{
  return &shared->areas[rank].head->slots[slot_of (shared, piece)];
}

static char *
values_of (const Shared *shared, guint rank, const Piece *piece)
{
  return shared->areas[rank].values + (gsize) slot_of (shared, piece) * shared->mpi->piece_bytes;
}

static char *
data_of (const Piece *piece)
{
  return (char *) piece->request->job.data + piece->at;
}

/* --- the jobs, on threads of their own -------------------------------------------------------- */

static void
copy_segment (const Shared *shared, const Piece *piece, guint rank, char *to, const char *from)
{
  gsize begin, size_bytes;

  dyno_mpi_segment (shared->mpi, piece, rank, &begin, &size_bytes);
  memcpy (to + begin, from + begin, size_bytes);
}

static void
send_values (Shared *shared, Piece *piece)
{
  guint me = shared->mpi->parent.rank;
  SlotHead *head = head_of (shared, me, piece);

  for (guint r = 0; r < shared->mpi->parent.size; r++)
    if (r != me && shared->areas[r].head)
      copy_segment (shared, piece, r, values_of (shared, me, piece), data_of (piece));
  head->size_bytes = piece->size_bytes;
  head->type = piece->request->job.type;
  store (&head->sent, piece->number + 1);
}

static void
add_values (Shared *shared, Piece *piece)
{
  const DynoComm *comm = &shared->mpi->parent;
  const void **in = g_newa (const void *, comm->size);
  DynoCommType type = piece->request->job.type;
  gsize begin, mine;

  dyno_mpi_segment (shared->mpi, piece, comm->rank, &begin, &mine);
  for (guint r = 0; r < comm->size; r++)
    in[r] = r == comm->rank         ? data_of (piece) + begin
            : shared->areas[r].head ? values_of (shared, r, piece) + begin
                                    : piece->scratch + r * mine;
  dyno_comm_add_ranks (data_of (piece) + begin, in, comm->size, mine / dyno_comm_type_size (type),
                       type);
  memcpy (values_of (shared, comm->rank, piece) + begin, data_of (piece) + begin, mine);
  store (&head_of (shared, comm->rank, piece)->summed, piece->number + 1);
}

static void
take_values (Shared *shared, Piece *piece)
{
  guint me = shared->mpi->parent.rank;

  for (guint r = 0; r < shared->mpi->parent.size; r++)
    if (r != me && shared->areas[r].head)
      copy_segment (shared, piece, r, data_of (piece), values_of (shared, r, piece));
  store (&head_of (shared, me, piece)->taken, piece->number + 1);
}

static void
do_job (gpointer data, gpointer user_data)
{
  Piece *piece = data;
  Shared *shared = user_data;

  switch (piece->stage)
    {
    case STAGE_SEND:
      send_values (shared, piece);
      break;
    case STAGE_ADD:
      add_values (shared, piece);
      break;
    case STAGE_TAKE:
      take_values (shared, piece);
      break;
    case STAGE_MESSAGES:
      break;
    }
  g_atomic_int_set (&piece->at_work, FALSE);
}

static void
begin_job (Shared *shared, Piece *piece, Stage stage)
{
  piece->stage = stage;
  g_atomic_int_set (&piece->at_work, TRUE);
  if (shared->mpi->parent.spin_us > 0 && piece->request->job.size_bytes == piece->size_bytes)
    do_job (piece, shared);
  else
    g_thread_pool_push (shared->threads, piece, NULL);
}

/* --- the MPI thread --------------------------------------------------------------------------- */

gboolean
dyno_mpi_shares_with (const Mpi *mpi, guint rank)
{
  return mpi->shared && mpi->shared->areas[rank].head && rank != mpi->parent.rank;
}

gboolean
dyno_mpi_slot_is_free (const Mpi *mpi, guint slot)
{
  const Shared *shared = mpi->shared;

  for (guint r = 0; shared && r < mpi->parent.size; r++)
    if (shared->areas[r].head
        && load (&shared->areas[r].head->slots[slot].taken) < shared->last[slot])
      return FALSE;
  return TRUE;
}

void
dyno_mpi_shared_begin (Mpi *mpi, Piece *piece)
{
  mpi->shared->last[slot_of (mpi->shared, piece)] = piece->number + 1;
  begin_job (mpi->shared, piece, STAGE_SEND);
}

/* TRUE where all ranks that share memory have finished a job of this piece; offset: of the job's
 * number in SlotHead. */
static gboolean
have_all (const Shared *shared, const Piece *piece, gsize offset)
{
  for (guint r = 0; r < shared->mpi->parent.size; r++)
    if (shared->areas[r].head
        && load (G_STRUCT_MEMBER_P (head_of (shared, r, piece), offset)) < piece->number + 1)
      return FALSE;
  return TRUE;
}

/* The values of another program, or of a rank whose calls differ, are not added up. */
static gboolean
are_alike (Mpi *mpi, const Piece *piece)
{
  for (guint r = 0; r < mpi->parent.size; r++)
    {
      const SlotHead *its = dyno_mpi_shares_with (mpi, r) ? head_of (mpi->shared, r, piece) : NULL;
      if (!its || (its->size_bytes == piece->size_bytes && its->type == piece->request->job.type))
        continue;
      g_autofree char *job = dyno_comm_job_describe (&piece->request->job);
      dyno_mpi_fail (mpi, r,
                     "it sends %" G_GUINT64_FORMAT " bytes of type %" G_GUINT64_FORMAT
                     " where %" G_GSIZE_FORMAT " of type %d are expected in %s: it does something "
                     "else than rank %u",
                     its->size_bytes, its->type, piece->size_bytes, (int) piece->request->job.type,
                     job, mpi->parent.rank);
      return FALSE;
    }
  return TRUE;
}

gboolean
dyno_mpi_shared_move (Mpi *mpi, Piece *piece, gboolean *ended)
{
  Shared *shared = mpi->shared;

  *ended = FALSE;
  if (g_atomic_int_get (&piece->at_work) || piece->messages > 0)
    return FALSE;
  switch (piece->stage)
    {
    case STAGE_SEND:
      if (!have_all (shared, piece, G_STRUCT_OFFSET (SlotHead, sent)))
        return FALSE;
      if (!are_alike (mpi, piece))
        return FALSE;
      begin_job (shared, piece, STAGE_ADD);
      return TRUE;
    case STAGE_ADD:
      if (!have_all (shared, piece, G_STRUCT_OFFSET (SlotHead, summed)))
        return FALSE;
      begin_job (shared, piece, STAGE_TAKE);
      dyno_mpi_spread_sums (mpi, piece);
      return TRUE;
    case STAGE_TAKE:
      piece->stage = STAGE_MESSAGES;
      *ended = TRUE;
      return TRUE;
    case STAGE_MESSAGES:
      break;
    }
  return FALSE;
}

/* --- making ----------------------------------------------------------------------------------- */

static gboolean
map_area (Shared *shared, guint rank, int descriptor)
{
  Area *area = &shared->areas[rank];
  void *memory = mmap (NULL, shared->area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

  if (memory == MAP_FAILED)
    return FALSE;
  area->head = memory;
  area->values = (char *) memory + sizeof (Head);
  return TRUE;
}

/* Allocates this rank's memory and returns its descriptor; -1: it cannot be allocated. */
static int
make_area (Shared *shared, guint64 token)
{
  int descriptor = memfd_create ("dyno-comm", MFD_CLOEXEC);

  if (descriptor < 0)
    return -1;
  if (posix_fallocate (descriptor, 0, (off_t) shared->area_bytes) != 0
      || !map_area (shared, shared->mpi->parent.rank, descriptor))
    {
      close (descriptor);
      return -1;
    }
  shared->areas[shared->mpi->parent.rank].head->token = token;
  return descriptor;
}

static gboolean
open_area (Shared *shared, guint rank, const Place *place)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/fd/%" G_GINT64_FORMAT,
                                           place->process, place->descriptor);
  int descriptor = open (path, O_RDWR | O_CLOEXEC);
  gboolean mapped;

  if (descriptor < 0)
    return FALSE;
  mapped = lseek (descriptor, 0, SEEK_END) == (off_t) shared->area_bytes
           && map_area (shared, rank, descriptor);
  close (descriptor);
  return mapped && shared->areas[rank].head->token == place->token;
}

/* The number of successive ranks that may share memory: DYNO_COMM_SHARED, for comparisons and
 * tests; else all. */
static guint
count_sharing (const Mpi *mpi)
{
  const char *text = g_getenv ("DYNO_COMM_SHARED");
  guint64 most = 0;

  if (!text || !g_ascii_string_to_unsigned (text, 10, 0, mpi->parent.size, &most, NULL))
    return mpi->parent.size;
  return (guint) most;
}

/* TRUE for another rank of this host whose process is visible to this one. */
static gboolean
is_near (const Mpi *mpi, guint rank, const Place *mine, const Place *its)
{
  guint most = count_sharing (mpi);

  return rank != mpi->parent.rank && rank / most == mpi->parent.rank / most && its->namespace != 0
         && its->namespace == mine->namespace
         && g_str_equal (mpi->parent.hosts[rank], mpi->parent.hosts[mpi->parent.rank]);
}

/* Opens the memory of the ranks for which is_near holds, and counts them in *near; TRUE where every
 * rank could open all of its own. */
static gboolean
open_areas (Shared *shared, guint64 namespace, guint *near)
{
  Mpi *mpi = shared->mpi;
  guint64 token = (guint64) g_get_real_time () ^ ((guint64) g_random_int () << 32);
  int descriptor = count_sharing (mpi) > 0 ? make_area (shared, token) : -1, fine = descriptor >= 0,
      all_fine = 0;
  Place mine = { getpid (), descriptor, namespace, token };
  g_autofree Place *places = g_new0 (Place, mpi->parent.size);

  if (MPI_Allgather (&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, mpi->notes)
      != MPI_SUCCESS)
    fine = 0;
  for (guint r = 0; r < mpi->parent.size && fine; r++)
    if (is_near (mpi, r, &mine, &places[r]))
      {
        fine = open_area (shared, r, &places[r]);
        (*near)++;
      }
  /* The memory must not be closed before all ranks have opened it. */
  if (MPI_Allreduce (&fine, &all_fine, 1, MPI_INT, MPI_MIN, mpi->notes) != MPI_SUCCESS)
    all_fine = 0;
  if (descriptor >= 0)
    close (descriptor);
  return all_fine != 0;
}

static guint
count_threads (const Mpi *mpi)
{
  return CLAMP (g_get_num_processors () / (2 * mpi->parent.local_size), 1, MOST_THREADS);
}

void
dyno_mpi_shared_open (Mpi *mpi, guint64 namespace)
{
  gboolean one_host =
      mpi->parent.local_size == mpi->parent.size && count_sharing (mpi) == mpi->parent.size;
  Shared *shared = g_new0 (Shared, 1);
  guint near = 0;

  mpi->slots = one_host ? PIECES : MESSAGE_PIECES;
  mpi->piece_bytes = one_host ? SHARED_PIECE_BYTES : MESSAGE_PIECE_BYTES;
  mpi->shared = shared;
  shared->mpi = mpi;
  shared->areas = g_new0 (Area, mpi->parent.size);
  shared->area_bytes = sizeof (Head) + mpi->slots * mpi->piece_bytes;
  if (!open_areas (shared, namespace, &near))
    {
      g_info ("The ranks of a host share no memory and send each other messages");
      mpi->slots = MESSAGE_PIECES;
      mpi->piece_bytes = MESSAGE_PIECE_BYTES;
      near = 0;
    }
  if (near == 0)
    dyno_mpi_shared_close (mpi);
  else
    shared->threads = g_thread_pool_new (do_job, shared, (int) count_threads (mpi), TRUE, NULL);
}

void
dyno_mpi_shared_stop (Mpi *mpi)
{
  if (mpi->shared && mpi->shared->threads)
    g_thread_pool_free (g_steal_pointer (&mpi->shared->threads), TRUE, TRUE);
}

void
dyno_mpi_shared_close (Mpi *mpi)
{
  Shared *shared = g_steal_pointer (&mpi->shared);

  if (!shared)
    return;
  for (guint r = 0; r < mpi->parent.size; r++)
    if (shared->areas[r].head)
      munmap (shared->areas[r].head, shared->area_bytes);
  g_free (shared->areas);
  g_free (shared);
}
