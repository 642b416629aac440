/* SPDX-License-Identifier: MIT */
/* Choices: the measured fastest kernel variant for each shape on this device, and the variants that
 * this device may not run; kept on disk.
 *
 * File: a head line "dyno-choices 2 <hash of the rest, hex>", a line with the device key and the
 * kernels' hash, then a line per choice (key, label and microseconds), per refused variant
 * ("!refused", family, variant and reason) and per variant that passed its test ("!passed", family
 * and tile), tab-separated.  A file that is incomplete, or of another device or version, reads as
 * empty: the choices are only a cache. */
#include "lowering.h"
#include "file.h"
#include "hash.h"

#define HEAD    "dyno-choices 2 "
#define REFUSED "!refused"
#define PASSED  "!passed"

typedef struct {
  DynoVariant variant;
  double time_us;
} Choice;

struct _DynoChoices {
  GMutex lock;
  GHashTable *table;   /* key -> Choice */
  GHashTable *refused; /* "family\tvariant" -> reason */
  GHashTable *passed;  /* set of "family\ttile" */
  gboolean forgot;     /* refusals in the file are ignored */
  char *device_key;    /* NULL: not loaded from disk */
  gboolean by_rule;    /* choices are kept, but not returned */
};

DynoChoices *
dyno_choices_new (void)
{
  DynoChoices *choices = g_new0 (DynoChoices, 1);
  g_mutex_init (&choices->lock);
  choices->table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  choices->refused = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  choices->passed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return choices;
}

void
dyno_choices_free (DynoChoices *choices)
{
  if (!choices)
    return;
  g_hash_table_unref (choices->table);
  g_hash_table_unref (choices->refused);
  g_hash_table_unref (choices->passed);
  g_mutex_clear (&choices->lock);
  g_free (choices->device_key);
  g_free (choices);
}

void
dyno_choices_set (DynoChoices *choices, const char *key, const DynoVariant *variant, double time_us)
{
  Choice *choice = g_new0 (Choice, 1);
  choice->variant = *variant;
  choice->time_us = time_us;
  g_mutex_lock (&choices->lock);
  g_hash_table_replace (choices->table, g_strdup (key), choice);
  g_mutex_unlock (&choices->lock);
}

gboolean
dyno_choices_get (DynoChoices *choices, const char *key, DynoVariant *variant)
{
  g_mutex_lock (&choices->lock);
  const Choice *choice = choices->by_rule ? NULL : g_hash_table_lookup (choices->table, key);
  if (choice)
    *variant = choice->variant;
  g_mutex_unlock (&choices->lock);
  return choice != NULL;
}

void
dyno_choices_go_by_rule (DynoChoices *choices)
{
  choices->by_rule = TRUE;
}

gboolean
dyno_choices_decide (DynoChoices *choices)
{
  g_mutex_lock (&choices->lock);
  gboolean decide = g_hash_table_size (choices->refused) > 0
                    || (!choices->by_rule && g_hash_table_size (choices->table) > 0);
  g_mutex_unlock (&choices->lock);
  return decide;
}

/* Refused variants ----------------------------------------------------------------------------- */

gsize
dyno_choice_family_length (const char *key)
{
  const char *first = strchr (key, ' '), *second = first ? strchr (first + 1, ' ') : NULL;
  return second ? (gsize) (second - key) : strlen (key);
}

/* The family and the variant, in the form used in the files. */
static char *
refusal_key (const char *key, const DynoVariant *variant)
{
  char label[DYNO_VARIANT_LABEL];
  dyno_variant_print (variant, label);
  return g_strdup_printf ("%.*s\t%s", (int) dyno_choice_family_length (key), key, label);
}

static char *
tile_key (const char *key, const DynoVariant *variant)
{
  DynoVariant tile = dyno_variant_tile (variant);
  return refusal_key (key, &tile);
}

