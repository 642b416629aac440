/* SPDX-License-Identifier: MIT */
/* The wire format of Protocol Buffers, written and read (protobuf.dev, "Encoding"): a message is a
 * series of fields, each a key and a value.
 *
 * Nothing here owns memory but the GByteArray that is written to.  Every function may be called
 * from any thread, as long as no two threads use the same array or reader. */
#pragma once
#include "onnx-error.h"

G_BEGIN_DECLS

/* The wire type gives the encoding of a field's value.  The key of a field is its number << 3 |
 * wire type. */
enum {
  DYNO_PROTO_VARINT = 0,
  DYNO_PROTO_FIXED64 = 1,
  DYNO_PROTO_BYTES = 2, /* a length, and as many bytes: a text, a message, packed numbers */
  DYNO_PROTO_FIXED32 = 5
};

/* --- writing ---------------------------------------------------------------------------------- */

/* Each appends a field to a message, which must stay below 4 GiB.  Negative numbers are written as
 * their two's complement of 64 bits. */
void dyno_proto_uint (GByteArray *message, guint field, guint64 value);
void dyno_proto_float (GByteArray *message, guint field, float value);
void dyno_proto_double (GByteArray *message, guint field, double value);
void dyno_proto_bytes (GByteArray *message, guint field, const void *data, gsize size);
/* Bytes that are no UTF-8 are replaced. */
void dyno_proto_string (GByteArray *message, guint field, const char *text);
/* Writes another message, which is left empty, as a field. */
void dyno_proto_message (GByteArray *message, guint field, GByteArray *inner);
/* Writes n numbers as one field. */
void dyno_proto_packed (GByteArray *message, guint field, const guint64 *values, gsize n);

/* --- reading ---------------------------------------------------------------------------------- */

/* The rest of a message, which lies in memory that outlives the reader.
 * Invariant: start <= at <= end, and end is at most the end of the enclosing message. */
typedef struct {
  const guint8 *at, *end;
  const guint8 *start; /* of the outermost message: errors count bytes from there */
  const char *name;    /* of the message, in errors: "a tensor"; must outlive the reader */
} DynoProtoReader;

typedef struct {
  guint number; /* of the field, 1 to 2^29 - 1 */
  guint type;   /* DYNO_PROTO_VARINT, ... */
  guint64 bits; /* the number's bits; 0 for DYNO_PROTO_BYTES */
  /* The value in the file; for DYNO_PROTO_BYTES without the length before it. */
  const guint8 *data;
  gsize size;
} DynoProtoField;

/* data may be NULL where size is 0. */
void dyno_proto_begin (DynoProtoReader *reader, const void *data, gsize size, const char *name);
static inline gboolean
dyno_proto_has_more (const DynoProtoReader *reader)
{
  return reader->at < reader->end;
}

/* Reads the next field, which must exist, and moves past it.  All functions below return FALSE with
 * DYNO_ONNX_ERROR_CORRUPT where the bytes are no valid field: a length or a number that goes past
 * the end of the message, a number of more than 64 bits, the field number 0, or an unknown wire
 * type (groups are of this kind); or where a field is of another type than the function reads. */
gboolean dyno_proto_next (DynoProtoReader *reader, DynoProtoField *field, GError **error);

/* The field as a message inside the message of reader. */
gboolean dyno_proto_enter (const DynoProtoReader *reader, const DynoProtoField *field,
                           const char *name, DynoProtoReader *inner, GError **error);
gboolean dyno_proto_take_uint (const DynoProtoReader *reader, const DynoProtoField *field,
                               guint64 *value, GError **error);
gboolean dyno_proto_take_float (const DynoProtoReader *reader, const DynoProtoField *field,
                                float *value, GError **error);

/* The field as numbers of a wire type, one or many (packed).  They are read by
 * dyno_proto_next_number while dyno_proto_has_more (numbers). */
gboolean dyno_proto_enter_numbers (const DynoProtoReader *reader, const DynoProtoField *field,
                                   guint type, DynoProtoReader *numbers, GError **error);
/* The count of the numbers, if all are valid; each takes at least a byte, so the count never
 * exceeds the bytes. */
gsize dyno_proto_count_numbers (const DynoProtoReader *numbers, guint type);
gboolean dyno_proto_next_number (DynoProtoReader *numbers, guint type, guint64 *bits,
                                 GError **error);

/* Sets the error DYNO_ONNX_ERROR_CORRUPT with the place: "WHAT, at byte N, in NAME".  FALSE. */
gboolean dyno_proto_corrupt (const DynoProtoReader *reader, const char *what, GError **error);

G_END_DECLS
