/* SPDX-License-Identifier: MIT */
/* Settings are written and read exactly, whatever the values, the names and the locale; and files
 * may have any content. */
#include "exporter.h"
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *folder, *path;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = g_dir_make_tmp ("dyno-export-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "settings.ini", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (place->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (place->folder, name, NULL);
      g_remove (path);
    }
  g_rmdir (place->folder);
  g_free (place->folder);
  g_free (place->path);
}

static void
set (DynoSettings *settings, const char *key, const char *value)
{
  g_autoptr (GError) error = NULL;
  dyno_settings_set (settings, key, value, &error);
  g_assert_no_error (error);
}

static DynoJob *
make_job (const char *data)
{
  DynoJob *job = dyno_job_new ();

  job->data = g_strdup (data);
  g_free (job->model);
  job->model = g_strdup ("resnet18");
  job->preset = g_strdup ("rtx3060");
  set (&job->settings, "batch_size", "37");
  set (&job->settings, "amp", "true");
  set (&job->settings, "lr", "0.0123456789012345");
  set (&job->settings, "label_smoothing", "0.1");
  set (&job->settings, "vram_budget", "12GB");
  set (&job->settings, "optimizer", "adamw");
  set (&job->settings, "model.width", "0.25");
  return job;
}

static void
write_job (const DynoJob *job, const char *path, gboolean force)
{
  g_autoptr (GError) error = NULL;
  DynoExportContext context = {
    .job = job, .device = "Card\nwith a line break", .samples_per_s = 123.456, .vram_bytes = 1 << 30
  };

  dyno_export_file (dyno_exporter_find ("keyfile"), &context, path, force, &error);
  g_assert_no_error (error);
}

