/* SPDX-License-Identifier: MIT */
/* Measures how well settings learn: by a race to the goal, if there is one, else by the loss of
 * accuracy that another batch causes after equal epochs, where there is time.
 *
 * Racers train from the same seed, each with the learning rate that its batch is advised; a racer
 * that needs longer than the fastest so far is stopped.  The racers are the fastest arm, the
 * present settings, and smaller batches, which take fewer epochs to learn as much: halves of the
 * fastest arm's batch, and arms that are nearly as fast. */
#include "intl.h"
#include "searchstate.h"
#include "verdict.h"
#include <math.h>

#define MOST_RACERS 6
#define CLOSE       0.9 /* share of the fastest arm's rate: an arm above it may win the race */
#define LEAST_BATCH 8
#define MOST_EPOCHS 3 /* most epochs after which the accuracies are compared */

static DynoSettings
as_it_would_run (DynoSearch *search, const DynoSettings *settings)
{
  DynoSettings s = *settings;

  s.lr = dyno_verdict_learning_rate (&search->job->settings, settings);
  return s;
}

static void
add_racer (DynoSearch *search, const DynoSettings *settings)
{
  GPtrArray *racers = search->result->racers;
  DynoTuneRacer *racer;

  for (guint i = 0; i < racers->len; i++)
    if (dyno_space_same (&((const DynoTuneRacer *) racers->pdata[i])->settings, settings))
      return;
  if (racers->len == MOST_RACERS || !dyno_search_fits (search, settings))
    return;
  racer = g_new0 (DynoTuneRacer, 1);
  racer->settings = *settings;
  racer->learning.best = racer->learning.samples_per_s = (double) NAN;
  g_ptr_array_add (racers, racer);
}

/* The fastest arm comes first, so that the others need not train longer than it does. */
static void
choose_racers (DynoSearch *search, const DynoArm *choice)
{
  DynoSettings smaller = choice->settings;
  DynoEstimate own, other;

  add_racer (search, &choice->settings);
  for (guint i = 0; i < 3 && smaller.batch_size / 2 >= LEAST_BATCH; i++)
    {
      smaller.batch_size /= 2;
      add_racer (search, &smaller);
    }
  if (search->today && !search->today->out)
    add_racer (search, &search->today->settings);
  if (!dyno_arm_estimate (choice, &own))
    return;
  for (guint i = 0; i < search->arms->len; i++)
    {
      const DynoArm *arm = search->arms->pdata[i];

      if (!arm->out && dyno_arm_estimate (arm, &other) && other.median >= CLOSE * own.median
          && arm->settings.batch_size < choice->settings.batch_size)
        add_racer (search, &arm->settings);
    }
}

/* Records a racer, which has trained, as a trial; DROPPED: the racer did not reach the goal. */
static void
keep_racer (DynoSearch *search, const DynoTuneRacer *racer)
{
  const DynoLearning *l = &racer->learning;
  DynoTrial *trial = g_new0 (DynoTrial, 1);
  g_autofree char *reached = dyno_learning_describe (l, l->best);

  trial->number = search->result->trials->len + 1;
  trial->stage = "goal";
  trial->settings = racer->settings;
  trial->outcome = racer->text  ? DYNO_TRIAL_FAILED
                   : l->reached ? DYNO_TRIAL_OK
                                : DYNO_TRIAL_DROPPED;
  trial->planned_bytes = dyno_search_planned (search, &racer->settings);
  trial->outside_cpu = (double) NAN;
  if (l->samples_per_s > 0)
    trial->samples_per_s = trial->low = trial->high = trial->train_samples_per_s = l->samples_per_s;
  if (racer->text)
    trial->text = g_strdup (racer->text);
  else if (isnan (l->best))
    trial->text = g_strdup_printf (_ ("no epoch in %.3g s"), l->seconds);
  else
    trial->text = g_strdup_printf (
        ngettext ("%s after %u epoch, %.3g s", "%s after %u epochs, %.3g s", (gulong) l->epochs),
        reached, (guint) l->epochs, l->seconds);
  g_ptr_array_add (search->result->trials, trial);
  if (search->params->hooks.trial)
    search->params->hooks.trial (search->params->hooks.user, trial);
}

