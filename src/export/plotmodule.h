/* SPDX-License-Identifier: MIT */
/* Opens the module dyno-curves, which draws with Cairo, at run time: dynoctl does not link X.
 *
 * The module stays loaded: Cairo and X do not support unloading. */
#pragma once
#include "curves-module.h"

G_BEGIN_DECLS

/* A function of the module; NULL: there is no such function.  Errors: G_FILE_ERROR. */
gpointer dyno_plot_module_find (const char *symbol, GError **error);

G_END_DECLS
