/* SPDX-License-Identifier: MIT */
/* Protocol Buffers: written messages are read back, and invalid ones are refused, with the
 * position. */
#include "wire.h"
#include <string.h>

static void
begin (DynoProtoReader *reader, const GByteArray *message)
{
  dyno_proto_begin (reader, message->data, message->len, "a test");
}

static DynoProtoField
next (DynoProtoReader *reader, guint number, guint type)
{
  g_autoptr (GError) error = NULL;
  DynoProtoField f;

  g_assert_true (dyno_proto_has_more (reader));
  dyno_proto_next (reader, &f, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (f.number, ==, number);
  g_assert_cmpuint (f.type, ==, type);
  return f;
}

static void
test_numbers (void)
{
  static const guint64 values[] = {
    0, 1, 127, 128, 16383, 16384, G_MAXUINT32, G_MAXINT64, (guint64) G_MININT64, G_MAXUINT64
  };
  static const guint numbers[] = { 1, 15, 16, 2047, 2048, (1u << 29) - 1 };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
      {
        g_autoptr (GByteArray) message = g_byte_array_new ();
        DynoProtoReader reader;
        DynoProtoField f;
        guint64 value = 99;

        dyno_proto_uint (message, numbers[k], values[i]);
        begin (&reader, message);
        f = next (&reader, numbers[k], DYNO_PROTO_VARINT);
        g_assert_true (dyno_proto_take_uint (&reader, &f, &value, NULL));
        g_assert_cmpuint (value, ==, values[i]);
        g_assert_true (f.data + f.size == reader.end && !dyno_proto_has_more (&reader));
      }
}

static void
test_floats (void)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  DynoProtoReader reader;
  DynoProtoField f;
  float value = 0;
  guint64 bits;
  double wide = -2.5;

  dyno_proto_float (message, 3, -1.5f);
  dyno_proto_double (message, 4, wide);
  begin (&reader, message);
  f = next (&reader, 3, DYNO_PROTO_FIXED32);
  g_assert_true (dyno_proto_take_float (&reader, &f, &value, NULL));
  g_assert_true (value == -1.5f);
  f = next (&reader, 4, DYNO_PROTO_FIXED64);
  memcpy (&bits, &wide, sizeof bits);
  g_assert_cmpuint (f.bits, ==, bits);
  g_assert_false (dyno_proto_take_float (&reader, &f, &value, NULL));
}

static void
test_messages (void)
{
  g_autoptr (GByteArray) message = g_byte_array_new (), inner = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoProtoReader reader, in;
  DynoProtoField f;

  dyno_proto_string (inner, 2, "text");
  dyno_proto_message (message, 1, inner);
  g_assert_cmpuint (inner->len, ==, 0);
  dyno_proto_string (message, 5, "\xff!");
  begin (&reader, message);
  f = next (&reader, 1, DYNO_PROTO_BYTES);
  g_assert_true (dyno_proto_enter (&reader, &f, "an inner one", &in, NULL));
  f = next (&in, 2, DYNO_PROTO_BYTES);
  g_assert_cmpmem (f.data, f.size, "text", 4);
  g_assert_false (dyno_proto_has_more (&in));
  g_assert_false (dyno_proto_corrupt (&in, "it is odd", &error));
  g_assert_cmpstr (error->message, ==, "it is odd, at byte 8, in an inner one");
  f = next (&reader, 5, DYNO_PROTO_BYTES);
  g_assert_true (g_utf8_validate ((const char *) f.data, (gssize) f.size, NULL));
}

