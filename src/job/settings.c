/* SPDX-License-Identifier: MIT */
/* Values of settings: conversion between text and value, and comparison and copying of structs by
 * the table.
 *
 * Invariants: a value that is refused leaves the struct as it was; what dyno_settings_get writes,
 * dyno_settings_set reads to the same bits, in any locale. */
#include "settings.h"
#include "intl.h"
#include "text.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define GIB (G_GINT64_CONSTANT (1) << 30)
#define MIB (G_GINT64_CONSTANT (1) << 20)
#define KIB (G_GINT64_CONSTANT (1) << 10)

#define MOST_TEXT 1000 /* bytes of a text */

gboolean
dyno_setting_has_switch (const DynoSettingInfo *info)
{
  return info->type == DYNO_SETTING_ENUM && strcmp (info->values[0], "false") == 0
         && g_strcmp0 (info->values[1], "true") == 0;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The fewest digits that read back bit-identically. */
static char *
double_to_text (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];

  for (int digits = 1; digits <= 17; digits++)
    {
      g_snprintf (format, sizeof format, "%%.%dg", digits);
      g_ascii_formatd (text, sizeof text, format, value);
      if (g_ascii_strtod (text, NULL) == value)
        break;
    }
  return g_strdup (text);
}

static char *
bytes_to_text (gint64 bytes)
{
  if (bytes > 0 && bytes % GIB == 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT "GB", bytes / GIB);
  if (bytes > 0 && bytes % MIB == 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT "MB", bytes / MIB);
  return g_strdup_printf ("%" G_GINT64_FORMAT, bytes);
}

/* Reads a plain decimal number, without sign, hexadecimal digits or words; *rest: the text after
 * it. */
static gboolean
read_decimal (const char *text, double *value, const char **rest)
{
  gsize length = strspn (text, "0123456789.");
  g_autofree char *number = NULL;
  char *end;

  if (length > 0 && (text[length] == 'e' || text[length] == 'E'))
    {
      gsize exponent = 1 + (text[length + 1] == '+' || text[length + 1] == '-');
      gsize digits = strspn (text + length + exponent, "0123456789");
      length += digits > 0 ? exponent + digits : 0;
    }
  if (length == 0 || length > 64)
    return FALSE;
  number = g_strndup (text, length);
  *value = g_ascii_strtod (number, &end);
  *rest = text + length;
  return *end == '\0' && isfinite (*value);
}

static gboolean
read_bytes (const char *text, double *value)
{
  static const struct {
    const char *unit;
    gint64 scale;
  } units[] = { { "", 1 },      { "B", 1 },    { "K", KIB },  { "KB", KIB },
                { "KiB", KIB }, { "M", MIB },  { "MB", MIB }, { "MiB", MIB },
                { "G", GIB },   { "GB", GIB }, { "GiB", GIB } };
  const char *rest;

  if (!read_decimal (text, value, &rest))
    return FALSE;
  rest += strspn (rest, " ");
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_ascii_strcasecmp (rest, units[i].unit) == 0)
      {
        *value = floor (*value * (double) units[i].scale + 0.5);
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_bool (const char *text, double *value)
{
  static const char *const words[][4] = { { "false", "no", "off", "0" },
                                          { "true", "yes", "on", "1" } };

  for (guint is_true = 0; is_true < 2; is_true++)
    for (guint i = 0; i < 4; i++)
      if (g_ascii_strcasecmp (text, words[is_true][i]) == 0)
        {
          *value = is_true;
          return TRUE;
        }
  return FALSE;
}

static gboolean
read_enum (const DynoSettingInfo *info, const char *text, double *value)
{
  for (guint i = 0; info->values[i]; i++)
    if (g_ascii_strcasecmp (text, info->values[i]) == 0)
      {
        *value = i;
        return TRUE;
      }
  return dyno_setting_has_switch (info) && read_bool (text, value);
}

static gboolean
read_text (const char *text, double *value)
{
  if (strlen (text) > MOST_TEXT || !g_utf8_validate (text, -1, NULL))
    return FALSE;
  for (const char *p = text; *p; p = g_utf8_next_char (p))
    if (dyno_text_is_control (g_utf8_get_char (p)))
      return FALSE;
  *value = *text ? g_quark_from_string (text) : 0;
  return TRUE;
}

static gboolean
read_value (const DynoSettingInfo *info, const char *text, double *value)
{
  const char *rest;

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return read_bool (text, value);
    case DYNO_SETTING_ENUM:
      return read_enum (info, text, value);
    case DYNO_SETTING_BYTES:
      return read_bytes (text, value);
    case DYNO_SETTING_TEXT:
      return read_text (text, value);
    case DYNO_SETTING_INT:
      return text[0] && strspn (text, "0123456789") == strlen (text)
             && read_decimal (text, value, &rest);
    case DYNO_SETTING_DOUBLE:
    default:
      return read_decimal (text, value, &rest) && *rest == '\0';
    }
}

