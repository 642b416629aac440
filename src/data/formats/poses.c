/* SPDX-License-Identifier: MIT */
/* builtin:poses: a drawn head; the values to learn are yaw, pitch and roll in degrees.
 *
 * Invariants: pixels follow only from (seed, index, width, height).  Arithmetic is in double, by
 * operations that IEEE 754 defines to the last bit (sines are a polynomial, and this library is
 * compiled without contraction to fused ones), so that every machine draws the same.  Pose, place
 * and colours follow from (seed, index), so that another image size shows the same picture.  A
 * sample is drawn when it is decoded.
 *
 * Axes: x to the right of the image, y down, z towards the viewer, in the head's radii.  The angles
 * are those of 300W-LP and of the programs that draw them: the head is turned by roll in the
 * image's plane, by yaw about the vertical axis (to the image's left where it is positive), then by
 * pitch (up where it is positive).  Each angle is a sum of three uniform ones: about normal, and
 * bounded. */
#include "dataset-class.h"
#include "hash.h"
#include "rng.h"
#include "targetnames.h"
#include <math.h>
#include <string.h>

#define N_VALUES    3
#define MAX_SAMPLES 1000000
#define NOISE_KEY   G_GUINT64_CONSTANT (0x706f736573)
#define ANGLE_KEY   G_GUINT64_CONSTANT (0x616e676c65)
#define REACH       1.25 /* bound of the head: no part is farther from its centre */

/* A third of the largest yaw, pitch and roll, in degrees; also the standard deviation of each, as a
 * sum of three uniform angles. */
static const double largest[N_VALUES] = { 33, 20, 15 };

typedef struct {
  guint64 seed;
  float *values; /* (n_samples, N_VALUES) */
} Poses;

typedef struct {
  double centre[3], radius[3];
} Ellipsoid;

enum { HEAD, NOSE, LEFT_EAR, RIGHT_EAR, N_PARTS };

static const Ellipsoid parts[N_PARTS] = {
  { { 0, 0, 0 }, { 0.74, 1.0, 0.86 } },
  { { 0, 0.10, 0.84 }, { 0.13, 0.22, 0.26 } },
  { { -0.74, 0.02, -0.04 }, { 0.10, 0.22, 0.16 } },
  { { 0.74, 0.02, -0.04 }, { 0.10, 0.22, 0.16 } },
};

typedef struct {
  double turn[3][3]; /* head to camera */
  double light[3];   /* direction towards the light, in the head's axes */
  double centre_x, centre_y, scale;
  double skin[3], hair[3], background[3], slope_x[3], slope_y[3];
  int noise;
} Drawing;

/* Sine and cosine of at most 100 degrees, with errors below 1e-12. */
static double
sine (double degrees)
{
  double x = degrees * (G_PI / 180), term = x, sum = x;

  for (int k = 2; k < 24; k += 2)
    {
      term = -term * x * x / (k * (k + 1));
      sum += term;
    }
  return sum;
}

static double
cosine (double degrees)
{
  double x = degrees * (G_PI / 180), term = 1, sum = 1;

  for (int k = 1; k < 24; k += 2)
    {
      term = -term * x * x / (k * (k + 1));
      sum += term;
    }
  return sum;
}

static double
even (DynoRng *rng, double from, double to)
{
  return from + (to - from) * (double) dyno_rng_below (rng, 65536) / 65535;
}

static void
choose_angles (guint64 seed, guint64 index, float *values)
{
  DynoRng rng = dyno_rng_init (seed ^ ANGLE_KEY, index);

  for (int i = 0; i < N_VALUES; i++)
    {
      double sum = 0;
      for (int k = 0; k < 3; k++)
        sum += even (&rng, -largest[i], largest[i]);
      values[i] = (float) sum;
    }
}

/* Rx (pitch) Ry (-yaw) Rz (roll). */
static void
make_turn (const float *values, double turn[3][3])
{
  double cy = cosine (values[0]), sy = -sine (values[0]), cp = cosine (values[1]),
         sp = sine (values[1]), cr = cosine (values[2]), sr = sine (values[2]);
  const double matrix[3][3] = {
    { cy * cr, -cy * sr, sy },
    { cp * sr + sp * sy * cr, cp * cr - sp * sy * sr, -sp * cy },
    { sp * sr - cp * sy * cr, sp * cr + cp * sy * sr, cp * cy },
  };

  memcpy (turn, matrix, sizeof matrix);
}

/* Turns (x, y, z) in the camera's axes into the head's axes. */
static void
to_head (const Drawing *drawing, const double *camera, double *head)
{
  for (int i = 0; i < 3; i++)
    head[i] = drawing->turn[0][i] * camera[0] + drawing->turn[1][i] * camera[1]
              + drawing->turn[2][i] * camera[2];
}

