/* SPDX-License-Identifier: MIT */
/* A finding of the diagnosis as a row of a list: its level as an icon, the sentence, the advice. */
#pragma once
#include "diagnosis.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A HdyActionRow; a button is added with gtk_container_add. */
GtkWidget *dyno_finding_row_new (const DynoFinding *finding);

G_END_DECLS
