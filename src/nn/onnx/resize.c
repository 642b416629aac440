/* SPDX-License-Identifier: MIT */
/* Resize and Upsample: images of another size.  Until opset 10 pixel o of the result lies at o /
 * factor, and the nearest pixel is the one before that position.  exclude_outside has no effect
 * with two neighbours, and roi and extrapolation_value apply only to the mode
 * tf_crop_and_resize. */
#include "import-private.h"
#include <math.h>

#define LARGEST_NUMBER G_MAXUINT16 /* numerator and denominator of a fraction */
#define FLOAT_ERROR    2.5e-7      /* relative error of a 32-bit factor after one multiplication */

/* One side of the image. */
typedef struct {
  guint32 extent, out, up, down; /* as in DynoResizeParams */
} Side;

/* The factor as a fraction of small numbers, by its continued fraction; FALSE: there is no such
 * fraction. */
static gboolean
find_fraction (float factor, guint32 *up, guint32 *down)
{
  double rest = (double) factor, up_before = 0, down_before = 1, over = 1, under = 0;

  for (;;)
    {
      double whole = floor (rest), p = whole * over + up_before, q = whole * under + down_before;
      if (p > LARGEST_NUMBER || q > LARGEST_NUMBER)
        return FALSE;
      if (p > 0 && (float) (p / q) == factor)
        {
          *up = (guint32) p;
          *down = (guint32) q;
          return TRUE;
        }
      up_before = over;
      down_before = under;
      over = p;
      under = q;
      if (!(rest > whole))
        return FALSE;
      rest = 1 / (rest - whole);
    }
}

/* Sets out to the side times the factor, computed in floats as other runtimes do, so that 10 * 0.7
 * gives 7 pixels, and sets up and down where that product is not a whole number.  FALSE: the node
 * was refused. */
static gboolean
take_factor (DynoImport *import, const DynoOnnxNode *node, double number, Side *side)
{
  float factor = (float) number, out = floorf ((float) side->extent * factor);

  if (!(out >= 1) || !(out <= G_MAXUINT16))
    return dyno_import_refuse (import, node, "its factor %g cannot scale a side of %u pixels",
                               number, side->extent);
  side->out = (guint32) out;
  if (fabs ((double) factor * side->extent - side->out) > FLOAT_ERROR * side->out
      && !find_fraction (factor, &side->up, &side->down))
    return dyno_import_refuse (import, node,
                               "its factor %g is not a fraction of whole numbers up to %u", number,
                               LARGEST_NUMBER);
  return TRUE;
}

static gboolean
take_size (DynoImport *import, const DynoOnnxNode *node, gint64 size, Side *side)
{
  if (size < 1 || size > G_MAXUINT16)
    return dyno_import_refuse (import, node, "its size is %" G_GINT64_FORMAT, size);
  side->out = (guint32) size;
  return TRUE;
}

/* The factors or sizes of the node's axes; *are_sizes: they are sizes.  NULL: they are not known,
 * and the node was refused. */
static const DynoConstant *
find_numbers (DynoImport *import, const DynoOnnxNode *node, gboolean *are_sizes)
{
  gboolean has_roi = !g_str_equal (node->op_type, "Upsample")
                     && dyno_onnx_model_get_opset (import->model, "") > 10;
  const DynoConstant *factors = dyno_import_numbers (import, node, has_roi ? 2 : 1, NULL),
                     *sizes = has_roi ? dyno_import_numbers (import, node, 3, NULL) : NULL;

  *are_sizes = !factors || factors->count == 0;
  if (!*are_sizes)
    return factors;
  if (sizes && sizes->count > 0)
    return sizes;
  dyno_import_refuse (import, node, "the size of its output is not known before the network runs");
  return NULL;
}

/* Takes the numbers of x's axes (N, C, H, W) or (N, C, W). */
static gboolean
take_sides (DynoImport *import, const DynoOnnxNode *node, const DynoImportValue *x, Side *sides)
{
  gboolean are_sizes;
  guint n_axes = 0, n_dims = x->view.n_dims, seen = 0;
  const DynoConstant *numbers = find_numbers (import, node, &are_sizes);
  const gint64 *axes = dyno_import_ints (node, "axes", &n_axes);

  if (!numbers)
    return FALSE;
  if (numbers->count != (axes ? n_axes : n_dims))
    return dyno_import_refuse (import, node, "%u numbers for %u axes", numbers->count,
                               axes ? n_axes : n_dims);
  for (guint i = 0; i < numbers->count; i++)
    {
      gint64 axis = axes ? axes[i] : (gint64) i, from_end;
      axis += axis < 0 ? (gint64) n_dims : 0;
      if (axis < 0 || axis >= (gint64) n_dims || (seen >> axis & 1))
        return dyno_import_refuse (import, node, "its axes are out of range, or name one twice");
      seen |= 1u << axis;
      from_end = (gint64) n_dims - 1 - axis;
      if (axis < 2
          && (are_sizes ? dyno_constant_int (numbers, i)
                              != (gint64) dyno_view_dim (&x->view, (guint) axis)
                        : dyno_constant_float (numbers, i) != 1))
        return dyno_import_refuse (import, node, "Dyno resizes height and width only, not axis %u",
                                   (guint) axis);
      if (axis >= 2
          && !(are_sizes
                   ? take_size (import, node, dyno_constant_int (numbers, i), &sides[1 - from_end])
                   : take_factor (import, node, dyno_constant_float (numbers, i),
                                  &sides[1 - from_end])))
        return FALSE;
    }
  return TRUE;
}

