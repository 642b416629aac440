/* SPDX-License-Identifier: MIT */
/* The page of the data set shows its origin, its contents, and its problems. */
#pragma once
#include "datainspector.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DATA_PAGE (dyno_data_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoDataPage, dyno_data_page, DYNO, DATA_PAGE, GtkBox)

/* inspector outlives the page. */
void dyno_data_page_set_setup (DynoDataPage *self, DynoSetup *setup, DynoDataInspector *inspector);
/* Moves the focus to the control that chooses a data set. */
void dyno_data_page_focus (DynoDataPage *self);

G_END_DECLS
