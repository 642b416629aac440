/* SPDX-License-Identifier: MIT */
/* Finds the modules that are opened at run time, so that a program links no library that only a
 * part of its users have or want. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* The file of a module: only in $DYNO_MODULE_DIR when that is set, else in src/<layer> of the build
 * tree that this program runs in, then in the folder of installed modules, which may be another
 * version's.  NULL: there is no such file.  Free with g_free. */
char *dyno_module_find_file (const char *layer, const char *name);

G_END_DECLS
