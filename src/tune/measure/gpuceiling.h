/* SPDX-License-Identifier: MIT */
/* Measures the rate of the device by itself: the steps of a run, with a batch that lies on the
 * device. */
#pragma once
#include "deadline.h"
#include "job.h"
#include "meter.h"

G_BEGIN_DECLS

typedef struct _DynoGpuCeiling DynoGpuCeiling;

/* indices: the training part; NULL where the device makes its input. */
DynoGpuCeiling *dyno_gpu_ceiling_new (const DynoJob *job, DynoDataset *dataset,
                                      const GArray *indices);
/* Reports to the meter's preparing; the meter outlives the ceiling. */
void dyno_gpu_ceiling_set_meter (DynoGpuCeiling *ceiling, const DynoMeter *meter);
void dyno_gpu_ceiling_free (DynoGpuCeiling *ceiling);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoGpuCeiling, dyno_gpu_ceiling_free)

/* rate, step_ms, memory, steps and outside_cpu of measurement, the engine of a run built as a run
 * builds it, kernels measured where it would; the engine is kept for another measurement of the
 * same run.  device: NULL, or one that is open.  The learning rate is 0, so that training does not
 * change the loss.  Errors: those of dyno_engine_build; DIVERGED: the loss of the start weights is
 * not finite; CANCELLED, TIMED_OUT.  After an error nothing is kept. */
gboolean dyno_gpu_ceiling_measure (DynoGpuCeiling *ceiling, DynoDevice *device,
                                   const DynoSettings *settings, double seconds,
                                   DynoDeadline *deadline, DynoMeasurement *measurement,
                                   GError **error);

/* Gives the device's memory back. */
void dyno_gpu_ceiling_release (DynoGpuCeiling *ceiling);

G_END_DECLS
