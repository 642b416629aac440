/* SPDX-License-Identifier: MIT */
#include "axisview.h"
#include <string.h>

static guint32
axis_extent (const DynoTensor *tensor, guint32 batch, char axis)
{
  return axis == 'N' ? batch : axis == 'H' ? tensor->h : axis == 'W' ? tensor->w : tensor->c;
}

guint
dyno_view_begin (const DynoView *view, guint axis)
{
  return axis == 0 ? 0 : view->end[axis - 1];
}

void
dyno_view_add_part (DynoView *view, guint axis, DynoViewPart part)
{
  guint n = view->end[axis];
  DynoViewPart *last = n > dyno_view_begin (view, axis) ? &view->parts[n - 1] : NULL;

  if (last && last->axis == part.axis && last->stride == part.stride * part.extent)
    *last = (DynoViewPart){ part.axis, last->extent * part.extent, part.stride };
  else if (part.extent > 1)
    view->parts[view->end[axis]++] = part;
}

void
dyno_view_init (DynoView *view, const DynoTensor *tensor, guint32 batch, const char *form)
{
  guint n = 0;

  memset (view, 0, sizeof *view);
  view->batch = batch;
  view->n_dims = 1;
  for (const char *at = form; *at; at++)
    {
      guint32 extent = *at == ' ' ? 1 : axis_extent (tensor, batch, *at);
      if (*at == ' ')
        view->end[view->n_dims++ - 1] = n;
      else if (extent > 1)
        view->parts[n++] = (DynoViewPart){ *at, extent, 1 };
    }
  view->end[view->n_dims - 1] = n;
}

static guint
count_parts (const DynoView *view)
{
  return view->n_dims == 0 ? 0 : view->end[view->n_dims - 1];
}

gboolean
dyno_view_equal (const DynoView *a, const DynoView *b)
{
  if (a->n_dims != b->n_dims || a->begin != b->begin
      || memcmp (a->end, b->end, a->n_dims * sizeof *a->end) != 0)
    return FALSE;
  for (guint i = 0; i < count_parts (a); i++)
    if (a->parts[i].axis != b->parts[i].axis || a->parts[i].extent != b->parts[i].extent
        || a->parts[i].stride != b->parts[i].stride)
      return FALSE;
  return TRUE;
}

gboolean
dyno_view_is (const DynoView *view, const DynoTensor *tensor, const char *form)
{
  static const char axes[] = "NHWC";
  DynoView wanted;

  for (const char *axis = axes; *axis; axis++)
    if (!strchr (form, *axis) && axis_extent (tensor, view->batch, *axis) > 1)
      return FALSE;
  dyno_view_init (&wanted, tensor, view->batch, form);
  return dyno_view_equal (view, &wanted);
}

guint64
dyno_view_dim (const DynoView *view, guint axis)
{
  guint64 extent = 1;

  for (guint i = dyno_view_begin (view, axis); i < view->end[axis]; i++)
    extent *= view->parts[i].extent;
  return extent;
}

/* Joins neighbouring parts of an axis that form one part of the tensor's axis. */
static void
join (DynoView *view)
{
  DynoView joined = { .batch = view->batch, .begin = view->begin, .n_dims = view->n_dims };
  guint n = 0;

  for (guint axis = 0; axis < view->n_dims; axis++)
    {
      guint begin = n;
      for (guint i = dyno_view_begin (view, axis); i < view->end[axis]; i++)
        {
          const DynoViewPart *part = &view->parts[i];
          DynoViewPart *last = n > begin ? &joined.parts[n - 1] : NULL;
          if (last && last->axis == part->axis && last->stride == part->stride * part->extent)
            *last = (DynoViewPart){ part->axis, last->extent * part->extent, part->stride };
          else
            joined.parts[n++] = *part;
        }
      joined.end[axis] = n;
    }
  *view = joined;
}

