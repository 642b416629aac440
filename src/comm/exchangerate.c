/* SPDX-License-Identifier: MIT */
/* See exchangerate.h. */
#include "exchangerate.h"
#include "cachefile.h"
#include "median.h"
#include <math.h>
#include <string.h>

#define FOLDER "exchange"
#define SUFFIX "rate"

enum {
  PIECE_BYTES = 4 << 20, /* size of messages; the smaller pieces in shared memory overlap */
  DIRECT_BYTES = 8 << 10,
  MOST_TURNS = 200,
  /* without a file for the number of ranks, files for up to this many more or fewer ranks are
   * tried, and for up to this many hosts */
  MOST_RANKS = 128,
  MOST_HOSTS = 32,
};

static const char magic[8] = "DYNOEXC1";

/* Assumed rates: for memory shared between processes, a third of the rate that was measured for two
 * ranks with 16 cores each; for the network, 10 Gbit/s Ethernet. */
static const DynoExchangeRate assumed[] = { { .latency_s = 20e-6, .bytes_per_s = 12e9 },
                                            { .latency_s = 50e-6, .bytes_per_s = 1.1e9 } };

double
dyno_exchange_seconds (const DynoExchangeRate *rate, guint ranks, guint64 size_bytes)
{
  double others = (double) ranks - 1, bytes = (double) size_bytes;
  double pieces = ceil (bytes / PIECE_BYTES);

  if (ranks < 2 || size_bytes == 0)
    return 0;
  if (size_bytes <= DIRECT_BYTES)
    return others * (rate->latency_s + bytes / rate->bytes_per_s);
  return 2 * others * (pieces * rate->latency_s + bytes / ranks / rate->bytes_per_s);
}

guint
dyno_comm_count_hosts (const DynoComm *comm)
{
  guint hosts = 0;

  for (guint r = 0; r < dyno_comm_get_size (comm); r++)
    {
      guint first = 0;
      while (!g_str_equal (dyno_comm_get_host (comm, first), dyno_comm_get_host (comm, r)))
        first++;
      hosts += first == r;
    }
  return hosts;
}

gboolean
dyno_exchange_time_sum (DynoComm *comm, gsize size_bytes, guint turns, double *seconds,
                        GError **error)
{
  g_autofree float *values = g_try_malloc0 (size_bytes + sizeof (float));
  double times[MOST_TURNS];
  gsize n = size_bytes / sizeof (float);

  turns = CLAMP (turns, 1, MOST_TURNS);
  if (!values)
    {
      g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER,
                   "rank %u has no %" G_GSIZE_FORMAT " bytes of memory to measure with",
                   dyno_comm_get_rank (comm), size_bytes);
      dyno_comm_abort (comm, "it has no memory to measure with");
      return FALSE;
    }
  /* the first sum sets up pages, buffers and links, and is not measured */
  if (!dyno_comm_sum (comm, values, n, DYNO_COMM_FLOAT32, error))
    return FALSE;
  for (guint i = 0; i < turns; i++)
    {
      gint64 begin = g_get_monotonic_time ();
      if (!dyno_comm_sum (comm, values, n, DYNO_COMM_FLOAT32, error))
        return FALSE;
      times[i] = (double) (g_get_monotonic_time () - begin) * 1e-6;
    }
  *seconds = dyno_median (times, turns);
  return dyno_comm_broadcast (comm, seconds, sizeof *seconds, 0, error);
}

DynoExchangeRate
dyno_exchange_fit (guint ranks, double small_s, double large_s)
{
  double others = (double) ranks - 1;
  DynoExchangeRate rate = { .ranks = ranks, .latency_s = MAX (small_s, 1e-7) / others };

  large_s -= 2 * others * (DYNO_EXCHANGE_LARGE / PIECE_BYTES) * rate.latency_s;
  rate.bytes_per_s = 2 * others / (others + 1) * DYNO_EXCHANGE_LARGE / MAX (large_s, 1e-6);
  return rate;
}

gboolean
dyno_exchange_measure (DynoComm *comm, DynoExchangeRate *rate, GError **error)
{
  double small, large;

  if (!dyno_exchange_time_sum (comm, DYNO_EXCHANGE_SMALL, MOST_TURNS, &small, error)
      || !dyno_exchange_time_sum (comm, DYNO_EXCHANGE_LARGE, 7, &large, error))
    return FALSE;
  *rate = dyno_exchange_fit (dyno_comm_get_size (comm), small, large);
  rate->hosts = dyno_comm_count_hosts (comm);
  return TRUE;
}

static DynoCacheKey
key_of (guint ranks, guint hosts)
{
  return (DynoCacheKey){ { ranks, hosts } };
}

void
dyno_exchange_keep (const DynoExchangeRate *rate)
{
  DynoCacheKey key = key_of (rate->ranks, rate->hosts);
  g_autofree char *path = dyno_cache_file_path (FOLDER, key, SUFFIX);

  dyno_cache_file_write (path, magic, key, rate, sizeof *rate);
}

static gboolean
load_one (guint ranks, guint hosts, DynoExchangeRate *rate)
{
  DynoCacheKey key = key_of (ranks, hosts);
  g_autofree char *path = dyno_cache_file_path (FOLDER, key, SUFFIX);
  g_autoptr (GBytes) bytes = NULL;

  if (!path || !g_file_test (path, G_FILE_TEST_EXISTS))
    return FALSE;
  bytes = dyno_cache_file_read (path, magic, key);
  if (!bytes || g_bytes_get_size (bytes) != sizeof *rate)
    return FALSE;
  memcpy (rate, g_bytes_get_data (bytes, NULL), sizeof *rate);
  return rate->ranks == ranks && rate->hosts == hosts && isfinite (rate->latency_s)
         && rate->latency_s > 0 && isfinite (rate->bytes_per_s) && rate->bytes_per_s > 0;
}

/* The rates with this number of ranks, on one host or on several as asked for. */
static gboolean
load_alike (gint64 ranks, guint hosts, DynoExchangeRate *rate)
{
  guint most = (guint) MIN (ranks, MOST_HOSTS);

  if (ranks < 2 || hosts == 1)
    return ranks >= 2 && load_one ((guint) ranks, 1, rate);
  for (guint h = 2; h <= most; h++)
    if (load_one ((guint) ranks, h, rate))
      return TRUE;
  return FALSE;
}

/* Without a rate for these ranks and hosts, the rate of the nearest number of ranks is taken. */
DynoExchangeSource
dyno_exchange_load (guint ranks, guint hosts, DynoExchangeRate *rate)
{
  if (load_one (ranks, hosts, rate))
    return DYNO_EXCHANGE_MEASURED;
  for (gint64 far = 0; far < MOST_RANKS; far++)
    if (load_alike (ranks - far, hosts, rate) || load_alike (ranks + far, hosts, rate))
      return DYNO_EXCHANGE_EXTRAPOLATED;
  *rate = assumed[hosts > 1];
  return DYNO_EXCHANGE_ASSUMED;
}