gboolean
dyno_choices_refuse (DynoChoices *choices, const char *key, const DynoVariant *variant,
                     const char *why)
{
  char *reason = g_strdelimit (g_strdup (why), "\t\r\n", ' ');
  g_mutex_lock (&choices->lock);
  gboolean is_new = g_hash_table_replace (choices->refused, refusal_key (key, variant), reason);
  g_mutex_unlock (&choices->lock);
  return is_new;
}

char *
dyno_choices_get_refusal (DynoChoices *choices, const char *key, const DynoVariant *variant)
{
  g_autofree char *tile = tile_key (key, variant), *whole = refusal_key (key, variant);
  g_mutex_lock (&choices->lock);
  const char *why = g_hash_table_lookup (choices->refused, tile);
  char *copy = g_strdup (why ? why : g_hash_table_lookup (choices->refused, whole));
  g_mutex_unlock (&choices->lock);
  return copy;
}

guint
dyno_choices_count_refusals (DynoChoices *choices)
{
  g_mutex_lock (&choices->lock);
  guint count = g_hash_table_size (choices->refused);
  g_mutex_unlock (&choices->lock);
  return count;
}

void
dyno_choices_forget_refusals (DynoChoices *choices)
{
  g_mutex_lock (&choices->lock);
  g_hash_table_remove_all (choices->refused);
  choices->forgot = TRUE;
  g_mutex_unlock (&choices->lock);
}

void
dyno_choices_pass (DynoChoices *choices, const char *key, const DynoVariant *variant)
{
  g_mutex_lock (&choices->lock);
  g_hash_table_add (choices->passed, tile_key (key, variant));
  g_mutex_unlock (&choices->lock);
}

gboolean
dyno_choices_has_passed (DynoChoices *choices, const char *key, const DynoVariant *variant)
{
  g_autofree char *tile = tile_key (key, variant);
  g_mutex_lock (&choices->lock);
  gboolean passed = g_hash_table_contains (choices->passed, tile);
  g_mutex_unlock (&choices->lock);
  return passed;
}

/* Files ---------------------------------------------------------------------------------------- */

/* NULL without a cache folder. */
static char *
choices_path (const char *device_key)
{
  g_autofree char *folder = dyno_cache_dir ("choices");
  if (!folder)
    return NULL;
  g_autofree char *name = g_strdup_printf ("%016" G_GINT64_MODIFIER "x.choices",
                                           dyno_hash_string (DYNO_HASH_START, device_key));
  return g_build_filename (folder, name, NULL);
}

/* Parses one line; FALSE when it is none of: key, label and time; a refusal; a passed test. */
static gboolean
parse_line (DynoChoices *choices, const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, "\t", -1);
  guint n = g_strv_length (fields);
  gboolean passed = n == 3 && g_str_equal (fields[0], PASSED),
           refused = n == 4 && g_str_equal (fields[0], REFUSED);
  DynoVariant variant;
  char *end;
  if ((n != 3 && !refused) || !*fields[0]
      || !dyno_variant_parse (fields[passed || refused ? 2 : 1], &variant))
    return FALSE;
  if (passed)
    dyno_choices_pass (choices, fields[1], &variant);
  if (refused)
    dyno_choices_refuse (choices, fields[1], &variant, fields[3]);
  if (passed || refused)
    return TRUE;
  double time_us = g_ascii_strtod (fields[2], &end);
  if (end == fields[2] || *end)
    return FALSE;
  dyno_choices_set (choices, fields[0], &variant, time_us);
  return TRUE;
}

/* The line that identifies the choices: the device and its driver, and the kernels that were
 * timed. */
static char *
key_line (const char *device_key)
{
  return g_strdup_printf ("%s; kernels %016" G_GINT64_MODIFIER "x", device_key,
                          dyno_shader_sources_hash ());
}

