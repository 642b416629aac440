/* SPDX-License-Identifier: MIT */
/* builtin:masks: pictures of one to three drawn shapes, with the class of each pixel.
 *
 * Invariants: pixels and masks follow only from (seed, index, width, height), by integer
 * arithmetic, so that every machine draws the same; places, sizes and turns of the shapes follow
 * from (seed, index), so another image size shows the same picture.  A later shape covers earlier
 * ones.  Nothing is stored: a sample is drawn when it is decoded.
 *
 * Coordinates are those of shapes.c: lengths in quarter pixels with 8 more bits (Q8). */
#include "dataset-class.h"
#include "drawing.h"
#include "hash.h"
#include "rng.h"
#include "schema.h"
#include <string.h>

#define TURN      DYNO_DRAWING_TURN
#define ONE       DYNO_DRAWING_ONE
#define N_CLASSES 4
#define MOST      3  /* shapes of a picture */
#define COUNTED   64 /* pictures from which the shares of the classes are estimated, at this size */
#define NOISE_KEY G_GUINT64_CONSTANT (0x6d61736b)

enum { BACKGROUND, CIRCLE, RECTANGLE, TRIANGLE };

static const char *const class_names[N_CLASSES] = { "background", "circle", "rectangle",
                                                    "triangle" };

typedef struct {
  guint64 seed;
  guint32 n_classes;
} Masks;

typedef struct {
  guint8 id;
  gint64 centre_x, centre_y, radius; /* Q8 quarter pixels */
  gint64 cosine, sine;               /* of the turn, over the radius: Q52 / Q8 quarter pixels */
  int narrow;                        /* half the shorter side of a rectangle, Q12 */
  int colour[3];
} Shape;

typedef struct {
  Shape shapes[MOST];
  guint n_shapes;
  DynoPolygon triangle;
  int background[3], slope_x[3], slope_y[3], stripe[3];
  guint32 wave_x, wave_y; /* stripes: periods over the picture, in 1/16 */
  int noise;
} Drawing;

/* A bright shape on a dark ground.  Each class darkens a channel of its own, which nearly always
 * becomes the lowest, so that a small network learns the classes within a minute on a CPU; in the
 * remaining cases only the outline shows the class. */
static void
plan_shape (Shape *shape, const Masks *masks, DynoRng *rng, guint32 width, guint32 height)
{
  gint64 side = (gint64) MIN (width, height) * 4 * 256;
  gint64 radius = side * (gint64) (220 + dyno_rng_below (rng, 190)) / 1024;
  gint64 turn = (gint64) dyno_rng_below (rng, TURN);

  shape->id = (guint8) (1 + dyno_rng_below (rng, masks->n_classes - 1));
  shape->radius = radius;
  shape->centre_x = (gint64) width * 4 * 256 * (gint64) (100 + dyno_rng_below (rng, 825)) / 1024;
  shape->centre_y = (gint64) height * 4 * 256 * (gint64) (100 + dyno_rng_below (rng, 825)) / 1024;
  shape->cosine = dyno_drawing_sine (turn + TURN / 4) * (G_GINT64_CONSTANT (1) << 36) / radius;
  shape->sine = dyno_drawing_sine (turn) * (G_GINT64_CONSTANT (1) << 36) / radius;
  shape->narrow = ONE * (24 + (int) dyno_rng_below (rng, 16)) / 64;
  for (int c = 0; c < 3; c++)
    shape->colour[c] = 150 + (int) dyno_rng_below (rng, 106)
                       - (c == shape->id - 1) * (70 + (int) dyno_rng_below (rng, 80));
}

