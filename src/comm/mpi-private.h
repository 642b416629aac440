/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the module dyno-mpi share.
 *
 * One thread makes all calls of MPI, from MPI_Init to MPI_Finalize: the exchange goes on whatever
 * the callers do, and any MPI serves, whatever its level of thread support.  Callers put requests
 * into a queue and sleep until they are done.  After a failure the thread notifies the other ranks
 * and makes no further call of MPI, not even MPI_Finalize, which would wait for ranks that no
 * longer exist.  Only then do the callers learn of the failure: nothing is written into their
 * memory afterwards.
 *
 * Members belong to the thread, except the members under the mutex. */
#pragma once
#include "comm-class.h"
#include <mpi.h>

G_BEGIN_DECLS

enum {
  PIECES = 8, /* in flight at once, at most */
  SHARED_PIECE_BYTES = 1 << 20,
  MESSAGE_PIECES = 4,            /* the same for pieces that are sent as messages */
  MESSAGE_PIECE_BYTES = 4 << 20, /* bounds scratch memory; counts fit an int */
  DIRECT_BYTES = 8 << 10,        /* sums of up to this size go to all ranks at once, in one hop */
  TICK_US = 50 * 1000,           /* interval at which an idle thread looks for work */
  SPIN_US = 2000,                /* a waiting caller polls for this long before it sleeps, */
  SPIN_CORES = 4,                /* where each rank has at least this many cores */
  /* the MPI thread polls for this long, with any number of cores, while something is under way */
  YIELD_US = 100,
  BEAT_US = 500 * 1000,     /* interval at which a rank reports that it is alive */
  SILENCE_US = 6 * 1000000, /* silence after which a rank counts as lost */
  SLOW_US = 5 * 1000000,    /* time after which rank 0 names the ranks that it waits for */
  NOTIFY_US = 1000000,      /* longest wait for the notes to the other ranks about a failure */
  /* longest wait until the rank that reports to people has ended */
  REPORT_US = 5 * 1000000,
  NOTICED_US = 100 * 1000, /* wait for mpirun to notice that the rank has ended */
  JOIN_US = 60 * 1000000,  /* longest wait until all ranks have joined */
  LEAVE_US = 10 * 1000000, /* longest wait until all ranks have left */
  REASON_BYTES = 480,
};

typedef struct _Mpi Mpi;
typedef struct _Shared Shared;

/* The stage of a piece: for a sum through shared memory, the job that it is in or has done. */
typedef enum { STAGE_MESSAGES, STAGE_SEND, STAGE_ADD, STAGE_TAKE } Stage;

struct _DynoCommRequest {
  DynoCommJob job;
  guint64 number; /* among the requests of this rank */
  gint64 begun_us;
  gsize started_bytes; /* of the data, already handed to pieces */
  guint pieces;        /* in flight */
  int done;            /* atomic; set under the mutex */
};

/* A part of a request under way: rounds of messages, each between all pairs of ranks. */
typedef struct {
  DynoCommRequest *request; /* NULL: not in use */
  gsize at, size_bytes;     /* of the request's data */
  guint64 number;
  gboolean spreads; /* the second round of a sum by segments */
  guint messages;   /* under way */
  char *scratch;    /* the data that the other ranks sent */
  gsize scratch_bytes;
  Stage stage;
  int at_work; /* atomic: a thread does the piece's job */
} Piece;

/* A message under way. */
typedef struct {
  Piece *piece;
  guint peer;
  int expected_bytes; /* of a message to be received; -1: the message is sent */
} Message;

/* A message between ranks that belongs to no request. */
typedef struct {
  guint32 kind;
  guint32 rank; /* ABORT: who failed */
  guint32 fate; /* ABORT: DynoCommFate */
  guint32 unused;
  guint64 begun; /* requests that the sender has begun */
  char reason[REASON_BYTES];
} Note;