/* FALSE: the search was stopped. */
static gboolean
run (DynoSearch *search, DynoTuneRacer *racer, const DynoLearningGoal *goal, double seconds)
{
  DynoSettings settings = as_it_would_run (search, &racer->settings);
  g_autoptr (GError) error = NULL;

  dyno_search_wait_for_turn (search);
  dyno_search_report (search, "goal", &racer->settings);
  racer->ran = TRUE;
  if (!search->meter->class->learn (search->meter, &settings, goal,
                                    dyno_search_now_us (search) + (gint64) (seconds * 1e6),
                                    search->params->cancellable, &racer->learning, &error))
    {
      racer->ran = !dyno_search_stopped (search);
      racer->text = racer->ran ? g_strdup (error->message) : NULL;
    }
  return !dyno_search_stopped (search);
}

void
dyno_search_race (DynoSearch *search)
{
  DynoTuneResult *result = search->result;
  const DynoArm *choice = dyno_search_choose (search);
  GPtrArray *racers = result->racers;
  DynoLearningGoal goal;

  if (!result->goal || !choice || !search->meter->class->learn || dyno_search_stopped (search))
    return;
  goal = *result->goal;
  choose_racers (search, choice);
  for (guint i = 0; i < racers->len; i++)
    {
      DynoTuneRacer *racer = racers->pdata[i];
      double left = search->total_s - dyno_search_elapsed (search);

      if (result->winner < 0)
        left /= racers->len - i;
      if (left <= 0)
        return;
      if (!run (search, racer, &goal, left))
        {
          racer->ran = FALSE;
          return;
        }
      keep_racer (search, racer);
      if (racer->learning.reached && racer->learning.seconds < goal.most_seconds)
        {
          goal.most_seconds = racer->learning.seconds;
          result->winner = (int) i;
        }
    }
}

DynoArm *
dyno_search_get_winner (DynoSearch *search)
{
  const DynoTuneResult *result = search->result;
  const DynoTuneRacer *racer;
  DynoEstimate unused;
  DynoArm *arm;

  if (result->winner < 0)
    return NULL;
  racer = result->racers->pdata[result->winner];
  arm = dyno_search_get_arm (search, "goal", &racer->settings);
  /* The arm has no other measurement. */
  if (!dyno_arm_estimate (arm, &unused))
    {
      double rate = racer->learning.samples_per_s;
      DynoEstimate e = { rate, rate / 2, rate * 2, 1, FALSE };

      g_array_append_val (arm->trials, e);
      g_array_append_val (arm->rates, e);
      arm->planned_bytes = arm->vram_bytes = dyno_search_planned (search, &racer->settings);
    }
  arm->out = FALSE;
  return arm;
}

/* --- equal epochs ----------------------------------------------------------------------------- */

/* The number of epochs that fit into the remaining time for the best and the present settings. */
static guint64
count_epochs (DynoSearch *search)
{
  const DynoTuneResult *r = search->result;
  double samples = (double) search->meter->n_train,
         left = 0.9 * (search->total_s - dyno_search_elapsed (search)), each;

  if (!(r->best.samples_per_s > 0) || !(r->today.samples_per_s > 0))
    return 0;
  left -= dyno_search_prepare (search, &r->best.settings)
          + dyno_search_prepare (search, &r->today.settings);
  each = samples / r->best.samples_per_s + samples / r->today.samples_per_s;
  return (guint64) CLAMP (left / each, 0, (double) MIN (MOST_EPOCHS, search->job->settings.epochs));
}

void
dyno_search_compare_learning (DynoSearch *search)
{
  DynoTuneResult *r = search->result;
  DynoLearningGoal goal = { .value = (double) NAN, .most_seconds = INFINITY };
  DynoTuneRacer racers[2] = { { .settings = r->best.settings }, { .settings = r->today.settings } };
  gboolean good = TRUE;

  r->equal_wanted =
      !r->goal && r->lr_advice && search->meter->n_validation > 0 && !dyno_search_stopped (search);
  goal.most_epochs = r->equal_wanted && search->meter->class->learn ? count_epochs (search) : 0;
  if (goal.most_epochs == 0 || dyno_search_stopped (search))
    return;
  for (guint i = 0; i < 2 && good; i++)
    {
      good = run (search, &racers[i], &goal, search->total_s - dyno_search_elapsed (search))
             && !racers[i].text && racers[i].learning.epochs == goal.most_epochs;
      g_free (racers[i].text);
      r->equal[i] = racers[i].learning;
    }
  r->equal_epochs = good ? goal.most_epochs : 0;
  r->equal_wanted &= !dyno_search_stopped (search); /* a stop, not the time, is the reason */
}
