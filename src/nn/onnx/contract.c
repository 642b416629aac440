/* SPDX-License-Identifier: MIT */
/* Products and sums of tensors over any axes, by one op (dyno_contract): MatMul of two tensors,
 * Einsum, Mul and Add with repeated values, sums and norms over any axes, Expand.
 *
 * Each axis of an operand has a label, as Einsum has letters.  The axes of one label are cut into
 * pieces that have one stride in each operand; the pieces of labels that the result lacks are
 * summed. */
#include "graph-private.h"
#include "import-private.h"
#include <string.h>

#define MOST_LABELS (2 * DYNO_VIEW_MAX_DIMS)
#define MOST_PIECES (4 * DYNO_VIEW_MAX_PARTS)

/* Where a piece lies in an operand; stride 0: the operand lacks it. */
typedef struct {
  char letter;    /* the axis of the tensor */
  guint64 stride; /* in values of a dense sample */
} Place;

typedef struct {
  guint label;
  guint32 extent;
  gboolean is_batch;
  Place in[2]; /* in a and in b */
} Piece;

typedef struct {
  DynoImportValue *values[2]; /* b may be NULL */
  const guint *labels[2];     /* of the axes */
  guint64 extents[MOST_LABELS];
  guint n_labels;
  Piece pieces[MOST_PIECES]; /* the outermost one of a label first */
  guint n_pieces;
} Product;

static guint64
stride_of (const DynoViewPart *part, const DynoTensor *tensor)
{
  return (guint64) part->stride
         * (part->axis == 'H'   ? (guint64) tensor->w * tensor->c
            : part->axis == 'W' ? tensor->c
                                : 1);
}

/* The axis of operand k that has the label and several elements; G_MAXUINT: it has none. */
static guint
find_axis (const Product *p, guint k, guint label)
{
  const DynoImportValue *value = p->values[k];

  for (guint axis = 0; value && axis < value->view.n_dims; axis++)
    if (p->labels[k][axis] == label && dyno_view_dim (&value->view, axis) > 1)
      return axis;
  return G_MAXUINT;
}

/* Cuts the label into pieces.  FALSE: the parts of the operands do not divide each other, the batch
 * of one meets other values of the other, or there are too many pieces. */
static gboolean
cut_label (Product *p, guint label)
{
  DynoViewPart parts[2] = { { .extent = 1 }, { .extent = 1 } };
  guint axis[2], at[2], begin[2], first = p->n_pieces;

  for (guint k = 0; k < 2; k++)
    {
      axis[k] = find_axis (p, k, label);
      at[k] = axis[k] == G_MAXUINT ? 0 : p->values[k]->view.end[axis[k]];
      begin[k] = axis[k] == G_MAXUINT ? 0 : dyno_view_begin (&p->values[k]->view, axis[k]);
    }
  if (axis[0] == G_MAXUINT && axis[1] == G_MAXUINT && p->extents[label] > 1)
    {
      if (p->n_pieces == MOST_PIECES)
        return FALSE;
      p->pieces[p->n_pieces++] = (Piece){ .label = label, .extent = (guint32) p->extents[label] };
      return TRUE;
    }
  while (parts[0].extent > 1 || parts[1].extent > 1 || at[0] > begin[0] || at[1] > begin[1])
    {
      Piece piece = { .label = label };
      guint32 extent = G_MAXUINT32;
      for (guint k = 0; k < 2; k++)
        {
          if (parts[k].extent == 1 && at[k] > begin[k])
            parts[k] = p->values[k]->view.parts[--at[k]];
          if (axis[k] != G_MAXUINT)
            extent = MIN (extent, parts[k].extent);
        }
      if (extent <= 1 || p->n_pieces == MOST_PIECES)
        return FALSE;
      piece.extent = extent;
      for (guint k = 0; k < 2; k++)
        {
          if (axis[k] == G_MAXUINT)
            continue;
          if (parts[k].extent % extent != 0)
            return FALSE;
          piece.is_batch |= parts[k].axis == 'N';
          piece.in[k] = (Place){ parts[k].axis, parts[k].axis == 'N'
                                                    ? parts[k].stride
                                                    : stride_of (&parts[k], p->values[k]->tensor) };
          parts[k].extent /= extent;
          parts[k].stride *= extent;
        }
      if (piece.is_batch && axis[0] != G_MAXUINT && axis[1] != G_MAXUINT
          && (piece.in[0].letter != piece.in[1].letter || piece.in[0].stride != piece.in[1].stride))
        return FALSE;
      p->pieces[p->n_pieces++] = piece;
    }
  for (guint i = first, k = p->n_pieces; i + 1 < k; i++)
    {
      const Piece piece = p->pieces[--k];
      p->pieces[k] = p->pieces[i];
      p->pieces[i] = piece;
    }
  return TRUE;
}

