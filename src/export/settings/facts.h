/* SPDX-License-Identifier: MIT */
/* Numbers that follow from a job's settings and its data set, for formats that count in steps or
 * that make a network of the right shape. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

/* 0: not known, since the data set is not open. */
typedef struct {
  guint64 n_train;         /* samples */
  guint64 steps_per_epoch; /* updates */
  guint64 total_steps;     /* updates of all epochs */
  guint64 warmup_steps;    /* warm-up updates; known with steps_per_epoch */
  guint n_axes;            /* of a sample */
  guint32 shape[3];        /* channels first: (C, H, W), (F, T), (F) */
  guint32 n_outputs;       /* classes, labels, or values to predict */
  gboolean values;         /* values are predicted, not classes */
  gboolean labels;         /* a sample has any number of the labels */
  gboolean pixels;         /* a class for each pixel of an image */
} DynoExportFacts;

void dyno_export_facts (const DynoExportContext *context, DynoExportFacts *facts);

/* FALSE where it is known that samples have several labels, not one class. */
gboolean dyno_export_has_one_class (const DynoExportContext *context);

/* Appends comments on the loss that several labels of a sample need; nothing for other data. */
void dyno_export_append_labels (GString *text, const DynoExportContext *context);

/* The side of square images, as set or as in the data set; 0: not known, or there are no images. */
guint32 dyno_export_get_size (const DynoExportContext *context);

/* The first epoch, from 0, of the second and the third part of a step schedule. */
void dyno_export_milestones (const DynoSettings *settings, gint64 milestones[2]);

/* The seed in NumPy's range, below 2^32; many programs seed NumPy too. */
guint32 dyno_export_seed32 (const DynoSettings *settings);

/* data as a path of files; NULL: the data set is built in or not named. */
const char *dyno_export_data_path (const DynoExportContext *context);

G_END_DECLS
