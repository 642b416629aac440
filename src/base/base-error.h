/* SPDX-License-Identifier: MIT */
/* Errors of the base layer.  Every layer has one GError domain of its own, declared in its
 * <layer>-error.h. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_BASE_ERROR (dyno_base_error_quark ())
GQuark dyno_base_error_quark (void);

typedef enum {
  DYNO_BASE_ERROR_OVERFLOW, /* a size does not fit its type */
  DYNO_BASE_ERROR_IO,       /* a file cannot be read or written */
  DYNO_BASE_ERROR_DISK,     /* no space, quota or file size limit */
  DYNO_BASE_ERROR_CORRUPT,  /* content does not follow its format */
} DynoBaseError;

G_END_DECLS
