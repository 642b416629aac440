/* SPDX-License-Identifier: MIT */
/* The facts of a run that its settings and its log do not hold: its machine, its parts, how it
 * ended.  The session emits them before the first step and at the end (DYNO_EVENT_FACTS), and
 * writes them to the run's folder as facts.ini, so that a run can be diagnosed later. */
#pragma once
#include "event.h"

G_BEGIN_DECLS

#define DYNO_RUN_FACTS_NAME "facts.ini"

/* Set the facts of a device; its measured rates, which are valid for one version of the shader
 * compiler (finding the version takes as long as planning a network, once per process); and the
 * present facts of this host: cores, memory, the governor of its clocks, its driver's persistence.
 * The facts of the host are used only for advice. */
void dyno_run_facts_set_device (DynoRunFacts *facts, const DynoDeviceInfo *info);
void dyno_run_facts_set_rates (DynoRunFacts *facts, const DynoDeviceInfo *info);
void dyno_run_facts_set_host (DynoRunFacts *facts);

/* Writes the facts into the folder, atomically.  Errors: DYNO_BASE_ERROR_DISK and _IO. */
gboolean dyno_run_facts_write (const char *folder, const DynoRunFacts *facts, GError **error);

/* Reads the facts.  Missing facts are 0; of a file of another version the known facts are read.
 * FALSE: there is no file that can be read. */
gboolean dyno_run_facts_read (const char *folder, DynoRunFacts *facts);

/* The updates of the whole run with this number of epochs, including those before this part began;
 * 0: not known. */
guint64 dyno_run_facts_count_steps (const DynoRunFacts *facts, guint64 epochs);
/* The updates that this number of epochs takes, for a run that has reached max_steps before its
 * last epoch; else 0. */
guint64 dyno_run_facts_find_whole (const DynoRunFacts *facts, guint64 epochs, guint64 steps);
/* The number of epochs, including begun ones, to which the whole run's updates up to this one
 * belong; 0: not known. */
guint64 dyno_run_facts_count_epochs (const DynoRunFacts *facts, guint64 steps);

G_END_DECLS
