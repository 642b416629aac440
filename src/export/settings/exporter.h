/* SPDX-License-Identifier: MIT */
/* Exporters: settings out, one format per file.  To add one: a file with a DynoExporter, named in
 * exporter.c's table. */
#pragma once
#include "preset.h"
#include "job.h"

G_BEGIN_DECLS

#define DYNO_EXPORT_ERROR (dyno_export_error_quark ())
GQuark dyno_export_error_quark (void);
typedef enum {
  DYNO_EXPORT_ERROR_FORMAT, /* no such format */
  DYNO_EXPORT_ERROR_EXISTS, /* a file of that name is there, or a symbolic link */
  DYNO_EXPORT_ERROR_READ,   /* a settings file that cannot be read: names file, group, key */
} DynoExportError;

/* The settings, and what is known about them; members may be NULL or 0. */
typedef struct {
  const DynoJob *job;
  const char *device;   /* card */
  double samples_per_s; /* measured */
  guint64 vram_bytes;
  const DynoDatasetInfo *dataset; /* the job's, opened: shapes, and steps of an epoch */
  const char *note;               /* a sentence of how the settings were found; NULL: none */
  /* Of the search that chose them, NULL at the end, and with these whether it proved its choice;
   * NULL: they are from no search. */
  const char *const *reasons;
  gboolean proven;
} DynoExportContext;

/* A setting as the other program knows it. */
typedef struct {
  const char *key;    /* of Dyno */
  const char *theirs; /* its name in the file; NULL: the format has none */
  /* The value that the other program has where the file says nothing, as dyno_settings_get writes
   * it; NULL: none, or none that is known. */
  const char *by_default;
  /* FALSE: the format cannot hold the value as it is set here; NULL: it always can. */
  gboolean (*when) (const DynoExportContext *context);
  gboolean direct; /* the value stands in the file as it is: dyno_export_*_rows write it */
} DynoExportRow;

typedef struct {
  const char *id;        /* "keyfile", "json" */
  const char *title;     /* N_() "Dyno settings" */
  const char *extension; /* "ini" */
  /* whole text; '.' decimals in any locale; g_free */
  char *(*write) (const DynoExportContext *context);
  const char *file_name; /* what such a file is called: "settings.ini" */
  /* A row each setting of which something is known, key NULL at the end; NULL: the file holds
   * every setting.  Where there is no row the format has no counterpart, and its program does what
   * one does that has no such setting (exportrows.c). */
  const DynoExportRow *rows;
  /* Instead of rows, where it depends on the job which program is meant; or NULL. */
  const DynoExportRow *(*choose_rows) (const DynoExportContext *context);
  gboolean asks_data; /* the context's dataset, where it is known, makes a difference */
} DynoExporter;

const DynoExporter *const *dyno_exporter_list (void);
const DynoExporter *dyno_exporter_find (const char *id);
/* NULL: its file holds every setting. */
const DynoExportRow *dyno_exporter_get_rows (const DynoExporter *exporter,
                                             const DynoExportContext *context);

/* "key = value" of every setting that the exporter's file does not hold and that the other program
 * has otherwise by itself, "key = value (there: VALUE)" where that is known; first those on which
 * the weights depend.  Where the format has comments they stand there too.  g_strfreev. */
char **dyno_exporter_list_left_out (const DynoExporter *exporter, const DynoExportContext *context);

/* Writes atomically; does not follow a link and does not overwrite unless force.  Errors: EXISTS,
 * base's IO and DISK. */
gboolean dyno_export_file (const DynoExporter *exporter, const DynoExportContext *context,
                           const char *path, gboolean force, GError **error);

/* Reads a settings file (key file, or Dyno's own JSON) into a job: [run] data, model, preset;
 * [settings] every key.  Reads back exactly what the exporter wrote.  An unknown key or a bad value
 * keeps the default and adds a sentence to warnings (GPtrArray of char*, may be NULL); a file that
 * is neither is an error: READ. */
gboolean dyno_settings_file_read (const char *path, DynoJob *job, GPtrArray *warnings,
                                  GError **error);

/* What a settings file tells of its measurement, in the comments at its head or in Dyno's JSON; 0
 * and NULL: nothing. */
typedef struct {
  char *device;
  double samples_per_s;
  guint64 vram_bytes;
} DynoMeasured;

void dyno_settings_file_read_measured (const char *path, DynoMeasured *measured);
void dyno_measured_clear (DynoMeasured *measured);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoMeasured, dyno_measured_clear)

G_END_DECLS
