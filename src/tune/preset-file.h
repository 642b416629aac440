/* SPDX-License-Identifier: MIT */
/* The preset file format: a key file with a group [preset] and one group [row N] a batch range.
 *
 *   [preset]
 *   name=RTX 3060            needed
 *   vram=12GB                needed
 *   architecture=Ampere
 *   workers=2-4              or one number
 *   workers_cpu_bound=16
 *   prefetch=2
 *   amp=true  pinned=true  persistent_workers=true
 *   match=RTX 3060;          fragments of device names
 *   notes=short fact;another;
 *   expected=300-500 samples/s
 *   advice=A paragraph.
 *   [row 1]
 *   image_size=224           0: sequences or other
 *   workload=head pose       absent: the usual one
 *   batch_safe=32  batch_recommended=48  batch_max=64 */
#pragma once
#include "preset.h"

G_BEGIN_DECLS

#define DYNO_PRESET_FILE_MAX_BYTES (64 * 1024)
#define DYNO_PRESET_MAX_ROWS       64

/* Reads a preset from text of any content.  source is named in every message.  A bad value of a key
 * that has a default takes it and adds a sentence to warnings (char*, may be NULL); without name,
 * memory or key-file form there is no preset. Errors: PRESET. */
DynoPreset *dyno_preset_parse (const char *id, const char *source, const char *text,
                               gsize size_bytes, GPtrArray *warnings, GError **error);

G_END_DECLS
