/* SPDX-License-Identifier: MIT */
/* Errors of the data layer.  Each message names the file, the expected and the found content, and
 * the next step. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_DATA_ERROR (dyno_data_error_quark ())
GQuark dyno_data_error_quark (void);

typedef enum {
  DYNO_DATA_ERROR_NOT_FOUND,   /* no such file or folder, or no built-in of that name */
  DYNO_DATA_ERROR_UNKNOWN,     /* no data set of a kind that Dyno reads */
  DYNO_DATA_ERROR_EMPTY,       /* no sample, or a single class */
  DYNO_DATA_ERROR_CORRUPT,     /* the content contradicts its format */
  DYNO_DATA_ERROR_UNSUPPORTED, /* a valid file, of a variant that Dyno does not read */
  DYNO_DATA_ERROR_TOO_LARGE,   /* past a limit that guards memory */
  DYNO_DATA_ERROR_READ,        /* the system failed to read */
  DYNO_DATA_ERROR_UNREACHABLE, /* the disk or server behind the file failed, and may come back */
  DYNO_DATA_ERROR_OPTION,      /* a built-in's option (?size=) that is unknown or out of range */
  DYNO_DATA_ERROR_NO_MEMORY,   /* memory is short for a request that is within the limits */
} DynoDataError;

G_END_DECLS
