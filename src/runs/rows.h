/* SPDX-License-Identifier: MIT */
/* Reads and writes rows of the history's tables as structs, by tables of their members.  Private to
 * the layer. */
#pragma once
#include "database.h"
#include "record.h"

G_BEGIN_DECLS

/* SQL, made once and never freed, as the database requires.  {names} stands for "a, b, c", {marks}
 * for "?3, ?4, ?5" and {sets} for "a = ?3, b = ?4, c = ?5", where the first mark is as given. */
const char *dyno_row_sql (const char *pattern, const DynoRecordField *fields, guint n, guint first);

/* Binds the members from the mark `first` on; others: the texts of the fields of type OTHER, in the
 * order of the fields. */
gboolean dyno_row_bind (DynoDatabase *db, sqlite3_stmt *statement, const DynoRecordField *fields,
                        guint n, guint first, gconstpointer record, const char *const *others,
                        GError **error);

/* Reads the members from columns, the first of which is column 0.  The record owns the new texts;
 * the texts that it had are not freed. */
void dyno_row_read (sqlite3_stmt *statement, const DynoRecordField *fields, guint n,
                    gpointer record);
/* The text of a field of type OTHER; g_free. */
char *dyno_row_read_other (sqlite3_stmt *statement, const DynoRecordField *fields, guint n,
                           const char *name);

/* Frees the texts. */
void dyno_row_clear (const DynoRecordField *fields, guint n, gpointer record);

G_END_DECLS
