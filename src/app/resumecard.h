/* SPDX-License-Identifier: MIT */
/* The offer to go on with a run that was interrupted: how far it came, what it trains, and the
 * window's action "resume-interrupted".  Hidden without such a run.  Signal: "dismissed". */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RESUME_CARD (dyno_resume_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoResumeCard, dyno_resume_card, DYNO, RESUME_CARD, GtkBox)

/* Takes the run; NULL: there is none. */
void dyno_resume_card_show (DynoResumeCard *self, DynoStoredRun *run);
const DynoStoredRun *dyno_resume_card_get_run (DynoResumeCard *self); /* NULL: none */
void dyno_resume_card_set_narrow (DynoResumeCard *self, gboolean narrow);

G_END_DECLS
