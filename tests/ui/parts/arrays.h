/* SPDX-License-Identifier: MIT */
/* Arrays in files, of which tests of data sets make theirs. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Writes NAME.npy of n bytes into the folder, which is made.  type: "|u1", "<f4"; shape: "(16,)".
 * bytes NULL: zeros that take no room on the disk. */
void arrays_write (const char *folder, const char *name, const char *type, const char *shape,
                   gconstpointer bytes, gsize n);

G_END_DECLS
