/* SPDX-License-Identifier: MIT */
/* The processes of one training, its ranks, and what they say to each other.
 *
 * All calls but those of launching, of references and dyno_comm_abort are collective: every rank
 * makes the same ones with the same sizes in the same order.  They may come from any thread, one at
 * a time; several requests of dyno_comm_sum_begin may be in flight.  Sums are added up in the order
 * of the ranks: all ranks hold equal bits, and the same ones from run to run with as many ranks.
 *
 * A communicator that has failed stays so: its calls fail with what it failed with, be that PEER or
 * STOPPED. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoComm DynoComm;
typedef struct _DynoCommRequest DynoCommRequest;

#define DYNO_COMM_ERROR (dyno_comm_error_quark ())
GQuark dyno_comm_error_quark (void);

typedef enum {
  DYNO_COMM_ERROR_MODULE,  /* MPI is not there, or does not start */
  DYNO_COMM_ERROR_PEER,    /* a rank failed, ended or does not answer: names it, its host and why */
  DYNO_COMM_ERROR_TIMEOUT, /* the ranks did not find each other in time */
  DYNO_COMM_ERROR_DIFFERS, /* ranks were not started alike: names the first difference */
  DYNO_COMM_ERROR_STOPPED, /* a rank was told to stop, before all could do so together */
  DYNO_COMM_ERROR_LOCAL,   /* ranks of one host cannot do what they would do past the network */
} DynoCommError;

typedef enum {
  DYNO_COMM_FLOAT32,
  DYNO_COMM_FLOAT16, /* IEEE 754 binary16, added in fp32 and rounded once */
  DYNO_COMM_FLOAT64,
  DYNO_COMM_UINT64, /* wraps around */
} DynoCommType;

/* Whether this process was started by mpirun, srun or the like as one of several.  FALSE where it only
 * inherits the environment of a rank that another program is. */
gboolean dyno_comm_is_launched (void);

/* Whether there is a module with MPI to open; else MODULE says what to do. */
gboolean dyno_comm_is_installed (GError **error);

/* Opens the module with MPI and joins the other ranks; waits for them for at most a minute.  Once
 * per process.  Errors: MODULE, TIMEOUT, PEER. */
DynoComm *dyno_comm_open (GError **error);

/* Atomic.  The last unref leaves: it waits for the other ranks to leave too, for some seconds at
 * most, and not at all after a failure. */
DynoComm *dyno_comm_ref (DynoComm *comm);
void dyno_comm_unref (DynoComm *comm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoComm, dyno_comm_unref)

guint dyno_comm_get_rank (const DynoComm *comm);
guint dyno_comm_get_size (const DynoComm *comm);
/* The place among the ranks of this host, and how many they are. */
guint dyno_comm_get_local_rank (const DynoComm *comm);
guint dyno_comm_get_local_size (const DynoComm *comm);
/* How long who waits for a short while may keep its core busy before it sleeps, in microseconds:
 * waking up takes as long as a small sum.  0 where the ranks of this host have few cores each. */
gint64 dyno_comm_get_spin_us (const DynoComm *comm);
const char *dyno_comm_get_host (const DynoComm *comm, guint rank);

/* Whether this rank tells people what happens: rank 0, also its own failure; rank 1 where rank 0's
 * process has ended or does not answer. */
gboolean dyno_comm_is_speaker (const DynoComm *comm);

/* Bytes of one value on the wire. */
gsize dyno_comm_type_size (DynoCommType type);

/* values[i] becomes the sum of all ranks' values[i].  Errors of these: PEER. */
gboolean dyno_comm_sum (DynoComm *comm, void *values, gsize n, DynoCommType type, GError **error);

/* all: whether mine is TRUE on every rank; the same on all. */
gboolean dyno_comm_all (DynoComm *comm, gboolean mine, gboolean *all, GError **error);

/* TRUE where fine is on every rank, and no rank has a problem.  Else all have failed and can go on:
 * one with a problem, which is taken, with that, the others with LOCAL; or PEER. */
gboolean dyno_comm_agree (DynoComm *comm, gboolean fine, GError **problem, GError **error);

/* All ranks get the root's data. */
gboolean dyno_comm_broadcast (DynoComm *comm, void *data, gsize size_bytes, guint root,
                              GError **error);

/* all, of size_bytes for each rank, gets what each one has, in the order of the ranks. */
gboolean dyno_comm_gather (DynoComm *comm, const void *mine, gsize size_bytes, void *all,
                           GError **error);

/* The same sum beside other work: nobody touches the values until it is done.  Sums may be waited
 * for in any order. */
DynoCommRequest *dyno_comm_sum_begin (DynoComm *comm, void *values, gsize n, DynoCommType type,
                                      GError **error);

/* Waits for at most timeout_us: 0 does not wait, negative waits as long as the other ranks live.
 * Sets *done, which may be NULL where the wait is without limit.  The request is freed when it is
 * done or has failed. */
gboolean dyno_comm_wait (DynoComm *comm, DynoCommRequest *request, gint64 timeout_us,
                         gboolean *done, GError **error);

/* Microseconds in which a sum of this rank was under way, all in all, the wait for other ranks
 * included: of the ranks the one that was last each time has the least.  Not while one is under
 * way. */
gint64 dyno_comm_get_sum_time (const DynoComm *comm);

/* Whether all ranks have the same text of lines "name<TAB>value".  FALSE with DIFFERS on every rank
 * that differs from rank 0 or knows of one that does, with the first line that differs. */
gboolean dyno_comm_compare (DynoComm *comm, const char *lines, GError **error);

/* Of ranks that are all of one host and user: theirs[r] gets a descriptor of what mine is of rank r,
 * which the caller closes; -1 of this one.  With the error LOCAL all ranks have failed, no descriptor
 * is left, and the ranks can go on; else PEER. */
gboolean dyno_comm_pass_descriptors (DynoComm *comm, int mine, int *theirs, GError **error);

/* FALSE: the communicator has failed, as far as is known after at most timeout_us.  Not collective;
 * from any thread.  Errors: PEER, STOPPED. */
gboolean dyno_comm_check (DynoComm *comm, gint64 timeout_us, GError **error);

/* Within which the end of a process on this host is seen: one that is told to end since another one
 * has ended hears of that first. */
#define DYNO_COMM_NEWS_US (G_USEC_PER_SEC / 4)

/* Tells all ranks why this one ends; their calls fail with PEER and the reason.  Does not wait for
 * them longer than it takes to tell.  Callable from any thread at any time.  After DIFFERS it does
 * nothing: all ranks end with that, also those that have not yet read it. */
void dyno_comm_abort (DynoComm *comm, const char *reason);

/* The same of one that was told to stop, which is no failure: the others' calls fail with STOPPED. */
void dyno_comm_stop (DynoComm *comm);

G_END_DECLS
