/* SPDX-License-Identifier: MIT */
/* Reads an untrusted JSON document (RFC 8259) value by value, without building a tree.
 *
 * A request, or a list of annotations, may hold tens of millions of numbers.  A tree, as json-glib
 * builds it, takes about a hundred bytes for each number and recurses as deeply as the sender nests
 * brackets; this reader allocates only keys and the strings that are asked for, and stops at
 * DYNO_JSON_MAX_DEPTH.
 * All functions set the error of the domain and code that _init is given, with the place in bytes.
 * After an error the reader must not be used.  Pure; a reader belongs to one thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_JSON_MAX_DEPTH 32

typedef struct {
  const char *begin, *at, *end; /* the text outlives the reader and need not end with a zero */
  guint depth;
  GQuark domain; /* of the errors, with their code */
  int code;
} DynoJsonReader;

typedef enum {
  DYNO_JSON_OBJECT,
  DYNO_JSON_ARRAY,
  DYNO_JSON_STRING,
  DYNO_JSON_NUMBER,
  DYNO_JSON_TRUE,
  DYNO_JSON_FALSE,
  DYNO_JSON_NULL,
  DYNO_JSON_NOTHING, /* the text ends, or what follows is no value */
} DynoJsonKind;

void dyno_json_reader_init (DynoJsonReader *reader, const char *text, gsize size, GQuark domain,
                            int code);

/* The kind of the value that follows, by its first character. */
DynoJsonKind dyno_json_peek (DynoJsonReader *reader);
/* "an object", "a string", for messages. */
const char *dyno_json_kind_name (DynoJsonKind kind);

/* Reads or skips the value of a member.  key: NULL for an element of an array.  FALSE: error is
 * set. */
typedef gboolean (*DynoJsonMember) (DynoJsonReader *reader, const char *key, gpointer data,
                                    GError **error);

/* Calls member for each member of an object or array (kind) in turn. */
gboolean dyno_json_read_members (DynoJsonReader *reader, DynoJsonKind kind, DynoJsonMember member,
                                 gpointer data, GError **error);

/* Each reads the value that follows: a string as UTF-8 without zero bytes (g_free); a number as its
 * characters in the document, where at least one more byte follows; an integer; true or false. */
gboolean dyno_json_read_string (DynoJsonReader *reader, char **text, GError **error);
gboolean dyno_json_read_number (DynoJsonReader *reader, const char **text, gsize *length,
                                GError **error);
gboolean dyno_json_read_integer (DynoJsonReader *reader, gint64 *value, GError **error);
gboolean dyno_json_read_boolean (DynoJsonReader *reader, gboolean *value, GError **error);

/* Skips a value, which is checked like one that is read. */
gboolean dyno_json_skip (DynoJsonReader *reader, GError **error);
/* Only white space is left. */
gboolean dyno_json_read_end (DynoJsonReader *reader, GError **error);

G_END_DECLS
