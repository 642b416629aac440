/* SPDX-License-Identifier: MIT */
/* The autotuner: measures the kernel variants of every choice point that the table of choices does not know yet. */
#pragma once
#include "program.h"

G_BEGIN_DECLS

/* Each label of an unknown key is run alone, in scratch memory, and timed; one whose result differs from the first label's may not
 * win.  Keys that occur several times are measured once.  Winners go into choices; saving them is the caller's.
 * The scratch memory is device memory, freed at the end: tune before the net's own memory is allocated.  The graph's offsets are
 * overwritten: lower and plan it again afterwards, which also uses the choices.
 * progress (may be NULL): variants measured so far and in all.  Variants that do not compile are left out with a warning.
 * Errors: those of dyno_memory_new and dyno_program_new, G_IO_ERROR_CANCELLED; what was measured before stays in choices. */
gboolean dyno_autotune (DynoDevice *device, DynoGraph *graph, DynoChoices *choices, DynoKernelProgress progress,
                        gpointer data, GCancellable *cancellable, GError **error);

/* How many variants that would measure; 0: everything is known. */
guint dyno_autotune_count (DynoDevice *device, DynoGraph *graph, DynoChoices *choices);

G_END_DECLS
