/* SPDX-License-Identifier: MIT */
/* The quick test: in under a minute, what this machine can do.  The device's copy bandwidth and
 * arithmetic rates, what the CPU decodes, a small training on the device and the same on the CPU,
 * held against what the preset of the card expects.
 *
 * Blocks; a program with a window calls it on a thread of its own.  Nothing is kept but the
 * device's ceilings (ceilings.h). */
#pragma once
#include "ceilings.h"
#include "diagnosis.h"
#include "preset.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  int device;           /* index; -1: the best */
  const char *preset;   /* whose expectation counts; NULL: that of the card, if there is one */
  double seconds;       /* of each measurement at most; 0: 4 */
  double all_seconds;   /* of all of them, about; 0: 55 */
  gboolean without_cpu; /* leaves the comparison with the CPU out */
} DynoQuickParams;

/* What goes on ("copy", "loader", "training", "cpu") and how much of the whole is done; on the
 * calling thread. */
typedef void (*DynoQuickProgress) (const char *what, double fraction, gpointer data);

/* Figures of a small training beside its rate; NaN: not measured. */
typedef struct {
  double predict_samples_per_s; /* forward passes alone, of validation, data included */
  double epoch_s;               /* of its n_train samples, validation and all */
} DynoQuickEpoch;

typedef struct {
  gatomicrefcount references;
  DynoDeviceInfo device;
  gboolean has_ceilings;
  DynoCeilings ceilings;
  guint cores;
  double loader_samples_per_s; /* decoded pictures of 224 x 224, on all cores; NaN: not measured */
  guint loader_workers;
  /* a small training: what it was, its rate; NaN: it did not work, and problem says why */
  char *workload;
  double samples_per_s, step_ms;
  DynoQuickEpoch epoch;
  guint n_train; /* samples of its epoch; 0: not known */
  guint64 vram_bytes;
  gboolean amp;
  char *problem;
  gboolean unfinished; /* the problem is that there was no time for it */
  /* A smaller one by a Vulkan driver that is a CPU, and by the device; NaN: there is none, or it is
   * the device. */
  double cpu_samples_per_s, beside_samples_per_s;
  DynoQuickEpoch cpu_epoch, beside_epoch;
  guint n_beside; /* samples of an epoch of both */
  char *cpu_name;
  DynoPreset *preset;                   /* or NULL */
  double expected_least, expected_most; /* samples/s, as the preset words them; NaN: it does not */
  double outside_cpu;                   /* share that other programs took of it; NaN: not known */
  double seconds;                       /* that all this took */
  GPtrArray *findings;                  /* DynoFinding*: good and bad signs */
} DynoQuick;

/* params NULL: all zero but device -1.  What cannot be measured is left out; errors are those of
 * opening the device, of naming a preset, and G_IO_ERROR_CANCELLED. */
DynoQuick *dyno_quick_run (const DynoQuickParams *params, DynoQuickProgress progress, gpointer data,
                           GCancellable *cancellable, GError **error);
/* For tests: nothing is measured; and the signs of what a member says. */
DynoQuick *dyno_quick_new (void);
void dyno_quick_judge (DynoQuick *quick);
DynoQuick *dyno_quick_ref (DynoQuick *quick);
void dyno_quick_unref (DynoQuick *quick); /* NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoQuick, dyno_quick_unref)

G_END_DECLS
