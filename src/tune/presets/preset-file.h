/* SPDX-License-Identifier: MIT */
/* The preset file format: a key file with a group [preset], one group [row N] a batch range, and
 * one group [expected N] for each set of numbers of a guide.
 *
 *   [preset]
 *   name=RTX 3060            needed
 *   vram=12GB                needed; as the card is sold
 *   vram_total=12288MB       as its driver reports it; absent: vram
 *   vram_usable=11776MB      of that, for a program; absent: dyno_preset_estimate_usable
 *   vram_source=nvidia-smi   source of these two
 *   architecture=Ampere
 *   workers=2-4              or one number
 *   workers_cpu_bound=16
 *   prefetch=2
 *   amp=true  pinned=true  persistent_workers=true
 *   derived=prefetch;pinned  keys whose values are Dyno's own, not a guide's
 *   match=RTX 3060;          fragments of device names
 *   notes=short fact;another;
 *   advice=A paragraph.
 *   [row 1]
 *   image_size=224           0: sequences or other
 *   task=values              the workload: classes or values,
 *   input=image              image or sequence,
 *   data=biwi;300w-lp        kinds of data sets, any of them,
 *   model=headpose           names of models, or their beginnings up to "_"; absent: any
 *   framework=tensorflow     for another program: shown, and never put into settings
 *   batch_safe=32  batch_recommended=48  batch_max=64
 *   derived=batch_recommended
 *   [expected 1]
 *   task, input, data, model as those of a row
 *   batch=64                 the batch of the numbers
 *   samples_per_s=300-500    or one number; likewise utilisation_percent, vram_gb, power_w, epoch_s,
 *                            training_min, times_cpu, error_degrees
 *   before_samples_per_s=82  the same before the guide's advice was followed; likewise the others,
 *                            and before_batch */
#pragma once
#include "preset.h"

G_BEGIN_DECLS

#define DYNO_PRESET_FILE_MAX_BYTES (64 * 1024)
#define DYNO_PRESET_MAX_ROWS       64

/* Reads a preset from untrusted text.  source is named in every message.  Where the value of a key
 * with a default value is bad, the key takes the default value and a sentence is added to warnings
 * (char*, may be NULL); without name, memory or key-file form there is no preset.  Errors:
 * PRESET. */
DynoPreset *dyno_preset_parse (const char *id, const char *source, const char *text,
                               gsize size_bytes, GPtrArray *warnings, GError **error);

G_END_DECLS
