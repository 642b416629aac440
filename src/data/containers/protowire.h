/* SPDX-License-Identifier: MIT */
/* The wire types of Protocol Buffers (protobuf.dev, "Encoding"): they say what follows the key of a
 * field, which is its number << 3 | wire type. */
#pragma once

enum {
  DYNO_PROTO_VARINT = 0,
  DYNO_PROTO_FIXED64 = 1,
  DYNO_PROTO_BYTES = 2, /* a length, and as many bytes: a text, a message, packed numbers */
  DYNO_PROTO_FIXED32 = 5
};
