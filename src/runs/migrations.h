/* SPDX-License-Identifier: MIT */
/* The tables of the history, and the statements that lead from each version to the next.  Private
 * to the layer.
 *
 * Invariants: a version that was released is never changed, only followed by another; paths are
 * blobs, since a name need not be UTF-8; settings are "key=value" lines of the whole table; times
 * are microseconds since 1970; a value that is not known is NULL. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* n versions; element i leads from version i to i + 1. */
const char *const *dyno_migrations_list (guint *n);

/* The tables; a table stands after the tables that it refers to.  NULL ends the list. */
extern const char *const dyno_history_tables[];

G_END_DECLS