static void
test_reads_back (Place *place, gconstpointer data)
{
  static const char *const names[] = { "/data/photos", " leading and trailing ",
                                       "a;b=c#d\\e",   "tab\tnew\nline",
                                       "ä 漢",         "\xff\xfe raw" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (DynoJob) job = make_job (names[i]), back = dyno_job_new ();
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;

      write_job (job, place->path, TRUE);
      dyno_settings_file_read (place->path, back, warnings, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (warnings->len, ==, 0);
      g_assert_cmpstr (back->data, ==, names[i]);
      g_assert_cmpstr (back->model, ==, "resnet18");
      g_assert_cmpstr (back->preset, ==, "rtx3060");
      g_assert_null (back->targets);
      g_assert_true (dyno_settings_equal (&job->settings, &back->settings));
    }
}

static void
test_json_reads_back (Place *place, gconstpointer data)
{
  static const char *const names[] = { "/data/photos", "a;b=c#d\\e", "tab\tnew\nline \"quoted\"",
                                       "ä 漢" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (DynoJob) job = make_job (names[i]), back = dyno_job_new ();
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      DynoExportContext context = { .job = job, .device = "Card" };

      dyno_export_file (dyno_exporter_find ("json"), &context, place->path, TRUE, &error);
      g_assert_no_error (error);
      dyno_settings_file_read (place->path, back, warnings, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (warnings->len, ==, 0);
      g_assert_cmpstr (back->data, ==, names[i]);
      g_assert_cmpstr (back->model, ==, "resnet18");
      g_assert_true (dyno_settings_equal (&job->settings, &back->settings));
    }
}

/* Every key of the table is in the file, so that later changes of defaults do not change old
 * runs. */
static void
test_holds_every_key (Place *place, gconstpointer data)
{
  g_autoptr (DynoJob) job = make_job ("x");
  g_autoptr (GKeyFile) file = g_key_file_new ();
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  write_job (job, place->path, FALSE);
  g_assert_true (g_key_file_load_from_file (file, place->path, G_KEY_FILE_NONE, NULL));
  for (guint i = 0; i < n; i++)
    g_assert_true (g_key_file_has_key (file, "settings", table[i].key, NULL));
}

static char *
write_in_locale (const char *id, const char *locale)
{
  g_autoptr (DynoJob) job = make_job ("x");
  DynoExportContext context = {
    .job = job, .device = "Card", .samples_per_s = 1234.5, .vram_bytes = 3000000000
  };
  char *text;

  if (!setlocale (LC_ALL, locale))
    return NULL;
  text = dyno_exporter_find (id)->write (&context);
  setlocale (LC_ALL, "C");
  return text;
}

static void
test_any_locale (void)
{
  static const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
  static const char *const formats[] = { "keyfile", "json" };
  gboolean found = FALSE;

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    {
      g_autofree char *expected = write_in_locale (formats[f], "C");
      for (guint i = 0; i < G_N_ELEMENTS (locales); i++)
        {
          g_autofree char *text = write_in_locale (formats[f], locales[i]);
          if (!text)
            continue;
          found = TRUE;
          g_assert_cmpstr (text, ==, expected);
        }
    }
  if (!found)
    g_test_skip ("no locale with comma decimals is installed");
}

static void
test_json (void)
{
  g_autoptr (DynoJob) job = make_job ("/data");
  DynoExportContext context = { .job = job };
  g_autofree char *text = dyno_exporter_find ("json")->write (&context);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  JsonObject *root, *settings;

  json_parser_load_from_data (parser, text, -1, &error);
  g_assert_no_error (error);
  root = json_node_get_object (json_parser_get_root (parser));
  g_assert_cmpstr (
      json_object_get_string_member (json_object_get_object_member (root, "run"), "model"), ==,
      "resnet18");
  settings = json_object_get_object_member (root, "settings");
  g_assert_cmpint (json_object_get_int_member (settings, "batch_size"), ==, 37);
  g_assert_true (json_object_get_boolean_member (settings, "amp"));
  g_assert_cmpfloat (json_object_get_double_member (settings, "lr"), ==, 0.0123456789012345);
  g_assert_cmpstr (json_object_get_string_member (settings, "optimizer"), ==, "adamw");
  g_assert_cmpint (json_object_get_int_member (settings, "vram_budget"), ==,
                   G_GINT64_CONSTANT (12884901888));
  g_assert_true (json_object_get_null_member (root, "card"));
}

static void
test_keeps_existing (Place *place, gconstpointer data)
{
  g_autoptr (DynoJob) job = make_job ("x");
  DynoExportContext context = { .job = job };
  const DynoExporter *exporter = dyno_exporter_find ("keyfile");
  g_autofree char *target = g_build_filename (place->folder, "target", NULL), *content = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (place->path, "mine", -1, NULL));
  g_assert_false (dyno_export_file (exporter, &context, place->path, FALSE, &error));
  g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS);
  g_assert_true (g_file_get_contents (place->path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "mine");
  g_clear_pointer (&content, g_free);
  g_clear_error (&error);

  /* A link is neither followed nor written through, even if overwriting is forced. */
  g_remove (place->path);
  g_assert_true (g_file_set_contents (target, "theirs", -1, NULL));
  g_assert_cmpint (symlink (target, place->path), ==, 0);
  g_assert_false (dyno_export_file (exporter, &context, place->path, FALSE, &error));
  g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS);
  write_job (job, place->path, TRUE);
  g_assert_true (g_file_get_contents (target, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "theirs");
  g_assert_false (g_file_test (place->path, G_FILE_TEST_IS_SYMLINK));
}

static void
test_bad_values_keep_defaults (Place *place, gconstpointer data)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autofree char *content = NULL;
  static const char text[] = "[run]\nmodel=mlp\nwindow=7\n[settings]\nbatch_size=nan\nlr=-"
                             "1\nepochs=1e99\nunknown=3\nseed=5\n[more]\n";
  DynoSettings defaults;

  dyno_settings_init (&defaults);
  g_assert_true (g_file_set_contents (place->path, text, -1, NULL));
  dyno_settings_file_read (place->path, job, warnings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (warnings->len, ==, 6);
  g_assert_nonnull (strstr (warnings->pdata[0], "settings.ini"));
  g_assert_cmpstr (job->model, ==, "mlp");
  g_assert_cmpint (job->settings.seed, ==, 5);
  defaults.seed = 5;
  g_assert_true (dyno_settings_equal (&job->settings, &defaults));
  g_assert_true (g_file_get_contents (place->path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, text);
}

/* JSON may nest to a depth of 8 and have any brackets in its strings; a file may have a mebibyte.
 * Each unknown group is noted. */
static void
test_limits (Place *place, gconstpointer data)
{
  static const struct {
    const char *text;
    gboolean good;
  } cases[] = {
    { "{\"settings\": {\"seed\": 5}, \"x\": [[[[[[[1]]]]]]]}", TRUE },
    { "{\"settings\": {\"seed\": 5}, \"x\": [[[[[[[[1]]]]]]]]}", FALSE },
    { "{\"x\": [[1], [1], [1], {\"y\": 1}, [1], [1], [1], [1], [1]], \"settings\": {\"seed\": 5}}",
      TRUE },
    { "{\"settings\": {\"seed\": 5}, \"x\": \"[[[[\\\"[[[[[[[[\"}", TRUE },
    { "{\"x\": \"\\\\\", \"settings\": {\"seed\": 5}, \"y\": [[[[[[[[1]]]]]]]]}", FALSE },
    { "{\"settings\": {\"seed\": 5, \"lr\": null}, \"run\": 3}", TRUE },
    { "[first]\n[run]\n[settings]\nseed=5\n[last]\n", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);

      g_assert_true (g_file_set_contents (place->path, cases[i].text, -1, NULL));
      g_assert_cmpint (dyno_settings_file_read (place->path, job, warnings, NULL), ==,
                       cases[i].good);
      g_assert_cmpint (job->settings.seed == 5, ==, cases[i].good);
      g_assert_cmpuint (warnings->len, ==, cases[i].text[0] == '[' ? 2 : 0);
    }
  for (guint more = 0; more < 2; more++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      g_autofree char *text = g_malloc ((1 << 20) + more);
      static const char end[] = "\n[settings]\nseed=5\n";
      gsize size = (1 << 20) + more;

      memset (text, '#', size);
      memcpy (text + size - strlen (end), end, strlen (end));
      g_assert_true (g_file_set_contents (place->path, text, (gssize) size, NULL));
      g_assert_cmpint (dyno_settings_file_read (place->path, job, NULL, NULL), ==, more == 0);
    }
}

static void
test_refuses_no_key_file (Place *place, gconstpointer data)
{
  static const char *const bad[] = { "", "not a key file", "[other]\na=1\n", "{\"settings\": 1}" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (place->path, bad[i], -1, NULL));
      g_assert_false (dyno_settings_file_read (place->path, job, NULL, &error));
      g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ);
      g_assert_nonnull (strstr (error->message, "settings.ini"));
    }
}

