/* SPDX-License-Identifier: MIT */
/* How long a sum over ranks takes: a model of two figures, measured once and kept on disk.
 *
 * A message costs latency_s, a byte 1 / bytes_per_s.  A sum of b bytes by N ranks (mpi-pieces.c) is
 * 2 (N-1) messages of each rank for every 4 MiB, which carry 2 (N-1)/N b bytes in all, or N-1
 * messages of b bytes where it is small. */
#pragma once
#include "comm.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_EXCHANGE_MEASURED,     /* with as many ranks and hosts */
  DYNO_EXCHANGE_EXTRAPOLATED, /* with another number of ranks */
  DYNO_EXCHANGE_ASSUMED,      /* nothing was measured here */
} DynoExchangeSource;

typedef struct {
  guint ranks, hosts; /* that it was measured with; 0: assumed */
  double latency_s;
  double bytes_per_s; /* of a rank, one way */
} DynoExchangeRate;

/* Collective: sums of several sizes, for a second or two.  Errors: PEER. */
gboolean dyno_exchange_measure (DynoComm *comm, DynoExchangeRate *rate, GError **error);

/* Median seconds of a sum of so many bytes as rank 0 sees it, told to all.  Collective. */
gboolean dyno_exchange_time_sum (DynoComm *comm, gsize size_bytes, guint turns, double *seconds,
                                 GError **error);

/* Keeps it; failing is no harm and only logged. */
void dyno_exchange_keep (const DynoExchangeRate *rate);
/* The best that is known for ranks on hosts. */
DynoExchangeSource dyno_exchange_load (guint ranks, guint hosts, DynoExchangeRate *rate);

/* What the model says; 0 of one rank. */
double dyno_exchange_seconds (const DynoExchangeRate *rate, guint ranks, guint64 size_bytes);

guint dyno_comm_count_hosts (const DynoComm *comm);

G_END_DECLS
