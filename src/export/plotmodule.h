/* SPDX-License-Identifier: MIT */
/* The module dyno-curves, which draws with Cairo, opened at run time: dynoctl links no X.
 *
 * The module is kept: Cairo and X do not like to be unloaded. */
#pragma once
#include "curves-module.h"

G_BEGIN_DECLS

/* A function of the module; NULL: it is not there.  Errors: G_FILE_ERROR. */
gpointer dyno_plot_module_find (const char *symbol, GError **error);

G_END_DECLS
