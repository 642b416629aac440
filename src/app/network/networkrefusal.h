/* SPDX-License-Identifier: MIT */
/* The dialog about a file that cannot be trained as a network: its reasons, one a row. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* path: of the file; error: dyno_model_open's or dyno_network_build's. */
void dyno_network_refusal_show (GtkWindow *parent, const char *path, const GError *error);

G_END_DECLS
