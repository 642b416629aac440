/* SPDX-License-Identifier: MIT */
/* Folding of elementwise operators: each number of the output is computed from one number of each
 * input.  The shapes are broadcast as in numpy. */
#include "fold-private.h"
#include <math.h>
#include <string.h>

/* --- integers: FALSE where the result does not fit 64 bits ------------------------------------ */

static gboolean
int_add (gint64 a, gint64 b, gint64 *result)
{
  return !__builtin_add_overflow (a, b, result);
}

static gboolean
int_sub (gint64 a, gint64 b, gint64 *result)
{
  return !__builtin_sub_overflow (a, b, result);
}

static gboolean
int_mul (gint64 a, gint64 b, gint64 *result)
{
  return !__builtin_mul_overflow (a, b, result);
}

static gboolean
int_div (gint64 a, gint64 b, gint64 *result)
{
  if (b == 0 || (a == G_MININT64 && b == -1))
    return FALSE;
  *result = a / b;
  return TRUE;
}

/* The remainder has the sign of b, as in Python. */
static gboolean
int_mod (gint64 a, gint64 b, gint64 *result)
{
  if (b == 0)
    return FALSE;
  *result = b == -1 ? 0 : a % b;
  if (*result != 0 && (*result < 0) != (b < 0))
    *result += b;
  return TRUE;
}

/* The remainder has the sign of a, as in C. */
static gboolean
int_fmod (gint64 a, gint64 b, gint64 *result)
{
  if (b == 0)
    return FALSE;
  *result = b == -1 ? 0 : a % b;
  return TRUE;
}

static gboolean
int_pow (gint64 a, gint64 b, gint64 *result)
{
  *result = 1;
  if (b < 0)
    return FALSE;
  for (; b > 0; b >>= 1)
    {
      if ((b & 1) && !int_mul (*result, a, result))
        return FALSE;
      if (b > 1 && !int_mul (a, a, &a))
        return FALSE;
    }
  return TRUE;
}

static gboolean
int_min (gint64 a, gint64 b, gint64 *result)
{
  *result = MIN (a, b);
  return TRUE;
}

static gboolean
int_max (gint64 a, gint64 b, gint64 *result)
{
  *result = MAX (a, b);
  return TRUE;
}

static gboolean
int_neg (gint64 a, gint64 b G_GNUC_UNUSED, gint64 *result)
{
  return int_sub (0, a, result);
}

static gboolean
int_abs (gint64 a, gint64 b G_GNUC_UNUSED, gint64 *result)
{
  *result = a;
  return a >= 0 || int_neg (a, 0, result);
}

static gboolean
int_sign (gint64 a, gint64 b G_GNUC_UNUSED, gint64 *result)
{
  *result = (a > 0) - (a < 0);
  return TRUE;
}

static gboolean
int_not (gint64 a, gint64 b G_GNUC_UNUSED, gint64 *result)
{
  *result = !a;
  return TRUE;
}

static gboolean
int_and (gint64 a, gint64 b, gint64 *result)
{
  *result = a && b;
  return TRUE;
}

static gboolean
int_or (gint64 a, gint64 b, gint64 *result)
{
  *result = a || b;
  return TRUE;
}

static gboolean
int_xor (gint64 a, gint64 b, gint64 *result)
{
  *result = !a != !b;
  return TRUE;
}

/* The comparisons, for integers and for floats. */
#define COMPARISON(name, operator)                                \
  static gboolean int_##name (gint64 a, gint64 b, gint64 *result) \
  {                                                               \
    *result = a operator b;                                       \
    return TRUE;                                                  \
  }                                                               \
  static double float_##name (double a, double b) { return a operator b; }
COMPARISON (equal, ==)
COMPARISON (less, <)
COMPARISON (less_or_equal, <=)
COMPARISON (greater, >)
COMPARISON (greater_or_equal, >=)

/* --- floats ----------------------------------------------------------------------------------- */

static double
float_add (double a, double b)
{
  return a + b;
}

static double
float_sub (double a, double b)
{
  return a - b;
}

static double
float_mul (double a, double b)
{
  return a * b;
}

static double
float_div (double a, double b)
{
  return a / b;
}

