/* SPDX-License-Identifier: MIT */
/* builtin:shapes: colour images of drawn shapes, one class per shape.
 *
 * Invariants: pixels follow only from (seed, index, width, height), by integer arithmetic, so that
 * every machine draws the same; position, size and turn of a shape follow from (seed, index), so
 * another image size shows the same picture.  Nothing is stored: a sample is drawn when it is
 * decoded, in the worker, as a file would be.
 *
 * Coordinates: lengths in quarter pixels with 8 more bits (Q8); the unit square of a shape has its
 * circumradius at ONE (Q12); a full turn is TURN units. */
#include "dataset-class.h"
#include "drawing.h"
#include "hash.h"
#include "rng.h"
#include <string.h>

#define TURN      DYNO_DRAWING_TURN
#define ONE       DYNO_DRAWING_ONE
#define N_SHAPES  10
#define NOISE_KEY G_GUINT64_CONSTANT (0x6e6f697365)

typedef struct {
  guint64 seed;
  guint32 n_classes;
} Shapes;

static const char *const shape_names[N_SHAPES] = { "circle",   "square", "triangle", "ring",
                                                   "cross",    "star",   "pentagon", "diamond",
                                                   "crescent", "stripes" };

typedef struct {
  guint32 shape;
  gint64 centre_x, centre_y; /* Q8 quarter pixels */
  gint64 cosine, sine;       /* of the turn, over the radius: Q52 / Q8 quarter pixels */
  DynoPolygon polygon;
  int colour[3], background[3], slope_x[3], slope_y[3];
  int noise;
} Drawing;

/* TRUE where (u, v), Q12 in the shape's own axes, lies inside it; called only within the
 * circumscribed circle. */
static gboolean
is_inside (const Drawing *drawing, int u, int v)
{
  int square = (u * u + v * v) >> 12;

  switch (drawing->shape)
    {
    case 0: /* circle, about as large in area as the others */
      return square <= ONE * 3 / 4;
    case 1: /* square */
      return ABS (u) <= ONE * 45 / 64 && ABS (v) <= ONE * 45 / 64;
    case 3: /* ring */
      return square >= ONE * 9 / 25;
    case 4: /* cross */
      return (ABS (u) <= ONE / 4 && ABS (v) <= ONE * 15 / 16)
             || (ABS (v) <= ONE / 4 && ABS (u) <= ONE * 15 / 16);
    /* star: a pentagram consists of the points in at least four of the five half planes of its
       core */
    case 5:
      return dyno_polygon_count_kept (&drawing->polygon, u, v) >= 4;
    case 7: /* diamond, narrow, so that no turn makes it a square */
      return 2 * ABS (u) + ABS (v) <= ONE;
    case 8: /* crescent: the circle minus another circle, smaller and shifted */
      return ((u - ONE / 2) * (u - ONE / 2) + v * v) >> 12 >= ONE * 9 / 16;
    case 9: /* three stripes */
      return ABS (u) <= ONE * 11 / 16 && ABS (v) <= ONE * 11 / 16
             && (ABS (v) <= ONE * 9 / 64 || ABS (v) >= ONE * 27 / 64);
    default: /* triangle, pentagon */
      return dyno_polygon_count_kept (&drawing->polygon, u, v) == drawing->polygon.n_planes;
    }
}

/* A bright shape on a dark ground: a small network has to learn the outline, and can do so within a
 * minute on a CPU. */
static void
choose_colours (Drawing *drawing, DynoRng *rng)
{
  for (int c = 0; c < 3; c++)
    {
      drawing->background[c] = (int) dyno_rng_below (rng, 96);
      drawing->slope_x[c] = (int) dyno_rng_below (rng, 49) - 24;
      drawing->slope_y[c] = (int) dyno_rng_below (rng, 49) - 24;
      drawing->colour[c] = 136 + (int) dyno_rng_below (rng, 120);
    }
  drawing->noise = 2 + (int) dyno_rng_below (rng, 10);
}

static void
plan_drawing (Drawing *drawing, const Shapes *shapes, guint64 index, guint32 width, guint32 height)
{
  DynoRng rng = dyno_rng_init (shapes->seed, index);
  gint64 side = (gint64) MIN (width, height) * 4 * 256;
  gint64 radius = side * (gint64) (280 + dyno_rng_below (&rng, 200)) / 1024;
  gint64 turn = (gint64) dyno_rng_below (&rng, TURN);
  gint64 free_x = (gint64) width * 4 * 256 - 2 * radius,
         free_y = (gint64) height * 4 * 256 - 2 * radius;

  drawing->shape = (guint32) (index % shapes->n_classes);
  drawing->centre_x = radius + free_x * (gint64) dyno_rng_below (&rng, 1025) / 1024;
  drawing->centre_y = radius + free_y * (gint64) dyno_rng_below (&rng, 1025) / 1024;
  drawing->cosine = dyno_drawing_sine (turn + TURN / 4) * (G_GINT64_CONSTANT (1) << 36) / radius;
  drawing->sine = dyno_drawing_sine (turn) * (G_GINT64_CONSTANT (1) << 36) / radius;
  if (drawing->shape == 2)
    dyno_polygon_make (&drawing->polygon, 3, ONE / 2);
  else if (drawing->shape == 5)
    dyno_polygon_make (&drawing->polygon, 5, ONE * 309 / 1000);
  else if (drawing->shape == 6)
    dyno_polygon_make (&drawing->polygon, 5, ONE * 809 / 1000);
  choose_colours (drawing, &rng);
}