static void
plan_drawing (Drawing *drawing, const Masks *masks, guint64 index, guint32 width, guint32 height)
{
  DynoRng rng = dyno_rng_init (masks->seed, index);

  drawing->n_shapes = 1 + (guint) dyno_rng_below (&rng, MOST);
  dyno_polygon_make (&drawing->triangle, 3, ONE / 2);
  for (guint i = 0; i < drawing->n_shapes; i++)
    plan_shape (&drawing->shapes[i], masks, &rng, width, height);
  for (int c = 0; c < 3; c++)
    {
      drawing->background[c] = 24 + (int) dyno_rng_below (&rng, 72);
      drawing->slope_x[c] = (int) dyno_rng_below (&rng, 49) - 24;
      drawing->slope_y[c] = (int) dyno_rng_below (&rng, 49) - 24;
      drawing->stripe[c] = (int) dyno_rng_below (&rng, 25);
    }
  drawing->wave_x = (guint32) dyno_rng_below (&rng, 128);
  drawing->wave_y = (guint32) dyno_rng_below (&rng, 128);
  drawing->noise = 2 + (int) dyno_rng_below (&rng, 10);
}

/* x, y: Q8 quarter pixels. */
static gboolean
is_inside (const Drawing *drawing, const Shape *shape, gint64 x, gint64 y)
{
  gint64 dx = x - shape->centre_x, dy = y - shape->centre_y, u, v;

  if (ABS (dx) > shape->radius || ABS (dy) > shape->radius)
    return FALSE;
  u = (dx * shape->cosine + dy * shape->sine) >> 40;
  v = (dy * shape->cosine - dx * shape->sine) >> 40;
  if (u * u + v * v > ONE * ONE)
    return FALSE;
  switch (shape->id)
    {
    case CIRCLE:
      return u * u + v * v <= ONE * ONE * 3 / 4;
    case RECTANGLE:
      return ABS (u) <= ONE * 50 / 64 && ABS (v) <= shape->narrow;
    default:
      return dyno_polygon_count_kept (&drawing->triangle, (int) u, (int) v) == 3;
    }
}

/* Quarters of the pixel that the shape covers, 0..4. */
static int
coverage (const Drawing *drawing, const Shape *shape, guint32 x, guint32 y)
{
  int covered = 0;

  for (int part = 0; part < 4; part++)
    covered += is_inside (drawing, shape, ((gint64) x * 4 + 1 + 2 * (part & 1)) * 256,
                          ((gint64) y * 4 + 1 + 2 * (part >> 1)) * 256);
  return covered;
}

/* The class of the pixel's centre. */
static guint8
class_at (const Drawing *drawing, guint32 x, guint32 y)
{
  for (guint i = drawing->n_shapes; i > 0; i--)
    if (is_inside (drawing, &drawing->shapes[i - 1], ((gint64) x * 4 + 2) * 256,
                   ((gint64) y * 4 + 2) * 256))
      return drawing->shapes[i - 1].id;
  return BACKGROUND;
}

/* The stripes of the ground, Q16. */
static int
stripes_at (const Drawing *drawing, guint32 x, guint32 y, guint32 width, guint32 height)
{
  return (int) dyno_drawing_sine ((gint64) TURN * drawing->wave_x * x / (16 * width)
                                  + (gint64) TURN * drawing->wave_y * y / (16 * height));
}

static gboolean
drawnmasks_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
                   gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Masks *masks = dataset->state;
  Drawing drawing;
  guint8 *out = fields[DYNO_DATASET_INPUT], *ids = fields[DYNO_DATASET_TARGET];
  guint64 count = 0;

  plan_drawing (&drawing, masks, index, width, height);
  for (guint32 y = 0; y < height; y++)
    for (guint32 x = 0; x < width; x++, count++)
      {
        guint64 noise = dyno_rng_at (masks->seed ^ NOISE_KEY, index, count);
        int covered[MOST], stripes = stripes_at (&drawing, x, y, width, height);

        *ids++ = class_at (&drawing, x, y);
        for (guint i = 0; i < drawing.n_shapes; i++)
          covered[i] = coverage (&drawing, &drawing.shapes[i], x, y);
        for (int c = 0; c < 3; c++)
          {
            int value = drawing.background[c] + drawing.slope_x[c] * (int) x / (int) width
                        + drawing.slope_y[c] * (int) y / (int) height
                        + drawing.stripe[c] * stripes / 65536;
            int byte = (int) (noise >> (8 * c) & 0xff);

            for (guint i = 0; i < drawing.n_shapes; i++)
              value = (covered[i] * drawing.shapes[i].colour[c] + (4 - covered[i]) * value) / 4;
            value += ((byte * (2 * drawing.noise + 1)) >> 8) - drawing.noise;
            *out++ = (guint8) CLAMP (value, 0, 255);
          }
      }
  return TRUE;
}

