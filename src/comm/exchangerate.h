/* SPDX-License-Identifier: MIT */
/* The time that a sum over ranks takes, by a model of two figures that is measured once and kept on
 * disk.
 *
 * A message costs latency_s, a byte costs 1 / bytes_per_s.  A sum of b bytes by N ranks
 * (mpi-pieces.c) takes 2 (N-1) messages of each rank for every 4 MiB, and these carry 2 (N-1)/N b
 * bytes in all; a small sum takes N-1 messages of b bytes. */
#pragma once
#include "comm.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_EXCHANGE_MEASURED,     /* with the same number of ranks and hosts */
  DYNO_EXCHANGE_EXTRAPOLATED, /* with another number of ranks */
  DYNO_EXCHANGE_ASSUMED,      /* nothing was measured here */
} DynoExchangeSource;

typedef struct {
  guint ranks, hosts; /* ranks and hosts with which it was measured; 0: assumed */
  double latency_s;
  double bytes_per_s; /* of a rank, one way */
} DynoExchangeRate;

/* Collective: measures sums of several sizes, for a second or two.  Errors: PEER. */
gboolean dyno_exchange_measure (DynoComm *comm, DynoExchangeRate *rate, GError **error);
/* The rate of these ranks whose sums of DYNO_EXCHANGE_SMALL and of DYNO_EXCHANGE_LARGE bytes take so
 * many seconds; without the number of hosts. */
DynoExchangeRate dyno_exchange_fit (guint ranks, double small_s, double large_s);
enum { DYNO_EXCHANGE_SMALL = 1 << 10, DYNO_EXCHANGE_LARGE = 32 << 20 };

/* Median seconds of a sum of this many bytes as rank 0 measures it; all ranks receive the value.
 * Collective. */
gboolean dyno_exchange_time_sum (DynoComm *comm, gsize size_bytes, guint turns, double *seconds,
                                 GError **error);

/* Keeps the rate on disk; a failure does no harm and is only logged. */
void dyno_exchange_keep (const DynoExchangeRate *rate);
/* The best figures that are known for this number of ranks on this number of hosts. */
DynoExchangeSource dyno_exchange_load (guint ranks, guint hosts, DynoExchangeRate *rate);

/* The seconds by the model; 0 for one rank. */
double dyno_exchange_seconds (const DynoExchangeRate *rate, guint ranks, guint64 size_bytes);

guint dyno_comm_count_hosts (const DynoComm *comm);

G_END_DECLS
