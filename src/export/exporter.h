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

/* What is known about the settings, for the comment at the head of a file; members may be NULL or
 * 0. */
typedef struct {
  const DynoJob *job;
  const char *device;   /* card */
  double samples_per_s; /* measured */
  guint64 vram_bytes;
} DynoExportContext;

typedef struct {
  const char *id;        /* "keyfile", "json" */
  const char *title;     /* N_() "Dyno settings" */
  const char *extension; /* "ini" */
  /* whole text; '.' decimals in any locale; g_free */
  char *(*write) (const DynoExportContext *context);
} DynoExporter;

const DynoExporter *const *dyno_exporter_list (void);
const DynoExporter *dyno_exporter_find (const char *id);

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

G_END_DECLS
