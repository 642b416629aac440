/* SPDX-License-Identifier: MIT */
/* Writes lines "key: value" of YAML, each below keys with less indentation. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

void dyno_yaml_int (GString *text, guint indent, const char *key, gint64 value);
void dyno_yaml_bool (GString *text, guint indent, const char *key, gboolean value);
void dyno_yaml_double (GString *text, guint indent, const char *key, double value);
void dyno_yaml_string (GString *text, guint indent, const char *key, const char *value);
void dyno_yaml_null (GString *text, guint indent, const char *key);

G_END_DECLS
