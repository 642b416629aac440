/* SPDX-License-Identifier: MIT */
/* What the files of the module dyno-mpi share.
 *
 * One thread makes all calls of MPI, from MPI_Init to MPI_Finalize: the exchange goes on whatever
 * the callers do, and any MPI serves, whatever it says of threads.  Callers put requests into a
 * queue and sleep until they are done.  After a failure the thread tells the other ranks and makes
 * no call of MPI any more, not even MPI_Finalize, which would wait for who no longer is; only then
 * do the callers hear of it: nothing is written into their memory afterwards.
 *
 * Members are the thread's own but for those under the mutex. */
#pragma once
#include "comm-class.h"
#include <mpi.h>

G_BEGIN_DECLS

enum {
  PIECES = 8, /* in flight at once, at most */
  SHARED_PIECE_BYTES = 1 << 20,
  MESSAGE_PIECES = 4,            /* the same where messages are sent */
  MESSAGE_PIECE_BYTES = 4 << 20, /* bounds scratch, and counts fit an int */
  DIRECT_BYTES = 8 << 10,        /* sums up to this go to all ranks at once, one hop */
  TICK_US = 50 * 1000,           /* how often an idle thread looks */
  SPIN_US = 2000,                /* how long who waits does not sleep, where */
  SPIN_CORES = 4,                /* each rank has so many cores */
  YIELD_US = 100,           /* the same for the thread anywhere, while something is under way */
  BEAT_US = 500 * 1000,     /* how often it tells that it lives */
  SILENCE_US = 6 * 1000000, /* after which a rank is given up */
  SLOW_US = 5 * 1000000,    /* after which rank 0 names whom it waits for */
  TELL_US = 1000000,        /* at most, to tell the others of a failure */
  SPEAK_US = 5 * 1000000,   /* at most, until who tells people of a failure has ended, and then */
  NOTICED_US = 100 * 1000,  /* until mpirun has seen that */
  JOIN_US = 60 * 1000000,   /* at most, until all ranks are there */
  LEAVE_US = 10 * 1000000,  /* at most, until all ranks leave */
  REASON_BYTES = 480,
};

typedef struct _Mpi Mpi;
typedef struct _Shared Shared;

/* Where a piece is: of a sum through shared memory the job that it is at or has done. */
typedef enum { STAGE_MESSAGES, STAGE_SEND, STAGE_ADD, STAGE_TAKE } Stage;

struct _DynoCommRequest {
  DynoCommJob job;
  guint64 number; /* of the requests of this rank */
  gint64 begun_us;
  gsize started_bytes; /* of the data, handed to pieces */
  guint pieces;        /* in flight */
  int done;            /* atomic; set under the mutex */
};

/* A part of a request on its way: rounds of messages, each between all pairs of ranks. */
typedef struct {
  DynoCommRequest *request; /* NULL: not in use */
  gsize at, size_bytes;     /* of its data */
  guint64 number;
  gboolean spreads; /* the second round of a sum by segments */
  guint messages;   /* under way */
  char *scratch;    /* what the other ranks sent */
  gsize scratch_bytes;
  Stage stage;
  int at_work; /* atomic: a thread does its job */
} Piece;

/* A message under way. */
typedef struct {
  Piece *piece;
  guint peer;
  int expected_bytes; /* what is received; -1: it is sent */
} Message;

/* What ranks tell each other beside the requests. */
typedef struct {
  guint32 kind;
  guint32 rank; /* ABORT: who failed */
  guint32 fate; /* ABORT: DynoCommFate */
  guint32 unused;
  guint64 begun; /* requests that the sender has begun */
  char reason[REASON_BYTES];
} Note;

/* What is known of another rank. */
typedef struct {
  int process; /* a descriptor that tells its end; -1: it runs elsewhere */
  gboolean ended, left;
  gint64 heard_us;
  guint64 begun;
  Note note; /* being sent */
  MPI_Request sending;
} Peer;

struct _Mpi {
  DynoComm parent;
  GThread *thread;