/* --- words ------------------------------------------------------------------------------------ */

static char *
allowed_words (const DynoSettingInfo *info)
{
  g_autofree char *least = double_to_text (info->minimum), *most = double_to_text (info->maximum);

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return g_strdup (_ ("true or false"));
    case DYNO_SETTING_ENUM:
      return g_strjoinv (", ", (char **) info->values);
    case DYNO_SETTING_BYTES:
      return g_strdup (_ ("a number of bytes or a size as 12GB or 512MB, up to 16384GB; 0 is all "
                          "that the device has"));
    case DYNO_SETTING_TEXT:
      return g_strdup_printf (_ ("one line of at most %d bytes"), MOST_TEXT);
    case DYNO_SETTING_INT:
      return g_strdup_printf (_ ("a whole number from %.0f to %.0f"), info->minimum, info->maximum);
    case DYNO_SETTING_DOUBLE:
    default:
      return g_strdup_printf (_ ("a number from %s to %s"), least, most);
    }
}

static gboolean
refuse (const DynoSettingInfo *info, const char *value, GError **error)
{
  g_autofree char *allowed = allowed_words (info),
                  *shown = g_utf8_make_valid (value, (gssize) strnlen (value, 60));

  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, "%s cannot be “%s”; it is %s",
               info->key, shown, allowed);
  return FALSE;
}

/* The key that was probably meant: a key that contains the word, is contained in it, or is a few
 * edits away. */
static const char *
guess_key (const char *key)
{
  static const char *const others[][2] = {
    { "learning_rate", "lr" },    { "num_workers", "workers" }, { "mixed_precision", "amp" },
    { "grad_clip", "clip_norm" }, { "pin_memory", "pinned" },   { "budget", "vram_budget" }
  };
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_ascii_strcasecmp (key, others[i][0]) == 0)
      return others[i][1];
  for (guint i = 0; strlen (key) >= 3 && i < n; i++)
    if (strstr (table[i].key, key) || (strlen (table[i].key) > 2 && strstr (key, table[i].key)))
      return table[i].key;
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (keys, (gpointer) table[i].key);
  g_ptr_array_add (keys, NULL);
  return dyno_text_nearest (key, (const char *const *) keys->pdata,
                            MAX (2, (guint) strlen (key) / 3));
}

static const DynoSettingInfo *
find_or_fail (const char *key, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_autofree char *shown = NULL;
  const char *guess;

  if (info)
    return info;
  guess = guess_key (key);
  shown = g_utf8_make_valid (key, (gssize) strnlen (key, 60));
  if (guess)
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("There is no setting “%s”; did you mean “%s”?"), shown, guess);
  else
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING, _ ("There is no setting “%s”"),
                 shown);
  return NULL;
}

/* --- fields ----------------------------------------------------------------------------------- */

static double
get_field (const DynoSettings *settings, const DynoSettingInfo *info)
{
  gconstpointer field = G_STRUCT_MEMBER_P (settings, info->offset);

  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
    case DYNO_SETTING_ENUM:
      return *(const gint *) field;
    case DYNO_SETTING_TEXT:
      return *(const GQuark *) field;
    case DYNO_SETTING_INT:
    case DYNO_SETTING_BYTES:
      return (double) *(const gint64 *) field;
    case DYNO_SETTING_DOUBLE:
    default:
      return *(const double *) field;
    }
}

