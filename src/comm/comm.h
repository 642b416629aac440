/* SPDX-License-Identifier: MIT */
/* The processes of one training, its ranks, and the communication between them.
 *
 * All calls are collective, except the calls about launching, the references and dyno_comm_abort:
 * every rank makes the same calls with the same sizes in the same order.  They may come from any
 * thread, one at a time; several requests of dyno_comm_sum_begin may be in flight.  Sums are added
 * up in the order of the ranks: all ranks hold equal bits, and the bits are the same from run to
 * run with the same number of ranks.
 *
 * A communicator that has failed stays failed: its calls fail with the error of the first failure,
 * PEER or STOPPED. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoComm DynoComm;
typedef struct _DynoCommRequest DynoCommRequest;

#define DYNO_COMM_ERROR (dyno_comm_error_quark ())
GQuark dyno_comm_error_quark (void);

typedef enum {
  DYNO_COMM_ERROR_MODULE, /* MPI is not there, or does not start */
  DYNO_COMM_ERROR_PEER,   /* a rank failed, ended or does not answer; names rank, host and reason */
  DYNO_COMM_ERROR_TIMEOUT, /* the ranks did not find each other in time */
  DYNO_COMM_ERROR_DIFFERS, /* ranks were not started alike; names the first difference */
  DYNO_COMM_ERROR_STOPPED, /* a rank was asked to stop, before all ranks could stop together */
  DYNO_COMM_ERROR_LOCAL,   /* ranks of one host cannot do something that works over the network */
} DynoCommError;

typedef enum {
  DYNO_COMM_FLOAT32,
  DYNO_COMM_FLOAT16, /* IEEE 754 binary16, added in fp32 and rounded once */
  DYNO_COMM_FLOAT64,
  DYNO_COMM_UINT64, /* wraps around */
} DynoCommType;

/* TRUE where this process was started by mpirun, srun or a similar launcher as one of several.
 * FALSE where it only inherits the environment of a rank and the rank is another program. */
gboolean dyno_comm_is_launched (void);

/* TRUE where the module with MPI is installed; it is not opened.  Else the message of the error
 * MODULE has the next step. */
gboolean dyno_comm_is_installed (GError **error);

/* Opens the module with MPI and joins the other ranks; waits for them for at most a minute.  Once
 * per process.  Errors: MODULE, TIMEOUT, PEER. */
DynoComm *dyno_comm_open (GError **error);

/* Atomic.  The last unref leaves: it waits for the other ranks to leave too, for at most 10 s.
 * After a failure it waits only for the end of the rank that reports to people, for some 5 s at
 * most. */
DynoComm *dyno_comm_ref (DynoComm *comm);
void dyno_comm_unref (DynoComm *comm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoComm, dyno_comm_unref)

guint dyno_comm_get_rank (const DynoComm *comm);
guint dyno_comm_get_size (const DynoComm *comm);
/* The place among the ranks of this host, and their number. */
guint dyno_comm_get_local_rank (const DynoComm *comm);
guint dyno_comm_get_local_size (const DynoComm *comm);
/* The time, in microseconds, for which a thread that waits for a short while may keep its core busy
 * before it sleeps: waking up takes as long as a small sum.  0 where the ranks of this host have
 * few cores each. */
gint64 dyno_comm_get_spin_us (const DynoComm *comm);
const char *dyno_comm_get_host (const DynoComm *comm, guint rank);

/* TRUE where this rank reports to people what happens: this is rank 0, also for its own failure,
 * and rank 1 where rank 0's process has ended or does not answer. */
gboolean dyno_comm_is_speaker (const DynoComm *comm);

/* Bytes of one value on the wire. */
gsize dyno_comm_type_size (DynoCommType type);

/* values[i] becomes the sum of all ranks' values[i].  Errors of the collective calls: PEER. */
gboolean dyno_comm_sum (DynoComm *comm, void *values, gsize n, DynoCommType type, GError **error);

/* *all: TRUE where mine is TRUE on every rank; it is the same on all ranks. */
gboolean dyno_comm_all (DynoComm *comm, gboolean mine, gboolean *all, GError **error);

/* TRUE where fine is TRUE on every rank.  Else the call fails on all ranks, which can go on: a rank
 * whose *problem is set takes it as its error, the other ranks fail with LOCAL.  The other error is
 * PEER. */
gboolean dyno_comm_agree (DynoComm *comm, gboolean fine, GError **problem, GError **error);

/* All ranks get the root's data. */
gboolean dyno_comm_broadcast (DynoComm *comm, void *data, gsize size_bytes, guint root,
                              GError **error);

/* all holds size_bytes for each rank and receives the data of each rank, in the order of the
 * ranks. */
gboolean dyno_comm_gather (DynoComm *comm, const void *mine, gsize size_bytes, void *all,
                           GError **error);

/* The same sum, in parallel with other work: the caller must not access the values until the sum is
 * done.  Sums may be waited for in any order. */
DynoCommRequest *dyno_comm_sum_begin (DynoComm *comm, void *values, gsize n, DynoCommType type,
                                      GError **error);

/* Waits for at most timeout_us: 0 does not wait, a negative value waits as long as the other ranks
 * live.  Sets *done, which may be NULL where the wait is without limit.  The request is freed when
 * it is done or has failed. */
gboolean dyno_comm_wait (DynoComm *comm, DynoCommRequest *request, gint64 timeout_us,
                         gboolean *done, GError **error);

/* The total microseconds in which a sum of this rank was under way, including the wait for other
 * ranks: the rank that was last each time has the smallest total.  Not to be called while a sum is
 * under way. */
gint64 dyno_comm_get_sum_time (const DynoComm *comm);

/* Checks that all ranks have the same text of lines "name<TAB>value".  FALSE with DIFFERS on every
 * rank where any rank differs from rank 0; the message has the first line in which the lowest such
 * rank differs. */
gboolean dyno_comm_compare (DynoComm *comm, const char *lines, GError **error);

/* For ranks that are all of one host and one user: theirs[r] receives a descriptor of the file that
 * rank r passed as mine, which the caller closes; it is -1 for this rank.  With the error LOCAL the
 * call has failed on all ranks, no descriptor is left open, and the ranks can go on; the other
 * error is PEER. */
gboolean dyno_comm_pass_descriptors (DynoComm *comm, int mine, int *theirs, GError **error);

/* FALSE: the communicator has failed, as far as is known after at most timeout_us.  Not collective;
 * callable from any thread.  Errors: PEER, STOPPED. */
gboolean dyno_comm_check (DynoComm *comm, gint64 timeout_us, GError **error);

/* The time within which a rank detects the end of a process on this host.  A rank that is asked to
 * stop waits this long for news of another rank's end, which may be the reason. */
#define DYNO_COMM_NEWS_US (G_USEC_PER_SEC / 4)

/* Reports to all ranks why this one ends; their calls fail with PEER and the reason.  Waits for the
 * other ranks no longer than the report takes.  Callable from any thread at any time.  After
 * DIFFERS it does nothing: all ranks end with DIFFERS, also the ranks that have not yet read it. */
void dyno_comm_abort (DynoComm *comm, const char *reason);

/* The same for a rank that was asked to stop, which is no failure: the others' calls fail with
 * STOPPED. */
void dyno_comm_stop (DynoComm *comm);

G_END_DECLS
