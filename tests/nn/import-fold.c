/* SPDX-License-Identifier: MIT */
/* Constants of ONNX files that are computed at import: each operator compared with results worked
 * out by hand, and the sizes of hostile files. */
#include "file.h"
#include "fold-private.h"
#include "onnx-test.h"
#include <string.h>

/* --- one file's nodes ------------------------------------------------------------------------- */

static void
free_value (gpointer data)
{
  DynoImportValue *value = data;

  dyno_constant_free (value->constant);
  g_free (value);
}

typedef struct {
  DynoOnnxModel *model;
  DynoImport import;
} Fold;

/* Reads the nodes of a file in order, up to the first refused one. */
static void
fold_init (Fold *f, const char *text)
{
  GError *error = NULL;

  memset (f, 0, sizeof *f);
  f->model = onnx_test_parse (onnx_test_text (text), NULL, &error);
  g_assert_no_error (error);
  f->import =
      (DynoImport){ .model = f->model,
                    .values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_value),
                    .refusals = g_ptr_array_new_with_free_func (g_free) };
  for (guint i = 0; i < f->model->n_initializers; i++)
    {
      DynoImportValue *value = g_new0 (DynoImportValue, 1);
      value->constant = dyno_constant_read (f->model, &f->model->initializers[i]);
      g_hash_table_insert (f->import.values, g_strdup (f->model->initializers[i].name), value);
    }
  for (guint i = 0; i < f->model->n_nodes && f->import.refusals->len == 0; i++)
    {
      const DynoImportRow *row = dyno_import_find_row (&f->model->nodes[i]);
      g_assert_nonnull (row);
      g_assert_cmpint (row->read (&f->import, &f->model->nodes[i]), ==,
                       f->import.refusals->len == 0);
    }
}

static void
fold_clear (Fold *f)
{
  g_hash_table_unref (f->import.values);
  g_ptr_array_unref (f->import.refusals);
  dyno_onnx_model_unref (f->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fold, fold_clear)

/* "i(2,3) 1 2 3 4 5 6", "f() 0.5" */
static char *
print_value (Fold *f, const char *name)
{
  const DynoImportValue *value = g_hash_table_lookup (f->import.values, name);
  const DynoConstant *c = value ? value->constant : NULL;
  GString *text = g_string_new (c && c->is_int ? "i(" : "f(");

  g_assert_nonnull (c);
  for (guint i = 0; i < c->n_dims; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i ? "," : "", c->dims[i]);
  g_string_append_c (text, ')');
  for (guint i = 0; i < c->count; i++)
    g_string_append_printf (text, " %g", dyno_constant_float (c, i));
  return g_string_free (text, FALSE);
}

typedef struct {
  const char *text, *result; /* of y */
} Row;

static void
check_rows (const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_auto (Fold) f;
      g_test_message ("%s", rows[i].text);
      fold_init (&f, rows[i].text);
      if (f.import.refusals->len > 0)
        g_error ("%s", (const char *) g_ptr_array_index (f.import.refusals, 0));
      g_autofree char *got = print_value (&f, "y");
      g_assert_cmpstr (got, ==, rows[i].result);
    }
}

/* Values that the rows begin with: a (2,3) of 1 to 6, column (2,1), row (3), z of floats. */
#define VALUES                                                                              \
  "i n 1,2,3,4,5,6;i n23 2,3;Reshape - n,n23 a;i c 10,20;i c21 2,1;Reshape - c,c21 column;" \
  "i row 1,2,3;i one 1;i two 2;i zero 0;i minus -1;f half 0.5;f z -1.5,-0.5,0.5,2.5;"

/* --- families --------------------------------------------------------------------------------- */

