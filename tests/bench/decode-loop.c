/* SPDX-License-Identifier: MIT */
/* decode-loop FOLDER [SIZE] [PASSES]: the rate at which a worker decodes a folder of folders of
 * JPEG files, compared with bare loops over the same files in memory.  Prints images per second of
 * CPU time of one thread, and the ratio to the bare loop's rate for each way; the ways take turns,
 * so that other load on the machine slows them all equally. */
#include "crop.h"
#include "dataset.h"
#include "image-codec.h"
#include "loader.h"
#include "resize.h"
#include <stdlib.h>
#include <time.h>
#include <turbojpeg.h>

typedef struct {
  GPtrArray *files; /* GByteArray * */
  guint32 size;
  GByteArray *scratch;
  guint8 *out, *pixels, *working;
  tjhandle handle;
  DynoLoader *loader, *crop_loader;
} Bench;

static double
cpu_seconds (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void
add_files (Bench *b, const char *folder, guint depth)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      guint8 *bytes;
      gsize size;

      if (g_file_test (path, G_FILE_TEST_IS_DIR) && depth < 8)
        add_files (b, path, depth + 1);
      else if (g_file_get_contents (path, (char **) &bytes, &size, NULL))
        {
          DynoImageFacts facts;

          if (dyno_image_probe (bytes, size, &facts, NULL) && facts.type == DYNO_IMAGE_JPEG)
            g_ptr_array_add (b->files, g_byte_array_new_take (bytes, size));
          else
            g_free (bytes);
        }
    }
}

/* One decoder handle and one buffer, without any checks. */
static void
decode_bare (Bench *b, gboolean resample)
{
  for (guint i = 0; i < b->files->len; i++)
    {
      const GByteArray *file = b->files->pdata[i];
      DynoImageFacts facts;
      guint32 width, height;

      if (!dyno_image_probe (file->data, file->len, &facts, NULL))
        abort ();
      dyno_jpeg_choose_size (&facts, b->size, b->size, &width, &height);
      tjDecompress2 (b->handle, file->data, file->len, b->pixels, (int) width, (int) width * 3,
                     (int) height, TJPF_RGB, 0);
      if (resample)
        dyno_resize_cover (b->pixels, width, height, 3, b->size, b->size, b->out, b->working);
    }
}

static void
bare_decode (Bench *b)
{
  decode_bare (b, FALSE);
}

static void
bare_decode_and_resample (Bench *b)
{
  decode_bare (b, TRUE);
}

static void
whole_decoder (Bench *b)
{
  for (guint i = 0; i < b->files->len; i++)
    {
      const GByteArray *file = b->files->pdata[i];

      g_byte_array_set_size (b->scratch, 0);
      g_byte_array_append (b->scratch, file->data, file->len);
      if (!dyno_image_decode (b->scratch, file->len, b->size, b->size, b->out, NULL))
        abort ();
    }
}

static void
decode_crops (Bench *b, double area)
{
  const DynoCrop crop = { area, 4.0 / 3 };
  static guint32 seed;

  for (guint i = 0; i < b->files->len; i++)
    {
      const GByteArray *file = b->files->pdata[i];

      g_byte_array_set_size (b->scratch, 0);
      g_byte_array_append (b->scratch, file->data, file->len);
      if (!dyno_image_decode_crop (b->scratch, file->len, NULL, &crop, seed++ * 2654435761u,
                                   b->size, b->size, b->out, NULL))
        abort ();
    }
}

static void
small_crops (Bench *b)
{
  decode_crops (b, 0.08);
}

static void
large_crops (Bench *b)
{
  decode_crops (b, 0.5);
}

static void
take_epoch (DynoLoader *loader)
{
  static guint64 epoch;
  DynoBatch *batch;

  dyno_loader_start_epoch (loader, epoch++, 0);
  while ((batch = dyno_loader_next (loader, NULL, NULL, NULL)))
    dyno_loader_release (loader, batch);
}

static void
loader_without_workers (Bench *b)
{
  take_epoch (b->loader);
}

static void
loader_of_crops (Bench *b)
{
  take_epoch (b->crop_loader);
}

static gboolean
make_loader (Bench *b, const char *folder, GError **error)
{
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (folder, NULL, NULL, NULL, NULL, error);
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  DynoLoaderParams params = { .batch = 32, .width = b->size, .height = b->size, .shuffle = TRUE };

  if (!dataset)
    return FALSE;
  for (guint32 i = 0; i < dyno_dataset_get_info (dataset)->n_samples; i++)
    g_array_append_val (indices, i);
  b->loader = dyno_loader_new (dataset, indices, &params, error);
  params.crop = (DynoCrop){ 0.08, 4.0 / 3 };
  b->crop_loader = b->loader ? dyno_loader_new (dataset, indices, &params, error) : NULL;
  return b->crop_loader != NULL;
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*pass) (Bench *b);
  } ways[] = { { "turbojpeg alone", bare_decode },
               { "turbojpeg and resample", bare_decode_and_resample },
               { "decoder with its checks", whole_decoder },
               { "loader, no workers", loader_without_workers },
               { "crops from 0.08 of the area", small_crops },
               { "crops from 0.5 of the area", large_crops },
               { "loader of crops from 0.08", loader_of_crops } };
  double seconds[G_N_ELEMENTS (ways)] = { 0 };
  Bench b = { .files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_byte_array_unref),
              .size = argc > 2 ? (guint32) atoi (argv[2]) : 224,
              .scratch = g_byte_array_new (),
              .handle = tjInitDecompress () };
  int passes = argc > 3 ? atoi (argv[3]) : 5;
  const char *only = g_getenv ("DYNO_BENCH_WAY"); /* for profiling only one way, numbered from 0 */
  g_autoptr (GError) error = NULL;

  if (argc < 2 || b.size < 1 || b.size > 8192)
    {
      g_printerr ("decode-loop FOLDER [SIZE] [PASSES]\n");
      return 2;
    }
  add_files (&b, argv[1], 0);
  b.out = g_malloc ((gsize) b.size * b.size * 3);
  b.pixels = g_malloc (64 << 20);
  b.working = g_malloc (8 << 20);
  if (b.files->len == 0 || !make_loader (&b, argv[1], &error))
    {
      g_printerr ("%s\n", error ? error->message : "no JPEG files");
      return 1;
    }
  for (int i = 0; i <= passes; i++) /* the first pass is a warm-up */
    for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
      if (!only || (guint) atoi (only) == w)
        {
          double start = cpu_seconds ();

          ways[w].pass (&b);
          seconds[w] += i > 0 ? cpu_seconds () - start : 0;
        }
  for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
    if (seconds[w] > 0)
      g_print ("%-27s %7.0f images/s %5.2f of the bare loop\n", ways[w].name,
               passes * (double) b.files->len / seconds[w], seconds[1] / seconds[w]);
  dyno_loader_free (b.loader);
  dyno_loader_free (b.crop_loader);
  tjDestroy (b.handle);
  g_ptr_array_unref (b.files);
  g_byte_array_unref (b.scratch);
  g_free (b.out);
  g_free (b.pixels);
  g_free (b.working);
  return 0;
}
