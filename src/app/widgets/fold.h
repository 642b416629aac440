/* SPDX-License-Identifier: MIT */
/* A part of the form that folds: a title that opens it, with the number of changed values in it,
 * and rows that a search can select. */
#pragma once
#include <handy.h>

G_BEGIN_DECLS

#define DYNO_TYPE_FOLD (dyno_fold_get_type ())
G_DECLARE_DERIVABLE_TYPE (DynoFold, dyno_fold, DYNO, FOLD, HdyExpanderRow)

struct _DynoFoldClass {
  HdyExpanderRowClass parent_class;
};

GtkWidget *dyno_fold_new (const char *title);
/* Registers a row that is in the fold or will be, with the words by which a search finds it,
 * besides the fold's title. */
void dyno_fold_take (DynoFold *self, GtkWidget *row, const char *words);
/* Shows the rows that match a casefolded text, and the fold only where there are some; NULL: all
 * rows, folded as before.  Returns the number of rows found. */
guint dyno_fold_search (DynoFold *self, const char *text);
/* The first row that is shown; NULL: none. */
GtkWidget *dyno_fold_get_first (DynoFold *self);
void dyno_fold_set_changed (DynoFold *self, guint n);

G_END_DECLS
