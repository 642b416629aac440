/* SPDX-License-Identifier: MIT */
/* The results of dynoctl evaluate on classes, labels or values, and their output.  For masks:
 * masks.h. */
#pragma once
#include "calibration.h"
#include "classfigures.h"

G_BEGIN_DECLS

typedef struct {
  const char *weights; /* path of the file */
  const char *part;    /* of the data set */
  DynoDataset *dataset;
  const DynoWeightsInfo *info;
  DynoScores *scores;
  DynoClassFigures figures; /* of classes */
  DynoLabelFigures labels;  /* of labels */
  gboolean is_calibrated;   /* fitted and calibration are set */
  DynoWeightsInfo fitted;   /* temperature and thresholds that were written to the file */
  DynoCalibration calibration;
} DynoEvaluated;

/* Print to standard output: text of several lines, or an object in a line. */
void dyno_evaluated_print (const DynoEvaluated *evaluated, double seconds);
void dyno_evaluated_print_json (const DynoEvaluated *evaluated, double seconds);

G_END_DECLS