gboolean
dyno_view_slice (DynoView *view, guint axis, guint64 begin, guint64 end)
{
  guint first = dyno_view_begin (view, axis);
  DynoViewPart *part = &view->parts[first];
  guint64 rest = 1;

  if (first == view->end[axis] || part->axis != 'C' || end <= begin
      || end > dyno_view_dim (view, axis))
    return FALSE;
  for (guint i = first + 1; i < view->end[axis]; i++)
    rest *= view->parts[i].extent;
  if (begin % rest != 0 || end % rest != 0)
    return FALSE;
  view->begin += (guint32) (begin / rest) * part->stride;
  part->extent = (guint32) ((end - begin) / rest);
  if (part->extent > 1)
    return TRUE;
  /* Parts of extent 1 are left out. */
  guint total = count_parts (view);
  memmove (part, part + 1, (total - first - 1) * sizeof *part);
  for (guint i = axis; i < view->n_dims; i++)
    view->end[i]--;
  return TRUE;
}

void
dyno_view_resize (DynoView *view, guint axis, char part, guint32 extent)
{
  guint begin = dyno_view_begin (view, axis), total = count_parts (view),
        had = view->end[axis] - begin, has = extent > 1;

  memmove (&view->parts[begin + has], &view->parts[begin + had],
           (total - begin - had) * sizeof view->parts[0]);
  for (guint i = axis; i < view->n_dims; i++)
    view->end[i] = view->end[i] + has - had;
  if (has)
    view->parts[begin] = (DynoViewPart){ part, extent, 1 };
}

gboolean
dyno_view_is_run (const DynoView *view, guint32 *count)
{
  guint64 most = 0;

  *count = 1;
  for (guint i = 0; i < count_parts (view); i++)
    if (view->parts[i].axis == 'C')
      {
        *count *= view->parts[i].extent;
        most += (guint64) (view->parts[i].extent - 1) * view->parts[i].stride;
      }
  /* Indices into the view are distinct channels, so the view is contiguous if its span equals its
   * count. */
  return most + 1 == *count;
}

gboolean
dyno_view_reshape (DynoView *view, const gint64 *dims, guint n_dims)
{
  DynoView made = { .batch = view->batch, .begin = view->begin, .n_dims = n_dims };
  guint n = 0, from = 0, total = count_parts (view);
  DynoViewPart rest = { 0, 1, 1 }; /* the remainder of a part that was split */

  if (n_dims > DYNO_VIEW_MAX_DIMS)
    return FALSE;
  for (guint axis = 0; axis < n_dims; axis++)
    {
      if (dims[axis] < 1)
        return FALSE;
      for (guint64 left = (guint64) dims[axis]; left > 1;)
        {
          if (rest.extent == 1 && from == total)
            return FALSE;
          if (rest.extent == 1)
            rest = view->parts[from++];
          guint32 taken = (guint32) MIN (left, rest.extent);
          if (rest.extent % taken != 0 || left % taken != 0 || n == DYNO_VIEW_MAX_PARTS)
            return FALSE;
          rest.extent /= taken;
          made.parts[n++] = (DynoViewPart){ rest.axis, taken, rest.stride * rest.extent };
          left /= taken;
        }
      made.end[axis] = n;
    }
  if (rest.extent > 1 || from < total)
    return FALSE;
  join (&made);
  *view = made;
  return TRUE;
}

void
dyno_view_transpose (DynoView *view, const guint *perm)
{
  DynoView made = { .batch = view->batch, .begin = view->begin, .n_dims = view->n_dims };
  guint n = 0;

  for (guint axis = 0; axis < view->n_dims; axis++)
    {
      for (guint i = dyno_view_begin (view, perm[axis]); i < view->end[perm[axis]]; i++)
        made.parts[n++] = view->parts[i];
      made.end[axis] = n;
    }
  *view = made;
}

char *
dyno_view_print (const DynoView *view)
{
  GString *text = g_string_new ("(");

  for (guint axis = 0; axis < view->n_dims; axis++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, axis ? ", " : "",
                            dyno_view_dim (view, axis));
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}
