/* SPDX-License-Identifier: MIT */
/* The current stage is at work, earlier ones are marked as done or failed, later ones are faint. */
#include "tunestages.h"
#include "format.h"
#include "row.h"
#include "stageorder.h"
#include <glib/gi18n.h>

struct _DynoTuneStages {
  GtkBox parent_instance;
  GtkWidget *cells[DYNO_N_TUNE_STAGES], *titles[DYNO_N_TUNE_STAGES], *values[DYNO_N_TUNE_STAGES];
  DynoStageOrder order;
  double ceilings[2]; /* the highest so far, by DynoCeilingOf */
  guint n_trials;
};

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
  /* Runs towards a goal of learning come after the proof. */
  return g_strcmp0 (name, "proof") == 0 || g_strcmp0 (name, "goal") == 0 ? DYNO_TUNE_STAGE_PROOF
                                                                         : DYNO_TUNE_STAGE_SEARCH;
}

static void
show_stand (DynoTuneStages *self, guint stage)
{
  static const char *const signs[] = { "\342\227\213", "\342\227\217", "\342\234\223",
                                       "\342\234\227" };
  DynoStand stand = self->order.stands[stage];
  g_autofree char *text = g_strdup_printf ("%s %s", signs[stand], get_title (stage));
  gtk_label_set_text (GTK_LABEL (self->titles[stage]), text);
  dyno_widget_add_class (self->cells[stage], "off", stand == DYNO_STAND_TO_COME);
  dyno_widget_add_class (self->titles[stage], "stage-now", stand == DYNO_STAND_AT_WORK);
  dyno_widget_add_class (self->titles[stage], "bad-text", stand == DYNO_STAND_FAILED);
}

static void
set_value (DynoTuneStages *self, guint stage, const char *text)
{
  gtk_label_set_text (GTK_LABEL (self->values[stage]), text);
}

static void
show_stands (DynoTuneStages *self)
{
  for (guint i = 0; i < DYNO_N_TUNE_STAGES; i++)
    show_stand (self, i);
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
  gtk_box_set_homogeneous (GTK_BOX (self), TRUE);
  dyno_widget_add_class (GTK_WIDGET (self), "stats", TRUE);
  for (guint i = 0; i < DYNO_N_TUNE_STAGES; i++)
    {
      self->cells[i] = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
      self->titles[i] = gtk_label_new (NULL);
      self->values[i] = gtk_label_new (NULL);
      dyno_widget_add_class (self->cells[i], "stat", TRUE);
      dyno_widget_add_class (self->titles[i], "stat-title", TRUE);
      dyno_widget_add_class (self->values[i], "numeric", TRUE);
      gtk_label_set_xalign (GTK_LABEL (self->titles[i]), 0);
      gtk_label_set_xalign (GTK_LABEL (self->values[i]), 0);
      gtk_label_set_ellipsize (GTK_LABEL (self->titles[i]), PANGO_ELLIPSIZE_END);
      gtk_label_set_line_wrap (GTK_LABEL (self->values[i]), TRUE);
      gtk_container_add (GTK_CONTAINER (self->cells[i]), self->titles[i]);
      gtk_container_add (GTK_CONTAINER (self->cells[i]), self->values[i]);
      gtk_container_add (GTK_CONTAINER (self), self->cells[i]);
      gtk_widget_show_all (self->cells[i]);
    }
  dyno_tune_stages_begin (self);
}
