/* SPDX-License-Identifier: MIT */
/* Shows the events of the tuner as stages. */
#include "tunestages.h"
#include "format.h"
#include "stagecells.h"
#include <glib/gi18n.h>

struct _DynoTuneStages {
  GtkBox parent_instance;
  DynoStageCells cells;
  DynoStageOrder order;
  double ceilings[2]; /* the highest so far, indexed by DynoCeilingOf */
  guint n_trials;
};

G_STATIC_ASSERT (DYNO_N_TUNE_STAGES == DYNO_STAGE_CELLS);
G_DEFINE_FINAL_TYPE (DynoTuneStages, dyno_tune_stages, GTK_TYPE_BOX)

static const char *
get_title (guint stage)
{
  switch (stage)
    {
    case DYNO_TUNE_STAGE_DATA:
      return _ ("Data");
    case DYNO_TUNE_STAGE_DEVICE:
      return _ ("Device");
    case DYNO_TUNE_STAGE_SEARCH:
      return _ ("Joint search");
    default:
      return _ ("Proof");
    }
}

static DynoTuneStage
find_stage (const char *name)
{
  if (g_strcmp0 (name, "loader") == 0)
    return DYNO_TUNE_STAGE_DATA;
  if (g_strcmp0 (name, "gpu") == 0)
    return DYNO_TUNE_STAGE_DEVICE;
  /* Runs towards a target value of a metric come after the proof. */
  return g_strcmp0 (name, "proof") == 0 || g_strcmp0 (name, "goal") == 0 ? DYNO_TUNE_STAGE_PROOF
                                                                         : DYNO_TUNE_STAGE_SEARCH;
}

static void
set_value (DynoTuneStages *self, guint stage, const char *text)
{
  dyno_stage_cells_set_value (&self->cells, stage, text);
}

static void
show_stands (DynoTuneStages *self)
{
  for (guint i = 0; i < DYNO_N_TUNE_STAGES; i++)
    dyno_stage_cells_show (&self->cells, i, self->order.stands[i], get_title (i));
}

static void
take_ceiling (DynoTuneStages *self, const DynoCeiling *ceiling)
{
  double *most = &self->ceilings[ceiling->of];
  DynoTuneStage stage =
      ceiling->of == DYNO_CEILING_LOADER ? DYNO_TUNE_STAGE_DATA : DYNO_TUNE_STAGE_DEVICE;
  if (ceiling->outcome != DYNO_TRIAL_OK)
    return;
  dyno_stage_order_bring (&self->order, stage);
  if (ceiling->samples_per_s <= *most)
    return;
  *most = ceiling->samples_per_s;
  g_autofree char *rate = dyno_format_throughput (*most);
  /* Translators: a rate: "up to 9,200 samples/s" */
  g_autofree char *text = g_strdup_printf (_ ("up to %s"), rate);
  set_value (self, stage, text);
}

static void
take_trial (DynoTuneStages *self, const DynoTrial *trial)
{
  self->n_trials++;
  if (trial->outcome == DYNO_TRIAL_OK)
    dyno_stage_order_bring (&self->order, DYNO_TUNE_STAGE_SEARCH);
  g_autofree char *text =
      g_strdup_printf (ngettext ("%u trial", "%u trials", self->n_trials), self->n_trials);
  set_value (self, DYNO_TUNE_STAGE_SEARCH, text);
}

void
dyno_tune_stages_take_event (DynoTuneStages *self, const DynoTuneEvent *event)
{
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_PROGRESS:
      dyno_stage_order_work (&self->order, find_stage (event->trial.stage));
      break;
    case DYNO_TUNE_EVENT_CEILING:
      take_ceiling (self, &event->ceiling);
      break;
    case DYNO_TUNE_EVENT_TRIAL:
      take_trial (self, &event->trial);
      break;
    case DYNO_TUNE_EVENT_BEST:
      if (event->proven)
        dyno_stage_order_bring (&self->order, DYNO_TUNE_STAGE_PROOF);
      set_value (self, DYNO_TUNE_STAGE_PROOF, event->proven ? _ ("proven") : _ ("not proven"));
      break;
    case DYNO_TUNE_EVENT_DONE:
      dyno_stage_order_end (&self->order);
      break;
    case DYNO_TUNE_EVENT_NOTE:
    case DYNO_TUNE_EVENT_WARNING:
    case DYNO_TUNE_EVENT_ERROR:
    default:
      break;
    }
  show_stands (self);
}

void
dyno_tune_stages_begin (DynoTuneStages *self)
{
  self->ceilings[0] = self->ceilings[1] = 0;
  self->n_trials = 0;
  dyno_stage_order_begin (&self->order);
  for (guint i = 0; i < DYNO_N_TUNE_STAGES; i++)
    set_value (self, i, "\342\200\223");
  show_stands (self);
}

static void
dyno_tune_stages_class_init (DynoTuneStagesClass *class)
{
}

static void
dyno_tune_stages_init (DynoTuneStages *self)
{
  dyno_stage_cells_init (&self->cells, GTK_BOX (self));
  dyno_tune_stages_begin (self);
}
