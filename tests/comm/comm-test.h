/* SPDX-License-Identifier: MIT */
/* A communicator whose ranks are threads of this process, for tests: the calls of comm.h, without
 * MPI. */
#pragma once
#include "comm.h"

G_BEGIN_DECLS

/* The ranks of a new group, one reference each; free the array by g_free.  Hosts are "host0" with
 * ranks 0 and 1, "host1" with ranks 2 and 3 and so on. */
DynoComm **comm_test_new (guint size);

/* The same with all ranks on one host. */
DynoComm **comm_test_new_local (guint size);

/* Simulates a killed process: the rank does nothing more, and requests of the other ranks fail with
 * PEER. */
void comm_test_die (DynoComm *comm);

/* The number of jobs that the rank has begun; may be called from any thread. */
guint64 comm_test_count_begun (DynoComm *comm);

/* Runs func on size ranks, each in a thread of its own with a communicator of its own, which it
 * does not unref; returns when all calls have returned. */
typedef void (*CommTestFunc) (DynoComm *comm, gpointer data);
void comm_test_run (guint size, CommTestFunc func, gpointer data);
void comm_test_run_local (guint size, CommTestFunc func, gpointer data);

G_END_DECLS