/* A list is the same as one packed field, as a field for each number, and as both. */
static void
test_packed (void)
{
  static const guint64 values[] = { 1, 300, G_MAXUINT64 };
  g_autoptr (GByteArray) message = g_byte_array_new ();
  DynoProtoReader reader, numbers;
  guint n = 0;

  dyno_proto_packed (message, 7, values, G_N_ELEMENTS (values));
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    dyno_proto_uint (message, 7, values[i]);
  dyno_proto_packed (message, 7, NULL, 0);
  begin (&reader, message);
  for (guint i = 0; dyno_proto_has_more (&reader); i++)
    {
      DynoProtoField f;

      g_assert_true (dyno_proto_next (&reader, &f, NULL));
      g_assert_true (dyno_proto_enter_numbers (&reader, &f, DYNO_PROTO_VARINT, &numbers, NULL));
      g_assert_cmpuint (dyno_proto_count_numbers (&numbers, DYNO_PROTO_VARINT), ==,
                        i == 0  ? 3
                        : i < 4 ? 1
                                : 0);
      for (; dyno_proto_has_more (&numbers); n++)
        {
          guint64 bits = 0;

          g_assert_true (dyno_proto_next_number (&numbers, DYNO_PROTO_VARINT, &bits, NULL));
          g_assert_cmpuint (bits, ==, values[n % 3]);
        }
    }
  g_assert_cmpuint (n, ==, 6);
}

static void
test_packed_fixed (void)
{
  static const guint8 bytes[] = { 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0 };
  static const guint types[] = { DYNO_PROTO_FIXED32, DYNO_PROTO_FIXED64 };

  for (guint i = 0; i < 2; i++)
    for (gsize size = 0; size <= sizeof bytes; size++)
      {
        g_autoptr (GByteArray) message = g_byte_array_new ();
        DynoProtoReader reader, numbers;
        gsize one = i == 0 ? 4 : 8, n = 0;
        DynoProtoField f;
        guint64 bits;

        dyno_proto_bytes (message, 4, bytes, size);
        begin (&reader, message);
        f = next (&reader, 4, DYNO_PROTO_BYTES);
        g_assert_true (dyno_proto_enter_numbers (&reader, &f, types[i], &numbers, NULL));
        g_assert_cmpuint (dyno_proto_count_numbers (&numbers, types[i]), ==, size / one);
        while (dyno_proto_has_more (&numbers)
               && dyno_proto_next_number (&numbers, types[i], &bits, NULL))
          {
            n++;
            g_assert_cmpuint (bits, ==, i == 0 ? n : ((guint64) (2 * n) << 32 | (2 * n - 1)));
          }
        g_assert_cmpuint (n, ==, size / one);
        g_assert_true (dyno_proto_has_more (&numbers) == (size % one != 0));
      }
}

/* Reads all fields of bytes in a separate allocation, so that AddressSanitizer detects reads past
 * the end. */
static gboolean
read_all (const guint8 *bytes, gsize size, GError **error)
{
  g_autofree guint8 *own = g_memdup2 (bytes, size);
  DynoProtoReader reader;
  DynoProtoField f;

  dyno_proto_begin (&reader, own, size, "a test");
  while (dyno_proto_has_more (&reader))
    if (!dyno_proto_next (&reader, &f, error))
      return FALSE;
  return TRUE;
}

/* A truncated message is valid only if it ends with a field. */
static void
test_truncated (void)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  gsize ends[5] = { 0 };
  guint n = 1;

  dyno_proto_uint (message, 1000, 1u << 30);
  ends[n++] = message->len;
  dyno_proto_float (message, 2, 1);
  ends[n++] = message->len;
  dyno_proto_double (message, 3, 1);
  ends[n++] = message->len;
  dyno_proto_string (message, 4, "a text of 23 characters");
  ends[n++] = message->len;
  for (gsize size = 0; size <= message->len; size++)
    {
      g_autoptr (GError) error = NULL;
      gboolean whole = FALSE;

      for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
        whole |= ends[i] == size;
      g_assert_true (read_all (message->data, size, &error) == whole);
      if (!whole)
        g_assert_error (error, DYNO_ONNX_ERROR, DYNO_ONNX_ERROR_CORRUPT);
    }
}

