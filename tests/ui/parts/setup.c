/* SPDX-License-Identifier: MIT */
/* Opening data sets, and the state of the next run. */
#include "parts.h"
#include "arrays.h"
#include "dataopener.h"
#include "onnx-test.h"
#include "setup.h"
#include <string.h>

typedef struct {
  GString *opened; /* a line for each that was opened */
  DynoDataOpener *opener;
  gboolean was_opening; /* another was being opened when one was opened */
} Openings;

static void
scanned (gpointer data)
{
}

static void
opened (const char *location, DynoDataset *dataset, const GError *error, gpointer data)
{
  Openings *openings = data;

  g_string_append_printf (openings->opened, "%s%s\n", location, dataset ? "" : " failed");
  openings->was_opening |= dyno_data_opener_get_location (openings->opener, NULL) != NULL;
}

static gboolean
is_over (gpointer data)
{
  return dyno_data_opener_get_location (((Openings *) data)->opener, NULL) == NULL;
}

/* Of several openings only the last one is reported, and it is under way until then. */
static void
test_only_the_last_opening_is_reported (void)
{
  static const DynoDataOpenerWatch watch = { scanned, opened };
  g_autoptr (GString) lines = g_string_new (NULL);
  Openings openings = { .opened = lines };
  DynoDatasetParams params = { 0 };

  openings.opener = dyno_data_opener_new (&watch, &openings);
  g_assert_false (dyno_data_opener_cancel (openings.opener));
  for (guint i = 0; i < 20; i++)
    dyno_data_opener_open (openings.opener, "/nowhere", &params);
  dyno_data_opener_open (openings.opener, "builtin:waves", &params);
  g_assert_cmpstr (dyno_data_opener_get_location (openings.opener, NULL), ==, "builtin:waves");
  parts_wait (is_over, &openings);
  g_assert_cmpstr (lines->str, ==, "builtin:waves\n");
  dyno_data_opener_open (openings.opener, "/nowhere", &params);
  parts_wait (is_over, &openings);
  g_assert_cmpstr (lines->str, ==, "builtin:waves\n/nowhere failed\n");
  g_assert_false (openings.was_opening);
  dyno_data_opener_open (openings.opener, "/nowhere", &params);
  g_assert_true (dyno_data_opener_cancel (openings.opener));
  dyno_data_opener_free (openings.opener);
}

static gboolean
is_settled (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL);
}

/* Waits until no data set is being opened; fails unless there was one exactly where it is expected,
 * and unless the one in use is read as the model reads it. */
static void
assert_opens (DynoSetup *setup, gboolean expected)
{
  const char *model = dyno_setup_get_job (setup)->model;

  g_assert_true ((dyno_setup_get_opening (setup, NULL) != NULL) == expected);
  parts_wait (is_settled, setup);
  g_assert_cmpstr (dyno_setup_get_info (setup)->axes, ==,
                   strcmp (model, "lstm_stack") == 0 || strcmp (model, "gru_stack") == 0 ? "NTF"
                                                                                         : "NHW");
}

/* A folder with 16 samples of 4 x 2 numbers in two classes.  g_free. */
static char *
make_arrays (const char *name)
{
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);
  float x[16 * 4 * 2];
  guint8 y[16];

  for (guint i = 0; i < G_N_ELEMENTS (x); i++)
    x[i] = (float) i;
  for (guint8 i = 0; i < G_N_ELEMENTS (y); i++)
    y[i] = i % 2;
  arrays_write (folder, "X.npy", "<f4", "(16, 4, 2)", x, sizeof x);
  arrays_write (folder, "y.npy", "|u1", "(16,)", y, sizeof y);
  return folder;
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

/* The open data set is opened again exactly where a change reads it otherwise, be it by a setting
 * or by the model, and so it is when the change is undone and done again. */
