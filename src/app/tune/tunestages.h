/* SPDX-License-Identifier: MIT */
/* The stages of a running search: the data pipeline by itself, the GPU by itself, the joint search,
 * the proof; each with its results so far. */
#pragma once
#include "tune.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_TUNE_STAGES (dyno_tune_stages_get_type ())
G_DECLARE_FINAL_TYPE (DynoTuneStages, dyno_tune_stages, DYNO, TUNE_STAGES, GtkBox)

void dyno_tune_stages_begin (DynoTuneStages *self);
/* Takes any event of the search. */
void dyno_tune_stages_take_event (DynoTuneStages *self, const DynoTuneEvent *event);

G_END_DECLS
