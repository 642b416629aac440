/* SPDX-License-Identifier: MIT */
/* Pictures of a few samples with the names of their labels below. */
#pragma once
#include "dataset.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_LABEL_EXAMPLES_MOST 12

#define DYNO_TYPE_LABEL_EXAMPLES (dyno_label_examples_get_type ())
G_DECLARE_FINAL_TYPE (DynoLabelExamples, dyno_label_examples, DYNO, LABEL_EXAMPLES, GtkFlowBox)

/* Shows samples of a data set with labels.  indices: guint32, ordered by label; of more than
 * DYNO_LABEL_EXAMPLES_MOST some are shown, at even distances, and each sample once.  dataset NULL:
 * empties. */
void dyno_label_examples_show (DynoLabelExamples *self, DynoDataset *dataset,
                               const GArray *indices);

G_END_DECLS