/* The state of another rank, as far as it is known. */
typedef struct {
  int process; /* a descriptor that shows its end; -1: it runs elsewhere */
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
  GQueue requests;      /* taken, in order, with bytes that no piece has yet */
  guint slots;          /* number of pieces in flight at once; equal on all ranks, */
  gsize piece_bytes;    /* as is their size */
  Piece pieces[PIECES]; /* the n-th piece is in [n % slots] */
  guint64 n_pieces;
  Shared *shared;   /* NULL: all data goes by messages */
  GArray *handles;  /* of MPI_Request */
  GArray *messages; /* of Message, one for each handle */
  GArray *indices;  /* of int, scratch of MPI_Testsome */
  GArray *statuses;
  gint64 moved_us; /* time at which something last arrived or left */

  Peer *peers;
  Note incoming;
  MPI_Request receiving;
  gint64 beat_us, looked_us;
  gint64 gap_us, resumed_us; /* the last long time in which the thread did not run, and its end */
  guint64 named;             /* 1 + the request whose delay was reported last */
  gint64 named_after_us;     /* and the delay that was reported */
  char *found_failure;
  guint found_rank;
  DynoCommFate found_fate;
};

/* mpi-pieces.c: starts the requests in the queue and moves the pieces under way; TRUE where
 * something moved. */
gboolean dyno_mpi_move (Mpi *mpi);
gboolean dyno_mpi_is_busy (const Mpi *mpi);
void dyno_mpi_pieces_clear (Mpi *mpi);

/* Starts the messages that exchange the sums of the segments with the ranks that do not share
 * memory with this one. */
void dyno_mpi_spread_sums (Mpi *mpi, Piece *piece);
/* The part of a piece that a rank adds up, in bytes from the beginning of the piece. */
void dyno_mpi_segment (const Mpi *mpi, const Piece *piece, guint rank, gsize *begin,
                       gsize *size_bytes);

/* mpi-shared.c: sums between the ranks of one host.  open is collective over all ranks; stop
 * returns when nothing is written any more; close frees the memory. */
void dyno_mpi_shared_open (Mpi *mpi, guint64 namespace);
void dyno_mpi_shared_stop (Mpi *mpi);
void dyno_mpi_shared_close (Mpi *mpi);
gboolean dyno_mpi_shares_with (const Mpi *mpi, guint rank);
/* TRUE where no rank still reads the data that this rank has in a slot. */
gboolean dyno_mpi_slot_is_free (const Mpi *mpi, guint slot);
void dyno_mpi_shared_begin (Mpi *mpi, Piece *piece);
/* TRUE where the piece moved; *ended: the whole piece is summed. */
gboolean dyno_mpi_shared_move (Mpi *mpi, Piece *piece, gboolean *ended);

/* mpi-watch.c: the notes, and the check that the other ranks are alive. */
void dyno_mpi_watch_start (Mpi *mpi, const guint64 *processes);
void dyno_mpi_watch (Mpi *mpi);
void dyno_mpi_send_goodbye (Mpi *mpi);
gboolean dyno_mpi_all_left (const Mpi *mpi);
void dyno_mpi_send_failure (Mpi *mpi);
void dyno_mpi_watch_clear (Mpi *mpi);

/* Remembers the first failure; the thread then reports it to all ranks.  lose: the failed rank
 * cannot report it itself. */
void dyno_mpi_fail (Mpi *mpi, guint rank, const char *format, ...) G_GNUC_PRINTF (3, 4);
void dyno_mpi_lose (Mpi *mpi, guint rank, const char *format, ...) G_GNUC_PRINTF (3, 4);
void dyno_mpi_end (Mpi *mpi, guint rank, DynoCommFate fate, const char *reason);
/* The same, with MPI's text for the code. */
void dyno_mpi_fail_code (Mpi *mpi, guint rank, const char *call, int code);

/* Finishes a request all pieces of which are done. */
void dyno_mpi_finish (Mpi *mpi, DynoCommRequest *request);

G_END_DECLS