static double
float_mod (double a, double b)
{
  double rest = fmod (a, b);

  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double
float_min (double a, double b)
{
  return isnan (a) || a < b ? a : b;
}

static double
float_max (double a, double b)
{
  return isnan (a) || a > b ? a : b;
}

static double
float_neg (double a, double b G_GNUC_UNUSED)
{
  return -a;
}

static double
float_sign (double a, double b G_GNUC_UNUSED)
{
  return (a > 0) - (a < 0);
}

static double
float_reciprocal (double a, double b G_GNUC_UNUSED)
{
  return 1 / a;
}

/* Rounds halves to the even number, as ONNX and PyTorch do. */
static double
float_round (double a, double b G_GNUC_UNUSED)
{
  return nearbyint (a);
}

#define UNARY(name) \
  static double float_##name (double a, double b G_GNUC_UNUSED) { return name (a); }
UNARY (fabs)
UNARY (ceil)
UNARY (floor)
UNARY (sqrt)
UNARY (exp)
UNARY (log)
UNARY (sin)
UNARY (cos)

/* --- nodes ------------------------------------------------------------------------------------ */

typedef struct {
  const char *op_type;
  gboolean (*ints) (gint64 a, gint64 b, gint64 *result); /* NULL: only floats are supported */
  double (*floats) (double a, double b);                 /* NULL: only integers are supported */
  /* 0: one or more, which are combined in order */
  guint n_inputs;
  gboolean is_test; /* the result is true or false */
} Elementwise;

static const Elementwise *
find_function (const DynoOnnxNode *node)
{
  static const Elementwise rows[] = {
    { "Add", int_add, float_add, 2, FALSE },
    { "Sub", int_sub, float_sub, 2, FALSE },
    { "Mul", int_mul, float_mul, 2, FALSE },
    { "Div", int_div, float_div, 2, FALSE },
    { "Pow", int_pow, pow, 2, FALSE },
    { "Mod", int_mod, float_mod, 2, FALSE },
    { "Min", int_min, float_min, 0, FALSE },
    { "Max", int_max, float_max, 0, FALSE },
    { "Neg", int_neg, float_neg, 1, FALSE },
    { "Abs", int_abs, float_fabs, 1, FALSE },
    { "Sign", int_sign, float_sign, 1, FALSE },
    { "Ceil", NULL, float_ceil, 1, FALSE },
    { "Floor", NULL, float_floor, 1, FALSE },
    { "Round", NULL, float_round, 1, FALSE },
    { "Sqrt", NULL, float_sqrt, 1, FALSE },
    { "Exp", NULL, float_exp, 1, FALSE },
    { "Log", NULL, float_log, 1, FALSE },
    { "Sin", NULL, float_sin, 1, FALSE },
    { "Cos", NULL, float_cos, 1, FALSE },
    { "Reciprocal", NULL, float_reciprocal, 1, FALSE },
    { "Not", int_not, NULL, 1, TRUE },
    { "And", int_and, NULL, 2, TRUE },
    { "Or", int_or, NULL, 2, TRUE },
    { "Xor", int_xor, NULL, 2, TRUE },
    { "Equal", int_equal, float_equal, 2, TRUE },
    { "Less", int_less, float_less, 2, TRUE },
    { "LessOrEqual", int_less_or_equal, float_less_or_equal, 2, TRUE },
    { "Greater", int_greater, float_greater, 2, TRUE },
    { "GreaterOrEqual", int_greater_or_equal, float_greater_or_equal, 2, TRUE },
  };
  static const Elementwise signed_rest = { "Mod", int_fmod, fmod, 2, FALSE };

  if (g_str_equal (node->op_type, "Mod") && dyno_import_int (node, "fmod", 0) == 1)
    return &signed_rest;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].op_type, node->op_type))
      return &rows[i];
  return NULL;
}

/* Computes one number from a[i] and b[k]; b is NULL where the function has one input.  FALSE: the
 * number overflows. */
static gboolean
compute (const Elementwise *f, gboolean by_ints, DynoConstant *made, guint at,
         const DynoConstant *a, guint i, const DynoConstant *b, guint k)
{
  if (by_ints)
    return f->ints (a->ints[i], b ? b->ints[k] : 0, &made->ints[at]);
  double result = f->floats (dyno_constant_float (a, i), b ? dyno_constant_float (b, k) : 0);
  if (!made->is_int)
    dyno_constant_set_float (made, at, result);
  else if (!(fabs (result) < 0x1p62))
    return FALSE;
  else
    made->ints[at] = (gint64) result;
  return TRUE;
}