static gboolean
parse_text (DynoChoices *choices, const char *text, gsize length, const char *device_key)
{
  const char *body = memchr (text, '\n', length);
  if (!body || !g_str_has_prefix (text, HEAD) || !g_utf8_validate (text, (gssize) length, NULL))
    return FALSE;
  body++;
  guint64 hash = g_ascii_strtoull (text + strlen (HEAD), NULL, 16);
  if (hash != dyno_hash_bytes (DYNO_HASH_START, body, length - (gsize) (body - text)))
    return FALSE;
  g_auto (GStrv) lines = g_strsplit (body, "\n", -1);
  g_autofree char *line = key_line (device_key);
  if (!lines[0] || !g_str_equal (lines[0], line))
    return FALSE;
  for (guint i = 1; lines[i]; i++)
    if (*lines[i] && !parse_line (choices, lines[i]))
      return FALSE;
  return TRUE;
}

DynoChoices *
dyno_choices_load (const char *device_key)
{
  DynoChoices *choices = dyno_choices_new ();
  choices->device_key = g_strdup (device_key);
  g_autofree char *path = choices_path (device_key);
  g_autofree char *text = NULL;
  gsize length;
  if (path && g_file_get_contents (path, &text, &length, NULL)
      && !parse_text (choices, text, length, device_key))
    {
      g_info ("%s is not a file of choices of this device; measuring anew", path);
      g_hash_table_remove_all (choices->table);
      g_hash_table_remove_all (choices->refused);
      g_hash_table_remove_all (choices->passed);
    }
  return choices;
}

/* Under the lock. */
static GList *
sorted_keys (GHashTable *table)
{
  return g_list_sort (g_hash_table_get_keys (table), (GCompareFunc) strcmp);
}

/* Adds the refusals and passed tests that another process has written meanwhile.  Under the lock of
 * the first argument. */
static void
take_verdicts (DynoChoices *choices, const DynoChoices *others)
{
  GHashTableIter iter;
  gpointer key, why;

  g_hash_table_iter_init (&iter, others->passed);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (choices->passed, g_strdup (key));
  if (choices->forgot)
    return;
  g_hash_table_iter_init (&iter, others->refused);
  while (g_hash_table_iter_next (&iter, &key, &why))
    g_hash_table_replace (choices->refused, g_strdup (key), g_strdup (why));
}

gboolean
dyno_choices_save (DynoChoices *choices, const char *device_key, GError **error)
{
  g_autofree char *path = choices_path (device_key);
  if (!path)
    return TRUE; /* no cache folder: nothing is kept */
  g_autofree char *line = key_line (device_key);
  g_autoptr (GString) body = g_string_new (line);
  g_string_append_c (body, '\n');
  g_autoptr (DynoChoices) others = dyno_choices_load (device_key);
  g_mutex_lock (&choices->lock);
  take_verdicts (choices, others);
  g_autoptr (GList) keys = sorted_keys (choices->table), refused = sorted_keys (choices->refused),
                    passed = sorted_keys (choices->passed);
  for (GList *l = keys; l; l = l->next)
    {
      const Choice *choice = g_hash_table_lookup (choices->table, l->data);
      char number[G_ASCII_DTOSTR_BUF_SIZE], label[DYNO_VARIANT_LABEL];
      dyno_variant_print (&choice->variant, label);
      g_string_append_printf (body, "%s\t%s\t%s\n", (const char *) l->data, label,
                              g_ascii_formatd (number, sizeof number, "%.3f", choice->time_us));
    }
  for (GList *l = refused; l; l = l->next)
    g_string_append_printf (body, REFUSED "\t%s\t%s\n", (const char *) l->data,
                            (const char *) g_hash_table_lookup (choices->refused, l->data));
  for (GList *l = passed; l; l = l->next)
    g_string_append_printf (body, PASSED "\t%s\n", (const char *) l->data);
  g_mutex_unlock (&choices->lock);
  g_autofree char *text =
      g_strdup_printf (HEAD "%016" G_GINT64_MODIFIER "x\n%s",
                       dyno_hash_bytes (DYNO_HASH_START, body->str, body->len), body->str);
  return dyno_file_write_atomic (path, text, strlen (text), error);
}

void
dyno_choices_keep (DynoChoices *choices)
{
  g_autoptr (GError) error = NULL;
  if (choices->device_key && !dyno_choices_save (choices, choices->device_key, &error))
    g_info ("timings of kernels are not kept: %s", error->message);
}
