/* SPDX-License-Identifier: MIT */
/* Reports on each rank of a run of several ranks: events, and a warning that names a slow rank.
 * The ranks' times are exchanged with the sums of the steps' results, not in separate messages. */
#include "exchangerate.h"
#include "intl.h"
#include "ranks.h"
#include "run.h"
#include <math.h>

gboolean
dyno_run_begin_ranks (DynoRun *run, GError **error)
{
  DynoComm *comm = run->session->comm;
  guint n = dyno_comm_get_size (comm);
  g_autofree DynoRankReport *reports = g_new0 (DynoRankReport, n);

  if (!dyno_ranks_share_devices (comm, dyno_device_get_info (run->engine->device)->name, reports,
                                 error))
    return FALSE;
  if (run->job->rank > 0 || run->ranks.times)
    return TRUE;
  run->ranks.times = dyno_rank_times_new (n);
  run->ranks.reports = g_steal_pointer (&reports);
  return TRUE;
}

/* The rank reports with these rates; g_free. */
static DynoRankReport *
fill_reports (const DynoRun *run, const DynoRankRate *rates)
{
  guint n = dyno_comm_get_size (run->session->comm);
  DynoRankReport *reports = g_memdup2 (run->ranks.reports, n * sizeof *reports);

  for (guint r = 0; r < n; r++)
    reports[r].rate = rates[r];
  return reports;
}

/* Describes why the rank is slow, and where to look; g_free. */
static char *
describe_reason (const DynoSlowRank *slow)
{
  switch (slow->reason)
    {
    case DYNO_SLOW_DATA:
      return g_strdup_printf (_ ("its data pipeline is the reason: it waits %.3g ms a step for "
                                 "samples, the others %.3g ms; look at the disk that it reads and "
                                 "at its workers"),
                              slow->own.data_ms, slow->others.data_ms);
    case DYNO_SLOW_DEVICE:
      return g_strdup_printf (
          _ ("its device is the reason: it computes %.3g ms a step, the others' "
             "%.3g ms; look at its clocks and temperature, and at who else "
             "uses it"),
          slow->own.device_ms, slow->others.device_ms);
    case DYNO_SLOW_OTHER:
    default:
      return g_strdup (_ ("neither its data pipeline nor its device is the reason; look for other "
                          "programs on its processor"));
    }
}

static void
warn_of_slow (DynoRun *run, const DynoSlowRank *slow)
{
  const DynoRankReport *report = &run->ranks.reports[slow->rank];
  g_autofree char *reason = describe_reason (slow);

  dyno_run_warn (run,
                 _ ("Rank %u on %s (%s) is slow, and the others wait for it: a step takes it %.3g "
                    "ms by itself, %.0f %% more than the others' median of %.3g ms; %s"),
                 slow->rank, report->host, report->device, slow->own.own_ms,
                 100 * (slow->own.own_ms / slow->others.own_ms - 1), slow->others.own_ms, reason);
}

void
dyno_run_take_ranks (DynoRun *run, const DynoStepResult *result, double step_ms)
{
  g_autofree DynoRankRate *rates = NULL;
  DynoSlowRank slow;
  DynoEvent *event;

  if (!run->ranks.times || !result->ranks
      || !dyno_rank_times_add (run->ranks.times, result->order.epoch, step_ms, result->ranks))
    return;
  event = dyno_event_new (DYNO_EVENT_RANKS);
  event->ranks.step = result->order.step + 1;
  event->ranks.n = dyno_comm_get_size (run->session->comm);
  rates = g_new (DynoRankRate, event->ranks.n);
  dyno_rank_times_get_window (run->ranks.times, rates);
  event->ranks.reports = fill_reports (run, rates);
  dyno_session_emit (run->session, event);
  while (dyno_rank_times_find_slow (run->ranks.times, &slow))
    warn_of_slow (run, &slow);
}

void
dyno_run_skip_ranks (DynoRun *run)
{
  if (run->ranks.times)
    dyno_rank_times_skip (run->ranks.times);
}

static double
known (double value)
{
  return isfinite (value) ? value : 0;
}

gboolean
dyno_run_describe_ranks (DynoRun *run, DynoRunFacts *facts)
{
  DynoExchangeTimes times;
  g_autofree DynoRankRate *rates = NULL;
  double wait_ms, sum_ms;

  if (!run->ranks.times)
    return FALSE;
  facts->ranks = dyno_comm_get_size (run->session->comm);
  facts->hosts = dyno_comm_count_hosts (run->session->comm);
  if (run->engine && run->engine->exchange)
    {
      dyno_exchange_get_times (run->engine->exchange, &times);
      facts->exchange_bytes = times.bytes;
      facts->exchange_buckets = times.buckets;
    }
  rates = g_new (DynoRankRate, facts->ranks);
  dyno_rank_times_get_all (run->ranks.times, rates);
  dyno_rank_times_get_exchange (run->ranks.times, &wait_ms, &sum_ms);
  facts->exchange_wait_ms = known (wait_ms);
  facts->exchange_sum_ms = known (sum_ms);
  facts->wait_ranks_ms = known (rates[0].wait_ms - wait_ms);
  return TRUE;
}

void
dyno_run_end_ranks (DynoRun *run, DynoEvent *done)
{
  g_autofree DynoRankRate *rates = NULL;

  if (!run->ranks.times)
    return;
  done->done.n_ranks = dyno_comm_get_size (run->session->comm);
  rates = g_new (DynoRankRate, done->done.n_ranks);
  dyno_rank_times_get_all (run->ranks.times, rates);
  done->done.ranks = fill_reports (run, rates);
  g_clear_pointer (&run->ranks.times, dyno_rank_times_free);
  g_clear_pointer (&run->ranks.reports, g_free);
}
