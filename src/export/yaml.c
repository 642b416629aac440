/* SPDX-License-Identifier: MIT */
#include "yaml.h"
#include "quote.h"

static void
append (GString *text, guint indent, const char *key, const char *value)
{
  g_string_append_printf (text, "%*s%s: %s\n", (int) indent, "", key, value);
}

void
dyno_yaml_int (GString *text, guint indent, const char *key, gint64 value)
{
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  append (text, indent, key, number);
}

void
dyno_yaml_bool (GString *text, guint indent, const char *key, gboolean value)
{
  append (text, indent, key, value ? "true" : "false");
}

void
dyno_yaml_double (GString *text, guint indent, const char *key, double value)
{
  g_autofree char *number = dyno_quote_double (value);

  append (text, indent, key, number);
}

void
dyno_yaml_string (GString *text, guint indent, const char *key, const char *value)
{
  g_autofree char *quoted = dyno_quote_yaml (value);

  append (text, indent, key, quoted);
}

void
dyno_yaml_null (GString *text, guint indent, const char *key)
{
  append (text, indent, key, "null");
}
