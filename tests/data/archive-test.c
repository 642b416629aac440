/* SPDX-License-Identifier: MIT */
#include "archive-test.h"
#include "members.h"
#include <string.h>
#include <zlib.h>

static void
add_sum (guint8 *header)
{
  guint sum = 0;

  memset (header + 148, ' ', 8);
  for (guint i = 0; i < 512; i++)
    sum += header[i];
  g_snprintf ((char *) header + 148, 8, "%06o", sum);
}

static void
add_padded (GByteArray *tar, gconstpointer content, gsize size)
{
  static const guint8 zeros[512];

  if (size > 0)
    g_byte_array_append (tar, content, (guint) size);
  if (size % 512 != 0)
    g_byte_array_append (tar, zeros, (guint) (512 - size % 512));
}

void
test_tar_add (GByteArray *tar, const char *name, char type, gconstpointer content, gsize size)
{
  guint8 header[512];

  dyno_tar_make_header (header, name, type == '0' ? size : 0);
  header[156] = (guint8) type;
  if (type == '2')
    memcpy (header + 157, content, size);
  add_sum (header);
  g_byte_array_append (tar, header, sizeof header);
  if (type == '0')
    add_padded (tar, content, size);
}

static void
add_before (GByteArray *tar, char type, gconstpointer content, gsize size)
{
  guint8 header[512];

  dyno_tar_make_header (header, "././@LongLink", size);
  header[156] = (guint8) type;
  add_sum (header);
  g_byte_array_append (tar, header, sizeof header);
  add_padded (tar, content, size);
}

void
test_tar_add_pax (GByteArray *tar, const char *name, gconstpointer content, gsize size)
{
  g_autofree char *one = g_strdup_printf ("%03u path=%s\n", (guint) strlen (name) + 10, name);
  g_autofree char *all = g_strdup_printf ("20 comment=not here\n%s", one);

  add_before (tar, 'x', all, strlen (all));
  test_tar_add (tar, "short", '0', content, size);
}

void
test_tar_add_long (GByteArray *tar, const char *name, gconstpointer content, gsize size)
{
  add_before (tar, 'L', name, strlen (name) + 1);
  test_tar_add (tar, "short", '0', content, size);
}

void
test_tar_end (GByteArray *tar)
{
  static const guint8 zeros[1024];
  g_byte_array_append (tar, zeros, sizeof zeros);
}

static void
put (GByteArray *bytes, guint size, guint64 value)
{
  for (guint i = 0; i < size; i++)
    {
      guint8 byte = (guint8) (value >> (8 * i));
      g_byte_array_append (bytes, &byte, 1);
    }
}

void
test_zip_init (TestZip *zip)
{
  zip->bytes = g_byte_array_new ();
  zip->directory = g_byte_array_new ();
  zip->n = 0;
}

void
test_zip_clear (TestZip *zip)
{
  g_byte_array_unref (zip->bytes);
  g_byte_array_unref (zip->directory);
}

guint
test_zip_add (TestZip *zip, const char *name, gboolean deflated, gboolean zip64,
              gconstpointer content, gsize size)
{
  g_autofree guint8 *packed = g_malloc (size + 1024);
  gsize stored = size;
  guint at = zip->bytes->len, entry = zip->directory->len;
  guint32 crc = (guint32) crc32 (0, content, (uInt) size);

  if (deflated)
    {
      z_stream stream = { .next_in = (Bytef *) content,
                          .avail_in = (uInt) size,
                          .next_out = packed,
                          .avail_out = (uInt) size + 1024 };
      g_assert_cmpint (deflateInit2 (&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
      g_assert_cmpint (deflate (&stream, Z_FINISH), ==, Z_STREAM_END);
      stored = stream.total_out;
      deflateEnd (&stream);
    }
  else
    memcpy (packed, content, size);
  put (zip->bytes, 4, 0x04034b50);
  put (zip->bytes, 2, 20);
  put (zip->bytes, 2, 0);
  put (zip->bytes, 2, deflated ? 8 : 0);
  put (zip->bytes, 4, 0);
  put (zip->bytes, 4, crc);
  put (zip->bytes, 4, stored);
  put (zip->bytes, 4, size);
  put (zip->bytes, 2, strlen (name));
  put (zip->bytes, 2, 4); /* an extra field that the directory lacks */
  g_byte_array_append (zip->bytes, (const guint8 *) name, (guint) strlen (name));
  put (zip->bytes, 4, 0x0000cafe);
  g_byte_array_append (zip->bytes, packed, (guint) stored);

  put (zip->directory, 4, 0x02014b50);
  put (zip->directory, 2, 3 << 8 | 20);
  put (zip->directory, 2, 20);
  put (zip->directory, 2, 0);
  put (zip->directory, 2, deflated ? 8 : 0);
  put (zip->directory, 4, 0);
  put (zip->directory, 4, crc);
  put (zip->directory, 4, zip64 ? G_MAXUINT32 : stored);
  put (zip->directory, 4, zip64 ? G_MAXUINT32 : size);
  put (zip->directory, 2, strlen (name));
  put (zip->directory, 2, zip64 ? 28 : 0);
  put (zip->directory, 2, 0);
  put (zip->directory, 4, 0);
  put (zip->directory, 4, 0100644u << 16);
  put (zip->directory, 4, zip64 ? G_MAXUINT32 : at);
  g_byte_array_append (zip->directory, (const guint8 *) name, (guint) strlen (name));
  if (zip64)
    {
      put (zip->directory, 4, 24 << 16 | 1);
      put (zip->directory, 8, size);
      put (zip->directory, 8, stored);
      put (zip->directory, 8, at);
    }
  zip->n++;
  return entry;
}

void
test_zip_end (TestZip *zip, gboolean zip64)
{
  guint at = zip->bytes->len, size = zip->directory->len, end64;

  g_byte_array_append (zip->bytes, zip->directory->data, size);
  end64 = zip->bytes->len;
  if (zip64)
    {
      put (zip->bytes, 4, 0x06064b50);
      put (zip->bytes, 8, 44);
      put (zip->bytes, 4, 45 << 16 | 45);
      put (zip->bytes, 8, 0);
      put (zip->bytes, 8, zip->n);
      put (zip->bytes, 8, zip->n);
      put (zip->bytes, 8, size);
      put (zip->bytes, 8, at);
      put (zip->bytes, 4, 0x07064b50);
      put (zip->bytes, 4, 0);
      put (zip->bytes, 8, end64);
      put (zip->bytes, 4, 1);
    }
  put (zip->bytes, 4, 0x06054b50);
  put (zip->bytes, 4, 0);
  put (zip->bytes, 2, zip->n);
  put (zip->bytes, 2, zip->n);
  put (zip->bytes, 4, zip64 ? G_MAXUINT32 : size);
  put (zip->bytes, 4, zip64 ? G_MAXUINT32 : at);
  put (zip->bytes, 2, 5);
  g_byte_array_append (zip->bytes, (const guint8 *) "hello", 5);
}
