/* SPDX-License-Identifier: MIT */
/* The error domain of a training. */
#include "train-error.h"

G_DEFINE_QUARK (dyno - train - error - quark, dyno_train_error)

gboolean
dyno_train_refuse_data (GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA, text);
  return FALSE;
}
