/* SPDX-License-Identifier: MIT */
/* The search goes back and forth between its stages: the current one is at work, earlier ones are
 * marked as done, later ones are faint. */
#include "tunestages.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>

enum { DATA, GPU, SEARCH, PROOF, N_STAGES };

typedef enum { TO_COME, AT_WORK, DONE } Stand;

struct _DynoTuneStages {
  GtkBox parent_instance;
  GtkWidget *cells[N_STAGES], *titles[N_STAGES], *values[N_STAGES];
  Stand stands[N_STAGES];
  double ceilings[2]; /* the highest so far, by DynoCeilingOf */
  guint n_trials;
  gboolean proven;
};

G_DEFINE_FINAL_TYPE (DynoTuneStages, dyno_tune_stages, GTK_TYPE_BOX)

static const char *
get_title (guint stage)
{
  switch (stage)
    {
    case DATA:
      return _ ("Data");
    case GPU:
      return _ ("Device");
    case SEARCH:
      return _ ("Joint search");
    default:
      return _ ("Proof");
    }
}

static guint
find_stage (const char *name)
{
  if (g_strcmp0 (name, "loader") == 0)
    return DATA;
  if (g_strcmp0 (name, "gpu") == 0)
    return GPU;
  /* Runs towards a goal of learning come after the proof. */
  return g_strcmp0 (name, "proof") == 0 || g_strcmp0 (name, "goal") == 0 ? PROOF : SEARCH;
}

static void
show_stand (DynoTuneStages *self, guint stage)
{
  static const char *const signs[] = { "\342\227\213", "\342\227\217", "\342\234\223" };
  Stand stand = self->stands[stage];
  g_autofree char *text = g_strdup_printf ("%s %s", signs[stand], get_title (stage));
  gtk_label_set_text (GTK_LABEL (self->titles[stage]), text);
  dyno_widget_add_class (self->cells[stage], "off", stand == TO_COME);
  dyno_widget_add_class (self->titles[stage], "stage-now", stand == AT_WORK);
}

static void
set_value (DynoTuneStages *self, guint stage, const char *text)
{
  gtk_label_set_text (GTK_LABEL (self->values[stage]), text);
}

/* now N_STAGES: no stage is at work any more. */
static void
set_at_work (DynoTuneStages *self, guint now)
{
  for (guint i = 0; i < N_STAGES; i++)
    {
      if (i == now)
        self->stands[i] = AT_WORK;
      else if (self->stands[i] == AT_WORK)
        self->stands[i] = DONE;
      show_stand (self, i);
    }
}

static void
take_ceiling (DynoTuneStages *self, const DynoCeiling *ceiling)
{
  double *most = &self->ceilings[ceiling->of];
  if (ceiling->outcome != DYNO_TRIAL_OK || ceiling->samples_per_s <= *most)
    return;
  *most = ceiling->samples_per_s;
  g_autofree char *rate = dyno_format_throughput (*most);
  /* Translators: a rate: "up to 9,200 samples/s" */
  g_autofree char *text = g_strdup_printf (_ ("up to %s"), rate);
  set_value (self, ceiling->of == DYNO_CEILING_LOADER ? DATA : GPU, text);
}

static void
take_trial (DynoTuneStages *self)
{
  self->n_trials++;
  g_autofree char *text =
      g_strdup_printf (ngettext ("%u trial", "%u trials", self->n_trials), self->n_trials);
  set_value (self, SEARCH, text);
}

void
dyno_tune_stages_take_event (DynoTuneStages *self, const DynoTuneEvent *event)
{
  switch (event->type)
    {
    case DYNO_TUNE_EVENT_PROGRESS:
      set_at_work (self, find_stage (event->trial.stage));
      break;
    case DYNO_TUNE_EVENT_CEILING:
      take_ceiling (self, &event->ceiling);
      break;
    case DYNO_TUNE_EVENT_TRIAL:
      take_trial (self);
      break;
    case DYNO_TUNE_EVENT_BEST:
      self->proven = event->proven;
      set_value (self, PROOF, event->proven ? _ ("proven") : _ ("not proven"));
      break;
    case DYNO_TUNE_EVENT_DONE:
      set_at_work (self, N_STAGES);
      if (!self->proven) /* the proof was not finished */
        {
          self->stands[PROOF] = TO_COME;
          show_stand (self, PROOF);
        }
      break;
    case DYNO_TUNE_EVENT_NOTE:
    case DYNO_TUNE_EVENT_WARNING:
    case DYNO_TUNE_EVENT_ERROR:
    default:
      break;
    }
}

void
dyno_tune_stages_begin (DynoTuneStages *self)
{
  self->ceilings[0] = self->ceilings[1] = 0;
  self->n_trials = 0;
  self->proven = FALSE;
  for (guint i = 0; i < N_STAGES; i++)
    {
      self->stands[i] = TO_COME;
      set_value (self, i, "\342\200\223");
      show_stand (self, i);
    }
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
  for (guint i = 0; i < N_STAGES; i++)
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
