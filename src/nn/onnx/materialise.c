/* SPDX-License-Identifier: MIT */
/* Copies of values with another order of their elements.  A view maps the axes of a value to its
 * tensor; where an op needs another layout, the tensor is copied (dyno_permute) to a tensor of that
 * layout.  The batch stays outermost in every tensor, wherever a view has it.
 *
 * A copy is a separate value; other nodes may still read the original.  Each copy is made once: the
 * import keeps it under a key of the two layouts. */
#include "graph-private.h"
#include "import-private.h"
#include "text.h"
#include <string.h>

/* A view, and the shape (N, h, w, c) of its tensor. */
typedef struct {
  DynoView view;
  guint32 h, w, c;
} Layout;

/* A run of elements of an axis that has a constant stride in both tensors. */
typedef struct {
  guint32 extent;
  guint64 from, to; /* stride between elements, in a sample of the source and of the target */
} Piece;

#define MOST_PIECES (4 * DYNO_VIEW_MAX_PARTS)

gboolean
dyno_import_is_channels (const DynoImportValue *x, guint axis)
{
  const DynoView *view = &x->view;
  guint begin = dyno_view_begin (view, axis);

  return view->begin == 0 && dyno_view_dim (view, axis) == x->tensor->c
         && (x->tensor->c == 1 || (view->end[axis] == begin + 1 && view->parts[begin].axis == 'C'));
}

/* --- from one layout to another --------------------------------------------------------------- */

/* The stride between elements of a part, in a sample (h, w, c). */
static guint64
stride_of (const DynoViewPart *part, guint32 w, guint32 c)
{
  return (guint64) part->stride * (part->axis == 'H' ? (guint64) w * c : part->axis == 'W' ? c : 1);
}

/* Appends the pieces of an axis, the innermost first.  FALSE: the parts of the two views do not
 * divide each other, or the batch would move. */
static gboolean
cut_axis (const DynoImportValue *x, const Layout *to, guint axis, Piece *pieces, guint *n)
{
  guint i = x->view.end[axis], k = to->view.end[axis];
  DynoViewPart a = { .extent = 1 }, b = { .extent = 1 };

  while (a.extent > 1 || b.extent > 1 || i > dyno_view_begin (&x->view, axis)
         || k > dyno_view_begin (&to->view, axis))
    {
      if (a.extent == 1 && i > dyno_view_begin (&x->view, axis))
        a = x->view.parts[--i];
      if (b.extent == 1 && k > dyno_view_begin (&to->view, axis))
        b = to->view.parts[--k];
      guint32 extent = MIN (a.extent, b.extent);
      if (extent == 1 || a.extent % extent != 0 || b.extent % extent != 0 || *n == MOST_PIECES
          || (a.axis == 'N') != (b.axis == 'N') || (a.axis == 'N' && a.stride != b.stride))
        return FALSE;
      if (a.axis != 'N')
        pieces[(*n)++] = (Piece){ extent, stride_of (&a, x->tensor->w, x->tensor->c),
                                  stride_of (&b, to->w, to->c) };
      a.extent /= extent;
      a.stride *= extent;
      b.extent /= extent;
      b.stride *= extent;
    }
  return TRUE;
}

static int
compare_pieces (const void *a, const void *b)
{
  const Piece *one = a, *two = b;

  return (one->to < two->to) - (one->to > two->to);
}

/* The parts of a permutation in the order of its result; returns their number; 0: there are too
 * many, or there is no such permutation. */
static guint
find_parts (const DynoImportValue *x, const Layout *to, DynoPermutePart *parts)
{
  Piece pieces[MOST_PIECES];
  guint n = 0, k = 0;

  if (x->view.n_dims != to->view.n_dims)
    return 0;
  for (guint axis = 0; axis < x->view.n_dims; axis++)
    if (!cut_axis (x, to, axis, pieces, &n))
      return 0;
  qsort (pieces, n, sizeof *pieces, compare_pieces);
  for (guint i = 0; i < n; i++)
    {
      if (pieces[i].from > G_MAXINT32)
        return 0;
      if (k > 0 && parts[k - 1].stride == pieces[i].from * pieces[i].extent)
        parts[k - 1] =
            (DynoPermutePart){ parts[k - 1].extent * pieces[i].extent, (guint32) pieces[i].from };
      else if (k == DYNO_PERMUTE_MAX_PARTS)
        return 0;
      else
        parts[k++] = (DynoPermutePart){ pieces[i].extent, (guint32) pieces[i].from };
    }
  if (k == 0)
    parts[k++] = (DynoPermutePart){ 1, 1 };
  return k;
}

