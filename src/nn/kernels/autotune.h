/* SPDX-License-Identifier: MIT */
/* The autotuner: measures the kernel variants of every choice point that the table of choices does
 * not know yet. */
#pragma once
#include "program.h"

G_BEGIN_DECLS

/* Likely variants of every unknown key are run one at a time, in scratch memory, and timed; a
 * variant whose result differs from the result of the first variant may not win.  Keys that occur
 * several times are measured once; the keys of the nodes with the most work come first.  Winners go
 * into choices, and from there to the disk where choices were loaded from disk.  After `seconds`
 * (0: no limit) no new measurement is begun: the remaining keys keep their best guess and are
 * measured by a later call.
 * The scratch memory is device memory, freed at the end: tune before the net's own memory is
 * allocated.  The graph's offsets are overwritten: lower and plan the graph again afterwards, which
 * also uses the choices.
 * progress (may be NULL): the number of variants measured so far, and the number of all variants,
 * most of which need not be measured.  Variants that do not compile are left out with a warning.
 * Errors: those of dyno_build_plan, dyno_memory_new and dyno_program_new, G_IO_ERROR_CANCELLED;
 * earlier results stay in choices. */
gboolean dyno_autotune_within (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                               double seconds, DynoKernelProgress progress, gpointer data,
                               GCancellable *cancellable, GError **error);

/* Makes the best guess of every unknown key its choice, so that a later call measures nothing.
 * Errors: those of dyno_lowering_new. */
gboolean dyno_autotune_settle (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                               GError **error);

#define DYNO_AUTOTUNE_SECONDS 20.0

/* As dyno_autotune_within, with DYNO_AUTOTUNE_SECONDS. */
gboolean dyno_autotune (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                        DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
                        GError **error);

/* The number of variants of the unknown keys; 0: every key is known, or the graph cannot be
 * lowered. */
guint dyno_autotune_count (DynoDevice *device, DynoGraph *graph, DynoChoices *choices);

/* Microseconds for which a device that was busy until busy_us must compute before it is timed: the
 * time for which it was idle, but at most the time that its clock takes to rise. */
gint64 dyno_autotune_warm_up_us (gint64 busy_us, gint64 now_us);

G_END_DECLS