static void
test_data_are_opened_again_where_they_read_otherwise (void)
{
  static const struct {
    const char *model;
    gboolean one_class;
    double lr;
    gboolean opens;
  } changes[] = {
    { "mlp", FALSE, 0.25, FALSE },        { "mlp", TRUE, 0.25, TRUE },
    { "lstm_stack", TRUE, 0.25, TRUE },   { "simplecnn", FALSE, 0.125, TRUE },
    { "resnet18", FALSE, 0.125, FALSE },  { "lstm_stack", FALSE, 0.125, TRUE },
    { "gru_stack", FALSE, 0.125, FALSE },
  };
  DynoSetup *setup = dyno_setup_new ();
  g_autofree char *folder = make_arrays ("read otherwise");
  guint n = G_N_ELEMENTS (changes);

  dyno_setup_set_model (setup, "mlp");
  dyno_setup_open_data (setup, folder);
  assert_opens (setup, TRUE);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (setup));
      g_free (job->model);
      job->model = g_strdup (changes[i].model);
      job->settings.data_one_class = changes[i].one_class;
      job->settings.lr = changes[i].lr;
      dyno_setup_set_job (setup, job);
      assert_opens (setup, changes[i].opens);
    }
  for (guint k = 0; k < 2; k++)
    {
      for (guint i = n; i-- > 0;)
        {
          g_assert_true (dyno_setup_step (setup, TRUE));
          assert_opens (setup, changes[i].opens);
        }
      for (guint i = 0; i < n; i++)
        {
          g_assert_true (dyno_setup_step (setup, FALSE));
          assert_opens (setup, changes[i].opens);
          g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, changes[i].model);
        }
    }
  /* All settings at once and a single one do the same. */
  DynoSettings settings = dyno_setup_get_job (setup)->settings;
  settings.lr = 0.5;
  dyno_setup_set_settings (setup, &settings);
  assert_opens (setup, FALSE);
  settings.data_one_class = TRUE;
  dyno_setup_set_settings (setup, &settings);
  assert_opens (setup, TRUE);
  g_assert_true (dyno_setup_set_number (setup, "lr", 0.25, NULL));
  assert_opens (setup, FALSE);
  g_assert_true (dyno_setup_set_number (setup, "data.one_class", 0, NULL));
  assert_opens (setup, TRUE);
  drop (setup);
}

/* A change while a data set is being opened opens that one again, not the one in use. */
static void
test_a_change_opens_what_is_being_opened (void)
{
  g_autofree char *first = make_arrays ("first"), *second = make_arrays ("second");
  DynoSetup *setup = dyno_setup_new ();

  dyno_setup_set_model (setup, "mlp");
  dyno_setup_open_data (setup, first);
  dyno_setup_set_model (setup, "lstm_stack");
  assert_opens (setup, TRUE);
  dyno_setup_open_data (setup, second);
  g_assert_true (dyno_setup_set_number (setup, "data.one_class", 1, NULL));
  g_assert_cmpstr (dyno_setup_get_opening (setup, NULL), ==, second);
  dyno_setup_set_model (setup, "simplecnn");
  g_assert_cmpstr (dyno_setup_get_opening (setup, NULL), ==, second);
  assert_opens (setup, TRUE);
  g_assert_cmpstr (dyno_setup_get_job (setup)->data, ==, second);
  dyno_setup_open_data (setup, "builtin:waves?samples=16");
  parts_wait (is_settled, setup);
  dyno_setup_set_model (setup, "mlp");
  g_assert_true (dyno_setup_set_number (setup, "data.one_class", 0, NULL));
  g_assert_null (dyno_setup_get_opening (setup, NULL)); /* generated data are the same anyway */
  dyno_setup_open_data (setup, first);
  dyno_setup_set_model (setup, "gru_stack");
  assert_opens (setup, TRUE);
  g_assert_cmpstr (dyno_setup_get_job (setup)->data, ==, first);
  drop (setup);
}

/* Sequences are also what a network from a file takes whose input has three axes. */
static void
test_a_network_of_sequences_reads_sequences (void)
{
  g_autofree char *folder = make_arrays ("for a network"),
                  *path = g_build_filename (g_get_home_dir (), "sequences.onnx", NULL);
  g_autoptr (GByteArray) file =
      onnx_test_text ("in x N,4,2;out y N,2;w wt 2,8;Flatten - x f;Gemm - f,wt y transB=1");
  g_autoptr (GError) error = NULL;
  DynoSetup *setup = dyno_setup_new ();

  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  const DynoModel *model = dyno_model_open (path, NULL, &error);
  g_assert_no_error (error);
  dyno_setup_set_model (setup, "mlp");
  dyno_setup_open_data (setup, folder);
  assert_opens (setup, TRUE);
  dyno_setup_set_model (setup, model->name);
  g_assert_nonnull (dyno_setup_get_opening (setup, NULL));
  parts_wait (is_settled, setup);
  g_assert_cmpstr (dyno_setup_get_info (setup)->axes, ==, "NTF");
  dyno_setup_set_model (setup, "lstm_stack");
  assert_opens (setup, FALSE);
  dyno_setup_set_model (setup, model->name);
  g_assert_null (dyno_setup_get_opening (setup, NULL));
  dyno_setup_set_model (setup, "mlp");
  assert_opens (setup, TRUE);
  drop (setup);
}

void
parts_add_setup (void)
{
  g_test_add_func ("/ui/parts/a-network-of-sequences-reads-sequences",
                   test_a_network_of_sequences_reads_sequences);
  g_test_add_func ("/ui/parts/a-change-opens-what-is-being-opened",
                   test_a_change_opens_what_is_being_opened);
  g_test_add_func ("/ui/parts/data-are-opened-again-where-they-read-otherwise",
                   test_data_are_opened_again_where_they_read_otherwise);
  g_test_add_func ("/ui/parts/only-the-last-opening-is-reported",
                   test_only_the_last_opening_is_reported);
}
