/* SPDX-License-Identifier: MIT */
/* Areas of COCO annotations.
 *
 * pycocotools lists the places, in the order of columns, at which the area begins and ends along
 * each column, sorts them, and fills between each pair.  Here the boundary is walked without being
 * stored; places and rounding are the same. */
#include "maskdraw.h"
#include <math.h>

#define SCALE 5
/* largest coordinate of a corner: four times the side of the largest image */
#define FAR        131072.0
#define MAX_POINTS (G_GUINT64_CONSTANT (1) << 26) /* points of a boundary at SCALE */

static gboolean
set_corrupt (GError **error, const char *what)
{
  g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT, what);
  return FALSE;
}

typedef struct {
  guint32 width, height;
  GArray *places; /* guint32 */
  gboolean any;
  int u, v; /* the previous point */
} Walk;

/* Records a place where a step to another column crosses the middle of a column of pixels. */
static void
visit (Walk *walk, int u, int v)
{
  if (walk->any && u != walk->u)
    {
      double x = ((u < walk->u ? u : u - 1) + 0.5) / SCALE - 0.5,
             y = (MIN (v, walk->v) + 0.5) / SCALE - 0.5;

      if (floor (x) == x && x >= 0 && x <= walk->width - 1.0)
        {
          guint32 place =
              (guint32) x * walk->height + (guint32) ceil (CLAMP (y, 0.0, (double) walk->height));
          g_array_append_val (walk->places, place);
        }
    }
  walk->any = TRUE;
  walk->u = u;
  walk->v = v;
}

/* The points of an edge are computed from its left end, or from its upper end if it is steep, but
 * visited from (xs, ys) to (xe, ye). */
static void
walk_edge (Walk *walk, int xs, int ys, int xe, int ye)
{
  int dx = ABS (xe - xs), dy = ABS (ye - ys), n = MAX (dx, dy);
  gboolean flat = dx >= dy, back = (flat && xs > xe) || (!flat && ys > ye);
  int x = back ? xe : xs, y = back ? ye : ys;
  double slope = n == 0 ? 0
                 : flat ? (double) (back ? ys - ye : ye - ys) / dx
                        : (double) (back ? xs - xe : xe - xs) / dy;

  for (int d = 0; d <= n; d++)
    {
      int t = back ? n - d : d;

      if (flat)
        visit (walk, t + x, (int) (y + slope * t + 0.5));
      else
        visit (walk, (int) (x + slope * t + 0.5), t + y);
    }
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  guint32 first = *(const guint32 *) a, second = *(const guint32 *) b;

  return first < second ? -1 : first > second;
}

/* Places are counted down the columns. */
static void
fill (guint64 first, guint64 end, guint32 width, guint32 height, guint8 id, guint8 *ids)
{
  guint64 x = first / height, y = first % height;

  for (guint64 left = end - first, n; left > 0; left -= n, x++, y = 0)
    {
      guint8 *at = ids + y * width + x;

      n = MIN (height - y, left);
      for (guint64 i = 0; i < n; i++, at += width)
        *at = id;
    }
}

static int
scale (double coordinate)
{
  return (int) (SCALE * coordinate + 0.5);
}

gboolean
dyno_mask_draw_polygon (const double *xy, gsize n, guint32 width, guint32 height, guint8 id,
                        guint8 *ids, GError **error)
{
  Walk walk = { .width = width, .height = height };
  guint64 n_points = 0;
  guint32 last = width * height;

  for (gsize i = 0; i < n; i++)
    {
      const double *a = xy + 2 * i, *b = xy + 2 * ((i + 1) % n);

      if (!(fabs (a[0]) <= FAR && fabs (a[1]) <= FAR && fabs (b[0]) <= FAR && fabs (b[1]) <= FAR))
        return set_corrupt (error, "a polygon has a corner far outside of its image");
      n_points += (guint64) MAX (fabs (a[0] - b[0]), fabs (a[1] - b[1])) * SCALE + 1;
      if (n_points > MAX_POINTS)
        return set_corrupt (error, "a polygon is longer than its image can hold");
    }
  walk.places = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (gsize i = 0; i < n; i++)
    {
      const double *a = xy + 2 * i, *b = xy + 2 * ((i + 1) % n);
      walk_edge (&walk, scale (a[0]), scale (a[1]), scale (b[0]), scale (b[1]));
    }
  g_array_append_val (walk.places, last);
  g_array_sort (walk.places, compare_places);
  for (guint i = 0; i + 1 < walk.places->len; i += 2)
    fill (g_array_index (walk.places, guint32, i), g_array_index (walk.places, guint32, i + 1),
          width, height, id, ids);
  g_array_unref (walk.places);
  return TRUE;
}

gboolean
dyno_mask_draw_runs (const guint32 *runs, gsize n, guint32 width, guint32 height, guint8 id,
                     guint8 *ids, GError **error)
{
  guint64 pixels = (guint64) width * height, at = 0;

  for (gsize i = 0; i < n && at <= pixels; i++)
    at += runs[i];
  if (at != pixels)
    return set_corrupt (error, "the runs of an area are not as many pixels as its image has");
  at = 0;
  for (gsize i = 0; i < n; at += runs[i++])
    if (i % 2 == 1)
      fill (at, at + runs[i], width, height, id, ids);
  return TRUE;
}

/* A number is groups of five bits from the lowest on, with a sixth bit where another group follows;
 * the highest bit of the last group is the sign.  From the fourth number on, it is the difference
 * to the last but one. */
gboolean
dyno_mask_read_runs (const char *text, GArray *runs, GError **error)
{
  while (*text)
    {
      gint64 value = 0;
      guint shift = 0;
      int group;

      do
        {
          group = *text++ - 48;
          if (group < 0 || group > 63 || shift > 35)
            return set_corrupt (error, "the text of the runs of an area is damaged");
          value |= (gint64) (group & 0x1f) << shift;
          shift += 5;
        }
      while (group & 0x20);
      if (group & 0x10)
        value -= G_GINT64_CONSTANT (1) << shift;
      if (runs->len > 2)
        value += g_array_index (runs, guint32, runs->len - 2);
      if (value < 0 || value > G_MAXUINT32)
        return set_corrupt (error, "the text of the runs of an area is damaged");
      g_array_append_val (runs, ((guint32){ (guint32) value }));
    }
  return TRUE;
}
