/* SPDX-License-Identifier: MIT */
/* Shared by the files of presets: the known facts of a job, and its batch. */
#pragma once
#include "preset.h"

G_BEGIN_DECLS

/* The workload of the job; its strings belong to the job and the data set of `use`. */
DynoPresetSubject dyno_preset_use_get_subject (const DynoPresetUse *use);
/* The row's batch size, scaled to the job's image size or sequence length. */
guint32 dyno_preset_scale_batch (const DynoPresetRow *row, const DynoPresetUse *use);

G_END_DECLS
