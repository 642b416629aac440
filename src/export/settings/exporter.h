/* SPDX-License-Identifier: MIT */
/* Exporters of settings, one format per file.  To add an exporter, write a file with a DynoExporter
 * and name it in exporter.c's table. */
#pragma once
#include "preset.h"
#include "job.h"

G_BEGIN_DECLS

#define DYNO_EXPORT_ERROR (dyno_export_error_quark ())
GQuark dyno_export_error_quark (void);
typedef enum {
  DYNO_EXPORT_ERROR_FORMAT, /* no such format, or it cannot hold the model */
  DYNO_EXPORT_ERROR_EXISTS, /* a file or a symbolic link of that name exists */
  DYNO_EXPORT_ERROR_READ,   /* a settings file cannot be read; the message names file, group, key */
} DynoExportError;

/* The settings and the known facts about them; members may be NULL or 0. */
typedef struct {
  const DynoJob *job;
  const char *device;   /* card */
  double samples_per_s; /* measured */
  guint64 vram_bytes;
  const DynoDatasetInfo *dataset; /* the job's, opened: shapes, and steps of an epoch */
  const char *note;               /* a sentence on how the settings were found; NULL: none */
  /* The reasons of the search that chose the settings, NULL at the end, and whether the search
   * proved its choice; NULL: the settings are not from a search. */
  const char *const *reasons;
  gboolean proven;
} DynoExportContext;

/* A setting in the terms of the other program. */
typedef struct {
  const char *key;    /* the key in Dyno */
  const char *theirs; /* its name in the file; NULL: the format has none */
  /* The value that the other program uses where the file does not set it, as dyno_settings_get
   * writes it; NULL: there is none, or none is known. */
  const char *by_default;
  /* FALSE: the format cannot hold the value of this job; NULL: it always can. */
  gboolean (*when) (const DynoExportContext *context);
  gboolean direct; /* the file holds the value unchanged: dyno_export_*_rows write it */
} DynoExportRow;

typedef struct {
  const char *id;        /* "keyfile", "json" */
  const char *title;     /* N_() "Dyno settings" */
  const char *extension; /* "ini" */
  /* the whole text; '.' decimals in any locale; g_free */
  char *(*write) (const DynoExportContext *context);
  const char *file_name; /* default name of the file: "settings.ini" */
  /* One row for each setting with a known counterpart or default value, key NULL at the end; NULL:
   * the file holds every setting.  A setting without a row has no counterpart in the format, and
   * the other program behaves like one that lacks this setting (exportrows.c). */
  const DynoExportRow *rows;
  /* Gives the rows in place of `rows` where the job decides which program runs; or NULL. */
  const DynoExportRow *(*choose_rows) (const DynoExportContext *context);
  gboolean asks_data; /* the content depends on the context's dataset, where it is known */
} DynoExporter;

const DynoExporter *const *dyno_exporter_list (void);
const DynoExporter *dyno_exporter_find (const char *id);
/* NULL: its file holds every setting. */
const DynoExportRow *dyno_exporter_get_rows (const DynoExporter *exporter,
                                             const DynoExportContext *context);

/* "key = value" of every setting that the exporter's file does not hold and that the other program
 * sets to another value by default, "key = value (there: VALUE)" where that value is known.
 * Settings on which the weights depend come first.  Where the format has comments, these lines
 * stand in the file too.  g_strfreev. */
char **dyno_exporter_list_left_out (const DynoExporter *exporter, const DynoExportContext *context);

/* Writes atomically; does not follow a link and does not overwrite unless force.  Errors: EXISTS,
 * base's IO and DISK. */
gboolean dyno_export_file (const DynoExporter *exporter, const DynoExportContext *context,
                           const char *path, gboolean force, GError **error);

/* Reads a settings file (key file, or Dyno's own JSON) into a job: [run] data, model, preset;
 * [settings] every key.  Reads back exactly what the exporter wrote.  An unknown key is ignored, a
 * bad value leaves the job's value as it was, and each adds a sentence to warnings (GPtrArray of
 * char*, may be NULL); a file that is neither a key file nor Dyno's JSON is an error: READ. */
gboolean dyno_settings_file_read (const char *path, DynoJob *job, GPtrArray *warnings,
                                  GError **error);

/* The measurement that a settings file holds, in the comments at its head or in Dyno's JSON; 0 and
 * NULL: none. */
typedef struct {
  char *device;
  double samples_per_s;
  guint64 vram_bytes;
} DynoMeasured;

void dyno_settings_file_read_measured (const char *path, DynoMeasured *measured);
void dyno_measured_clear (DynoMeasured *measured);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoMeasured, dyno_measured_clear)

G_END_DECLS