static void
test_refusals (void)
{
  static const struct {
    const char *bytes;
    gsize size;
    const char *message; /* NULL: valid */
  } rows[] = {
    { "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, NULL },
    { "\x08\x80\x00", 3, NULL }, /* a 0 encoded in two bytes */
    { "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 11,
      "a number has more than 64 bits, at byte 1, in a test" },
    { "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12,
      "a number has more than 64 bits, at byte 1, in a test" },
    { "\x08\x01\x08\x80", 4, "it ends in the middle of a number, at byte 3, in a test" },
    { "\x08\x01\x0d\x01\x02\x03", 6, "it ends in the middle of a number, at byte 3, in a test" },
    { "\x00\x01", 2, "a field has an impossible number, at byte 0, in a test" },
    { "\x80\x80\x80\x80\x10\x01", 6, "a field has an impossible number, at byte 0, in a test" },
    /* A group, which is not supported. */
    { "\x08\x01\x0b\x0c", 4, "a field has an unknown type, at byte 2, in a test" },
    { "\x0e", 1, "a field has an unknown type, at byte 0, in a test" },
    { "\x0a\x02!", 3, "a field is longer than what is around it, at byte 0, in a test" },
    { "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11,
      "a field is longer than what is around it, at byte 0, in a test" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (read_all ((const guint8 *) rows[i].bytes, rows[i].size, &error)
                     == !rows[i].message);
      if (rows[i].message)
        g_assert_error (error, DYNO_ONNX_ERROR, DYNO_ONNX_ERROR_CORRUPT);
      g_assert_cmpstr (error ? error->message : NULL, ==, rows[i].message);
    }
}

/* A length may fit into the file but not into the enclosing message. */
static void
test_inner_length (void)
{
  static const guint8 bytes[] = { 0x0a, 2, 0x12, 3, 0x18, 1, 0x18, 1 };
  g_autoptr (GError) error = NULL;
  DynoProtoReader reader, inner;
  DynoProtoField f;

  dyno_proto_begin (&reader, bytes, sizeof bytes, "a test");
  f = next (&reader, 1, DYNO_PROTO_BYTES);
  g_assert_true (dyno_proto_enter (&reader, &f, "an inner one", &inner, NULL));
  g_assert_false (dyno_proto_next (&inner, &f, &error));
  g_assert_cmpstr (error->message, ==,
                   "a field is longer than what is around it, at byte 2, in an inner one");
}

static void
test_types (void)
{
  static const guint8 bytes[] = { 0x08, 5, 0x12, 1, '!' };
  DynoProtoReader reader, inner;
  g_autoptr (GError) error = NULL;
  guint64 value = 0;
  DynoProtoField f;

  dyno_proto_begin (&reader, bytes, sizeof bytes, "a test");
  f = next (&reader, 1, DYNO_PROTO_VARINT);
  g_assert_false (dyno_proto_enter (&reader, &f, "none", &inner, &error));
  g_assert_cmpstr (error->message, ==, "field 1 is of the wrong type, at byte 1, in a test");
  g_assert_false (dyno_proto_enter_numbers (&reader, &f, DYNO_PROTO_FIXED32, &inner, NULL));
  f = next (&reader, 2, DYNO_PROTO_BYTES);
  g_assert_false (dyno_proto_take_uint (&reader, &f, &value, NULL));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/wire/numbers-are-read-back", test_numbers);
  g_test_add_func ("/onnx/wire/floats-are-read-back", test_floats);
  g_test_add_func ("/onnx/wire/messages-inside-messages", test_messages);
  g_test_add_func ("/onnx/wire/lists-packed-or-not", test_packed);
  g_test_add_func ("/onnx/wire/lists-of-a-fixed-size", test_packed_fixed);
  g_test_add_func ("/onnx/wire/truncated-at-every-byte", test_truncated);
  g_test_add_func ("/onnx/wire/each-fault-has-its-error", test_refusals);
  g_test_add_func ("/onnx/wire/a-length-stays-inside-its-message", test_inner_length);
  g_test_add_func ("/onnx/wire/types-are-checked", test_types);
  return g_test_run ();
}
