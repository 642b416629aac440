/* SPDX-License-Identifier: MIT */
/* A dialog that asks for one line of text. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef void (*DynoTextAnswered) (const char *text, gpointer data);

/* name: of the entry, for screen readers; text: its first content, NULL: empty.  answered is called
 * unless the dialog is cancelled; data is freed in either case. */
void dyno_text_dialog_show (GtkWindow *parent, const char *title, const char *name,
                            const char *accept, const char *text, DynoTextAnswered answered,
                            gpointer data, GDestroyNotify free_data);

G_END_DECLS