static void
choose_colours (Drawing *drawing, DynoRng *rng)
{
  double tone = even (rng, 0.55, 1), hair = even (rng, 0.1, 0.45);
  const double skin[3] = { 235 * tone, 190 * tone, 160 * tone };

  for (int c = 0; c < 3; c++)
    {
      drawing->skin[c] = skin[c] + even (rng, -10, 10);
      drawing->hair[c] = skin[c] * hair;
      drawing->background[c] = even (rng, 20, 200);
      drawing->slope_x[c] = even (rng, -30, 30);
      drawing->slope_y[c] = even (rng, -30, 30);
    }
  drawing->noise = 2 + (int) dyno_rng_below (rng, 8);
}

static void
plan_drawing (Drawing *drawing, const Poses *poses, guint64 index, guint32 width, guint32 height)
{
  DynoRng rng = dyno_rng_init (poses->seed, index);
  double side = MIN (width, height), light[3], norm;

  make_turn (poses->values + index * N_VALUES, drawing->turn);
  light[0] = even (&rng, -1, 1);
  light[1] = even (&rng, -1, 0.2);
  light[2] = even (&rng, 0.7, 1.2);
  norm = sqrt (light[0] * light[0] + light[1] * light[1] + light[2] * light[2]);
  for (int i = 0; i < 3; i++)
    light[i] /= norm;
  to_head (drawing, light, drawing->light);
  drawing->scale = side * even (&rng, 0.34, 0.40);
  drawing->centre_x = width * 0.5 + side * even (&rng, -0.06, 0.06);
  drawing->centre_y = height * 0.5 + side * even (&rng, -0.06, 0.06);
  choose_colours (drawing, &rng);
}

/* The distance towards the viewer at which the ray from `from` along `along` leaves the part. */
static gboolean
meet (const Ellipsoid *part, const double *from, const double *along, double *distance)
{
  double a = 0, b = 0, c = -1, root;

  for (int i = 0; i < 3; i++)
    {
      double o = (from[i] - part->centre[i]) / part->radius[i], d = along[i] / part->radius[i];
      a += d * d;
      b += o * d;
      c += o * o;
    }
  root = b * b - a * c;
  if (root < 0)
    return FALSE;
  *distance = (sqrt (root) - b) / a;
  return TRUE;
}

/* The colour of the head's surface at a point; colours distinguish front from back and up from
 * down. */
static void
paint (const Drawing *drawing, int part, const double *p, double *colour)
{
  double side = p[0] < 0 ? -p[0] : p[0], eye_x = (side - 0.30) / 0.13, eye_y = (p[1] + 0.14) / 0.08,
         eye = eye_x * eye_x + eye_y * eye_y, mouth_x = p[0] / 0.26, mouth_y = (p[1] - 0.50) / 0.06;
  gboolean front = part == HEAD && p[2] > 0;

  memcpy (colour, drawing->skin, 3 * sizeof *colour);
  if (part == HEAD && (p[1] < -0.52 + 0.15 * side || (p[2] < -0.12 && p[1] < 0.45)))
    memcpy (colour, drawing->hair, 3 * sizeof *colour);
  else if (front && eye < 1)
    for (int c = 0; c < 3; c++)
      colour[c] = eye_x * eye_x * 5 + eye_y * eye_y < 1 ? 25 : 240;
  else if (front && side > 0.16 && side < 0.46 && p[1] > -0.33 && p[1] < -0.27)
    memcpy (colour, drawing->hair, 3 * sizeof *colour);
  else if (front && mouth_x * mouth_x + mouth_y * mouth_y < 1)
    {
      colour[0] = 150;
      colour[1] = 40;
      colour[2] = 50;
    }
}

static gboolean
look (const Drawing *drawing, double u, double v, double *colour)
{
  const double camera[3] = { u, v, 0 }, *along = drawing->turn[2];
  double from[3], distance = -REACH, p[3], normal[3], length = 0, lit = 0;
  int seen = -1;

  if (u * u + v * v > REACH * REACH)
    return FALSE;
  to_head (drawing, camera, from);
  for (int i = 0; i < N_PARTS; i++)
    {
      double here;
      if (meet (&parts[i], from, along, &here) && here > distance)
        {
          distance = here;
          seen = i;
        }
    }
  if (seen < 0)
    return FALSE;
  for (int i = 0; i < 3; i++)
    {
      p[i] = from[i] + distance * along[i];
      normal[i] = (p[i] - parts[seen].centre[i]) / (parts[seen].radius[i] * parts[seen].radius[i]);
      length += normal[i] * normal[i];
      lit += normal[i] * drawing->light[i];
    }
  paint (drawing, seen, p, colour);
  lit = lit > 0 ? lit / sqrt (length) : 0;
  for (int c = 0; c < 3; c++)
    colour[c] *= 0.45 + 0.6 * lit;
  return TRUE;
}

