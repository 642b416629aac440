/* SPDX-License-Identifier: MIT */
/* The proof measures the choice of the search, the arms that are nearly as fast, the base line and
 * the present settings in turn and for longer, so that other load on the machine affects all of
 * them equally.  An arm that is clearly beaten after two turns is left out of the further turns; an
 * arm that fails is replaced by the next best. */
#include "searchstate.h"
#include "verdict.h"
#include <math.h>

#define LEADERS      3 /* arms to prove besides the base line and the present settings */
#define REPLACEMENTS 3 /* replacements for arms that fail */
#define TURNS        3
/* turns among which the time is divided: more turns narrow an interval faster than longer ones */
#define SLOTS      6
#define MOST_TURNS 16 /* most turns, where it is still undecided whether the best is faster */
/* share of the fastest rate, above which an arm is close enough for a proof */
#define CLOSE     0.95
#define KERNELS_S 5.0 /* most time to measure the kernels of a new network */
#define LONGER    3.0 /* longest turn, as a multiple of a trial */

static void
add (GPtrArray *list, DynoArm *arm)
{
  DynoEstimate e;

  if (arm && !arm->out && dyno_arm_estimate (arm, &e) && !g_ptr_array_find (list, arm, NULL))
    g_ptr_array_add (list, arm);
}

/* The arm that is the fastest by the model and by its own measurements together, among the arms
 * that are not in the list; NULL: none is faster than at_least. */
static DynoArm *
next_leader (DynoSearch *search, const GPtrArray *list, double at_least)
{
  DynoArm *leader = NULL;
  double most = at_least;

  for (guint i = 0; i < search->arms->len; i++)
    {
      DynoArm *arm = search->arms->pdata[i];
      DynoEstimate e;
      double rate;

      if (arm->out || !dyno_arm_estimate (arm, &e)
          || g_ptr_array_find ((GPtrArray *) list, arm, NULL))
        continue;
      rate = dyno_search_run_rate (search, arm,
                                   dyno_rate_model_predict (search->model, &arm->settings, NULL));
      rate = sqrt (rate * e.median);
      if (rate > most)
        {
          most = rate;
          leader = arm;
        }
    }
  return leader;
}

/* TRUE where there is time for two turns of all arms in the list and of one more arm. */
static gboolean
has_time_for (DynoSearch *search, const GPtrArray *list, const DynoArm *more)
{
  double seconds =
      dyno_search_elapsed (search) + dyno_search_proof_cost (search, &more->settings, TRUE);

  for (guint i = 0; i < list->len; i++)
    seconds += dyno_search_proof_cost (search, &((const DynoArm *) list->pdata[i])->settings, TRUE);
  return seconds <= search->seconds;
}

/* The choice comes first: the time may end before the others have had their turns. */
static GPtrArray *
choose_arms (DynoSearch *search)
{
  GPtrArray *list = g_ptr_array_new ();
  DynoArm *fastest = next_leader (search, list, 0);
  DynoEstimate e;

  if (!fastest)
    return list;
  dyno_arm_estimate (fastest, &e);
  add (list, dyno_search_choose (search));
  add (list, search->today);
  add (list, search->baseline);
  if (has_time_for (search, list, fastest))
    add (list, fastest);
  for (guint i = list->len; i < LEADERS + 2; i++)
    {
      DynoArm *next = next_leader (search, list, CLOSE * e.median);

      if (!next || !has_time_for (search, list, next))
        break;
      add (list, next);
    }
  return list;
}

/* TRUE where another turn of this arm would give no new information. */
static gboolean
is_settled (DynoSearch *search, const GPtrArray *list, const DynoArm *arm)
{
  DynoEstimate own, other;

  if (arm->proofs->len < 2 || !dyno_arm_estimate (arm, &own))
    return FALSE;
  for (guint i = 0; i < list->len; i++)
    {
      const DynoArm *rival = list->pdata[i];

      if (rival->proofs->len >= 2 && dyno_arm_estimate (rival, &other)
          && dyno_estimate_is_above (&other, &own, DYNO_SEARCH_PAYS))
        return TRUE;
    }
  return FALSE;
}

