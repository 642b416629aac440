/* SPDX-License-Identifier: MIT */
/* The autotuner: measures the kernel variants of every choice point that the table of choices does
 * not know yet. */
#pragma once
#include "program.h"

G_BEGIN_DECLS

/* Likely variants of every unknown key are run alone, in scratch memory, and timed; one whose result
 * differs from the first one's may not win.  Keys that occur several times are measured once,
 * those of the nodes with most work first.  Winners go into choices and from there to the disk
 * where choices were loaded from it.  After `seconds` (0: no limit) no more is begun: the rest
 * keeps its best guess and is measured by a later call.
 * The scratch memory is device memory, freed at the end: tune before the net's own memory is
 * allocated.  The graph's offsets are overwritten: lower and plan it again afterwards, which also
 * uses the choices.
 * progress (may be NULL): variants measured so far, and how many there are; most of them need no
 * measuring.  Variants that do not compile are left out with a warning.
 * Errors: those of dyno_memory_new and dyno_program_new, G_IO_ERROR_CANCELLED; what was measured
 * before stays in choices. */
gboolean dyno_autotune_within (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                               double seconds, DynoKernelProgress progress, gpointer data,
                               GCancellable *cancellable, GError **error);

/* Every key that is not known yet gets its best guess for good, so that a later call has nothing to
 * measure.  Errors: those of dyno_lowering_new. */
gboolean dyno_autotune_settle (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                               GError **error);

#define DYNO_AUTOTUNE_SECONDS 20.0

/* The same within DYNO_AUTOTUNE_SECONDS. */
gboolean dyno_autotune (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                        DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
                        GError **error);

/* How many variants the unknown keys have; 0: everything is known. */
guint dyno_autotune_count (DynoDevice *device, DynoGraph *graph, DynoChoices *choices);

/* Microseconds that a device must compute before it is timed, when it was busy until busy_us: as many
 * as it was idle, and no more than its clock takes to rise. */
gint64 dyno_autotune_warm_up_us (gint64 busy_us, gint64 now_us);

G_END_DECLS
