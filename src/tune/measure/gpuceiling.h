/* SPDX-License-Identifier: MIT */
/* Measures the rate of the device by itself: it runs the steps of a run on a batch that is resident
 * on the device. */
#pragma once
#include "deadline.h"
#include "job.h"
#include "meter.h"

G_BEGIN_DECLS

typedef struct _DynoGpuCeiling DynoGpuCeiling;

/* indices: the training part; NULL where the device generates its input. */
DynoGpuCeiling *dyno_gpu_ceiling_new (const DynoJob *job, DynoDataset *dataset,
                                      const GArray *indices);
/* Reports to the meter's preparing callback; the meter outlives the ceiling. */
void dyno_gpu_ceiling_set_meter (DynoGpuCeiling *ceiling, const DynoMeter *meter);
void dyno_gpu_ceiling_free (DynoGpuCeiling *ceiling);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoGpuCeiling, dyno_gpu_ceiling_free)

/* Fills rate, step_ms, memory, steps and outside_cpu of measurement.  The engine is built as a run
 * builds it, with kernels measured where a run would measure them, and is kept for another
 * measurement of the same run.  device: NULL, or one that is open.  The learning rate is 0, so that
 * training does not change the loss.  Errors: those of dyno_engine_build; DIVERGED: the loss of the
 * start weights is not finite; CANCELLED, TIMED_OUT.  After an error nothing is kept. */
gboolean dyno_gpu_ceiling_measure (DynoGpuCeiling *ceiling, DynoDevice *device,
                                   const DynoSettings *settings, double seconds,
                                   DynoDeadline *deadline, DynoMeasurement *measurement,
                                   GError **error);

/* Frees the device's memory. */
void dyno_gpu_ceiling_release (DynoGpuCeiling *ceiling);

G_END_DECLS
