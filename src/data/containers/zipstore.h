/* SPDX-License-Identifier: MIT */
/* Finds the stored (not compressed) entries of a zip archive in memory by name. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

typedef struct {
  char *name;
  const guint8 *data; /* in the archive */
  gsize size;
} DynoZipEntry;

typedef struct {
  GArray *entries;     /* DynoZipEntry */
  GHashTable *by_name; /* from char * to place + 1 */
} DynoZip;

gboolean dyno_zip_matches (const guint8 *bytes, gsize size);

/* bytes must outlive zip.  Errors: CORRUPT, UNSUPPORTED (an entry that is compressed or
 * encrypted). */
DynoZip *dyno_zip_parse (const guint8 *bytes, gsize size, GError **error);
void dyno_zip_free (DynoZip *zip);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoZip, dyno_zip_free)

const DynoZipEntry *dyno_zip_lookup (const DynoZip *zip, const char *name); /* NULL: none */

G_END_DECLS
