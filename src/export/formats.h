/* SPDX-License-Identifier: MIT */
/* The exporters there are, one per file, and what they share. */
#pragma once
#include "exporter.h"
#include "jsontext.h"
#include "runexporter.h"

G_BEGIN_DECLS

extern const DynoExporter dyno_exporter_keyfile;
extern const DynoExporter dyno_exporter_json;

extern const DynoRunExporter dyno_run_exporter_tensorboard;
extern const DynoRunExporter dyno_run_exporter_trace;

/* The words at the head of a file, a line each, without comment signs; the day follows
 * SOURCE_DATE_EPOCH. g_strfreev. */
char **dyno_export_head (const DynoExportContext *context);

/* The day, "2026-11-22"; g_free. */
char *dyno_export_day (void);

/* TRUE: a file may be written at path, where nothing is, or force is asked for and no folder is
 * there.  Errors: EXISTS. */
gboolean dyno_export_check_path (const char *path, gboolean force, GError **error);

/* A setting as a member, in its own type. */
void dyno_export_json_setting (DynoJson *json, const DynoSettings *settings,
                               const DynoSettingInfo *info);

/* "settings": {every key in its own type}, as a member. */
void dyno_export_json_settings (DynoJson *json, const DynoSettings *settings);

/* Groups of a settings file. */
#define DYNO_SETTINGS_GROUP_RUN      "run"
#define DYNO_SETTINGS_GROUP_SETTINGS "settings"

G_END_DECLS