/* The index of the attribute's value among the names; n: it is none of them, and the node was
 * refused. */
static guint
find_word (DynoImport *import, const DynoOnnxNode *node, const char *attribute,
           const char *otherwise, const char *const *names, guint n)
{
  const char *word = dyno_import_text (node, attribute, otherwise);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (word, names[i]))
      return i;
  dyno_import_refuse (import, node, "its %s “%s” is not read", attribute, word);
  return n;
}

static gboolean
take_mode (DynoImport *import, const DynoOnnxNode *node, gboolean is_old, DynoResizeParams *params)
{
  static const char *const modes[] = { "nearest", "linear" };
  static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor",
                                         "ceil" };
  guint mode = find_word (import, node, "mode", "nearest", modes, G_N_ELEMENTS (modes)), rule;

  if (mode == G_N_ELEMENTS (modes))
    return FALSE;
  params->mode = mode == 1 ? DYNO_RESIZE_LINEAR : DYNO_RESIZE_FLOOR;
  if (mode == 0 && !is_old)
    {
      rule = find_word (import, node, "nearest_mode", nearest[0], nearest, G_N_ELEMENTS (nearest));
      if (rule == G_N_ELEMENTS (nearest))
        return FALSE;
      params->mode = DYNO_RESIZE_PREFER_FLOOR + rule;
    }
  return TRUE;
}

/* *is_symmetric: half_pixel_symmetric, which equals half_pixel only if the factors are exact. */
static gboolean
take_places (DynoImport *import, const DynoOnnxNode *node, gboolean is_old,
             DynoResizeParams *params, gboolean *is_symmetric)
{
  static const char *const words[] = { "half_pixel", "pytorch_half_pixel", "align_corners",
                                       "asymmetric", "half_pixel_symmetric" };
  guint word = is_old ? (guint) DYNO_RESIZE_ASYMMETRIC
                      : find_word (import, node, "coordinate_transformation_mode", words[0], words,
                                   G_N_ELEMENTS (words));

  *is_symmetric = word == G_N_ELEMENTS (words) - 1;
  params->places = *is_symmetric ? DYNO_RESIZE_HALF_PIXEL : word;
  return word < G_N_ELEMENTS (words);
}

/* Refuses rules that Dyno does not implement, unless they have no effect in this case. */
static gboolean
check_rules (DynoImport *import, const DynoOnnxNode *node, const Side *sides, gboolean is_symmetric,
             gboolean is_old_nearest)
{
  const char *policy = dyno_import_text (node, "keep_aspect_ratio_policy", "stretch");

  if (!g_str_equal (policy, "stretch"))
    return dyno_import_refuse (import, node, "its keep_aspect_ratio_policy “%s” is not read",
                               policy);
  for (guint i = 0; i < 2; i++)
    {
      const Side *side = &sides[i];
      if (is_symmetric && side->up != 0)
        return dyno_import_refuse (import, node,
                                   "half_pixel_symmetric by a factor that makes no whole number "
                                   "of pixels is not read");
      if (side->out < side->extent && dyno_import_int (node, "antialias", 0) != 0)
        return dyno_import_refuse (import, node, "Dyno does not shrink with antialias");
      if (side->out < side->extent && is_old_nearest
          && (side->up != 0 || side->extent % side->out != 0))
        return dyno_import_refuse (import, node,
                                   "before opset 11 ONNX does not define how %u pixels become %u",
                                   side->extent, side->out);
    }
  return TRUE;
}

gboolean
dyno_import_resize (DynoImport *import, const DynoOnnxNode *node)
{
  static const char *const forms[] = { "N C H W", "N C W", NULL };
  gboolean is_old = g_str_equal (node->op_type, "Upsample")
                    || dyno_onnx_model_get_opset (import->model, "") < 11,
           is_symmetric;
  DynoResizeParams params = { 0 };
  DynoImportValue *x;
  guint form;

  if (!take_mode (import, node, is_old, &params)
      || !take_places (import, node, is_old, &params, &is_symmetric)
      || !(x = dyno_import_tensor_as (import, node, 0, forms, &form)))
    return FALSE;
  Side sides[] = { { .extent = x->tensor->h, .out = x->tensor->h },
                   { .extent = x->tensor->w, .out = x->tensor->w } };
  if (!take_sides (import, node, x, sides)
      || !check_rules (import, node, sides, is_symmetric,
                       is_old && params.mode == DYNO_RESIZE_FLOOR))
    return FALSE;
  params.height = sides[0].out;
  params.width = sides[1].out;
  params.up_h = sides[0].up;
  params.down_h = sides[0].down;
  params.up_w = sides[1].up;
  params.down_w = sides[1].down;
  return dyno_import_output (
      import, node, 0,
      dyno_resize (import->graph, x->tensor, dyno_import_shown_name (node), &params), NULL,
      forms[form]);
}