/* The mean of four places in the pixel. */
static void
draw_pixel (const Drawing *drawing, guint32 x, guint32 y, const double *background, double *sum)
{
  for (int c = 0; c < 3; c++)
    sum[c] = 0;
  for (int part = 0; part < 4; part++)
    {
      double u = (x + 0.25 + 0.5 * (part & 1) - drawing->centre_x) / drawing->scale,
             v = (y + 0.25 + 0.5 * (part >> 1) - drawing->centre_y) / drawing->scale, colour[3];
      gboolean hit = look (drawing, u, v, colour);

      for (int c = 0; c < 3; c++)
        sum[c] += (hit ? colour[c] : background[c]) * 0.25;
    }
}

static gboolean
poses_decode (DynoDataset *dataset, guint64 index, guint32 width, guint32 height,
              gpointer const *fields, GByteArray *scratch, gsize fetched, GError **error)
{
  const Poses *poses = dataset->state;
  Drawing drawing;
  guint8 *out = fields[DYNO_DATASET_INPUT];
  guint64 count = 0, noise = 0;

  plan_drawing (&drawing, poses, index, width, height);
  for (guint32 y = 0; y < height; y++)
    for (guint32 x = 0; x < width; x++, count++)
      {
        double background[3], sum[3];

        for (int c = 0; c < 3; c++)
          background[c] = drawing.background[c] + drawing.slope_x[c] * x / width
                          + drawing.slope_y[c] * y / height;
        draw_pixel (&drawing, x, y, background, sum);
        /* One random word serves two pixels. */
        noise =
            count % 2 == 0 ? dyno_rng_at (poses->seed ^ NOISE_KEY, index, count / 2) : noise >> 24;
        for (int c = 0; c < 3; c++)
          {
            int byte = (int) (noise >> (8 * c) & 0xff);
            int value = (int) sum[c] + ((byte * (2 * drawing.noise + 1)) >> 8) - drawing.noise;
            *out++ = (guint8) CLAMP (value, 0, 255);
          }
      }
  memcpy (fields[DYNO_DATASET_TARGET], poses->values + index * N_VALUES, N_VALUES * sizeof (float));
  return TRUE;
}

static const float *
poses_values (DynoDataset *dataset, guint64 index)
{
  return ((const Poses *) dataset->state)->values + index * N_VALUES;
}

static char *
poses_describe (DynoDataset *dataset, guint64 index)
{
  const float *values = poses_values (dataset, index);

  return g_strdup_printf ("#%" G_GUINT64_FORMAT " yaw %.0f pitch %.0f roll %.0f", index,
                          (double) values[0], (double) values[1], (double) values[2]);
}

static gboolean
poses_matches (const DynoLocation *location)
{
  return g_strcmp0 (location->scheme, "builtin") == 0 && strcmp (location->body, "poses") == 0;
}

static gboolean
poses_open (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  static const char *const known[] = { "size", "samples", "seed", NULL };
  static const char *const names[] = { "yaw (degrees)", "pitch (degrees)", "roll (degrees)" };
  const DynoLocation *location = context->location;
  DynoDatasetInfo *info = &dataset->info;
  guint64 size, n_samples, seed;
  g_autofree char *facts = NULL;
  Poses *poses;

  if (!dyno_location_check_options (location, known, error)
      || !dyno_location_get_number (location, "size", 8, 1024, 64, &size, error)
      || !dyno_location_get_number (location, "samples", 2, MAX_SAMPLES, 2000, &n_samples, error)
      || !dyno_location_get_number (location, "seed", 0, G_MAXUINT64, 1, &seed, error))
    return FALSE;
  poses = dataset->state = g_new0 (Poses, 1);
  poses->seed = seed;
  poses->values = g_new (float, n_samples *N_VALUES);
  for (guint64 i = 0; i < n_samples; i++)
    choose_angles (seed, i, poses->values + i * N_VALUES);
  info->n_samples = n_samples;
  info->min_width = info->max_width = info->min_height = info->max_height = (guint32) size;
  info->resizable = TRUE;
  info->generated = TRUE;
  info->knows_values = TRUE;
  dyno_target_names_take (info, names, N_VALUES);
  info->schema = dyno_schema_image (DYNO_ELEMENT_U8, (guint32) size, (guint32) size, 3, N_VALUES);
  dyno_dataset_info_standardise (info, 0.45f, 0.25f);
  facts = g_strdup_printf ("poses 1 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, n_samples, seed);
  info->content_hash = dyno_hash_string (DYNO_HASH_START, facts);
  return TRUE;
}

static void
poses_close (DynoDataset *dataset)
{
  Poses *poses = dataset->state;

  if (poses)
    g_free (poses->values);
  g_free (poses);
}

const DynoDatasetClass dyno_dataset_class_poses = {
  .kind = "poses",
  .title = "Drawn heads (built in)",
  .matches = poses_matches,
  .open = poses_open,
  .close = poses_close,
  .decode = poses_decode,
  .values = poses_values,
  .describe = poses_describe,
};
