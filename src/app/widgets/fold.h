/* SPDX-License-Identifier: MIT */
/* A part of the form that folds: a title that opens it, with the number of values in it that were
 * changed, and rows that a search may pick out. */
#pragma once
#include <handy.h>

G_BEGIN_DECLS

#define DYNO_TYPE_FOLD (dyno_fold_get_type ())
G_DECLARE_DERIVABLE_TYPE (DynoFold, dyno_fold, DYNO, FOLD, HdyExpanderRow)

struct _DynoFoldClass {
  HdyExpanderRowClass parent_class;
};

GtkWidget *dyno_fold_new (const char *title);
/* A row that is or comes into the fold, and the words by which it is found, besides the fold's
 * title. */
void dyno_fold_take (DynoFold *self, GtkWidget *row, const char *words);
/* Shows the rows that are found by a casefolded text, and the fold only with such; NULL: all, and
 * folded as before.  The number of rows found. */
guint dyno_fold_search (DynoFold *self, const char *text);
/* The first row that is shown; NULL: none. */
GtkWidget *dyno_fold_get_first (DynoFold *self);
void dyno_fold_set_changed (DynoFold *self, guint n);

G_END_DECLS