/* --- the layout of the result ----------------------------------------------------------------- */

typedef struct {
  guint32 h, w, c;
  guint order[MOST_PIECES]; /* pieces of a sample of the result, the outermost one first */
  char letters[MOST_PIECES];
  guint n;
} Layout;

static gboolean
is_among (const guint *labels, guint n, guint label)
{
  for (guint i = 0; i < n; i++)
    if (labels[i] == label)
      return TRUE;
  return FALSE;
}

static guint32 *
extent_of (Layout *to, char letter)
{
  return letter == 'C' ? &to->c : letter == 'W' ? &to->w : &to->h;
}

/* The last axis as the channels, the one before as the width, and all others as the height. */
static void
lay_naturally (const Product *p, const guint *labels, guint n_labels, Layout *to)
{
  guint last = 0;

  for (guint i = 0; i < n_labels; i++)
    for (guint k = 0; k < p->n_pieces; k++)
      if (p->pieces[k].label == labels[i] && !p->pieces[k].is_batch)
        last = i;
  for (guint i = 0; i < n_labels; i++)
    for (guint k = 0; k < p->n_pieces; k++)
      if (p->pieces[k].label == labels[i] && !p->pieces[k].is_batch)
        {
          to->letters[to->n] = i == last ? 'C' : i + 1 == last ? 'W' : 'H';
          to->order[to->n++] = k;
        }
}

/* The place in operand k of the pieces that are summed: the axis of the innermost one.  FALSE:
 * there are none, or they are not contiguous. */
static gboolean
find_hole (const Product *p, guint k, const guint *labels, guint n_labels, Place *hole)
{
  guint64 inner = 0, size = 1, outer = 0;

  for (guint i = 0; i < p->n_pieces; i++)
    {
      const Place *place = &p->pieces[i].in[k];
      if (is_among (labels, n_labels, p->pieces[i].label) || place->stride == 0)
        continue;
      if (inner == 0 || place->stride < inner)
        {
          inner = place->stride;
          hole->letter = place->letter;
        }
      outer = MAX (outer, place->stride * p->pieces[i].extent);
      size *= p->pieces[i].extent;
    }
  hole->stride = inner;
  return inner > 0 && outer == inner * size;
}

/* The layout of operand k, in which the pieces that it lacks take the place of those that are
 * summed.  FALSE: such pieces lie in several places. */
static gboolean
lay_like (const Product *p, guint k, const guint *labels, guint n_labels, Layout *to)
{
  Place hole = { 0 };
  guint64 strides[MOST_PIECES];
  gboolean has_hole = find_hole (p, k, labels, n_labels, &hole);

  for (guint i = 0; i < n_labels; i++)
    for (guint at = 0; at < p->n_pieces; at++)
      {
        const Piece *piece = &p->pieces[at];
        if (piece->label != labels[i] || piece->is_batch)
          continue;
        const Place *place = piece->in[k].stride > 0 ? &piece->in[k] : &hole;
        if (place == &hole && !has_hole)
          return FALSE;
        guint n = to->n++;
        for (; n > 0 && strides[n - 1] < place->stride; n--)
          {
            strides[n] = strides[n - 1];
            to->order[n] = to->order[n - 1];
            to->letters[n] = to->letters[n - 1];
          }
        strides[n] = place->stride;
        to->order[n] = at;
        to->letters[n] = place->letter;
      }
  return TRUE;
}

/* Sets the extents of the layout.  FALSE: a sample has too many values. */
static gboolean
measure (const Product *p, Layout *to)
{
  guint64 all = 1;

  to->h = to->w = to->c = 1;
  for (guint i = 0; i < to->n; i++)
    {
      all *= p->pieces[to->order[i]].extent;
      if (all > G_MAXINT32)
        return FALSE;
      *extent_of (to, to->letters[i]) *= p->pieces[to->order[i]].extent;
    }
  return TRUE;
}

