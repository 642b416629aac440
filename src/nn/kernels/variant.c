/* SPDX-License-Identifier: MIT */
/* Variants as text and back: "<path><scheme> <m>x<n>x<k>[/<part_m>x<part_n>][ k<splits>]". */
#include "variant.h"
#include <stdio.h>
#include <string.h>

static const char *const paths[] = { "f32", "f16", "khr", "nv", "lanes" };
static const char *const schemes[] = { "", "-patch", "-patch2", "-first", "-images", "-strip" };

void
dyno_variant_print (const DynoVariant *v, char *label)
{
  char parts[24] = "", splits[12] = "";
  if (v->part_m > 0)
    g_snprintf (parts, sizeof parts, "/%ux%u", v->part_m, v->part_n);
  if (v->splits > 0)
    g_snprintf (splits, sizeof splits, " k%u", v->splits);
  g_snprintf (label, DYNO_VARIANT_LABEL, "%s%s %ux%ux%u%s%s", paths[v->path], schemes[v->scheme],
              v->m, v->n, v->k, parts, splits);
}

gboolean
dyno_variant_parse (const char *label, DynoVariant *variant)
{
  char name[16], again[DYNO_VARIANT_LABEL];
  DynoVariant v = { 0 };
  int used = 0;
  guint path = 0, scheme = 0;
  if (sscanf (label, "%15[^ ] %ux%ux%u%n", name, &v.m, &v.n, &v.k, &used) != 4)
    return FALSE;
  const char *rest = label + used, *dash = strchr (name, '-');
  gsize length = dash ? (gsize) (dash - name) : strlen (name);
  while (path < G_N_ELEMENTS (paths)
         && (strlen (paths[path]) != length || strncmp (paths[path], name, length) != 0))
    path++;
  while (scheme < G_N_ELEMENTS (schemes) && !g_str_equal (schemes[scheme], name + length))
    scheme++;
  if (path == G_N_ELEMENTS (paths) || scheme == G_N_ELEMENTS (schemes))
    return FALSE;
  v.path = path;
  v.scheme = scheme;
  used = 0;
  if (*rest == '/' && sscanf (rest, "/%ux%u%n", &v.part_m, &v.part_n, &used) == 2)
    rest += used;
  if (*rest == ' ')
    sscanf (rest, " k%u", &v.splits);
  /* the label must equal the printed variant, with nothing left over */
  dyno_variant_print (&v, again);
  if (!g_str_equal (again, label))
    return FALSE;
  *variant = v;
  return TRUE;
}

gboolean
dyno_variant_equal (const DynoVariant *a, const DynoVariant *b)
{
  return a->path == b->path && a->scheme == b->scheme && a->m == b->m && a->n == b->n
         && a->k == b->k && a->part_m == b->part_m && a->part_n == b->part_n
         && a->splits == b->splits;
}

DynoVariant
dyno_variant_tile (const DynoVariant *variant)
{
  DynoVariant tile = *variant;
  tile.splits = 0;
  return tile;
}

gboolean
dyno_variant_same_tile (const DynoVariant *a, const DynoVariant *b)
{
  DynoVariant x = dyno_variant_tile (a), y = dyno_variant_tile (b);
  return dyno_variant_equal (&x, &y);
}