/* Seconds that each arm measures in this turn, where n turns are left. */
static double
slot_seconds (DynoSearch *search, const GPtrArray *list, guint n)
{
  double left = search->seconds - dyno_search_elapsed (search);

  for (guint i = 0; i < list->len; i++)
    {
      const DynoSettings *s = &((const DynoArm *) list->pdata[i])->settings;

      left -= n * dyno_search_fill_seconds (search, s) + dyno_search_prepare (search, s)
              + search->again_prepare_s * (n - 1);
    }
  return CLAMP (left / (list->len * n), search->trial_s, LONGER * search->trial_s);
}

/* FALSE: the time is over, or the search was stopped. */
static gboolean
take_turn (DynoSearch *search, GPtrArray *list, guint turn, guint *replacements)
{
  double seconds = slot_seconds (search, list, turn < SLOTS ? SLOTS - turn : 1);

  for (guint i = 0; i < list->len; i++)
    {
      DynoArm *arm = list->pdata[i];
      double left = search->seconds - dyno_search_elapsed (search);

      if (arm->out || is_settled (search, list, arm))
        continue;
      if (dyno_search_stopped (search))
        return FALSE;
      left -= dyno_search_fill_seconds (search, &arm->settings);
      if (dyno_search_turn_cost (search, arm, seconds) > left)
        seconds = MAX (left - dyno_search_prepare (search, &arm->settings), 0);
      if (dyno_search_turn_cost (search, arm, seconds) > left || seconds < 0.5 * search->trial_s)
        return FALSE;
      if (!dyno_search_try (search, "proof", &arm->settings, seconds, 0, 0))
        return FALSE;
      if (arm->out && ++*replacements <= REPLACEMENTS)
        add (list, next_leader (search, list, 0));
    }
  return TRUE;
}

/* The device may have been lost, or another passing failure may have occurred: the settings that
 * the best is compared with get a second chance. */
static void
try_again (DynoSearch *search, const DynoArm *arm, const char *stage)
{
  if (arm && arm->out && arm->outcome == DYNO_TRIAL_FAILED && arm->trials->len == 0
      && !dyno_search_stopped (search)
      && dyno_search_elapsed (search) + dyno_search_cost (search, &arm->settings, search->trial_s)
                 + dyno_search_fill_seconds (search, &arm->settings)
             < search->seconds)
    dyno_search_try (search, stage, &arm->settings, search->trial_s, 0, 0);
}

/* The proof runs as a run does, with measured kernels, where that leaves time for two turns; else
 * all arms are compared as they were searched, with the likely kernels, and a run is slightly
 * faster than predicted. */
static void
tune_if_there_is_time (DynoSearch *search, const GPtrArray *list)
{
  double left = search->seconds - dyno_search_elapsed (search);

  for (guint i = 0; i < list->len; i++)
    left -= KERNELS_S
            + dyno_search_proof_cost (search, &((const DynoArm *) list->pdata[i])->settings, TRUE);
  if (left > 0)
    dyno_search_tune_kernels (search);
}

void
dyno_search_prove (DynoSearch *search)
{
  g_autoptr (GPtrArray) list = NULL;
  guint replacements = 0;

  try_again (search, search->today, "today");
  if (search->baseline != search->today)
    try_again (search, search->baseline, "baseline");
  list = choose_arms (search);
  tune_if_there_is_time (search, list);
  for (guint turn = 0; turn < MOST_TURNS && list->len > 0; turn++)
    if ((turn >= TURNS && !dyno_search_is_open (search))
        || !take_turn (search, list, turn, &replacements))
      return;
}

/* The arm that reached the goal first may have had no turn, because it has a smaller batch and is
 * slower: it gets its turns in the time that the race left, together with the settings that it is
 * compared with. */
void
dyno_search_prove_winner (DynoSearch *search)
{
  DynoArm *winner = dyno_search_get_winner (search);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  guint replacements = REPLACEMENTS; /* no arm is replaced */

  if (!winner || winner->proofs->len >= 2)
    return;
  add (list, winner);
  add (list, search->today);
  add (list, search->baseline);
  if (winner->steps == 0) /* the arm is known only from the race */
    {
      g_array_set_size (winner->trials, 0);
      g_array_set_size (winner->rates, 0);
    }
  search->seconds = search->total_s;
  for (guint turn = 0; turn < TURNS && take_turn (search, list, turn, &replacements); turn++)
    ;
}
