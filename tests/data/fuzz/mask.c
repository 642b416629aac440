/* SPDX-License-Identifier: MIT */
/* The files beside images: masks, the names of their classes, and COCO annotations.  The first byte
 * chooses one of them. */
#include "cocofile.h"
#include "mask.h"
#include "masknames.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIDE 24

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
read_names (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  DynoMaskNames names;

  dyno_mask_names_init (&names);
  if (dyno_mask_names_parse (&names, "classes.txt", text, &error))
    {
      g_assert_cmpuint (names.names->len, <=, DYNO_MASK_MAX_CLASSES);
      g_assert_true (names.colours->len == 0 || names.colours->len == names.names->len);
    }
  dyno_mask_names_clear (&names);
}

static void
read_mask (const guint8 *data, gsize size)
{
  static const DynoMaskTable table;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoImageFacts image;
  DynoMaskFacts facts;
  guint8 out[16 * 16];
  gsize at;

  g_byte_array_append (scratch, data, (guint) size);
  if (!dyno_image_probe (data, size, &image, &error)
      || (guint64) image.width * image.height >= 1 << 18
      || !dyno_mask_decode (scratch, 0, size, &facts, &at, &error))
    return;
  for (guint8 turn = 1; turn <= 8; turn += 5)
    {
      DynoResizeWindow window = dyno_mask_cover (turn >= 5 ? facts.height : facts.width,
                                                 turn >= 5 ? facts.width : facts.height, 16, 16);
      dyno_mask_sample (scratch->data + at, &facts, turn, &window, &table, 16, 16, out);
    }
}

static void
read_annotations (const guint8 *data, gsize size)
{
  int fd = memfd_create ("data", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr (DynoCocoFile) file = NULL;
  guint8 ids[SIDE * SIDE] = { 0 };

  if (write (fd, data, size) == (gssize) size)
    file = dyno_coco_file_open (path, NULL);
  for (guint i = 0; file && i < MIN (file->annotations->len, 8); i++)
    dyno_coco_file_draw (file, &g_array_index (file->annotations, DynoCocoAnnotation, i), SIDE,
                         SIDE, 1, ids, NULL);
  close (fd);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  if (size < 2)
    return 0;
  switch (data[0] % 3)
    {
    case 0:
      read_names (data + 1, size - 1);
      break;
    case 1:
      read_mask (data + 1, size - 1);
      break;
    default:
      read_annotations (data + 1, size - 1);
      break;
    }
  return 0;
}
