/* SPDX-License-Identifier: MIT */
/* Protocol Buffers, written and read.
 * Invariant of reading: a length is compared, as a number and not as a pointer, with the rest of
 * its message before it is used. */
#include "wire.h"
#include <string.h>

#define MAX_NUMBER ((1u << 29) - 1) /* of a field */

/* --- writing ---------------------------------------------------------------------------------- */

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

void
dyno_proto_packed (GByteArray *message, guint field, const guint64 *values, gsize n)
{
  g_autoptr (GByteArray) inner = g_byte_array_new ();

  for (gsize i = 0; i < n; i++)
    append_varint (inner, values[i]);
  dyno_proto_message (message, field, inner);
}

/* --- reading ---------------------------------------------------------------------------------- */

gboolean
dyno_proto_corrupt (const DynoProtoReader *reader, const char *what, GError **error)
{
  g_set_error (error, DYNO_ONNX_ERROR, DYNO_ONNX_ERROR_CORRUPT,
               "%s, at byte %" G_GSIZE_FORMAT ", in %s", what, (gsize) (reader->at - reader->start),
               reader->name);
  return FALSE;
}

void
dyno_proto_begin (DynoProtoReader *reader, const void *data, gsize size, const char *name)
{
  const guint8 *start = data ? data : (const guint8 *) "";

  *reader = (DynoProtoReader){ start, start + size, start, name };
}

static gboolean
read_varint (DynoProtoReader *reader, guint64 *value, GError **error)
{
  const guint8 *at = reader->at;

  *value = 0;
  for (guint shift = 0; at < reader->end; shift += 7)
    {
      guint8 byte = *at++;

      if (shift == 63 && byte > 1)
        return dyno_proto_corrupt (reader, "a number has more than 64 bits", error);
      *value |= (guint64) (byte & 0x7f) << shift;
      if (!(byte & 0x80))
        {
          reader->at = at;
          return TRUE;
        }
    }
  return dyno_proto_corrupt (reader, "it ends in the middle of a number", error);
}

/* Reads a value of a fixed size. */
static gboolean
read_fixed (DynoProtoReader *reader, gsize size, guint64 *bits, GError **error)
{
  if (size > (gsize) (reader->end - reader->at))
    return dyno_proto_corrupt (reader, "it ends in the middle of a number", error);
  *bits = 0;
  for (gsize i = 0; i < size; i++)
    *bits |= (guint64) reader->at[i] << (8 * i);
  reader->at += size;
  return TRUE;
}

gboolean
dyno_proto_next_number (DynoProtoReader *numbers, guint type, guint64 *bits, GError **error)
{
  if (type == DYNO_PROTO_VARINT)
    return read_varint (numbers, bits, error);
  return read_fixed (numbers, type == DYNO_PROTO_FIXED32 ? 4 : 8, bits, error);
}

gboolean
dyno_proto_next (DynoProtoReader *reader, DynoProtoField *field, GError **error)
{
  DynoProtoReader begin = *reader;
  guint64 key, length;

  if (!read_varint (reader, &key, error))
    return FALSE;
  if (key >> 3 == 0 || key >> 3 > MAX_NUMBER)
    return dyno_proto_corrupt (&begin, "a field has an impossible number", error);
  *field = (DynoProtoField){ .number = (guint) (key >> 3), .type = (guint) (key & 7) };
  field->data = reader->at;
  switch (field->type)
    {
    case DYNO_PROTO_VARINT:
    case DYNO_PROTO_FIXED32:
    case DYNO_PROTO_FIXED64:
      if (!dyno_proto_next_number (reader, field->type, &field->bits, error))
        return FALSE;
      field->size = (gsize) (reader->at - field->data);
      return TRUE;
    case DYNO_PROTO_BYTES:
      if (!read_varint (reader, &length, error))
        return FALSE;
      if (length > (guint64) (reader->end - reader->at))
        return dyno_proto_corrupt (&begin, "a field is longer than what is around it", error);
      field->data = reader->at;
      field->size = (gsize) length;
      reader->at += length;
      return TRUE;
    default:
      return dyno_proto_corrupt (&begin, "a field has an unknown type", error);
    }
}

/* Sets the error for a field that was read already, at the field's place. */
static gboolean
refuse_type (const DynoProtoReader *reader, const DynoProtoField *field, GError **error)
{
  DynoProtoReader place = *reader;
  g_autofree char *text = g_strdup_printf ("field %u is of the wrong type", field->number);

  place.at = field->data;
  return dyno_proto_corrupt (&place, text, error);
}

gboolean
dyno_proto_enter (const DynoProtoReader *reader, const DynoProtoField *field, const char *name,
                  DynoProtoReader *inner, GError **error)
{
  if (field->type != DYNO_PROTO_BYTES)
    return refuse_type (reader, field, error);
  *inner = (DynoProtoReader){ field->data, field->data + field->size, reader->start, name };
  return TRUE;
}

gboolean
dyno_proto_take_uint (const DynoProtoReader *reader, const DynoProtoField *field, guint64 *value,
                      GError **error)
{
  if (field->type != DYNO_PROTO_VARINT)
    return refuse_type (reader, field, error);
  *value = field->bits;
  return TRUE;
}

gboolean
dyno_proto_take_float (const DynoProtoReader *reader, const DynoProtoField *field, float *value,
                       GError **error)
{
  guint32 bits = (guint32) field->bits;

  if (field->type != DYNO_PROTO_FIXED32)
    return refuse_type (reader, field, error);
  memcpy (value, &bits, sizeof bits);
  return TRUE;
}

gboolean
dyno_proto_enter_numbers (const DynoProtoReader *reader, const DynoProtoField *field, guint type,
                          DynoProtoReader *numbers, GError **error)
{
  if (field->type != type && field->type != DYNO_PROTO_BYTES)
    return refuse_type (reader, field, error);
  *numbers =
      (DynoProtoReader){ field->data, field->data + field->size, reader->start, reader->name };
  return TRUE;
}

gsize
dyno_proto_count_numbers (const DynoProtoReader *numbers, guint type)
{
  gsize size = (gsize) (numbers->end - numbers->at), n = 0;

  if (type != DYNO_PROTO_VARINT)
    return size / (type == DYNO_PROTO_FIXED32 ? 4 : 8);
  for (gsize i = 0; i < size; i++)
    n += !(numbers->at[i] & 0x80);
  return n;
}
