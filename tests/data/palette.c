/* SPDX-License-Identifier: MIT */
/* The colours of classes. */
#include "palette.h"
#include <string.h>

/* The expected colours are from the table that VOC's development kit prints. */
static void
test_colours (void)
{
  static const struct {
    guint8 id, rgb[3];
  } cases[] = { { 0, { 0, 0, 0 } },        { 1, { 128, 0, 0 } },      { 2, { 0, 128, 0 } },
                { 4, { 0, 0, 128 } },      { 7, { 128, 128, 128 } },  { 8, { 64, 0, 0 } },
                { 15, { 192, 128, 128 } }, { 20, { 0, 64, 128 } },    { 64, { 32, 0, 0 } },
                { 128, { 0, 32, 0 } },     { 255, { 224, 224, 192 } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 rgb[3];

      dyno_palette_get (cases[i].id, rgb);
      g_assert_cmpmem (rgb, 3, cases[i].rgb, 3);
    }
}

static void
test_apart (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint id = 0; id < 256; id++)
    {
      guint8 rgb[3];

      dyno_palette_get ((guint8) id, rgb);
      g_assert_true (g_hash_table_add (
          seen, GUINT_TO_POINTER ((guint) rgb[0] << 16 | (guint) rgb[1] << 8 | rgb[2])));
    }
}

static void
test_blend (void)
{
  guint8 rgb[] = { 10, 20, 30, 10, 20, 30, 255, 255, 255 };
  static const guint8 ids[] = { 1, 0, 255 }, expected[] = { 69, 10, 15, 10, 20, 30, 240, 240, 224 };

  dyno_palette_blend (rgb, ids, 3);
  g_assert_cmpmem (rgb, 9, expected, 9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/palette/colours-are-vocs", test_colours);
  g_test_add_func ("/data/palette/no-two-classes-have-one-colour", test_apart);
  g_test_add_func ("/data/palette/masks-lie-half-over-pictures", test_blend);
  return g_test_run ();
}