static void
test_random_bytes (Place *place, gconstpointer data)
{
  g_autoptr (DynoJob) good = make_job ("/data");
  g_autofree char *text = NULL;
  gsize size;
  GRand *rand = g_rand_new_with_seed (11);

  write_job (good, place->path, TRUE);
  g_assert_true (g_file_get_contents (place->path, &text, &size, NULL));
  for (guint round = 0; round < 500; round++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      g_autofree char *changed = g_memdup2 (text, size);
      guint changes = (guint) g_rand_int_range (rand, 1, round % 2 ? 5 : 100);

      for (guint i = 0; i < changes; i++)
        changed[g_rand_int_range (rand, 0, (gint32) size)] = (char) g_rand_int_range (rand, 0, 256);
      g_assert_true (g_file_set_contents (place->path, changed, (gssize) size, NULL));
      g_assert_true (dyno_settings_file_read (place->path, job, warnings, &error) == (!error));
    }
  g_rand_free (rand);
}

static void
test_formats (void)
{
  g_assert_nonnull (dyno_exporter_find ("keyfile"));
  g_assert_nonnull (dyno_exporter_find ("json"));
  g_assert_null (dyno_exporter_find ("nothing"));
  for (guint i = 0; dyno_exporter_list ()[i]; i++)
    g_assert_true (dyno_exporter_find (dyno_exporter_list ()[i]->id) == dyno_exporter_list ()[i]);
}

int
main (int argc, char **argv)
{
  g_setenv ("SOURCE_DATE_EPOCH", "1700000000", TRUE);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/export/settings-file/" name, Place, NULL, set_up, function, tear_down)
  ADD ("reads-back-exactly", test_reads_back);
  ADD ("json-reads-back-exactly", test_json_reads_back);
  ADD ("holds-every-key", test_holds_every_key);
  ADD ("keeps-what-exists", test_keeps_existing);
  ADD ("bad-values-keep-defaults", test_bad_values_keep_defaults);
  ADD ("limits", test_limits);
  ADD ("refuses-what-is-no-key-file", test_refuses_no_key_file);
  ADD ("survives-random-bytes", test_random_bytes);
  g_test_add_func ("/export/settings-file/same-in-any-locale", test_any_locale);
  g_test_add_func ("/export/json/types-and-values", test_json);
  g_test_add_func ("/export/exporter/list", test_formats);
  return g_test_run ();
}