/* Quarters of the pixel that the shape covers, 0..4. */
static int
coverage (const Drawing *drawing, guint32 x, guint32 y)
{
  int covered = 0;

  for (int part = 0; part < 4; part++)
    {
      gint64 dx = ((gint64) x * 4 + 1 + 2 * (part & 1)) * 256 - drawing->centre_x;
      gint64 dy = ((gint64) y * 4 + 1 + 2 * (part >> 1)) * 256 - drawing->centre_y;
      gint64 u = (dx * drawing->cosine + dy * drawing->sine) >> 40;
      gint64 v = (dy * drawing->cosine - dx * drawing->sine) >> 40;

      if (u < -ONE || u > ONE || v < -ONE || v > ONE || u * u + v * v > ONE * ONE)
        continue;
      covered += is_inside (drawing, (int) u, (int) v);
    }
  return covered;
}

static gboolean
shapes_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
               gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Shapes *shapes = dataset->state;
  Drawing drawing = { 0 };
  guint8 *out = fields[DYNO_DATASET_INPUT];
  guint64 noise = 0, count = 0;

  plan_drawing (&drawing, shapes, index, width, height);
  for (guint32 y = 0; y < height; y++)
    for (guint32 x = 0; x < width; x++, count++)
      {
        int covered = coverage (&drawing, x, y);
        /* One random word serves two pixels. */
        noise =
            count % 2 == 0 ? dyno_rng_at (shapes->seed ^ NOISE_KEY, index, count / 2) : noise >> 24;
        for (int c = 0; c < 3; c++)
          {
            int background = drawing.background[c] + drawing.slope_x[c] * (int) x / (int) width
                             + drawing.slope_y[c] * (int) y / (int) height;
            int value = (covered * drawing.colour[c] + (4 - covered) * background) / 4;
            int byte = (int) (noise >> (8 * c) & 0xff);
            value += ((byte * (2 * drawing.noise + 1)) >> 8) - drawing.noise;
            *out++ = (guint8) CLAMP (value, 0, 255);
          }
      }
  *(gint32 *) fields[DYNO_DATASET_TARGET] = (gint32) drawing.shape;
  return TRUE;
}

static gint32
shapes_label (DynoDataset *dataset, guint64 index)
{
  return (gint32) (index % ((const Shapes *) dataset->state)->n_classes);
}

static char *
shapes_describe (DynoDataset *dataset, guint64 index)
{
  return g_strdup_printf ("%s #%" G_GUINT64_FORMAT, shape_names[shapes_label (dataset, index)],
                          index);
}

static gboolean
shapes_matches (const DynoLocation *location)
{
  return g_strcmp0 (location->scheme, "builtin") == 0 && strcmp (location->body, "shapes") == 0;
}

static gboolean
shapes_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  static const char *const known[] = { "size", "samples", "classes", "seed", NULL };
  const DynoLocation *location = context->location;
  DynoDatasetInfo *info = &dataset->info;
  guint64 size, n_samples, n_classes, seed;
  g_autofree char *facts = NULL;
  Shapes *shapes;

  if (!dyno_location_check_options (location, known, error)
      || !dyno_location_get_number (location, "size", 8, 1024, 64, &size, error)
      || !dyno_location_get_number (location, "samples", 2, 100000000, 2000, &n_samples, error)
      || !dyno_location_get_number (location, "classes", 2, N_SHAPES, N_SHAPES, &n_classes, error)
      || !dyno_location_get_number (location, "seed", 0, G_MAXUINT64, 1, &seed, error))
    return FALSE;

  shapes = g_new0 (Shapes, 1);
  dataset->state = shapes;
  shapes->seed = seed;
  shapes->n_classes = (guint32) n_classes;
  info->n_samples = n_samples;
  info->min_width = info->max_width = info->min_height = info->max_height = (guint32) size;
  info->resizable = TRUE;
  info->generated = TRUE;
  dyno_dataset_info_set_classes (info, shapes->n_classes);
  for (guint32 i = 0; i < shapes->n_classes; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_strdup (shape_names[i]);
      info->class_counts[i] = n_samples / n_classes + (i < n_samples % n_classes);
    }
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, (guint32) size, (guint32) size, 3, 0);
  /* About a quarter of the pixels lie in the shape. */
  dyno_dataset_info_standardise (info, 0.33f, 0.25f);
  facts =
      g_strdup_printf ("shapes 2 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                       n_samples, n_classes, seed);
  info->content_hash = dyno_hash_string (DYNO_HASH_START, facts);
  return TRUE;
}

static void
shapes_close (DynoDataset *dataset)
{
  g_free (dataset->state);
}

const DynoDatasetClass dyno_dataset_class_shapes = {
  .kind = "shapes",
  .title = "Drawn shapes (built in)",
  .matches = shapes_matches,
  .open = shapes_open,
  .close = shapes_close,
  .decode = shapes_decode,
  .label = shapes_label,
  .describe = shapes_describe,
};
