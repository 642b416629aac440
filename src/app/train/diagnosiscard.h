/* SPDX-License-Identifier: MIT */
/* The card of the diagnosis: the verdict on what limits the run, the time of a step by phase, the
 * sensors, and the findings; a button applies a finding that advises a setting. */
#pragma once
#include "diagnosis.h"
#include "runmonitor.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DIAGNOSIS_CARD (dyno_diagnosis_card_get_type ())
G_DECLARE_FINAL_TYPE (DynoDiagnosisCard, dyno_diagnosis_card, DYNO, DIAGNOSIS_CARD, GtkBox)

/* Hidden until a run of the monitor has steps to judge.  monitor and setup outlive the card. */
void dyno_diagnosis_card_set_run (DynoDiagnosisCard *self, DynoRunMonitor *monitor,
                                  DynoSetup *setup);
/* In place of the above: shows the diagnosis of the run in this folder, which is made in a thread,
 * or the reason why there is none.  To be called again for another run, or where the run went on;
 * folder NULL: a diagnosis that is being made is dropped. */
void dyno_diagnosis_card_set_folder (DynoDiagnosisCard *self, const char *folder, DynoSetup *setup);
/* Shows the card with a diagnosis of the run.  Called by the card itself. */
void dyno_diagnosis_card_show (DynoDiagnosisCard *self, const DynoDiagnosis *diagnosis);

G_END_DECLS
