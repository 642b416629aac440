/* SPDX-License-Identifier: MIT */
/* The bar for errors, and parts of the form that fold. */
#include "parts.h"
#include "errorbar.h"
#include "fold.h"
#include <handy.h>

/* A warning does not replace an error that is shown, and is shown once it was closed. */
static void
test_warnings_wait_for_errors (void)
{
  GtkWidget *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_ERROR_BAR, NULL));
  DynoErrorBar *self = DYNO_ERROR_BAR (bar);

  gtk_widget_show (bar);
  g_assert_false (dyno_error_bar_has_error (self));
  dyno_error_bar_show_text (self, GTK_MESSAGE_WARNING, "Warm", "It is warm.");
  g_assert_false (dyno_error_bar_has_error (self));
  parts_assert_says (bar, "Warm");
  dyno_error_bar_show_offer (self, "Lost", "It is lost.", "_Find It", "win.find");
  g_assert_true (dyno_error_bar_has_error (self));
  parts_assert_says (bar, "Lost");
  parts_assert_says_not (bar, "Warm");
  g_assert_true (gtk_widget_get_visible (parts_find_button (bar, "_Find It")));
  dyno_error_bar_show_text (self, GTK_MESSAGE_WARNING, "Warm", "It is warm.");
  parts_assert_says (bar, "Lost");
  dyno_error_bar_show_text (self, GTK_MESSAGE_ERROR, "Gone", "It is gone.");
  parts_assert_says (bar, "Gone");
  g_assert_false (gtk_widget_get_visible (parts_find_button (bar, "_Find It")));
  dyno_error_bar_dismiss (self);
  g_assert_false (dyno_error_bar_has_error (self));
  dyno_error_bar_show_text (self, GTK_MESSAGE_WARNING, "Warm", "It is warm.");
  g_assert_false (dyno_error_bar_has_error (self));
  parts_assert_says (bar, "Warm");
  g_object_unref (bar);
}

/* A search of several letters unfolds what it finds, and its end folds it again, twice. */
static void
test_a_search_folds_again (void)
{
  GtkWidget *fold = g_object_ref_sink (dyno_fold_new ("Pipeline"));
  HdyExpanderRow *row = HDY_EXPANDER_ROW (fold);
  GtkWidget *workers = hdy_action_row_new (), *memory = hdy_action_row_new ();

  gtk_widget_show (fold);
  dyno_fold_take (DYNO_FOLD (fold), workers, "workers threads");
  dyno_fold_take (DYNO_FOLD (fold), memory, "memory");
  for (guint i = 0; i < 2; i++)
    {
      gboolean before = i == 1;

      hdy_expander_row_set_expanded (row, before);
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "w"), ==, 1);
      g_assert_true (hdy_expander_row_get_expanded (row));
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "wo"), ==, 1);
      g_assert_true (dyno_fold_get_first (DYNO_FOLD (fold)) == workers);
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), "wox"), ==, 0);
      g_assert_false (gtk_widget_get_visible (fold));
      g_assert_cmpuint (dyno_fold_search (DYNO_FOLD (fold), NULL), ==, 2);
      g_assert_true (gtk_widget_get_visible (fold) && gtk_widget_get_visible (memory));
      g_assert_true (hdy_expander_row_get_expanded (row) == before);
    }
  g_object_unref (fold);
}

void
parts_add_widgets (void)
{
  g_test_add_func ("/ui/parts/warnings-wait-for-errors", test_warnings_wait_for_errors);
  g_test_add_func ("/ui/parts/a-search-folds-again", test_a_search_folds_again);
}
