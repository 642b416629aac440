/* SPDX-License-Identifier: MIT */
/* The facts of a run that its settings and its log do not hold: what it ran on, what it was made
 * of, how it ended.  Told by the session before the first step and at the end (DYNO_EVENT_FACTS),
 * and kept in the run's folder as facts.ini, so that a run is judged long after it. */
#pragma once
#include "event.h"

G_BEGIN_DECLS

#define DYNO_RUN_FACTS_NAME "facts.ini"

/* These take over what is known of a device; its measured rates, which belong to a version of
 * the shader compiler (to ask for that takes as long as to plan a network, once in a process);
 * and of this host now: cores, memory, what it does with clocks and drivers.  Advice comes of
 * that; nothing is changed. */
void dyno_run_facts_set_device (DynoRunFacts *facts, const DynoDeviceInfo *info);
void dyno_run_facts_set_rates (DynoRunFacts *facts, const DynoDeviceInfo *info);
void dyno_run_facts_set_host (DynoRunFacts *facts);

/* Into the folder, whole or not at all.  Errors: base's DISK and IO. */
gboolean dyno_run_facts_write (const char *folder, const DynoRunFacts *facts, GError **error);

/* Missing facts are 0; a file of another version gives those that it has.  FALSE: there is none
 * that can be read. */
gboolean dyno_run_facts_read (const char *folder, DynoRunFacts *facts);

/* Updates of the whole run of so many epochs, those before this part began included; 0: not known. */
guint64 dyno_run_facts_count_steps (const DynoRunFacts *facts, guint64 epochs);
/* Updates that so many epochs take, of a run that has made the steps that it was asked for
 * (max_steps) and has epochs left; else 0. */
guint64 dyno_run_facts_find_whole (const DynoRunFacts *facts, guint64 epochs, guint64 steps);
/* Epochs, begun ones included, in which the whole run's updates up to this one lie; 0: not known. */
guint64 dyno_run_facts_count_epochs (const DynoRunFacts *facts, guint64 steps);

G_END_DECLS