/* The view of the result.  FALSE: it has too many parts. */
static gboolean
make_view (const Product *p, const guint *labels, guint n_labels, const Layout *to, DynoView *view)
{
  guint32 strides[MOST_PIECES];
  guint32 left[] = { ['H'] = 1, ['W'] = 1, ['C'] = 1 };
  char letters[MOST_PIECES] = { 0 };
  guint n = 0;

  for (guint i = to->n; i-- > 0;)
    {
      guint at = to->order[i];
      letters[at] = to->letters[i];
      strides[at] = left[(guint) letters[at]];
      left[(guint) letters[at]] *= p->pieces[at].extent;
    }
  *view = (DynoView){ .batch = p->values[0]->view.batch, .n_dims = n_labels };
  if (p->values[1])
    view->batch = MAX (view->batch, p->values[1]->view.batch);
  for (guint axis = 0; axis < n_labels; axis++)
    {
      view->end[axis] = dyno_view_begin (view, axis);
      for (guint i = 0; i < p->n_pieces; i++)
        {
          const Piece *piece = &p->pieces[i];
          if (piece->label != labels[axis])
            continue;
          if (++n > DYNO_VIEW_MAX_PARTS)
            return FALSE;
          const Place *batch = piece->in[0].stride > 0 ? &piece->in[0] : &piece->in[1];
          dyno_view_add_part (view, axis,
                              piece->is_batch
                                  ? (DynoViewPart){ 'N', piece->extent, (guint32) batch->stride }
                                  : (DynoViewPart){ letters[i], piece->extent, strides[i] });
        }
    }
  return TRUE;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Sets the labels' extents.  FALSE: axes of one label differ. */
static gboolean
find_extents (Product *p, const guint *labels, guint n_labels, const guint64 *dims)
{
  for (guint i = 0; i < MOST_LABELS; i++)
    p->extents[i] = 1;
  for (guint k = 0; k < 2; k++)
    for (guint axis = 0; p->values[k] && axis < p->values[k]->view.n_dims; axis++)
      {
        guint64 dim = dyno_view_dim (&p->values[k]->view, axis);
        guint label = p->labels[k][axis];
        if (dim == 1)
          continue;
        if (label >= MOST_LABELS || (p->extents[label] != 1 && p->extents[label] != dim))
          return FALSE;
        p->extents[label] = dim;
      }
  for (guint i = 0; dims && i < n_labels; i++)
    {
      guint64 *extent = labels[i] == DYNO_IMPORT_NO_LABEL ? NULL : &p->extents[labels[i]];
      if (dims[i] > G_MAXINT32 || (extent && *extent != 1 && dims[i] != *extent)
          || (!extent && dims[i] != 1))
        return FALSE;
      if (extent)
        *extent = dims[i];
    }
  return TRUE;
}

/* Lays out the result of a product whose operands have been cut. */
static gboolean
lay_out (const Product *p, const guint *labels, guint n_labels, DynoImportLike like, Layout *to)
{
  *to = (Layout){ 0 };
  if (like != DYNO_IMPORT_NATURAL
      && lay_like (p, like == DYNO_IMPORT_LIKE_A ? 0 : 1, labels, n_labels, to))
    return measure (p, to);
  *to = (Layout){ 0 };
  lay_naturally (p, labels, n_labels, to);
  return measure (p, to);
}

/* TRUE: a piece of the batch would be summed. */
static gboolean
sums_batch (const Product *p, const guint *labels, guint n_labels)
{
  for (guint i = 0; i < p->n_pieces; i++)
    if (p->pieces[i].is_batch && !is_among (labels, n_labels, p->pieces[i].label))
      return TRUE;
  return FALSE;
}

DynoTensor *
dyno_import_append_contraction (DynoImport *import, const char *name, DynoImportValue *a,
                                const guint *labels_a, DynoImportValue *b, const guint *labels_b,
                                const guint *labels, guint n_labels,
                                const DynoImportContraction *options, DynoView *view)
{
  Product p = { .values = { a, b }, .labels = { labels_a, labels_b } };
  DynoContractPart parts[MOST_PIECES];
  Layout to;
  guint n;

  if (!dyno_import_cover (import, a) || (b && !dyno_import_cover (import, b))
      || n_labels > DYNO_VIEW_MAX_DIMS || !find_extents (&p, labels, n_labels, options->dims))
    return NULL;
  for (guint label = 0; label < MOST_LABELS; label++)
    if (!cut_label (&p, label))
      return NULL;
  if (sums_batch (&p, labels, n_labels) || !lay_out (&p, labels, n_labels, options->like, &to)
      || !make_view (&p, labels, n_labels, &to, view))
    return NULL;
  for (n = 0; n < to.n; n++)
    {
      const Piece *piece = &p.pieces[to.order[n]];
      parts[n] = (DynoContractPart){ piece->extent, (guint32) piece->in[0].stride,
                                     options->layout_only ? 0 : (guint32) piece->in[1].stride };
    }
  for (guint i = 0; i < p.n_pieces; i++)
    if (!p.pieces[i].is_batch && !is_among (labels, n_labels, p.pieces[i].label))
      parts[n++] = (DynoContractPart){ p.pieces[i].extent, (guint32) p.pieces[i].in[0].stride,
                                       (guint32) p.pieces[i].in[1].stride };
  const gboolean has_b = b && !options->layout_only;
  return dyno_contract (import->graph, a->tensor, has_b ? b->tensor : NULL, name,
                        &(DynoContractParams){ .h = to.h,
                                               .w = to.w,
                                               .c = to.c,
                                               .parts = parts,
                                               .n_out = to.n,
                                               .n_summed = n - to.n,
                                               .samples = options->samples,
                                               .scale = options->scale,
                                               .has_b = has_b });
}
