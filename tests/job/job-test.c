/* SPDX-License-Identifier: MIT */
/* See job-test.h. */
#include "job-test.h"
#include <string.h>

char *
test_other_value (const DynoSettingInfo *info)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return g_strdup (strcmp (info->default_value, "true") == 0 ? "false" : "true");
    case DYNO_SETTING_ENUM:
      return g_strdup (info->values[strcmp (info->values[0], info->default_value) == 0]);
    case DYNO_SETTING_BYTES:
      return g_strdup ("12345678901");
    case DYNO_SETTING_TEXT:
      return g_strdup ("features.1");
    case DYNO_SETTING_INT:
      return g_strdup_printf ("%.0f", info->maximum);
    case DYNO_SETTING_DOUBLE:
    default:
      return g_strdup (
          g_ascii_dtostr (text, sizeof text, info->minimum + (info->maximum - info->minimum) / 3));
    }
}