/* Pixels of each class, from the first pictures: drawing all would take as long as an epoch. */
static void
estimate_counts (const Masks *masks, DynoDatasetInfo *info)
{
  guint64 n = MIN (info->n_samples, COUNTED), seen[N_CLASSES] = { 0 };
  guint64 pixels = (guint64) info->max_width * info->max_height * info->n_samples;

  for (guint64 i = 0; i < n; i++)
    {
      Drawing drawing;

      plan_drawing (&drawing, masks, i, COUNTED, COUNTED);
      for (guint32 k = 0; k < COUNTED * COUNTED; k++)
        seen[class_at (&drawing, k % COUNTED, k / COUNTED)]++;
    }
  for (guint32 c = 0; c < info->n_classes; c++)
    info->class_counts[c] =
        (guint64) ((double) pixels * (double) seen[c] / (double) (n * COUNTED * COUNTED));
}

static gboolean
drawnmasks_matches (const DynoLocation *location)
{
  return g_strcmp0 (location->scheme, "builtin") == 0 && strcmp (location->body, "masks") == 0;
}

static gboolean
drawnmasks_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  static const char *const known[] = { "size", "samples", "classes", "seed", NULL };
  const DynoLocation *location = context->location;
  DynoDatasetInfo *info = &dataset->info;
  guint64 size, n_samples, n_classes, seed;
  g_autofree char *facts = NULL;
  Masks *masks;

  if (!dyno_location_check_options (location, known, error)
      || !dyno_location_get_number (location, "size", 8, 1024, 64, &size, error)
      || !dyno_location_get_number (location, "samples", 2, 100000000, 2000, &n_samples, error)
      || !dyno_location_get_number (location, "classes", 2, N_CLASSES, N_CLASSES, &n_classes, error)
      || !dyno_location_get_number (location, "seed", 0, G_MAXUINT64, 1, &seed, error))
    return FALSE;

  masks = g_new0 (Masks, 1);
  dataset->state = masks;
  masks->seed = seed;
  masks->n_classes = (guint32) n_classes;
  info->n_samples = n_samples;
  info->min_width = info->max_width = info->min_height = info->max_height = (guint32) size;
  info->resizable = TRUE;
  info->generated = TRUE;
  dyno_dataset_info_set_classes (info, masks->n_classes);
  for (guint32 i = 0; i < masks->n_classes; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_strdup (class_names[i]);
    }
  estimate_counts (masks, info);
  dyno_dataset_info_set_mask_schema (info);
  dyno_dataset_info_standardise (info, 0.31f, 0.21f);
  facts = g_strdup_printf ("masks 1 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                           n_samples, n_classes, seed);
  info->content_hash = dyno_hash_string (DYNO_HASH_START, facts);
  return TRUE;
}

static void
drawnmasks_close (DynoDataset *dataset)
{
  g_free (dataset->state);
}

const DynoDatasetClass dyno_dataset_class_drawnmasks = {
  .kind = "drawn-masks",
  .title = "Drawn shapes with masks (built in)",
  .matches = drawnmasks_matches,
  .open = drawnmasks_open,
  .close = drawnmasks_close,
  .decode = drawnmasks_decode,
};
