/* SPDX-License-Identifier: MIT */
/* A button with the choice of the settings that a search for the best model varies: each with its
 * range or its values, the usual ones first.  Signal: "changed". */
#pragma once
#include "params.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_PARAM_CHOOSER (dyno_param_chooser_get_type ())
G_DECLARE_FINAL_TYPE (DynoParamChooser, dyno_param_chooser, DYNO, PARAM_CHOOSER, GtkMenuButton)

/* usual, others: the spaces of the settings that are searched unless others are chosen, and of
 * those that may be searched, too.  A choice stays where it is still among them. */
void dyno_param_chooser_set_spaces (DynoParamChooser *self, const DynoParamSpace *usual,
                                    const DynoParamSpace *others);
/* The choice, as texts for dyno_param_space_choose; NULL: the usual ones.  g_strfreev. */
char **dyno_param_chooser_get_texts (DynoParamChooser *self);

G_END_DECLS