static void
test_elementwise (void)
{
  static const Row rows[] = {
    { VALUES "Add - a,column y", "i(2,3) 11 12 13 24 25 26" },
    { VALUES "Add - column,row y", "i(2,3) 11 12 13 21 22 23" },
    { VALUES "Sub - row,one y", "i(3) 0 1 2" },
    { VALUES "Mul - a,a y", "i(2,3) 1 4 9 16 25 36" },
    { VALUES "i b -7,7,;Div - b,two y", "i(2) -3 3" },
    { VALUES "Div - z,half y", "f(4) -3 -1 1 5" },
    { VALUES "i b -7,7,;i m 3,-3;Mod - b,m y", "i(2) 2 -2" },
    { VALUES "i b -7,7,;i m 3,-3;Mod - b,m y fmod=1", "i(2) -1 1" },
    { VALUES "f b -7,7,;f m 3,-3;Mod - b,m y fmod=1", "f(2) -1 1" },
    { VALUES "Pow - row,two y", "i(3) 1 4 9" },
    { VALUES "f p 0.5;i b 4,9,;Pow - b,p y", "i(2) 2 3" },
    { VALUES "Pow - half,two y", "f() 0.25" },
    { VALUES "Min - row,two,column y", "i(2,3) 1 2 2 1 2 2" },
    { VALUES "Max - row,two y", "i(3) 2 2 3" },
    { VALUES "Max - z,half y", "f(4) 0.5 0.5 0.5 2.5" },
    { VALUES "Max - row y", "i(3) 1 2 3" },
    { VALUES "Clip - row,two y", "i(3) 2 2 3" },
    { VALUES "Clip - z,minus,half y", "f(4) -1 -0.5 0.5 0.5" },
    { VALUES "Clip - row,,two y", "i(3) 1 2 2" },
    { VALUES "Neg - row y", "i(3) -1 -2 -3" },
    { VALUES "Abs - z y", "f(4) 1.5 0.5 0.5 2.5" },
    { VALUES "Sign - z y", "f(4) -1 -1 1 1" },
    { VALUES "Ceil - z y", "f(4) -1 -0 1 3" },
    { VALUES "Floor - z y", "f(4) -2 -1 0 2" },
    { VALUES "Round - z y", "f(4) -2 -0 0 2" },
    { "f b 4,9,;Sqrt - b y", "f(2) 2 3" },
    { "f b 0,1,;Exp - b y", "f(2) 1 2.71828" },
    { "f b 1,2,;Log - b y", "f(2) 0 0.693147" },
    { "f b 0,1,;Sin - b y", "f(2) 0 0.841471" },
    { "f b 0,1,;Cos - b y", "f(2) 1 0.540302" },
    { "f b 4,0.5;Reciprocal - b y", "f(2) 0.25 2" },
    { VALUES "i b 0,3,;Not - b y", "i(2) 1 0" },
    { "i b 0,0,1,1;i c 0,1,0,1;And - b,c y", "i(4) 0 0 0 1" },
    { "i b 0,0,1,1;i c 0,1,0,1;Or - b,c y", "i(4) 0 1 1 1" },
    { "i b 0,0,1,1;i c 0,1,0,1;Xor - b,c y", "i(4) 0 1 1 0" },
    { VALUES "Equal - a,row y", "i(2,3) 1 1 1 0 0 0" },
    { VALUES "Equal - z,half y", "i(4) 0 0 1 0" },
    { VALUES "Less - row,two y", "i(3) 1 0 0" },
    { VALUES "LessOrEqual - row,two y", "i(3) 1 1 0" },
    { VALUES "Greater - row,two y", "i(3) 0 0 1" },
    { VALUES "GreaterOrEqual - row,two y", "i(3) 0 1 1" },
    { VALUES "i b 1,0,1;Where - b,column,a y", "i(2,3) 10 2 10 20 5 20" },
    /* 32-bit arithmetic: 0.7 * 10 is 7, as in PyTorch */
    { "f b 0.7;f t 10;Mul - b,t c;Floor - c y", "f() 7" },
    { "f b 0.7;f t 10;Cast - b d to=11;Cast - t u to=11;Mul - d,u c;Floor - c y", "f() 6" },
    /* an axis of length 0 */
    { "i b ,;i one 1;Add - b,one y", "i(0)" },
  };
  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_axes (void)
{
  static const Row rows[] = {
    { VALUES "i s 2,2,3;Expand - a,s y", "i(2,2,3) 1 2 3 4 5 6 1 2 3 4 5 6" },
    { VALUES "i s 1,3,;Expand - column,s y", "i(2,3) 10 10 10 20 20 20" },
    { VALUES "i s 3,1,1;Expand - one,s y", "i(3,1,1) 1 1 1" },
    { VALUES "i s 2,2,;Tile - a,s y", "i(4,6) 1 2 3 1 2 3 4 5 6 4 5 6 1 2 3 1 2 3 4 5 6 4 5 6" },
    { VALUES "Transpose - a y", "i(3,2) 1 4 2 5 3 6" },
    { "i n 1,2,3,4,5,6,7,8;i s 2,2,2;Reshape - n,s b;Transpose - b y perm=1,2,0",
      "i(2,2,2) 1 5 2 6 3 7 4 8" },
    { VALUES "i s 0,-1,1;Reshape - a,s y", "i(2,3,1) 1 2 3 4 5 6" },
    { VALUES "i s 3,2,;Reshape - a,s y", "i(3,2) 1 2 3 4 5 6" },
    { VALUES "Squeeze - column y", "i(2) 10 20" },
    { VALUES "i x -1,;Squeeze - column,x y", "i(2) 10 20" },
    { VALUES "i x 0,-1;Unsqueeze - row,x y", "i(1,3,1) 1 2 3" },
    { VALUES "Unsqueeze - row y axes=1,", "i(3,1) 1 2 3" },
    { VALUES "Flatten - a y axis=0", "i(1,6) 1 2 3 4 5 6" },
    { VALUES "Flatten - a y axis=-1", "i(2,3) 1 2 3 4 5 6" },
    { VALUES "i b 1,;i e 9,;Slice - row,b,e y", "i(2) 2 3" },
    { VALUES "i b 0,1,;i e 2,3,;Slice - a,b,e y", "i(2,2) 2 3 5 6" },
    { VALUES "i b -1,;i e -9,;i x 1,;i s -2,;Slice - a,b,e,x,s y", "i(2,2) 3 1 6 4" },
    { VALUES "i b -2,;i e 9223372036854775807,;i x -1,;Slice - a,b,e,x y", "i(2,2) 2 3 5 6" },
    { VALUES "i b 2,;i e 1,;Slice - row,b,e y", "i(0)" },
    { VALUES "i b 0,;i e 9,;i x 0,;i s 9223372036854775807,;Slice - row,b,e,x,s y", "i(1) 1" },
    { VALUES "Slice - row y starts=-2, ends=3,", "i(2) 2 3" },
    { VALUES "Concat - a,a y axis=0", "i(4,3) 1 2 3 4 5 6 1 2 3 4 5 6" },
    { VALUES "Concat - a,column,a y axis=-1", "i(2,7) 1 2 3 10 1 2 3 4 5 6 20 4 5 6" },
    { VALUES "i s 1,2,;Split - a,s b,y axis=1", "i(2,2) 2 3 5 6" },
    { VALUES "Split - a b,y axis=-1", "i(2,1) 3 6" },
    { VALUES "Split - a y,b axis=0", "i(1,3) 1 2 3" },
    { VALUES "Shape - a y", "i(2) 2 3" },
    { VALUES "Size - a y", "i() 6" },
  };
  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_indices (void)
{
  static const Row rows[] = {
    { VALUES "Gather - a,one y", "i(3) 4 5 6" },
    { VALUES "i k 0,-1;Gather - a,k y axis=1", "i(2,2) 1 3 4 6" },
    { VALUES "i k 1,0,;Gather - a,k y axis=-2", "i(2,3) 4 5 6 1 2 3" },
    { VALUES "i k 1,2,0,0;i s 2,2,;Reshape - k,s l;GatherND - a,l y", "i(2) 6 1" },
    { VALUES "i k 1,-2;i s 2,1,;Reshape - k,s l;GatherND - a,l y", "i(2,3) 4 5 6 1 2 3" },
    { VALUES "i k 1,2,;i s 2,1,;Reshape - k,s l;GatherND - a,l y batch_dims=1", "i(2) 2 6" },
    { VALUES "i k 2,0,;i s 2,1,;Reshape - k,s l;GatherElements - a,l y axis=1", "i(2,1) 3 4" },
    { VALUES "i k 1,0,-1;i s 1,3,;Reshape - k,s l;GatherElements - a,l y axis=0", "i(1,3) 4 2 6" },
    { VALUES "i k 2,0,1,2,0,0,-1,1;i s 2,4,;Reshape - k,s l;GatherElements - a,l y axis=1",
      "i(2,4) 3 1 2 3 4 4 6 5" },
    { VALUES "i k 1,;i s 1,1,;Reshape - k,s l;i u 7,8,9;i v 1,3,;Reshape - u,v w;"
             "ScatterND - a,l,w y",
      "i(2,3) 1 2 3 7 8 9" },
    { VALUES "i k 0,2,1,-3;i s 2,2,;Reshape - k,s l;i u 7,8,;ScatterND - a,l,u y",
      "i(2,3) 1 2 7 8 5 6" },
  };
  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_sums (void)
{
  static const Row rows[] = {
    { VALUES "ReduceSum - a y", "i(1,1) 21" },
    { VALUES "i x -1,;ReduceSum - a,x y keepdims=0", "i(2) 6 15" },
    { VALUES "i x 0,;ReduceSum - a,x y", "i(1,3) 5 7 9" },
    { VALUES "i x ,;ReduceSum - a,x y noop_with_empty_axes=1", "i(2,3) 1 2 3 4 5 6" },
    { VALUES "ReduceProd - a y keepdims=0 axes=1,", "i(2) 6 120" },
    { VALUES "ReduceMax - a y keepdims=0 axes=0,", "i(3) 4 5 6" },
    { VALUES "ReduceMin - z y keepdims=0", "f() -1.5" },
    { VALUES "ReduceMax - z y keepdims=0", "f() 2.5" },
    { VALUES "ReduceMean - z y keepdims=0", "f() 0.25" },
    { VALUES "CumSum - a,one y", "i(2,3) 1 3 6 4 9 15" },
    { VALUES "CumSum - a,zero y", "i(2,3) 1 2 3 5 7 9" },
    { VALUES "CumSum - a,minus y exclusive=1", "i(2,3) 0 1 3 0 4 9" },
    { VALUES "CumSum - a,one y reverse=1", "i(2,3) 6 5 3 15 11 6" },
    { VALUES "CumSum - a,one y reverse=1 exclusive=1", "i(2,3) 5 3 0 11 6 0" },
  };
  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_makers (void)
{
  static const Row rows[] = {
    { "i s 2,1,;ConstantOfShape - s y", "f(2,1) 0 0" },
    { VALUES "i e 7;Range - one,e,two y", "i(3) 1 3 5" },
    { VALUES "i e 7;i s -3;Range - e,zero,s y", "i(3) 7 4 1" },
    { VALUES "Range - two,one,one y", "i(0)" },
    { VALUES "f b 0;f e 2;Range - b,e,half y", "f(4) 0 0.5 1 1.5" },
    { VALUES "Cast - z y to=7", "i(4) -1 0 0 2" },
    { VALUES "Cast - z y to=9", "i(4) 1 1 1 1" },
    { VALUES "Cast - row y to=1", "f(3) 1 2 3" },
    { VALUES "CastLike - z,one y", "i(4) -1 0 0 2" },
    { VALUES "CastLike - row,half y", "f(3) 1 2 3" },
    { VALUES "Trilu - a y", "i(2,3) 1 2 3 0 5 6" },
    { VALUES "Trilu - a,one y", "i(2,3) 0 2 3 0 0 6" },
    { VALUES "Trilu - a,minus y upper=0", "i(2,3) 0 0 0 4 0 0" },
  };
  check_rows (rows, G_N_ELEMENTS (rows));
}

/* The index of the relative position in a window, as Swin's exports compute it. */
static void
test_relative_positions (void)
{
  static const Row row = {
    "i zero 0;i one 1;i w 2;Range - zero,w,one c;i s 2,1,;Reshape - c,s r;i t 2,2,;Expand - r,t h;"
    "Expand - c,t v;i f 1,-1;Reshape - h,f h2;Reshape - v,f v2;Concat - h2,v2 g axis=0;i x 2,;"
    "Unsqueeze - g,x p;i z 1,;Unsqueeze - g,z q;Sub - p,q d;Transpose - d e perm=1,2,0;"
    "Add - e,one i;i m 3,1,;Mul - i,m j;i l -1,;ReduceSum - j,l y keepdims=0",
    "i(4,4) 4 3 1 0 5 4 2 1 7 6 4 3 8 7 5 4"
  };
  check_rows (&row, 1);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void
test_refusals (void)
{
  static const Row rows[] = {
    { VALUES "i b 1,2,;Add - a,b y", "Add “y”: an axis of 3 numbers does not fit one of 2" },
    { VALUES "Div - a,zero y", "Div “y”: its numbers overflow, or it divides by 0" },
    { VALUES "Mod - a,zero y", "Mod “y”: *divides by 0" },
    { VALUES "i b 9223372036854775807;Add - b,one y", "Add “y”: its numbers overflow*" },
    { VALUES "i b -9223372036854775808;Neg - b y", "Neg “y”: its numbers overflow*" },
    { VALUES "i b -9223372036854775808;Div - b,minus y", "Div “y”: its numbers overflow*" },
    { VALUES "i b 2;i e 64;Pow - b,e y", "Pow “y”: its numbers overflow*" },
    { VALUES "Pow - two,minus y", "Pow “y”: its numbers overflow*" },
    { VALUES "Ceil - a y", "Ceil “y”: Dyno does not compute it for whole numbers" },
    { VALUES "Not - half y", "Not “y”: Dyno does not compute it for floats" },
    { VALUES "i p 4294967296,4294967296,;ReduceProd - p y", "ReduceProd “y”: its numbers over*" },
    { VALUES "i b 9223372036854775807,1,;CumSum - b,zero y", "CumSum “y”: its numbers overflow*" },
    { VALUES "i s 4194304,2,;Expand - one,s y", "Expand “y”: it makes more than 4194304 *" },
    { VALUES "i s 4294967296,4294967296,;Expand - one,s y", "Expand “y”: it makes more than*" },
    { VALUES "i s -1,;Expand - one,s y", "Expand “y”: its shape has an axis of -1" },
    { VALUES "i s 1,1,1,1,1,1,1,1,1;Expand - one,s y", "Expand “y”: its shape has 9 axes*" },
    { VALUES "i s 9223372036854775807,2,;Tile - a,s y", "Tile “y”: its numbers overflow*" },
    { VALUES "i s 4194304,1,;Tile - a,s y", "Tile “y”: it makes more than*" },
    { VALUES "i s 2,;Tile - a,s y", "Tile “y”: the shapes of its inputs*" },
    { VALUES "Transpose - a y perm=0,0", "Transpose “y”: perm is not a permutation of the axes" },
    { VALUES "i s -1,-1;Reshape - a,s y", "Reshape “y”: its shape has an axis of -1" },
    { VALUES "i s 4,-1;Reshape - a,s y", "Reshape “y”: its shape does not fit its 6 numbers" },
    { VALUES "i s 9223372036854775807,4,;Reshape - a,s y", "Reshape “y”: its numbers overflow*" },
    { VALUES "i x 1,;Squeeze - a,x y", "Squeeze “y”: axis 1 has 3 numbers, not 1" },
    { VALUES "i x 4,;Unsqueeze - a,x y", "Unsqueeze “y”: its axis 4 is out of range: there are 3" },
    { VALUES "i x 0,0,;Unsqueeze - a,x y", "Unsqueeze “y”: it names axis 0 twice" },
    { VALUES "i b 0,;i e 1,;i x -9223372036854775808,;Slice - a,b,e,x y",
      "Slice “y”: its axis -9223372036854775808 is out of range: there are 2" },
    { VALUES "i b 0,;i e 1,;i x 0,;i s 0,;Slice - a,b,e,x,s y", "Slice “y”: it has a step of 0*" },
    { VALUES "i b 0,0,;i e 1,;Slice - a,b,e y", "Slice “y”: *differ in length" },
    { VALUES "Concat - a,column y axis=0", "Concat “y”: the shapes of its inputs*" },
    { VALUES "Concat - a,a y axis=2", "Concat “y”: its axis 2 is out of range: there are 2" },
    { VALUES "i s 1,3,;Split - a,s y,b axis=1", "Split “y”: its sizes do not fit its axis" },
    { VALUES "i s 4,-1;Split - a,s y,b axis=1", "Split “y”: its sizes do not fit its axis" },
    { VALUES "i k 3;Gather - row,k y", "Gather “y”: its index 3 is out of range: *has 3" },
    { VALUES "i k -9223372036854775808;Gather - row,k y", "Gather “y”: its index -92*" },
    { VALUES "i k 0,3,;i s 1,2,;Reshape - k,s l;GatherND - a,l y", "GatherND “y”: its index 3*" },
    { VALUES "i k 0,0,0;GatherND - a,k y", "GatherND “y”: the shapes of its inputs*" },
    { VALUES "i k 0,;GatherND - a,k y batch_dims=1", "GatherND “y”: the shapes of its inputs*" },
    { VALUES "i k 0,2,;i s 2,1,;Reshape - k,s l;GatherElements - a,l y",
      "GatherElements “y”: its index 2*" },
    { VALUES "i k 2,;i s 1,1,;Reshape - k,s l;i u 7,8,9;i v 1,3,;Reshape - u,v w;"
             "ScatterND - a,l,w y",
      "ScatterND “y”: its index 2*" },
    { VALUES "i k 1,;ScatterND - a,k,row y reduction=add", "ScatterND “y”: Dyno replaces*" },
    { VALUES "i k 1,;i s 1,1,;Reshape - k,s l;ScatterND - a,l,row y",
      "ScatterND “y”: the shapes of its inputs*" },
    { VALUES "Range - one,two,zero y", "Range “y”: its numbers overflow*" },
    { VALUES "i e 9223372036854775807;Range - minus,e,one y", "Range “y”: its numbers overflow*" },
    { VALUES "i e 9223372036854775807;Range - one,e,one y", "Range “y”: it makes more than*" },
    { VALUES "Range - a,two,one y", "Range “y”: its input 0 is not one number" },
    { "i s -1,;ConstantOfShape - s y", "ConstantOfShape “y”: its shape has an axis of -1" },
    { VALUES "i b 300;Cast - b y to=2", "Cast “y”: its numbers overflow*" },
    { VALUES "Trilu - row y", "Trilu “y”: the shapes of its inputs*" },
    { VALUES "i b ,;ReduceMax - b y", "ReduceMax “y”: its input is empty" },
    { VALUES "CumSum - a,two y", "CumSum “y”: its axis 2 is out of range: there are 2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (Fold) f;
      g_test_message ("%s", rows[i].text);
      fold_init (&f, rows[i].text);
      g_assert_cmpuint (f.import.refusals->len, ==, 1);
      const char *refusal = g_ptr_array_index (f.import.refusals, 0);
      if (!g_pattern_match_simple (rows[i].result, refusal))
        g_error ("“%s” is not “%s”", refusal, rows[i].result);
    }
}

/* Beside an axis of length 0, other axes may not be larger than strides can represent. */
static void
test_empty_axes (void)
{
  const gint64 dims[] = { 0, 1 << 21, 1 << 21, 1 << 21 };

  g_assert_null (dyno_constant_new (TRUE, dims, 4));
  g_autoptr (DynoConstant) empty = dyno_constant_new (TRUE, dims, 2);
  g_assert_nonnull (empty);
  g_assert_cmpuint (empty->count, ==, 0);
}

/* A small file with many sums over a large value is refused quickly. */
static void
test_work_is_bounded (void)
{
  static const char *const bodies[] = { "ReduceMax - b", "Max - b,one,one,one" };

  for (guint k = 0; k < G_N_ELEMENTS (bodies); k++)
    {
      g_autoptr (GString) text = g_string_new ("i one 1;i s 4000000,;Expand - one,s b");
      g_auto (Fold) f;
      for (guint i = 0; i < 40; i++)
        {
          g_string_append_c (text, ';');
          g_string_append_printf (text, "%s y%u", bodies[k], i);
        }
      fold_init (&f, text->str);
      g_assert_cmpuint (f.import.refusals->len, ==, 1);
      const char *refusal = g_ptr_array_index (f.import.refusals, 0);
      g_assert_nonnull (strstr (refusal, "more than 67108864 numbers"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/import-fold/elementwise", test_elementwise);
  g_test_add_func ("/nn/import-fold/axes", test_axes);
  g_test_add_func ("/nn/import-fold/indices", test_indices);
  g_test_add_func ("/nn/import-fold/sums", test_sums);
  g_test_add_func ("/nn/import-fold/new-numbers", test_makers);
  g_test_add_func ("/nn/import-fold/relative-positions", test_relative_positions);
  g_test_add_func ("/nn/import-fold/refusals", test_refusals);
  g_test_add_func ("/nn/import-fold/empty-axes", test_empty_axes);
  g_test_add_func ("/nn/import-fold/work-is-bounded", test_work_is_bounded);
  return g_test_run ();
}
