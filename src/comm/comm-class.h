/* SPDX-License-Identifier: MIT */
/* The transport of a communicator: MPI in a module of its own, threads of one process in tests.
 *
 * The class carries out single jobs, each of which is begun and then waited for; comm.c builds the
 * calls of comm.h from such jobs.  begin is called by one thread at a time, wait and abort by any
 * thread. */
#pragma once
#include "comm.h"

G_BEGIN_DECLS

/* The way in which a rank ended. */
typedef enum {
  DYNO_COMM_FAILED,  /* it reports its failure itself */
  DYNO_COMM_STOPPED, /* it was asked to stop */
  DYNO_COMM_LOST,    /* it cannot report its end */
} DynoCommFate;

typedef enum { DYNO_COMM_SUM, DYNO_COMM_BROADCAST, DYNO_COMM_GATHER } DynoCommKind;

/* One collective call.  Equal on all ranks but for the pointers. */
typedef struct {
  DynoCommKind kind;
  DynoCommType type; /* SUM */
  guint root;        /* BROADCAST */
  gsize size_bytes;  /* of data */
  void *data;        /* GATHER only reads it */
  void *all;         /* GATHER: size * size_bytes */
} DynoCommJob;

typedef struct {
  const char *name;
  DynoCommRequest *(*begin) (DynoComm *comm, const DynoCommJob *job, GError **error);
  gboolean (*wait) (DynoComm *comm, DynoCommRequest *request, gint64 timeout_us, gboolean *done,
                    GError **error);
  gboolean (*check) (DynoComm *comm, gint64 timeout_us, GError **error);
  void (*abort) (DynoComm *comm, DynoCommFate fate, const char *reason);
  void (*free) (DynoComm *comm); /* its last call is dyno_comm_clear */
} DynoCommClass;

/* The head of a communicator; a class places its own members after it. */
struct _DynoComm {
  const DynoCommClass *class;
  gatomicrefcount references;
  guint rank, size, local_rank, local_size;
  char **hosts; /* of each rank, NULL-terminated */
  int differs;  /* atomic; TRUE: dyno_comm_compare has reported to all ranks that they differ */
  /* atomic; the first rank that was lost and cannot report its failure itself; else -1 */
  int lost_rank;
  gint64 spin_us; /* see dyno_comm_get_spin_us */
  /* For dyno_comm_note_begun and _done, under the class's lock: the number of sums under way, the
   * time at which the first of them began, and the total time of earlier sums. */
  guint sums;
  gint64 sums_since_us, sums_us;
};

/* Copies hosts, and derives the local rank and size from them. */
void dyno_comm_init (DynoComm *comm, const DynoCommClass *class, guint rank, guint size,
                     const char *const *hosts);
void dyno_comm_clear (DynoComm *comm);

/* Sets PEER, or STOPPED: "rank 2 on host: reason". */
void dyno_comm_set_peer_error (GError **error, const DynoComm *comm, guint rank, DynoCommFate fate,
                               const char *reason);

/* Record that a job of this rank begins and that it is done, for dyno_comm_get_sum_time. */
void dyno_comm_note_begun (DynoComm *comm, const DynoCommJob *job);
void dyno_comm_note_done (DynoComm *comm, const DynoCommJob *job);

/* "a sum of 12 values of 4 bytes"; free by g_free. */
char *dyno_comm_job_describe (const DynoCommJob *job);

/* out[i] = in[0][i] + in[1][i] + ... in the order of the ranks; out may be one of the inputs. */
void dyno_comm_add_ranks (void *out, const void *const *in, guint ranks, gsize n,
                          DynoCommType type);

/* The function by which a module joins the ranks, "dyno_mpi_join". */
typedef DynoComm *(*DynoCommJoin) (GError **error);

G_END_DECLS
