/* SPDX-License-Identifier: MIT */
/* dynoctl bench --exchange, under mpirun: measures the time of sums over the ranks, and compares it
 * with the model that is stored for plan. */
#include "bench.h"
#include "exchangerate.h"
#include "joinranks.h"
#include "output.h"

static void
print_row (const DynoComm *comm, const DynoExchangeRate *rate, gsize size_bytes, double seconds)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "exchange");
  dyno_json_uint (&json, "ranks", rate->ranks);
  dyno_json_uint (&json, "hosts", rate->hosts);
  dyno_json_uint (&json, "bytes", size_bytes);
  dyno_json_double (&json, "ms", 1e3 * seconds);
  dyno_json_double (&json, "model_ms",
                    1e3 * dyno_exchange_seconds (rate, dyno_comm_get_size (comm), size_bytes));
  dyno_json_double (&json, "bytes_per_s", (double) size_bytes / seconds);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
  dyno_out_flush ();
}

static void
print_rate (const DynoExchangeRate *rate)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "rate");
  dyno_json_uint (&json, "ranks", rate->ranks);
  dyno_json_uint (&json, "hosts", rate->hosts);
  dyno_json_double (&json, "latency_us", 1e6 * rate->latency_s);
  dyno_json_double (&json, "link_bytes_per_s", rate->bytes_per_s);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static int
measure (DynoComm *comm)
{
  static const gsize sizes[] = { 1 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20 };
  DynoExchangeRate rate;
  g_autoptr (GError) error = NULL;
  gboolean fine = dyno_exchange_measure (comm, &rate, &error);

  for (guint i = 0; i < G_N_ELEMENTS (sizes) && fine; i++)
    {
      double seconds;
      fine = dyno_exchange_time_sum (comm, sizes[i], 7, &seconds, &error);
      if (fine)
        print_row (comm, &rate, sizes[i], seconds);
    }
  dyno_ranks_choose_speaker (comm);
  if (!fine)
    return dyno_cli_fail (g_steal_pointer (&error), TRUE);
  print_rate (&rate);
  if (dyno_comm_get_rank (comm) == 0)
    dyno_exchange_keep (&rate);
  return DYNO_EXIT_OK;
}

int
dyno_bench_exchange (const char *command)
{
  DynoComm *comm;
  int code;

  if (!dyno_ranks_join (command, TRUE, &comm, &code))
    return code;
  if (!comm)
    return dyno_cli_usage (command, "--exchange measures several processes; start them by mpirun: "
                                    "mpirun -n 2 dynoctl bench --exchange");
  return dyno_ranks_leave (comm, measure (comm));
}
