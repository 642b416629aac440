/* SPDX-License-Identifier: MIT */
/* The quick test measures the performance of this machine in under a minute: the device's copy
 * bandwidth and arithmetic rates, the CPU's decoding rate, a small training on the device and the
 * same on the CPU.  It compares the results with the expectations of the card's preset.
 *
 * The test blocks; a program with a window calls it on a thread of its own.  Of its results only
 * the device's ceilings are saved (ceilings.h). */
#pragma once
#include "ceilings.h"
#include "diagnosis.h"
#include "preset.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  int device;           /* index; -1: the best */
  const char *preset;   /* gives the expectations; NULL: the preset of the card, if any */
  double seconds;       /* at most, for each measurement; 0: 4 */
  double all_seconds;   /* about, for all measurements; 0: 55 */
  gboolean without_cpu; /* leaves the comparison with the CPU out */
} DynoQuickParams;

/* Reports the present measurement ("copy", "loader", "training", "cpu") and the finished share of
 * the whole test; on the calling thread. */
typedef void (*DynoQuickProgress) (const char *what, double fraction, gpointer data);

/* Figures of a small training besides its rate; NaN: not measured. */
typedef struct {
  double predict_samples_per_s; /* forward passes only, as in validation, with loading of data */
  double epoch_s;               /* time of an epoch, with its validation */
} DynoQuickEpoch;

typedef struct {
  DynoDeviceInfo device;
  gboolean has_ceilings;
  DynoCeilings ceilings;
  guint cores;
  double loader_samples_per_s; /* decoded pictures of 224 x 224, on all cores; NaN: not measured */
  guint loader_workers;
  /* a small training: a description and its rate; NaN: it did not work, and problem gives the
   * reason */
  char *workload;
  double samples_per_s, step_ms;
  DynoQuickEpoch epoch;
  guint n_train; /* samples of an epoch of this training; 0: not known */
  guint64 vram_bytes;
  gboolean amp;
  char *problem;
  gboolean unfinished; /* the problem is a lack of time */
  /* The rates of a smaller training with a Vulkan driver that runs on the CPU (cpu_), and on the
   * device (beside_).  NaN: not measured, such as where there is no such driver, where it is itself
   * the device, or where there was no time. */
  double cpu_samples_per_s, beside_samples_per_s;
  DynoQuickEpoch cpu_epoch, beside_epoch;
  guint n_beside; /* samples of an epoch of both trainings */
  char *cpu_name;
  DynoPreset *preset;                   /* or NULL */
  double expected_least, expected_most; /* samples/s according to the preset; NaN: not given */
  /* share of the CPU that other programs took; NaN: not known */
  double outside_cpu;
  double seconds;      /* duration of the whole test */
  GPtrArray *findings; /* DynoFinding*: positive and negative findings */
} DynoQuick;

/* params NULL: all members are zero but device is -1.  Measurements that cannot be made are left
 * out; errors are those of opening the device, of naming a preset, and G_IO_ERROR_CANCELLED. */
DynoQuick *dyno_quick_run (const DynoQuickParams *params, DynoQuickProgress progress, gpointer data,
                           GCancellable *cancellable, GError **error);
/* For tests: the findings that follow from the members, without any measurement. */
DynoQuick *dyno_quick_new (void);
void dyno_quick_judge (DynoQuick *quick);
void dyno_quick_free (DynoQuick *quick); /* NULL: does nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoQuick, dyno_quick_free)

G_END_DECLS
