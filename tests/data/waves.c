/* SPDX-License-Identifier: MIT */
/* The built-in sequences: lengths, padding, equal on any machine and with any workers. */
#include "data-test.h"
#include "hash.h"
#include "loader-test.h"
#include <string.h>

enum { SEQUENCE, CLASS, LENGTH, SEED };

static void
test_schema (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:waves?length=40&channels=5&classes=4");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  DynoBatchSchema schema;
  DynoBatchLayout layout;

  dyno_dataset_get_schema (info, info->max_width, info->max_height, &schema);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u half turns", i + 2);

      g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[i], ==, name);
    }
  g_assert_cmpuint (schema.n_fields, ==, 4);
  g_assert_cmpint (dyno_schema_find_index (&schema, DYNO_FIELD_INPUT), ==, SEQUENCE);
  g_assert_cmpint (dyno_schema_find_index (&schema, DYNO_FIELD_TARGET), ==, CLASS);
  g_assert_cmpint (dyno_schema_find_index (&schema, DYNO_FIELD_LENGTH), ==, LENGTH);
  g_assert_cmpint (dyno_schema_find_index (&schema, DYNO_FIELD_SEED), ==, SEED);
  g_assert_cmpuint (dyno_field_axis (&schema.fields[SEQUENCE], 'T'), ==, 40);
  g_assert_cmpuint (dyno_field_axis (&schema.fields[SEQUENCE], 'F'), ==, 5);
  g_assert_true (schema.fields[SEQUENCE].variable);
  g_assert_true (dyno_batch_layout_init (&layout, &schema, 3, NULL));
  g_assert_cmpuint (layout.field_bytes[SEQUENCE], ==, 3 * 40 * 5 * 4);
  g_assert_cmpuint (info->n_classes, ==, 4);
}

/* Lengths vary from half of the longest to the longest; values come first, padding after them. */
static void
test_lengths_and_pads (void)
{
  g_autoptr (DynoDataset) dataset =
      test_open ("builtin:waves?length=33&channels=2&samples=300&classes=3");
  DynoLoaderParams params = { .batch = 16, .persistent = TRUE, .prefetch = 2, .workers = 2 };
  g_autoptr (DynoLoader) loader = make_loader (dataset, params);
  gboolean seen[34] = { FALSE };
  guint n = 0, n_lengths = 0;
  DynoBatch *batch;

  dyno_loader_start_epoch (loader, 0, 0);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    {
      for (guint i = 0; i < batch->n_valid; i++, n++)
        {
          const float *values = (const float *) batch->fields[SEQUENCE] + i * 33 * 2;
          gint32 length = ((const gint32 *) batch->fields[LENGTH])[i];

          g_assert_cmpint (length, >=, 17);
          g_assert_cmpint (length, <=, 33);
          g_assert_cmpint (class_at (batch, i), ==, (gint32) n % 3);
          g_assert_cmpint (dyno_dataset_get_label (dataset, n), ==, (gint32) n % 3);
          n_lengths += !seen[length];
          seen[length] = TRUE;
          /* Because of noise, only a few of the values are 0. */
          g_assert_true (values[2 * length - 1] != 0 || values[2 * length - 2] != 0);
          for (gint k = 0; k < 2 * 33; k++)
            g_assert_true (k < 2 * length ? values[k] > -2 && values[k] < 2 : values[k] == 0);
        }
      dyno_loader_release (loader, batch);
    }
  g_assert_cmpuint (n, ==, 300);
  g_assert_cmpuint (n_lengths, ==, 17);
}

static void
test_deterministic (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:waves?samples=100");
  g_autoptr (DynoDataset) again = test_open ("builtin:waves?samples=100");
  g_autoptr (DynoDataset) other = test_open ("builtin:waves?samples=100&seed=2");
  DynoLoaderParams params = { .batch = 16, .seed = 3, .shuffle = TRUE, .persistent = TRUE };
  guint64 first = fold_new (dataset, params, 0);

  /* A stored value, which is the same on every machine. */
  g_assert_cmphex (first, ==, G_GUINT64_CONSTANT (0xb6ac7d8420f0987c));
  g_assert_cmphex (fold_new (again, params, 0), ==, first);
  g_assert_cmphex (fold_new (other, params, 0), !=, first);
  g_assert_cmphex (dyno_dataset_get_info (again)->content_hash, ==,
                   dyno_dataset_get_info (dataset)->content_hash);
  g_assert_cmphex (dyno_dataset_get_info (other)->content_hash, !=,
                   dyno_dataset_get_info (dataset)->content_hash);
  for (params.workers = 1; params.workers < 5; params.workers += 3)
    for (params.cache = FALSE; params.cache < 2; params.cache++)
      g_assert_cmphex (fold_new (dataset, params, 0), ==, first);
}

static void
test_refuses (void)
{
  test_open_fails ("builtin:waves?length=15", DYNO_DATA_ERROR_OPTION, "length|16");
  test_open_fails ("builtin:waves?classes=11", DYNO_DATA_ERROR_OPTION, "classes|10");
  test_open_fails ("builtin:waves?size=8", DYNO_DATA_ERROR_OPTION, "size|length");
  test_open_fails ("builtin:wave", DYNO_DATA_ERROR_NOT_FOUND, "builtin:waves");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/waves/schema-has-sequence-and-length", test_schema);
  g_test_add_func ("/data/waves/pad-lies-behind-the-length", test_lengths_and_pads);
  g_test_add_func ("/data/waves/same-for-any-workers-and-machine", test_deterministic);
  g_test_add_func ("/data/waves/refuses-what-cannot-be", test_refuses);
  return g_test_run ();
}
