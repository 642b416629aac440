/* SPDX-License-Identifier: MIT */
#include "settingtitles.h"
#include "settingcontrol.h"
#include <glib/gi18n.h>
#include <string.h>

#define FIRST_UNSPACED 0x2e80 /* the first character of scripts without spaces between words */

static gsize
span_key (const char *text)
{
  gsize n = strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
  while (n > 0 && text[n - 1] == '.') /* a full stop ends the sentence */
    n--;
  return n;
}

static gsize
span_value (const char *text)
{
  gsize n = 0;
  while (g_ascii_isalnum (text[n]) || (text[n] && strchr ("._+-", text[n])))
    n++;
  while (n > 0 && text[n - 1] == '.')
    n--;
  return n;
}

/* Whether a key may begin here: not within a word, a path, an option or quotation marks. */
static gboolean
may_begin (const char *text, const char *at)
{
  if (at == text)
    return TRUE;
  gunichar before = g_utf8_get_char (g_utf8_prev_char (at));
  if (before < 0x80)
    return !g_ascii_isalnum ((char) before) && !strchr ("_./-=\"'", (int) before);
  return before >= FIRST_UNSPACED
         || (!g_unichar_isalpha (before) && g_unichar_type (before) != G_UNICODE_INITIAL_PUNCTUATION
             && g_unichar_type (before) != G_UNICODE_OPEN_PUNCTUATION);
}

static gboolean
may_end (const char *at)
{
  return !*at || !strchr ("/-=\"'", *at);
}

/* The setting's title with the value at `value`, whose length is returned in n_value.  NULL: there
 * is no value of this setting. */
static char *
describe (const DynoSettingInfo *info, const char *value, gsize *n_value)
{
  DynoSettings settings;
  *n_value = span_value (value);
  g_autofree char *wanted = g_strndup (value, *n_value);
  dyno_settings_init (&settings);
  if (*n_value == 0 || !dyno_settings_set (&settings, info->key, wanted, NULL))
    return NULL;
  g_autofree char *shown =
      dyno_setting_control_describe (info, dyno_settings_get_number (&settings, info->key));
  /* Translators: a setting and its value, within a sentence: "“Workers: 8”" */
  return g_strdup_printf (_ ("“%s: %s”"), _ (info->title), shown);
}

/* FALSE for keys that are also ordinary words, which are recognised only with a value. */
static gboolean
is_only_key (const char *key)
{
  return strpbrk (key, "_.") || g_str_equal (key, "lr");
}

char *
dyno_setting_titles_put (const char *text)
{
  GString *out = g_string_new (NULL);
  const char *at = text;
  if (!text)
    return g_string_free (out, TRUE);
  while (*at)
    {
      gsize n = may_begin (text, at) ? span_key (at) : 0, n_value = 0;
      g_autofree char *key = g_strndup (at, n), *shown = NULL;
      const DynoSettingInfo *info = n > 0 ? dyno_setting_find (key) : NULL;
      if (info && at[n] == '=')
        shown = describe (info, at + n + 1, &n_value);
      else if (info && is_only_key (key) && may_end (at + n))
        /* Translators: a setting, within a sentence: "“Learning rate”" */
        shown = g_strdup_printf (_ ("“%s”"), _ (info->title));
      if (shown)
        {
          g_string_append (out, shown);
          at += n + (n_value > 0 ? n_value + 1 : 0);
          continue;
        }
      const char *next = n > 0 ? at + n : g_utf8_next_char (at);
      g_string_append_len (out, at, next - at);
      at = next;
    }
  return g_string_free (out, FALSE);
}
