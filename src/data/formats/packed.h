/* SPDX-License-Identifier: MIT */
/* The description of a whole data set that convert.c writes into the .json of a packed file's first
 * sample, and that the readers of the file parse: the input in the form in which the network reads
 * it, and the classes in their order.
 *
 * Members: "input" ("sequence float32 TF", and "variable" where the first axis is), "input_shape",
 * "input_pad", "normalisation" (scale to 0..1, standardise, 4 means, 4 deviations), "sizes" (least
 * and largest width, then height, before resizing), "array_axes" (of an array's file),
 * "class_names" (a line each; left out where they are too long for the .json, or hold a line end
 * themselves). */
#pragma once
#include "dataset-class.h"

G_BEGIN_DECLS

#define DYNO_PACKED_MAX_VALUES 1024 /* of a sample */
#define DYNO_PACKED_MAX_LABELS 4096 /* their list and their names fit into one .json */

typedef struct {
  gboolean known;       /* the description was found, and is valid */
  DynoBatchField input; /* of one sample at the largest size */
  guint32 min_width, max_width, min_height, max_height;
  const char *axes;   /* static; NULL: the samples are from no array */
  char **class_names; /* NULL: the description has none */
} DynoPacked;

void dyno_packed_clear (DynoPacked *packed);

/* Appends the members to an object's text, each with a comma before it. */
void dyno_packed_describe (const DynoDatasetInfo *info, GString *json);
void dyno_packed_append_string (GString *json, const char *text); /* quoted */

/* Reads the description from an object's members (dyno_json_members), unless it was found before.
 * Members that are not understood are left out. */
void dyno_packed_take (DynoPacked *packed, GHashTable *members);

/* Applies the description to images with their original bytes: sets one channel and the
 * normalisation as in the packed data set. */
void dyno_packed_apply_to_images (const DynoPacked *packed, DynoDatasetInfo *info);

G_END_DECLS
