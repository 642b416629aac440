/* SPDX-License-Identifier: MIT */
/* Sums and products of a tensor and one constant number, and operators that are read as such. */
#include "import-private.h"
#include <math.h>

gboolean
dyno_import_number (DynoImport *import, const DynoOnnxNode *node, guint i, const DynoView *view,
                    double *number)
{
  if (!dyno_import_is_constant (import, node, i))
    return FALSE;
  const DynoConstant *constant = dyno_import_input (import, node, i)->constant;
  if (constant->n_dims > view->n_dims || !dyno_constant_is_uniform (constant, number))
    return FALSE;
  for (guint k = 0; k < constant->n_dims; k++)
    if (constant->dims[k] != 1
        && (guint64) constant->dims[k] != dyno_view_dim (view, view->n_dims - constant->n_dims + k))
      return FALSE;
  return TRUE;
}

/* The index of the input that is a constant of equal numbers, which broadcasts to the other input,
 * a tensor; 2: neither is. */
static guint
find_number (DynoImport *import, const DynoOnnxNode *node, double *number)
{
  for (guint i = 0; i < 2; i++)
    {
      const DynoImportValue *x = dyno_import_input (import, node, 1 - i);
      if (x && x->tensor && dyno_import_number (import, node, i, &x->view, number))
        return i;
    }
  return 2;
}

/* Sets output 0 to factor * x + offset, where x is the tensor of input i. */
static gboolean
read_affine (DynoImport *import, const DynoOnnxNode *node, guint i, double factor, double offset)
{
  DynoImportValue *x = dyno_import_tensor (import, node, i);

  if (!x)
    return FALSE;
  if (factor == 1 && offset == 0)
    return dyno_import_pass (import, node, i);
  if (!isfinite ((float) factor) || !isfinite ((float) offset))
    return dyno_import_refuse (import, node, "its number is not finite, or it divides by 0");
  return dyno_import_output (
      import, node, 0,
      dyno_affine (import->graph, x->tensor, factor, offset, dyno_import_shown_name (node)),
      &x->view, NULL);
}

gboolean
dyno_import_has_number (DynoImport *import, const DynoOnnxNode *node)
{
  double number;

  return find_number (import, node, &number) < 2;
}

gboolean
dyno_import_by_number (DynoImport *import, const DynoOnnxNode *node)
{
  double number = 0;
  guint constant = find_number (import, node, &number), x = 1 - constant;

  if (constant == 2)
    return dyno_import_refuse (
        import, node, "one of its inputs is not a number that is known before the network runs");
  if (g_str_equal (node->op_type, "Mul"))
    return read_affine (import, node, x, number, 0);
  if (g_str_equal (node->op_type, "Sub"))
    return read_affine (import, node, x, x == 0 ? 1 : -1, x == 0 ? -number : number);
  return read_affine (import, node, x, 1, number);
}

/* x - number, number - x, or tensor - tensor. */
gboolean
dyno_import_sub (DynoImport *import, const DynoOnnxNode *node)
{
  DynoImportValue *a, *b;

  if (dyno_import_is_constant (import, node, 0) && dyno_import_is_constant (import, node, 1))
    return dyno_import_fold (import, node);
  if (dyno_import_has_number (import, node))
    return dyno_import_by_number (import, node);
  a = dyno_import_input (import, node, 0);
  b = dyno_import_input (import, node, 1);
  if (!a || !b || !a->tensor || !b->tensor || a->tensor->n != b->tensor->n
      || !dyno_view_equal (&a->view, &b->view))
    return dyno_import_broadcast_add (import, node, -1);
  if (!(a = dyno_import_tensor (import, node, 0)) || !(b = dyno_import_tensor (import, node, 1)))
    return FALSE;
  const char *name = dyno_import_shown_name (node);
  g_autofree char *negative = g_strconcat (name, ".negative", NULL);
  DynoTensor *less = dyno_affine (import->graph, b->tensor, -1, 0, negative);
  return dyno_import_output (import, node, 0, dyno_add (import->graph, a->tensor, less, name),
                             &a->view, NULL);
}

/* x / a number, or a tensor / a tensor. */
gboolean
dyno_import_div (DynoImport *import, const DynoOnnxNode *node)
{
  double number;

  if (dyno_import_is_constant (import, node, 0) && dyno_import_is_constant (import, node, 1))
    return dyno_import_fold (import, node);
  if (find_number (import, node, &number) != 1)
    return dyno_import_broadcast_div (import, node);
  return read_affine (import, node, 0, 1 / number, 0);
}

gboolean
dyno_import_neg (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_is_constant (import, node, 0) ? dyno_import_fold (import, node)
                                                   : read_affine (import, node, 0, -1, 0);
}