static void
print_view (GString *text, const DynoView *view)
{
  for (guint axis = 0; axis < view->n_dims; axis++)
    {
      for (guint i = dyno_view_begin (view, axis); i < view->end[axis]; i++)
        g_string_append_printf (text, "%c%u/%u ", view->parts[i].axis, view->parts[i].extent,
                                view->parts[i].stride);
      g_string_append_c (text, ',');
    }
}

/* The key of a copy among the values; it begins with a line break, as no value's name in a file
 * does. */
static char *
make_key (const DynoImportValue *x, const Layout *to)
{
  g_autoptr (GString) key = g_string_new (NULL);

  g_string_append_printf (key, "\ncopy of %u\n", x->tensor->id);
  print_view (key, &x->view);
  g_string_append_printf (key, "\n%u %u %u\n", to->h, to->w, to->c);
  print_view (key, &to->view);
  return g_string_free (g_steal_pointer (&key), FALSE);
}

/* TRUE: the view covers all elements of a sample. */
static gboolean
is_whole (const DynoImportValue *x)
{
  guint n = x->view.n_dims > 0 ? x->view.end[x->view.n_dims - 1] : 0;
  guint64 count = 1;

  for (guint i = 0; i < n; i++)
    count *= x->view.parts[i].axis == 'N' ? 1 : x->view.parts[i].extent;
  return count == (guint64) x->tensor->h * x->tensor->w * x->tensor->c;
}

/* x in the layout; x itself if it has that layout already; NULL: it cannot be copied to that
 * layout. */
static DynoImportValue *
move (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x, const Layout *to)
{
  DynoPermutePart parts[DYNO_PERMUTE_MAX_PARTS];
  guint n;

  if (to->h == x->tensor->h && to->w == x->tensor->w && to->c == x->tensor->c
      && dyno_view_equal (&x->view, &to->view))
    return x;
  g_autofree char *key = make_key (x, to);
  DynoImportValue *made = g_hash_table_lookup (import->values, key);
  if (made || !is_whole (x) || (n = find_parts (x, to, parts)) == 0)
    return made;
  g_autofree char *name = g_strconcat (x->tensor->name, ".permute", NULL);
  DynoTensor *y = dyno_permute (import->graph, x->tensor, name,
                                &(DynoPermuteParams){ to->h, to->w, to->c, parts, n });
  if (!y)
    return NULL;
  if (y != x->tensor)
    {
      import->copied = import->copied ? import->copied : node;
      import->n_copies++;
    }
  made = g_new0 (DynoImportValue, 1);
  made->tensor = y;
  made->view = to->view;
  made->node = x->node;
  g_hash_table_insert (import->values, g_steal_pointer (&key), made);
  return made;
}

void
dyno_import_note_copies (DynoImport *import)
{
  if (import->n_copies > 0)
    dyno_import_note (import,
                      "Dyno copies %u %s into another order, which takes memory and time "
                      "(first for %s “%s”)",
                      import->n_copies, dyno_plural (import->n_copies, "tensor", "tensors"),
                      import->copied->op_type, dyno_import_shown_name (import->copied));
}

/* --- layouts ---------------------------------------------------------------------------------- */

/* The extent of the tensor's axis that holds a word of a form; a word such as HW stands for its
 * last axis, or C. */
static guint32 *
find_extent (Layout *to, const char *word, gsize length)
{
  char letter = memchr (word, 'C', length) ? 'C' : word[length - 1];

  return letter == 'C' ? &to->c : letter == 'W' ? &to->w : letter == 'H' ? &to->h : NULL;
}

