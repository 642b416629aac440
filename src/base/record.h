/* SPDX-License-Identifier: MIT */
/* The members of a struct by the names that they have in files: one table, by which columns of CSV
 * and SQLite and members of JSON are written and read. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_RECORD_FLAG,   /* gboolean */
  DYNO_RECORD_UINT,   /* guint */
  DYNO_RECORD_INT,    /* gint64 */
  DYNO_RECORD_TIME,   /* gint64, microseconds since 1970; 0: none */
  DYNO_RECORD_COUNT,  /* guint64 */
  DYNO_RECORD_NUMBER, /* double; NaN: not known */
  DYNO_RECORD_RATE,   /* double; 0: not known */
  DYNO_RECORD_TEXT,   /* char *; NULL: none */
  DYNO_RECORD_PATH,   /* char *, of bytes that need not be UTF-8; NULL: none */
  DYNO_RECORD_OTHER,  /* another type, whose text the caller makes and reads */
} DynoRecordType;

typedef struct {
  const char *name; /* of the column */
  DynoRecordType type;
  gsize offset;     /* in the struct; OTHER: not read */
  const char *json; /* of the member; NULL: it is no member, or one that the caller writes */
} DynoRecordField;

/* A pointer to the member. */
#define DYNO_RECORD_MEMBER(record, field, type) \
  ((type *) G_STRUCT_MEMBER_P ((record), (field)->offset))

G_END_DECLS
