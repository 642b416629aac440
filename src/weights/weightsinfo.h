/* SPDX-License-Identifier: MIT */
/* The metadata in which a weights file describes itself: the model and its parameters, the input
 * and how that is normalised, the meaning of the outputs.  The file is sufficient for prediction.
 *
 * Keys (all strings, lists as JSON): model, network (embedded.h), model.width, task ("classes",
 * "labels", "values" or "pixels"), outputs, classes, targets, units; output.temperature and
 * output.thresholds (of calibrated classes and labels); input.element ("uint8",
 * "int32", "float32"), input.axes ("HWC", "TF", "C"), input.shape, input.variable and input.pad (of
 * sequences), input.scale (the factor of an element), input.mean and input.deviation (per channel;
 * after the scale). */
#pragma once
#include "job.h"
#include "safetensors.h"

G_BEGIN_DECLS

typedef struct {
  char *model;
  double model_width;
  guint32 n_outputs;   /* 0: not known */
  gboolean is_values;  /* the outputs are values in the data's unit; FALSE: classes */
  gboolean is_labels;  /* a sample has any number of the classes */
  gboolean of_pixels;  /* each pixel has a class, not each sample */
  char **class_names;  /* n_outputs + NULL; NULL: not known, or values */
  char **target_names; /* n_outputs + NULL; NULL: not known, or classes */
  char **target_units; /* as target_names; "": none */
  double temperature;  /* divides the logits of classes and labels; 1: they are not calibrated */
  /* n_outputs probabilities, from 0 to 1, from which on a label is predicted; NULL: 1/2 for all */
  float *thresholds;
  gboolean has_input; /* input is known */
  DynoBatchField input;
} DynoWeightsInfo;

/* The metadata of a job and the data set on which it trains.  Errors: those of
 * dyno_job_get_network. */
DynoWeightsInfo *dyno_weights_info_new (const DynoJob *job, const DynoDatasetInfo *data,
                                        GError **error);
/* The metadata of a file; members that it does not give stay NULL or 0.  Errors: CHECKPOINT, where
 * the metadata is inconsistent. */
DynoWeightsInfo *dyno_weights_info_read (DynoSafetensors *file, GError **error);
/* Completes the metadata that the file at path lacks from timm's config.json beside it, where there
 * is one: the model, the number and names of the classes, size and normalisation of the input.
 * Notes (char *) name what was taken, or the reason why nothing was. */
void dyno_weights_info_complete (DynoWeightsInfo *info, const char *path, GPtrArray *notes);
void dyno_weights_info_free (DynoWeightsInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoWeightsInfo, dyno_weights_info_free)

/* Copies the file at path with this calibration in its metadata, which replaces an earlier one, and
 * renames the copy to path.  info has the calibration; its other members are not written.  Errors:
 * CHECKPOINT (the file is no safetensors file, and has no metadata); those of reading and writing
 * the file, which is then unchanged. */
gboolean dyno_weights_info_write_calibration (const DynoWeightsInfo *info, const char *path,
                                              GError **error);

/* The class's name, or "#12"; and a value's name with its unit.  g_free. */
char *dyno_weights_info_name_class (const DynoWeightsInfo *info, guint32 class_id);
char *dyno_weights_info_name_value (const DynoWeightsInfo *info, guint32 value);

/* "bytes / 255, less mean 0.485 0.456 0.406 over deviation 0.229 0.224 0.225"; g_free. */
char *dyno_normalisation_describe (const DynoBatchField *input);

/* Append and read the keys input.scale, input.mean and input.deviation, with n (1 to 4) values
 * each.  Errors: CHECKPOINT, where they are inconsistent. */
void dyno_normalisation_append (const DynoNormalisation *normalisation, guint n, GPtrArray *pairs);
gboolean dyno_normalisation_read (DynoSafetensors *file, DynoNormalisation *normalisation,
                                  GError **error);

/* Appends the metadata's keys and values (char *) to pairs. */
void dyno_weights_info_append (const DynoWeightsInfo *info, GPtrArray *pairs);

G_END_DECLS
