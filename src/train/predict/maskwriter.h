/* SPDX-License-Identifier: MIT */
/* Writes predicted masks to files, counts their classes, and makes a table of the counts. */
#pragma once
#include "predictor.h"

G_BEGIN_DECLS

/* Writes the predicted masks as PNG files into a folder that exists. */
typedef struct _DynoMaskWriter DynoMaskWriter;

/* width, height: of the predicted masks.  dataset: each mask is written at the size of its sample's
 * picture (mask.h: dyno_mask_restore), pixels that were cut off as 255; NULL: as it was predicted.
 * A file that exists already is an error and is not replaced: it may be an image. */
DynoMaskWriter *dyno_mask_writer_new (const char *folder, DynoDataset *dataset, guint32 width,
                                      guint32 height);
void dyno_mask_writer_free (DynoMaskWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMaskWriter, dyno_mask_writer_free)

/* Returns the path of the mask that was written: the sample's name with .png in place of its
 * extension, with the sample's number before it where two samples have the same name; g_free.  NULL
 * with the errors of dyno_dataset_find_size, dyno_file_write_atomic or dyno_image_encode_mask_png;
 * TOO_LARGE (no memory); G_FILE_ERROR_EXIST. */
char *dyno_mask_writer_write (DynoMaskWriter *writer, const char *sample, guint64 index,
                              const guint8 *mask, GError **error);

/* The number of pixels of each class of a mask with n classes; g_free. */
guint64 *dyno_mask_count_classes (const guint8 *mask, gsize n_pixels, guint32 n);

/* Appends lines of a CSV table: sample, the share of each class in its mask, problem.  prediction:
 * by weights with a class for each pixel, or with a problem. */
void dyno_mask_table_append_head (GString *text, const DynoWeightsInfo *info);
void dyno_mask_table_append (GString *text, const DynoWeightsInfo *info, const char *sample,
                             const DynoPrediction *prediction, gsize n_pixels);

G_END_DECLS