/* FALSE when out of range, or not whole where it must be. */
static gboolean
set_field (DynoSettings *settings, const DynoSettingInfo *info, double value)
{
  gpointer field = G_STRUCT_MEMBER_P (settings, info->offset);

  if (!(value >= info->minimum && value <= info->maximum))
    return FALSE;
  if (info->type != DYNO_SETTING_DOUBLE && value != floor (value))
    return FALSE;
  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
    case DYNO_SETTING_ENUM:
      *(gint *) field = (gint) value;
      break;
    case DYNO_SETTING_TEXT:
      if (value > 0 && !g_quark_to_string ((GQuark) value))
        return FALSE;
      *(GQuark *) field = (GQuark) value;
      break;
    case DYNO_SETTING_INT:
    case DYNO_SETTING_BYTES:
      *(gint64 *) field = (gint64) value;
      break;
    case DYNO_SETTING_DOUBLE:
    default:
      *(double *) field = value == 0 ? 0 : value; /* no negative zero */
      break;
    }
  return TRUE;
}

void
dyno_settings_init (DynoSettings *settings)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  memset (settings, 0, sizeof *settings);
  for (guint i = 0; i < n; i++)
    {
      double value = 0;
      gboolean good = read_value (&table[i], table[i].default_value, &value)
                      && set_field (settings, &table[i], value);
      g_assert (good);
    }
}

gboolean
dyno_settings_set (DynoSettings *settings, const char *key, const char *text, GError **error)
{
  const DynoSettingInfo *info = find_or_fail (key, error);
  g_autofree char *stripped = g_strstrip (g_strdup (text ? text : ""));
  double value = 0;

  if (!info)
    return FALSE;
  return (read_value (info, stripped, &value) && set_field (settings, info, value))
         || refuse (info, stripped, error);
}

char *
dyno_settings_get (const DynoSettings *settings, const char *key)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  double value;

  g_return_val_if_fail (info, NULL);
  value = get_field (settings, info);
  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      return g_strdup (value != 0 ? "true" : "false");
    case DYNO_SETTING_ENUM:
      return g_strdup (info->values[(guint) value]);
    case DYNO_SETTING_BYTES:
      return bytes_to_text ((gint64) value);
    case DYNO_SETTING_TEXT:
      return g_strdup (value > 0 ? g_quark_to_string ((GQuark) value) : "");
    case DYNO_SETTING_INT:
      return g_strdup_printf ("%.0f", value);
    case DYNO_SETTING_DOUBLE:
    default:
      return double_to_text (value);
    }
}

double
dyno_settings_get_number (const DynoSettings *settings, const char *key)
{
  const DynoSettingInfo *info = dyno_setting_find (key);

  g_return_val_if_fail (info, 0);
  return get_field (settings, info);
}

gboolean
dyno_settings_set_number (DynoSettings *settings, const char *key, double value, GError **error)
{
  const DynoSettingInfo *info = find_or_fail (key, error);
  g_autofree char *text = NULL;

  if (!info)
    return FALSE;
  if (set_field (settings, info, value))
    return TRUE;
  text = double_to_text (value);
  return refuse (info, text, error);
}

gboolean
dyno_settings_equal (const DynoSettings *a, const DynoSettings *b)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    if (get_field (a, &table[i]) != get_field (b, &table[i]))
      return FALSE;
  return TRUE;
}

guint
dyno_settings_follow (DynoSettings *settings, const DynoSettings *before, const DynoSettings *now)
{
  guint n, ways = 0;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      double value = get_field (now, &table[i]);

      if (table[i].live == DYNO_SETTING_LIVE_NO || value == get_field (before, &table[i]))
        continue;
      set_field (settings, &table[i], value);
      ways |= 1u << table[i].live;
    }
  return ways;
}

/* --- dependencies ----------------------------------------------------------------------------- */

const DynoSettingInfo *
dyno_setting_get_dependency (const DynoSettingInfo *info, guint *values)
{
  g_auto (GStrv) words = info->depends_on ? g_strsplit_set (info->depends_on, "=,", -1) : NULL;
  const DynoSettingInfo *other;

  *values = 0;
  if (!words)
    return NULL;
  other = dyno_setting_find (words[0]);
  for (guint i = 1; words[i]; i++)
    {
      double value = 0;

      g_return_val_if_fail (other && read_value (other, words[i], &value), NULL);
      *values |= 1u << (guint) value;
    }
  return other;
}

gboolean
dyno_setting_counts (const DynoSettingInfo *info, const DynoSettings *settings)
{
  guint values;
  const DynoSettingInfo *other = dyno_setting_get_dependency (info, &values);

  return !other || (values >> (guint) get_field (settings, other) & 1) != 0;
}
