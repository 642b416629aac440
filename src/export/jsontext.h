/* SPDX-License-Identifier: MIT */
/* Writes JSON as text, member by member.  Doubles take the fewest digits that read back exactly,
 * '.' in any locale; values that JSON cannot express (NaN, Inf) become null; text that is not UTF-8
 * is made valid.  A DynoJson is a string under construction; begin and end nest freely. */
#pragma once
#include "record.h"

G_BEGIN_DECLS

typedef struct {
  GString *text;
  guint indent;    /* blanks per level; 0: all on one line */
  guint depth;     /* private */
  gboolean filled; /* private: this level has a member already */
} DynoJson;

void dyno_json_init (DynoJson *json, guint indent);
char *dyno_json_steal (DynoJson *json); /* g_free; json is empty again */
void dyno_json_clear (DynoJson *json);

/* key NULL: the value is an element of an array, or the document itself. */
void dyno_json_begin_object (DynoJson *json, const char *key);
void dyno_json_end_object (DynoJson *json);
void dyno_json_begin_array (DynoJson *json, const char *key);
void dyno_json_end_array (DynoJson *json);
void dyno_json_string (DynoJson *json, const char *key, const char *value); /* NULL: null */
void dyno_json_double (DynoJson *json, const char *key, double value);
void dyno_json_int (DynoJson *json, const char *key, gint64 value);
void dyno_json_uint (DynoJson *json, const char *key, guint64 value);
void dyno_json_bool (DynoJson *json, const char *key, gboolean value);
void dyno_json_null (DynoJson *json, const char *key);

/* Writes the members of a record that have a name in JSON. */
void dyno_json_record (DynoJson *json, const DynoRecordField *fields, guint n,
                       gconstpointer record);

/* The value in the fewest digits that read back exactly; g_free. */
char *dyno_double_to_text (double value);

G_END_DECLS
