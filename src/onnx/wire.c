/* SPDX-License-Identifier: MIT */
/* Writes Protocol Buffers. */
#include "wire.h"
#include <string.h>

static void
append_varint (GByteArray *message, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  do
    {
      bytes[n] = (guint8) (value & 0x7f);
      value >>= 7;
      bytes[n++] |= value ? 0x80 : 0;
    }
  while (value);
  g_byte_array_append (message, bytes, n);
}

void
dyno_proto_uint (GByteArray *message, guint field, guint64 value)
{
  append_varint (message, (guint64) field << 3 | DYNO_PROTO_VARINT);
  append_varint (message, value);
}

void
dyno_proto_float (GByteArray *message, guint field, float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  bits = GUINT32_TO_LE (bits);
  append_varint (message, (guint64) field << 3 | DYNO_PROTO_FIXED32);
  g_byte_array_append (message, (const guint8 *) &bits, sizeof bits);
}

void
dyno_proto_double (GByteArray *message, guint field, double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE (bits);
  append_varint (message, (guint64) field << 3 | DYNO_PROTO_FIXED64);
  g_byte_array_append (message, (const guint8 *) &bits, sizeof bits);
}

void
dyno_proto_bytes (GByteArray *message, guint field, const void *data, gsize size)
{
  append_varint (message, (guint64) field << 3 | DYNO_PROTO_BYTES);
  append_varint (message, size);
  g_byte_array_append (message, data, (guint) size);
}

void
dyno_proto_string (GByteArray *message, guint field, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  dyno_proto_bytes (message, field, valid, strlen (valid));
}

void
dyno_proto_message (GByteArray *message, guint field, GByteArray *inner)
{
  dyno_proto_bytes (message, field, inner->data, inner->len);
  g_byte_array_set_size (inner, 0);
}
