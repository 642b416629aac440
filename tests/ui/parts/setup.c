/* SPDX-License-Identifier: MIT */
/* Opening data sets. */
#include "parts.h"
#include "dataopener.h"

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

void
parts_add_setup (void)
{
  g_test_add_func ("/ui/parts/only-the-last-opening-is-reported",
                   test_only_the_last_opening_is_reported);
}
