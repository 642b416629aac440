/* SPDX-License-Identifier: MIT */
/* The input tensor of a request: its description in JSON, and its elements from JSON or bytes. */
#pragma once
#include "jsonread.h"
#include "serve-error.h"
#include "signature.h"

G_BEGIN_DECLS

typedef struct {
  const char *what; /* its name in messages, a static string */
  char *name, *datatype;
  guint n_axes; /* 0: there is no shape */
  gint64 shape[1 + DYNO_SCHEMA_MAX_AXES];
  gint64 binary_bytes; /* bytes of the binary data; -1: the data are in JSON */
  const char *text;    /* the JSON document */
  const char *data;    /* the value of "data" in the document; NULL: there is none */
  gsize data_size;
} DynoTensorIn;

void dyno_tensor_in_clear (DynoTensorIn *tensor);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoTensorIn, dyno_tensor_in_clear)

/* Reads the object of a tensor; unknown members are ignored.  Errors: BAD_REQUEST, whose message
 * begins with `what`, a static string. */
gboolean dyno_tensor_in_read (DynoTensorIn *tensor, const char *what, DynoJsonReader *reader,
                              GError **error);

/* The elements of data, nested as shape says or flat; count is the product of the shape.  g_free.
 * Errors: BAD_REQUEST, TOO_LARGE (no memory). */
guint8 *dyno_tensor_in_read_numbers (const DynoTensorIn *tensor, const char *what,
                                     DynoElement element, guint64 count, GError **error);

/* The texts of data, in base64, as n GBytes.  Errors: BAD_REQUEST. */
GPtrArray *dyno_tensor_in_read_bytes (const DynoTensorIn *tensor, const char *what, guint64 n,
                                      GError **error);
/* The same for binary data: each text is preceded by its size as a little-endian 4-byte integer.
 * The GBytes refer to bytes. */
GPtrArray *dyno_tensor_in_split_bytes (const char *what, const guint8 *bytes, gsize size, guint64 n,
                                       GError **error);

G_END_DECLS
