/* SPDX-License-Identifier: MIT */
#include "drawing.h"

#define TURN DYNO_DRAWING_TURN

gint64
dyno_drawing_sine (gint64 angle)
{
  const gint64 half = TURN / 2;
  gint64 x = angle % TURN, product;

  if (x < 0)
    x += TURN;
  product = (x % half) * (half - x % half);
  product = (16 * product << 16) / (5 * half * half - 4 * product);
  return x < half ? product : -product;
}

void
dyno_polygon_make (DynoPolygon *polygon, int n_planes, int distance)
{
  polygon->n_planes = n_planes;
  polygon->distance = distance;
  for (int i = 0; i < n_planes; i++)
    {
      polygon->normal[i][0] = (int) (dyno_drawing_sine (i * TURN / n_planes + TURN / 4) >> 4);
      polygon->normal[i][1] = (int) (dyno_drawing_sine (i * TURN / n_planes) >> 4);
    }
}

int
dyno_polygon_count_kept (const DynoPolygon *polygon, int u, int v)
{
  int kept = 0;

  for (int i = 0; i < polygon->n_planes; i++)
    kept += (polygon->normal[i][0] * u + polygon->normal[i][1] * v) >> 12 <= polygon->distance;
  return kept;
}
