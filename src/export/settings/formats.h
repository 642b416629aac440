/* SPDX-License-Identifier: MIT */
/* The exporters, one per file, and their shared functions. */
#pragma once
#include "exporter.h"
#include "jsontext.h"
#include "runexporter.h"

G_BEGIN_DECLS

extern const DynoExporter dyno_exporter_keyfile;
extern const DynoExporter dyno_exporter_json;
extern const DynoExporter dyno_exporter_pytorch;
extern const DynoExporter dyno_exporter_lightning;
extern const DynoExporter dyno_exporter_accelerate;
extern const DynoExporter dyno_exporter_trainingarguments;
extern const DynoExporter dyno_exporter_timm;
extern const DynoExporter dyno_exporter_ultralytics;
extern const DynoExporter dyno_exporter_deepspeed;
extern const DynoExporter dyno_exporter_tensorflow;
extern const DynoExporter dyno_exporter_torchrun;
extern const DynoExporter dyno_exporter_slurm;

extern const DynoRunExporter dyno_run_exporter_mlflow;
extern const DynoRunExporter dyno_run_exporter_tensorboard;
extern const DynoRunExporter dyno_run_exporter_trackio;
extern const DynoRunExporter dyno_run_exporter_trace;

/* The lines of the head of a file, without comment signs; the day follows SOURCE_DATE_EPOCH.
 * g_strfreev. */
char **dyno_export_head (const DynoExportContext *context);

/* The day, "2026-11-22"; g_free. */
char *dyno_export_day (void);

/* TRUE: a file may be written at path: nothing is there, or force is set and no folder is there.
 * Errors: EXISTS. */
gboolean dyno_export_check_path (const char *path, gboolean force, GError **error);

/* The measured rate as text, with at least three digits and never an exponent; NULL: none was
 * measured.  g_free. */
char *dyno_export_rate (const DynoExportContext *context);

/* The head as comments that begin with '#'. */
void dyno_export_append_head (GString *text, const DynoExportContext *context);

/* The settings that the file does not hold, as comments after an empty line. */
void dyno_export_append_left_out (GString *text, const DynoExporter *exporter,
                                  const DynoExportContext *context);

/* Write the direct rows whose values the format can hold, in their order, as lines of YAML and as
 * members of JSON. */
void dyno_export_yaml_rows (GString *text, const DynoExporter *exporter,
                            const DynoExportContext *context);
void dyno_export_json_rows (DynoJson *json, const DynoExporter *exporter,
                            const DynoExportContext *context);

/* Conditions for `when` of rows. */
gboolean dyno_export_has_workers (const DynoExportContext *context);
gboolean dyno_export_knows_steps (const DynoExportContext *context);
gboolean dyno_export_knows_size (const DynoExportContext *context);
gboolean dyno_export_has_momentum (const DynoExportContext *context);
/* TRUE: the optimizer has betas, and they are not those of Adam (0.9 and 0.999), which DeepSpeed
 * and TrainingArguments have by default for every optimizer. */
gboolean dyno_export_has_other_betas (const DynoExportContext *context);
/* TRUE: gradients are clipped per value and not by norm, for programs that clip in one way only. */
gboolean dyno_export_clips_values (const DynoExportContext *context);

/* The names of an optimizer in other programs; NULL: the program has none that computes the
 * same. */
typedef struct {
  const char *lightning; /* path of its class, with PyTorch's arguments */
  const char *deepspeed, *timm, *torchvision, *transformers, *ultralytics;
} DynoOptimizerNames;

/* The names of the optimizer of the settings; static. */
const DynoOptimizerNames *dyno_export_get_optimizer (const DynoSettings *settings);

/* The constant part of a generated script, from templates/NAME. */
void dyno_export_append_template (GString *text, const char *name);

/* NAME = VALUE in Python: data set, shapes, and the exporter's direct rows. */
void dyno_export_append_constants (GString *text, const DynoExporter *exporter,
                                   const DynoExportContext *context, gboolean channels_last);

/* The end of a bash script: comments with the settings that are left out, and the lines that train
 * with torchrun on `gpus` processes (words of bash).  They run torchvision's reference where it has
 * the model, else the script of the PyTorch exporter. */
void dyno_export_append_launch (GString *text, const DynoExporter *exporter,
                                const DynoExportContext *context, const char *gpus);
/* The program that runs where the user names none, as a phrase for a comment.  g_free. */
char *dyno_export_describe_launch (const DynoExportContext *context);
const DynoExportRow *dyno_export_choose_launch_rows (const DynoExportContext *context);

/* A setting as a member, in its own type. */
void dyno_export_json_setting (DynoJson *json, const DynoSettings *settings,
                               const DynoSettingInfo *info);

/* "settings": {every key in its own type}, as a member. */
void dyno_export_json_settings (DynoJson *json, const DynoSettings *settings);

/* Names of the lines of the head, which dyno_settings_file_read_measured reads. */
#define DYNO_HEAD_CARD   "Card"
#define DYNO_HEAD_DATA   "Data set"
#define DYNO_HEAD_RATE   "Measured"
#define DYNO_HEAD_MEMORY "Device memory"

/* Groups of a settings file. */
#define DYNO_SETTINGS_GROUP_RUN      "run"
#define DYNO_SETTINGS_GROUP_SETTINGS "settings"

G_END_DECLS
