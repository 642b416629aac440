/* SPDX-License-Identifier: MIT */
/* Zip archives in memory, with only stored entries; zip.c reads the directory.  Invariant: two
 * entries of one name are refused. */
#include "zipstore.h"
#include "members.h"
#include <string.h>

#define MAX_ENTRIES 1000000

gboolean
dyno_zip_matches (const guint8 *bytes, gsize size)
{
  return size >= 4 && memcmp (bytes, "PK\3\4", 4) == 0;
}

typedef struct {
  DynoZip *zip;
  const guint8 *bytes;
} Parse;

static gboolean
refuse (GError **error, const char *name, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "its archive is damaged: “%s”: %s",
               name, what);
  return FALSE;
}

static gboolean
take_member (const DynoMember *member, gpointer data, GError **error)
{
  const Parse *parse = data;
  DynoZip *zip = parse->zip;
  DynoZipEntry entry = { .data = parse->bytes + member->at, .size = (gsize) member->size };

  if (member->refused)
    return refuse (error, member->name, member->refused);
  if (member->deflated)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                           "its entries are compressed; PyTorch writes them plain");
      return FALSE;
    }
  if (g_hash_table_contains (zip->by_name, member->name))
    return refuse (error, member->name, "it has two entries of one name");
  if (zip->entries->len == MAX_ENTRIES)
    return refuse (error, member->name, "it has too many entries");
  entry.name = g_strdup (member->name);
  g_array_append_val (zip->entries, entry);
  g_hash_table_insert (zip->by_name, entry.name, GUINT_TO_POINTER (zip->entries->len));
  return TRUE;
}

DynoZip *
dyno_zip_parse (const guint8 *bytes, gsize size, GError **error)
{
  g_autoptr (DynoZip) zip = g_new0 (DynoZip, 1);
  Parse parse = { .zip = zip, .bytes = bytes };

  zip->entries = g_array_new (FALSE, FALSE, sizeof (DynoZipEntry));
  zip->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!dyno_zip_walk_memory (bytes, size, take_member, &parse, error))
    return NULL;
  return g_steal_pointer (&zip);
}

void
dyno_zip_free (DynoZip *zip)
{
  if (!zip)
    return;
  g_hash_table_unref (zip->by_name);
  for (guint i = 0; i < zip->entries->len; i++)
    g_free (g_array_index (zip->entries, DynoZipEntry, i).name);
  g_array_unref (zip->entries);
  g_free (zip);
}

const DynoZipEntry *
dyno_zip_lookup (const DynoZip *zip, const char *name)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (zip->by_name, name));

  return place > 0 ? &g_array_index (zip->entries, DynoZipEntry, place - 1) : NULL;
}
