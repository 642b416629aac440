/* SPDX-License-Identifier: MIT */
/* .mat files: every item of every accepted array is read. */
#include "matfile.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  static const char *const wanted[] = { "Pose_Para", "pt2d", "pt3d_68", "a", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) arrays = dyno_mat_parse (data, size, wanted, &error);
  volatile double sum = 0;

  g_assert_true ((arrays != NULL) != (error != NULL));
  for (guint i = 0; arrays && i < arrays->len; i++)
    {
      const DynoMatArray *array = g_ptr_array_index (arrays, i);
      guint64 n = 1;
      for (guint k = 0; k < array->n_dims; k++)
        n *= array->shape[k];
      g_assert_cmpuint (n, ==, array->n_items);
      for (guint64 k = 0; k < n; k++)
        sum = sum + array->items[k];
    }
  return 0;
}
