/* SPDX-License-Identifier: MIT */
/* Zip archives, stored entries alone.  Invariant: every offset and length of the file is checked
 * against what is there before it is used; two entries of one name are refused. */
#include "zipstore.h"
#include <string.h>

#define END_SIGNATURE     0x06054b50u
#define END64_SIGNATURE   0x06064b50u
#define LOCATOR_SIGNATURE 0x07064b50u
#define ENTRY_SIGNATURE   0x02014b50u
#define LOCAL_SIGNATURE   0x04034b50u
#define END_BYTES         22
#define LOCATOR_BYTES     20
#define END64_BYTES       56
#define ENTRY_BYTES       46
#define LOCAL_BYTES       30
#define MAX_ENTRIES       1000000

static guint16
get16 (const guint8 *at)
{
  return (guint16) (at[0] | at[1] << 8);
}

static guint32
get32 (const guint8 *at)
{
  return (guint32) get16 (at) | (guint32) get16 (at + 2) << 16;
}

static guint64
get64 (const guint8 *at)
{
  return (guint64) get32 (at) | (guint64) get32 (at + 4) << 32;
}

static gboolean
corrupt (GError **error, const char *what)
{
  g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, "its archive is damaged: %s", what);
  return FALSE;
}

gboolean
dyno_zip_matches (const guint8 *bytes, gsize size)
{
  return size >= 4 && get32 (bytes) == LOCAL_SIGNATURE;
}

typedef struct {
  const guint8 *bytes;
  gsize size;
  guint64 n_entries, offset, directory_bytes; /* of the central directory */
} Archive;

/* The record at the end, behind which there may be a comment. */
static gboolean
find_end (Archive *archive, GError **error)
{
  gsize least =
      archive->size > END_BYTES + G_MAXUINT16 ? archive->size - END_BYTES - G_MAXUINT16 : 0;
  gsize at = archive->size;
  const guint8 *end;

  if (archive->size < END_BYTES)
    return corrupt (error, "it has no end record");
  for (at = archive->size - END_BYTES; get32 (archive->bytes + at) != END_SIGNATURE; at--)
    if (at == least)
      return corrupt (error, "it has no end record");
  end = archive->bytes + at;
  archive->n_entries = get16 (end + 10);
  archive->directory_bytes = get32 (end + 12);
  archive->offset = get32 (end + 16);
  if (at >= LOCATOR_BYTES && get32 (end - LOCATOR_BYTES) == LOCATOR_SIGNATURE)
    {
      guint64 place = get64 (end - LOCATOR_BYTES + 8);
      if (archive->size < END64_BYTES || place > archive->size - END64_BYTES
          || get32 (archive->bytes + place) != END64_SIGNATURE)
        return corrupt (error, "its zip64 end record is missing");
      archive->n_entries = get64 (archive->bytes + place + 32);
      archive->directory_bytes = get64 (archive->bytes + place + 40);
      archive->offset = get64 (archive->bytes + place + 48);
    }
  if (archive->offset > archive->size || archive->directory_bytes > archive->size - archive->offset
      || archive->n_entries > MAX_ENTRIES)
    return corrupt (error, "its directory lies outside of it");
  return TRUE;
}

/* Sizes and offset that need 64 bits stand in an extra field, those alone, in this order. */
static gboolean
read_extra (const guint8 *extra, gsize size, guint64 *whole, guint64 *stored, guint64 *offset)
{
  guint64 *wanted[] = { whole, stored, offset };

  while (size >= 4)
    {
      guint16 id = get16 (extra), length = get16 (extra + 2), at = 0;
      if (length > size - 4)
        return FALSE;
      for (guint i = 0; id == 1 && i < G_N_ELEMENTS (wanted); i++)
        if (*wanted[i] == G_MAXUINT32)
          {
            if (length - at < 8)
              return FALSE;
            *wanted[i] = get64 (extra + 4 + at);
            at = (guint16) (at + 8);
          }
      extra += 4 + length;
      size -= 4 + (gsize) length;
    }
  return TRUE;
}

static gboolean
find_data (const Archive *archive, guint64 offset, guint64 size, DynoZipEntry *entry,
           GError **error)
{
  const guint8 *local;
  guint64 begin;

  if (archive->size < LOCAL_BYTES || offset > archive->size - LOCAL_BYTES
      || get32 (archive->bytes + offset) != LOCAL_SIGNATURE)
    return corrupt (error, "an entry does not begin where its directory says");
  local = archive->bytes + offset;
  begin = offset + LOCAL_BYTES + get16 (local + 26) + get16 (local + 28);
  if (begin > archive->size || size > archive->size - begin)
    return corrupt (error, "an entry goes beyond the file");
  entry->data = archive->bytes + begin;
  entry->size = (gsize) size;
  return TRUE;
}

/* The entry at *at of the directory; *at is the next. */
static gboolean
take_entry (DynoZip *zip, const Archive *archive, guint64 *at, GError **error)
{
  guint64 end = archive->offset + archive->directory_bytes, whole, stored, offset;
  const guint8 *record = archive->bytes + *at;
  DynoZipEntry entry = { 0 };
  gsize name, extra, comment;

  if (end - *at < ENTRY_BYTES || get32 (record) != ENTRY_SIGNATURE)
    return corrupt (error, "its directory ends early");
  name = get16 (record + 28);
  extra = get16 (record + 30);
  comment = get16 (record + 32);
  if (end - *at - ENTRY_BYTES < name + extra + comment)
    return corrupt (error, "its directory ends early");
  stored = get32 (record + 20);
  whole = get32 (record + 24);
  offset = get32 (record + 42);
  if (!read_extra (record + ENTRY_BYTES + name, extra, &whole, &stored, &offset))
    return corrupt (error, "an entry's extra field ends early");
  if (get16 (record + 10) != 0 || (get16 (record + 8) & 1) || whole != stored)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   "its entries are compressed or encrypted; PyTorch writes them plain");
      return FALSE;
    }
  if (!find_data (archive, offset, stored, &entry, error))
    return FALSE;
  entry.name = g_strndup ((const char *) record + ENTRY_BYTES, name);
  g_array_append_val (zip->entries, entry);
  *at += ENTRY_BYTES + name + extra + comment;
  if (g_hash_table_insert (zip->by_name, entry.name, GUINT_TO_POINTER (zip->entries->len)))
    return TRUE;
  return corrupt (error, "it has two entries of one name");
}

DynoZip *
dyno_zip_parse (const guint8 *bytes, gsize size, GError **error)
{
  g_autoptr (DynoZip) zip = g_new0 (DynoZip, 1);
  Archive archive = { .bytes = bytes, .size = size };
  guint64 at;

  zip->entries = g_array_new (FALSE, FALSE, sizeof (DynoZipEntry));
  zip->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!find_end (&archive, error))
    return NULL;
  at = archive.offset;
  for (guint64 i = 0; i < archive.n_entries; i++)
    if (!take_entry (zip, &archive, &at, error))
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
