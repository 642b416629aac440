/* SPDX-License-Identifier: MIT */
/* Reads a table of text from a file: CSV and TSV (RFC 4180, quoted fields, CRLF or LF, a byte order
 * mark is skipped), or JSON lines (an object a line, whose members are the columns). */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

#define DYNO_TEXT_TABLE_MAX_BYTES (G_GUINT64_CONSTANT (1) << 30)

/* Cells are texts ended by 0, with the same bytes as in the file. */
typedef struct {
  GByteArray *text;
  GPtrArray *columns; /* names of the columns of JSON lines; else empty */
  GArray *rows;       /* DynoTextTableRow */
  GArray *cells;      /* guint32: offset in text, DYNO_TEXT_TABLE_NO_CELL: the member is missing */
  guint8 delimiter;   /* between fields; 0: JSON lines, or rows of one field */
} DynoTextTable;

typedef struct {
  guint32 first; /* index in cells */
  guint32 n;
  guint32 line; /* line where the row begins, from 1 */
} DynoTextTableRow;

#define DYNO_TEXT_TABLE_NO_CELL G_MAXUINT32

/* The separator between the texts of a list in a cell of JSON lines. */
#define DYNO_TEXT_TABLE_LIST_SEPARATOR '\x1f'

typedef enum { DYNO_TEXT_TABLE_NONE, DYNO_TEXT_TABLE_DELIMITED, DYNO_TEXT_TABLE_JSON } DynoTextKind;

/* The format that a file could have whose first size bytes are text. */
DynoTextKind dyno_text_table_guess (const guint8 *bytes, gsize size);

/* name: of the file, for messages.  Errors: CORRUPT (with the line), UNSUPPORTED, TOO_LARGE. */
DynoTextTable *dyno_text_table_parse (const guint8 *bytes, gsize size, const char *name,
                                      GError **error);
void dyno_text_table_free (DynoTextTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTextTable, dyno_text_table_free)

/* NULL: there is no such cell. */
const char *dyno_text_table_get (const DynoTextTable *table, guint row, guint column);

typedef enum {
  DYNO_JSON_LISTS_OF_NUMBERS, /* joined by spaces */
  DYNO_JSON_LISTS_OF_TEXTS,   /* strings, joined by DYNO_TEXT_TABLE_LIST_SEPARATOR; "": none */
} DynoJsonLists;

/* Parses a JSON object's text of at most size bytes, with bounded nesting, into a GHashTable from
 * its members' names to text (strings, numbers, true, false), and from the names of one kind of
 * lists to joined text; other members are left out.  NULL: the text is no such object. */
GHashTable *dyno_json_members (const char *text, gsize size, DynoJsonLists lists, GPtrArray *order,
                               char **reason);

G_END_DECLS
