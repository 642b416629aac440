/* SPDX-License-Identifier: MIT */
/* The parsed form of a DATA string: either a path, with the type of the file there, or a scheme
 * with its options. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

typedef struct {
  char *text;     /* as given */
  char *scheme;   /* "builtin", "synthetic"; NULL for a path */
  char *body;     /* after the scheme and before '?'; the path */
  char **options; /* "key=value" ..., NULL-terminated; never NULL */
  gboolean is_folder;
  gboolean is_regular;
  gboolean is_pattern; /* a pattern of shards, a-{000..012}.tar, whose first file exists */
  guint8 head[16];     /* first bytes of a regular file */
  gsize head_size;
} DynoLocation;

/* Errors: NOT_FOUND, READ, OPTION. UNKNOWN: the path is neither file nor folder (FIFO, socket,
 * device). */
DynoLocation *dyno_location_new (const char *text, GError **error);
/* The paths of a pattern "a{000..012}b", a000b to a012b; NULL: it is no pattern. */
GPtrArray *dyno_location_expand (const char *pattern);

void dyno_location_free (DynoLocation *location);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoLocation, dyno_location_free)

/* Reads the option `key` as a number in [least, most]; default_value when absent.  Errors:
 * OPTION. */
gboolean dyno_location_get_number (const DynoLocation *location, const char *key, guint64 least,
                                   guint64 most, guint64 default_value, guint64 *value,
                                   GError **error);

/* Refuses options whose key is not in known (NULL-terminated).  Errors: OPTION. */
gboolean dyno_location_check_options (const DynoLocation *location, const char *const *known,
                                      GError **error);

G_END_DECLS