DynoImportValue *
dyno_import_as_form (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x,
                     const char *form)
{
  g_auto (GStrv) words = g_strsplit (form, " ", -1);
  Layout to = { .h = 1, .w = 1, .c = 1 };

  if (dyno_view_is (&x->view, x->tensor, form))
    return x;
  if (g_strv_length (words) != x->view.n_dims)
    return NULL;
  for (guint axis = 0; words[axis]; axis++)
    {
      guint32 *extent = find_extent (&to, words[axis], strlen (words[axis]));
      guint64 dim = dyno_view_dim (&x->view, axis);
      if (dim > G_MAXINT32 || (!extent && dim != x->view.batch))
        return NULL;
      if (extent)
        *extent = (guint32) dim;
    }
  const DynoTensor shape = { .n = x->tensor->n, .h = to.h, .w = to.w, .c = to.c };
  dyno_view_init (&to.view, &shape, x->view.batch, form);
  return move (import, node, x, &to);
}

/* TRUE: the axis is exactly the batch. */
static gboolean
is_batch (const DynoImportValue *x, guint axis)
{
  guint begin = dyno_view_begin (&x->view, axis);

  return dyno_view_dim (&x->view, axis) == x->view.batch
         && (x->view.batch == 1
             || (x->view.end[axis] == begin + 1 && x->view.parts[begin].axis == 'N'));
}

/* A layout with one axis as the channels and all other axes, in their order, along the width.
 * FALSE: that axis includes the batch, or the sample is too large. */
static gboolean
lay_in_rows (const DynoImportValue *x, guint channels, Layout *to)
{
  guint64 size = (guint64) x->tensor->h * x->tensor->w * x->tensor->c,
          c = dyno_view_dim (&x->view, channels);

  if (size > G_MAXINT32 || c == 0 || size % c != 0)
    return FALSE;
  *to = (Layout){ .h = 1, .w = (guint32) (size / c), .c = (guint32) c };
  guint32 stride = to->w;
  to->view.batch = x->view.batch;
  to->view.n_dims = x->view.n_dims;
  for (guint axis = 0; axis < x->view.n_dims; axis++)
    {
      to->view.end[axis] = dyno_view_begin (&to->view, axis);
      if (axis == channels)
        dyno_view_add_part (&to->view, axis, (DynoViewPart){ 'C', to->c, 1 });
      for (guint i = dyno_view_begin (&x->view, axis); i < x->view.end[axis] && axis != channels;
           i++)
        {
          DynoViewPart part = x->view.parts[i];
          if (part.axis != 'N' && stride % part.extent != 0)
            return FALSE;
          if (part.axis != 'N')
            {
              stride /= part.extent;
              part = (DynoViewPart){ 'W', part.extent, stride };
            }
          dyno_view_add_part (&to->view, axis, part);
        }
    }
  return stride == 1;
}

DynoImportValue *
dyno_import_with_channels (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x,
                           guint axis)
{
  Layout to;

  if (axis >= x->view.n_dims)
    return NULL;
  if (dyno_import_is_channels (x, axis))
    return x;
  if (x->view.n_dims == 4 && axis > 0 && is_batch (x, 0))
    return dyno_import_as_form (import, node, x,
                                axis == 1   ? "N C H W"
                                : axis == 2 ? "N H C W"
                                            : "N H W C");
  return lay_in_rows (x, axis, &to) ? move (import, node, x, &to) : NULL;
}

/* The tensor's axis for part i, which belongs to axis `axis`, in lay_in_groups; 'N': the batch,
 * which stays. */
static char
find_letter (const DynoView *view, guint axis, guint i, guint steps, guint dim)
{
  char letter = view->parts[i].axis;

  return letter == 'N' ? 'N' : axis == steps ? 'W' : axis == dim || letter == 'C' ? 'C' : 'H';
}

/* A layout with the steps along the width; the values of `dim` as the channels, after the channel
 * parts of the axes other than the steps; and the other parts of these axes along the height.  Each
 * is in the order of the view, and the batch stays.  FALSE: a sample is too large. */
