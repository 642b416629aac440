/* SPDX-License-Identifier: MIT */
/* Classes of a weights file and those of a data set, matched by their names: a class is a row of
 * the last layer.  Private to the layers up to train. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_CLASS_ROW_NONE G_MAXUINT32

/* For each class here its row in the file, or DYNO_CLASS_ROW_NONE; g_free.  NULL: rows stay as in
 * the file, since all names agree in order, or no class is in both.  Names end with NULL. */
guint32 *dyno_class_rows_match (const char *const *there, const char *const *here);

/* A description of the classes that keep their rows, of those that start anew, and of unused rows;
 * g_free. */
char *dyno_class_rows_describe (const char *shown, const char *const *there,
                                const char *const *here, const guint32 *rows);

G_END_DECLS
