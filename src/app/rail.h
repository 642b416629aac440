/* SPDX-License-Identifier: MIT */
/* The rail of pages at the window's side: a button with icon and label for each child of a stack,
 * bound to the action win.page. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RAIL (dyno_rail_get_type ())
G_DECLARE_FINAL_TYPE (DynoRail, dyno_rail, DYNO, RAIL, GtkBox)

/* To be called once, when the stack has its pages with their names, titles and icon names. */
void dyno_rail_set_stack (DynoRail *self, GtkStack *stack);

G_END_DECLS
