/* SPDX-License-Identifier: MIT */
/* Lowering with kernels that the device can make and computes rightly with: a variant that fails is
 * refused, and the next one taken. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* Told on the calling thread while a graph is lowered. */
typedef struct {
  /* A variant ("conv2d.forward f16 khr 128x128x32/64x64") is not used on this device from now on;
   * may be NULL. */
  void (*refused) (const char *variant, const char *why, gpointer data);
  DynoKernelProgress progress; /* of compiling; may be NULL */
  gpointer data;
} DynoVetWatch;

/* Compiles every kernel of a lowering.  *again: a variant of it was refused, and the nodes have to
 * be lowered anew.  Errors: those of dyno_kernel_get_many, SHADER for a kernel without variants. */
gboolean dyno_vet_compile (DynoDevice *device, DynoLowering *lowering, DynoChoices *choices,
                           const DynoVetWatch *watch, GCancellable *cancellable, gboolean *again,
                           GError **error);

/* As dyno_lowering_new with every kernel compiled, and each variant tested that is chosen for the
 * first time on this device (on a CPU only with DYNO_SELF_TEST=1).  What is refused goes into
 * choices and from there to the disk where they were loaded from it.  Where no variant of a choice
 * is left, all that was refused is forgotten, so that a later start tries again.
 * Errors: those of dyno_lowering_new, dyno_kernel_get_many and of submitting; KERNEL: no variant is
 * left. */
DynoLowering *dyno_vet_lower (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
                              const DynoVetWatch *watch, GCancellable *cancellable, GError **error);

G_END_DECLS