static gboolean
lay_in_groups (const DynoImportValue *x, guint steps, guint dim, Layout *to)
{
  const DynoView *view = &x->view;
  guint32 *extents[] = { ['H'] = &to->h, ['W'] = &to->w, ['C'] = &to->c };
  guint32 left[] = { ['H'] = 1, ['W'] = 1, ['C'] = 1 };

  *to = (Layout){ .view = { .batch = view->batch, .n_dims = view->n_dims }, 1, 1, 1 };
  if ((guint64) x->tensor->h * x->tensor->w * x->tensor->c > G_MAXINT32)
    return FALSE;
  for (guint axis = 0; axis < view->n_dims; axis++)
    for (guint i = dyno_view_begin (view, axis); i < view->end[axis]; i++)
      {
        char letter = find_letter (view, axis, i, steps, dim);
        if (letter != 'N')
          left[(guint) letter] = *extents[(guint) letter] *= view->parts[i].extent;
      }
  for (guint axis = 0; axis < view->n_dims; axis++)
    {
      to->view.end[axis] = dyno_view_begin (&to->view, axis);
      for (guint i = dyno_view_begin (view, axis); i < view->end[axis]; i++)
        {
          char letter = find_letter (view, axis, i, steps, dim);
          DynoViewPart part = view->parts[i];
          if (letter != 'N')
            part = (DynoViewPart){ letter, part.extent, left[(guint) letter] /= part.extent };
          dyno_view_add_part (&to->view, axis, part);
        }
    }
  return TRUE;
}

DynoImportValue *
dyno_import_as_groups (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x,
                       guint steps, guint dim)
{
  Layout to;

  return lay_in_groups (x, steps, dim, &to) ? move (import, node, x, &to) : NULL;
}

DynoImportValue *
dyno_import_laid_out_as (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x,
                         const DynoTensor *shape, const DynoView *view)
{
  const Layout to = { .view = *view, .h = shape->h, .w = shape->w, .c = shape->c };

  if (x->view.n_dims != view->n_dims || x->tensor->n != shape->n)
    return NULL;
  for (guint axis = 0; axis < view->n_dims; axis++)
    if (dyno_view_dim (&x->view, axis) != dyno_view_dim (view, axis))
      return NULL;
  return move (import, node, x, &to);
}

/* --- Reshape ---------------------------------------------------------------------------------- */

/* The number of values of a view before and after the batch.  FALSE: the batch is split, or a
 * sample is too large. */
static gboolean
find_batch (const DynoImportValue *x, guint32 *before, guint32 *after)
{
  guint n = x->view.n_dims > 0 ? x->view.end[x->view.n_dims - 1] : 0;
  gboolean found = FALSE;

  *before = *after = 1;
  if ((guint64) x->tensor->h * x->tensor->w * x->tensor->c > G_MAXINT32)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const DynoViewPart *part = &x->view.parts[i];
      if (part->axis == 'N' && (found || part->extent != x->view.batch))
        return FALSE;
      if (part->axis == 'N')
        {
          found = TRUE;
          *before = *after;
          *after = 1;
        }
      else
        *after *= part->extent;
    }
  return TRUE;
}

/* A layout with the values before the batch along the width, and the values after it as
 * channels. */
static Layout
lay_in_order (const DynoImportValue *x, guint32 before, guint32 after)
{
  Layout to = {
    .view = { .batch = x->view.batch, .n_dims = x->view.n_dims }, .h = 1, .w = before, .c = after
  };
  gboolean past_batch = before == 1;
  guint32 left = past_batch ? after : before;

  for (guint axis = 0; axis < x->view.n_dims; axis++)
    {
      to.view.end[axis] = dyno_view_begin (&to.view, axis);
      for (guint i = dyno_view_begin (&x->view, axis); i < x->view.end[axis]; i++)
        {
          DynoViewPart part = x->view.parts[i];
          if (part.axis == 'N' && !past_batch)
            {
              past_batch = TRUE;
              left = after;
            }
          else if (part.axis != 'N')
            {
              left /= part.extent;
              part = (DynoViewPart){ past_batch ? 'C' : 'W', part.extent, left };
            }
          dyno_view_add_part (&to.view, axis, part);
        }
    }
  return to;
}

DynoImportValue *
dyno_import_copy_in_order (DynoImport *import, const DynoOnnxNode *node, DynoImportValue *x,
                           const gint64 *dims, guint n_dims, DynoView *view)
{
  guint32 before, after;

  if (!find_batch (x, &before, &after))
    return NULL;
  const Layout to = lay_in_order (x, before, after);
  const DynoTensor shape = { .n = x->tensor->n, .h = 1, .w = before, .c = after };
  dyno_view_init (view, &shape, x->view.batch, "WNC");
  return dyno_view_reshape (view, dims, n_dims) ? move (import, node, x, &to) : NULL;
}