  GMutex mutex;
  GCond wake;    /* the thread: a request, an abort, the end */
  GCond changed; /* the callers: done, failed, joined, left */
  GQueue queue;  /* begun, not yet taken */
  guint64 begun;
  gboolean joined, leaving, left;
  char *abort_reason;
  DynoCommFate abort_fate;
  char *failure; /* all calls fail with it */
  guint failed_rank;
  GError *join_error;

  MPI_Comm jobs, notes;
  GQueue requests;      /* taken, in order, with bytes that no piece has */
  guint slots;          /* pieces in flight at once; equal on all ranks, as are */
  gsize piece_bytes;    /* their sizes */
  Piece pieces[PIECES]; /* the n-th is in [n % slots] */
  guint64 n_pieces;
  Shared *shared;   /* NULL: all goes by messages */
  GArray *handles;  /* of MPI_Request */
  GArray *messages; /* of Message, one for each handle */
  GArray *indices;  /* of int, scratch of MPI_Testsome */
  GArray *statuses;
  gint64 moved_us; /* when something last arrived or left */

  Peer *peers;
  Note incoming;
  MPI_Request receiving;
  gint64 beat_us, looked_us;
  gint64 gap_us, resumed_us; /* the last time in which it did nothing for long, and its end */
  guint64 named;             /* 1 + the request whose lateness was named last */
  gint64 named_after_us;     /* and how late it was then */
  char *found_failure;
  guint found_rank;
  DynoCommFate found_fate;
};

/* pieces: starts what the queue holds and moves what is under way; whether something moved. */
gboolean dyno_mpi_move (Mpi *mpi);
gboolean dyno_mpi_is_busy (const Mpi *mpi);
void dyno_mpi_pieces_clear (Mpi *mpi);

/* Sends this rank's segment to the ranks that share no memory with it. */
void dyno_mpi_spread_sums (Mpi *mpi, Piece *piece);
/* The part of a piece that a rank adds up, in bytes from the piece's begin. */
void dyno_mpi_segment (const Mpi *mpi, const Piece *piece, guint rank, gsize *begin,
                       gsize *size_bytes);

/* shared: sums between the ranks of one host.  open is collective, of all ranks; stop comes back
 * when nothing is written any more, close frees. */
void dyno_mpi_shared_open (Mpi *mpi, guint64 namespace);
void dyno_mpi_shared_stop (Mpi *mpi);
void dyno_mpi_shared_close (Mpi *mpi);
gboolean dyno_mpi_shares_with (const Mpi *mpi, guint rank);
/* Whether nobody reads what this rank has in a slot. */
gboolean dyno_mpi_slot_is_free (const Mpi *mpi, guint slot);
void dyno_mpi_shared_begin (Mpi *mpi, Piece *piece);
/* Whether it moved; ended: all is summed. */
gboolean dyno_mpi_shared_move (Mpi *mpi, Piece *piece, gboolean *ended);

/* watch: the notes, and whether the other ranks live. */
void dyno_mpi_watch_start (Mpi *mpi, const guint64 *processes);
void dyno_mpi_watch (Mpi *mpi);
void dyno_mpi_say_goodbye (Mpi *mpi);
gboolean dyno_mpi_all_left (const Mpi *mpi);
void dyno_mpi_tell_failure (Mpi *mpi);
void dyno_mpi_watch_clear (Mpi *mpi);

/* Remembers the first failure; the thread then tells it to all.  lose: the rank cannot say so
 * itself. */
void dyno_mpi_fail (Mpi *mpi, guint rank, const char *format, ...) G_GNUC_PRINTF (3, 4);
void dyno_mpi_lose (Mpi *mpi, guint rank, const char *format, ...) G_GNUC_PRINTF (3, 4);
void dyno_mpi_end (Mpi *mpi, guint rank, DynoCommFate fate, const char *reason);
/* The same where MPI says what happened. */
void dyno_mpi_fail_code (Mpi *mpi, guint rank, const char *call, int code);

/* A request has no piece any more. */
void dyno_mpi_finish (Mpi *mpi, DynoCommRequest *request);

G_END_DECLS
