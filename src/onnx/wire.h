/* SPDX-License-Identifier: MIT */
/* Writes the wire format of Protocol Buffers: fields of a message, one after the other
 * (protobuf.dev, "Encoding"). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* The wire types: they say what follows the key of a field, which is its number << 3 | wire type. */
enum {
  DYNO_PROTO_VARINT = 0,
  DYNO_PROTO_FIXED64 = 1,
  DYNO_PROTO_BYTES = 2, /* a length, and as many bytes: a text, a message, packed numbers */
  DYNO_PROTO_FIXED32 = 5
};

void dyno_proto_uint (GByteArray *message, guint field, guint64 value);
void dyno_proto_float (GByteArray *message, guint field, float value);
void dyno_proto_double (GByteArray *message, guint field, double value);
void dyno_proto_bytes (GByteArray *message, guint field, const void *data, gsize size);
void dyno_proto_string (GByteArray *message, guint field, const char *text);
/* Writes another message, which is left empty, as a field. */
void dyno_proto_message (GByteArray *message, guint field, GByteArray *inner);

G_END_DECLS