/* f of a and b; NULL: the node was refused. */
static DynoConstant *
apply (DynoImport *import, const DynoOnnxNode *node, const Elementwise *f, const DynoConstant *a,
       const DynoConstant *b)
{
  gboolean by_ints = a->is_int && (!b || b->is_int);
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint n = a->n_dims;
  DynoFoldWalk walk;

  if (by_ints ? !f->ints : !f->floats)
    {
      dyno_import_refuse (import, node, "Dyno does not compute it for %s",
                          by_ints ? "whole numbers" : "floats");
      return NULL;
    }
  memcpy (dims, a->dims, sizeof dims);
  if (b && !dyno_fold_broadcast (import, node, b->dims, b->n_dims, dims, &n))
    return NULL;
  /* The result of Pow has the type of the base. */
  gboolean is_int = f->is_test || by_ints || (a->is_int && f->floats == pow);
  DynoConstant *made = dyno_fold_make (import, node, is_int, dims, n);
  if (!made)
    return NULL;
  made->is_double = !is_int && (a->is_double || (b && b->is_double));
  dyno_fold_walk_init (&walk, dims, n);
  dyno_fold_walk_broadcast (&walk, 0, a);
  if (b)
    dyno_fold_walk_broadcast (&walk, 1, b);
  for (guint i = 0; i < made->count; i++, dyno_fold_walk_next (&walk))
    if (!compute (f, by_ints, made, i, a, (guint) walk.place[0], b, (guint) walk.place[1]))
      {
        dyno_fold_overflows (import, node, made);
        return NULL;
      }
  return made;
}

gboolean
dyno_fold_elementwise (DynoImport *import, const DynoOnnxNode *node)
{
  const Elementwise *f = find_function (node);
  g_autoptr (DynoConstant) result = NULL;

  g_return_val_if_fail (f, FALSE);
  if (!dyno_fold_known (import, node, 0))
    return FALSE;
  DynoConstant *first = dyno_import_input (import, node, 0)->constant;
  result = f->n_inputs == 1 ? apply (import, node, f, first, NULL) : dyno_constant_ref (first);
  for (guint i = 1; result && i < (f->n_inputs > 0 ? f->n_inputs : node->n_inputs); i++)
    {
      const DynoConstant *next = dyno_fold_known (import, node, i);
      DynoConstant *both = next ? apply (import, node, f, result, next) : NULL;
      dyno_constant_free (result);
      result = both;
    }
  return result && dyno_import_output_constant (import, node, g_steal_pointer (&result));
}

gboolean
dyno_fold_where (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *inputs[3];
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint n = 0;
  DynoFoldWalk walk;

  for (guint i = 0; i < 3; i++)
    if (!(inputs[i] = dyno_fold_known (import, node, i))
        || !dyno_fold_broadcast (import, node, inputs[i]->dims, inputs[i]->n_dims, dims, &n))
      return FALSE;
  DynoConstant *made =
      dyno_fold_make (import, node, inputs[1]->is_int && inputs[2]->is_int, dims, n);
  if (!made)
    return FALSE;
  made->is_double = inputs[1]->is_double || inputs[2]->is_double;
  dyno_fold_walk_init (&walk, dims, n);
  for (guint i = 0; i < 3; i++)
    dyno_fold_walk_broadcast (&walk, i, inputs[i]);
  for (guint i = 0; i < made->count; i++, dyno_fold_walk_next (&walk))
    {
      guint from = dyno_constant_float (inputs[0], (guint) walk.place[0]) != 0 ? 1 : 2;
      dyno_constant_set (made, i, inputs[from], (guint) walk.place[from]);
    }
  return dyno_import_output_constant (import, node, made);
}

/* The bounds are inputs that may be left out, one number each, or until opset 10 attributes. */
gboolean
dyno_fold_clip (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoConstant *data = dyno_fold_known (import, node, 0), *low, *high;
  double least = dyno_import_float (node, "min", (double) -INFINITY),
         most = dyno_import_float (node, "max", (double) INFINITY);

  if (!data || !dyno_fold_optional (import, node, 1, NULL, &low)
      || !dyno_fold_optional (import, node, 2, NULL, &high))
    return FALSE;
  if ((low && low->count != 1) || (high && high->count != 1))
    return dyno_import_refuse (import, node, "its bounds are not one number each");
  DynoConstant *made = dyno_fold_new_like (import, node, data, data->dims, data->n_dims);
  if (!made)
    return FALSE;
  least = low ? dyno_constant_float (low, 0) : least;
  most = high ? dyno_constant_float (high, 0) : most;
  /* Where the bounds cross, the upper one is taken. */
  for (guint i = 0; i < data->count; i++)
    if (!data->is_int)
      made->floats[i] = MIN (MAX (data->floats[i], least), most);
    else if ((double) data->ints[i] < least || (double) data->ints[i] > most)
      made->ints[i] = (gint64) MIN (MAX ((double) data->ints[i], least), most);
    else
      made->ints[i] = data->ints[i];
  return dyno_import_output_constant (import, node, made);
}
