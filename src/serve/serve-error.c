/* SPDX-License-Identifier: MIT */
#include "serve-error.h"

G_DEFINE_QUARK (dyno - serve - error - quark, dyno_serve_error)

guint
dyno_serve_error_get_status (const GError *error)
{
  static const guint statuses[] = {
    [DYNO_SERVE_ERROR_BAD_REQUEST] = 400, [DYNO_SERVE_ERROR_DENIED] = 401,
    [DYNO_SERVE_ERROR_NOT_FOUND] = 404,   [DYNO_SERVE_ERROR_METHOD] = 405,
    [DYNO_SERVE_ERROR_TOO_LARGE] = 413,   [DYNO_SERVE_ERROR_MEDIA_TYPE] = 415,
    [DYNO_SERVE_ERROR_FAILED] = 500,      [DYNO_SERVE_ERROR_BUSY] = 503,
    [DYNO_SERVE_ERROR_STOPPING] = 503,
  };

  if (error->domain != DYNO_SERVE_ERROR || error->code < 0
      || (gsize) error->code >= G_N_ELEMENTS (statuses))
    return 500;
  return statuses[error->code];
}

gboolean
dyno_serve_refuse (GError **error, DynoServeError code, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, DYNO_SERVE_ERROR, code, text);
  return FALSE;
}
