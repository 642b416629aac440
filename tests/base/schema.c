/* SPDX-License-Identifier: MIT */
/* Batch schemas: sizes, offsets, padding. */
#include "schema.h"
#include "base-error.h"
#include <string.h>

static const DynoBatchField sequence = { .name = "sequence",
                                         .role = DYNO_FIELD_INPUT,
                                         .element = DYNO_ELEMENT_F32,
                                         .n_axes = 2,
                                         .shape = { 5, 3 },
                                         .axes = "TF",
                                         .variable = TRUE,
                                         .pad = -2 };

static void
test_sizes_and_places (void)
{
  DynoBatchSchema schema = dyno_schema_image (DYNO_ELEMENT_U8, 5, 7, 3, 0);
  DynoBatchLayout layout;
  g_autoptr (GError) error = NULL;

  dyno_schema_add (&schema, &sequence);
  g_assert_true (dyno_batch_layout_init (&layout, &schema, 9, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (layout.n_fields, ==, 4);
  g_assert_cmpuint (layout.sample_bytes[0], ==, 5 * 7 * 3);
  g_assert_cmpuint (layout.sample_bytes[1], ==, 4);
  g_assert_cmpuint (layout.sample_bytes[2], ==, 4);
  g_assert_cmpuint (layout.sample_bytes[3], ==, 5 * 3 * 4);
  for (guint i = 0; i < 4; i++)
    {
      guint64 end = layout.offset[i] + layout.field_bytes[i];

      g_assert_cmpuint (layout.field_bytes[i], ==, 9 * layout.sample_bytes[i]);
      g_assert_cmpuint (layout.offset[i] % DYNO_FIELD_ALIGNMENT, ==, 0);
      g_assert_cmpuint (end, <=, i < 3 ? layout.offset[i + 1] : layout.total_bytes);
    }
  g_assert_cmpuint (layout.total_bytes, ==, 1024 + 256 + 256 + 768);
  g_assert_cmpuint (dyno_field_axis (&schema.fields[0], 'C'), ==, 3);
  g_assert_cmpuint (dyno_field_axis (&schema.fields[3], 'C'), ==, 1);
}

static void
test_overflow (void)
{
  /* The product of the axes overflows, or its product with the batch size, or the sum of two fields
   * that each just fit. */
  const struct {
    guint32 height, width, channels, n_values, batch;
    const char *field;
  } cases[] = { { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32, 0, 1, "image" },
                { 1 << 16, 1 << 16, 1, 0, 1 << 9, "image" },
                { 1 << 10, 1 << 10, 1 << 10, 1 << 28, 1 << 10, "values" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoBatchSchema schema = dyno_schema_image (DYNO_ELEMENT_U8, cases[i].height, cases[i].width,
                                                  cases[i].channels, cases[i].n_values);
      g_autoptr (GError) error = NULL;
      DynoBatchLayout layout;

      g_assert_false (dyno_batch_layout_init (&layout, &schema, cases[i].batch, &error));
      g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_OVERFLOW);
      g_assert_nonnull (strstr (error->message, cases[i].field));
      g_clear_error (&error);
      if (cases[i].batch > 1)
        g_assert_true (dyno_batch_layout_init (&layout, &schema, 1, &error));
    }
}

static void
test_roles (void)
{
  DynoBatchSchema classes = dyno_schema_image (DYNO_ELEMENT_U8, 1, 1, 1, 0);
  DynoBatchSchema values = dyno_schema_image (DYNO_ELEMENT_F32, 1, 1, 7, 4);
  DynoBatchSchema sequences = { 0 };

  g_assert_cmpstr (dyno_schema_find_role (&classes, DYNO_FIELD_TARGET)->name, ==, "class");
  g_assert_cmpstr (dyno_schema_find_role (&values, DYNO_FIELD_TARGET)->name, ==, "values");
  g_assert_cmpuint (dyno_schema_count_values (&classes), ==, 0);
  g_assert_cmpuint (dyno_schema_count_values (&values), ==, 4);
  g_assert_cmpuint (dyno_schema_count_channels (&values), ==, 7);
  dyno_schema_add (&sequences, &(DynoBatchField){ .name = "series",
                                                  .role = DYNO_FIELD_INPUT,
                                                  .element = DYNO_ELEMENT_F32,
                                                  .axes = "TF",
                                                  .n_axes = 2,
                                                  .shape = { 40, 5 } });
  g_assert_cmpuint (dyno_schema_count_channels (&sequences), ==, 5);
  g_assert_cmpuint (dyno_schema_count_values (&(DynoBatchSchema){ 0 }), ==, 0);
  g_assert_cmpuint (dyno_schema_count_channels (&(DynoBatchSchema){ 0 }), ==, 0);
  g_assert_cmpint (dyno_schema_find_index (&values, DYNO_FIELD_SEED), ==, 2);
  g_assert_null (dyno_schema_find_role (&values, DYNO_FIELD_LENGTH));
  g_assert_cmpint (dyno_schema_find_index (&values, DYNO_FIELD_LENGTH), ==, -1);
}

static void
test_mask (void)
{
  const DynoBatchField image = { .name = "image",
                                 .role = DYNO_FIELD_INPUT,
                                 .element = DYNO_ELEMENT_U8,
                                 .n_axes = 3,
                                 .shape = { 5, 7, 3 },
                                 .axes = "HWC" };
  DynoBatchSchema schema = { 0 }, classes = dyno_schema_image (DYNO_ELEMENT_U8, 5, 7, 3, 0);
  DynoBatchLayout layout;
  g_autoptr (GError) error = NULL;

  dyno_schema_add (&schema, &image);
  g_assert_null (dyno_schema_find_mask (&schema));
  dyno_schema_add_mask (&schema, 5, 7);
  dyno_schema_add_seed (&schema);
  g_assert_true (dyno_schema_find_mask (&schema) == &schema.fields[1]);
  g_assert_true (dyno_schema_find_role (&schema, DYNO_FIELD_TARGET) == &schema.fields[1]);
  g_assert_cmpuint (dyno_schema_count_values (&schema), ==, 0);
  g_assert_cmpuint (dyno_schema_count_labels (&schema), ==, 0);
  g_assert_cmpuint (dyno_field_axis (&schema.fields[1], 'H'), ==, 5);
  g_assert_cmpuint (dyno_field_axis (&schema.fields[1], 'W'), ==, 7);
  dyno_batch_layout_init (&layout, &schema, 2, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (layout.sample_bytes[1], ==, 35);
  const DynoBatchSchema masked = dyno_schema_image_with_mask (DYNO_ELEMENT_U8, 5, 7, 3);
  g_assert_cmpuint (masked.n_fields, ==, 3);
  for (guint i = 0; i < masked.n_fields; i++)
    {
      const DynoBatchField *a = &masked.fields[i], *b = &schema.fields[i];

      g_assert_cmpstr (a->name, ==, b->name);
      g_assert_cmpint (a->role, ==, b->role);
      g_assert_cmpint (a->element, ==, b->element);
      g_assert_cmpstr (a->axes, ==, b->axes);
      g_assert_cmpmem (a->shape, a->n_axes * sizeof a->shape[0], b->shape,
                       b->n_axes * sizeof b->shape[0]);
    }
  /* Neither a class id nor values are a mask. */
  g_assert_null (dyno_schema_find_mask (&classes));
  schema = dyno_schema_image (DYNO_ELEMENT_U8, 5, 7, 3, 35);
  g_assert_null (dyno_schema_find_mask (&schema));
}

static void
test_pad (void)
{
  float values[17];

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = (float) i + 1;
  dyno_field_pad (&sequence, values + 1, 2);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    g_assert_cmpfloat (values[i], ==, i >= 7 && i < 16 ? -2 : (float) i + 1);
}

/* Labels are floats as values are, and no values. */
static void
test_labels (void)
{
  DynoBatchSchema schema = dyno_schema_image_with_labels (DYNO_ELEMENT_U8, 8, 8, 3, 5);

  g_assert_cmpuint (dyno_schema_count_labels (&schema), ==, 5);
  g_assert_cmpuint (dyno_schema_count_values (&schema), ==, 0);
  g_assert_cmpuint (dyno_schema_count_floats (&schema), ==, 5);
  schema = dyno_schema_image (DYNO_ELEMENT_U8, 8, 8, 3, 5);
  g_assert_cmpuint (dyno_schema_count_labels (&schema), ==, 0);
  g_assert_cmpuint (dyno_schema_count_floats (&schema), ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/schema/fields-lie-aligned-and-apart", test_sizes_and_places);
  g_test_add_func ("/base/schema/refuses-overflow", test_overflow);
  g_test_add_func ("/base/schema/finds-fields-by-role", test_roles);
  g_test_add_func ("/base/schema/a-mask-has-a-class-a-pixel", test_mask);
  g_test_add_func ("/base/schema/labels", test_labels);
  g_test_add_func ("/base/schema/pads-past-the-length", test_pad);
  return g_test_run ();
}
