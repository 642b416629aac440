/* SPDX-License-Identifier: MIT */
/* Names in an ONNX file, and the values of the file that hold a tensor.
 *
 * A tensor (N, H, W, C) has one value in the form that its op writes, and further values where
 * other ops read other forms: an image is transposed only before and after ops along its last axis.
 * A reader that takes Reshape, Flatten and Transpose as views, as Dyno's own does, gets the same
 * tensors back. */
#include "onnx-private.h"
#include "op.h"
#include <string.h>

typedef struct {
  DynoOnnxForm form;                    /* in which the op writes the tensor */
  const char *names[DYNO_ONNX_N_FORMS]; /* NULL: no value has that form */
} Value;

GHashTable *
dyno_onnx_values_new (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, g_free);
}

const char *
dyno_onnx_unique (DynoOnnxWriter *o, const char *name)
{
  char *own = g_strdup (name);

  for (guint i = 2; g_hash_table_contains (o->names, own); i++)
    {
      g_free (own);
      own = g_strdup_printf ("%s_%u", name, i);
    }
  g_hash_table_add (o->names, own);
  return own;
}

const char *
dyno_onnx_name (DynoOnnxWriter *o, const char *part)
{
  g_autofree char *name = g_strconcat (o->stem, "/", part, NULL);

  return dyno_onnx_unique (o, name);
}

gboolean
dyno_onnx_set_value (DynoOnnxWriter *o, const DynoTensor *tensor, const char *name,
                     DynoOnnxForm form)
{
  Value *value = g_new0 (Value, 1);

  value->form = form;
  value->names[form] = name;
  g_hash_table_insert (o->values, (gpointer) tensor, value);
  return TRUE;
}

static Value *
find_value (DynoOnnxWriter *o, const DynoTensor *tensor)
{
  Value *value = g_hash_table_lookup (o->values, tensor);

  if (!value && tensor->space == DYNO_SPACE_CONSTANT)
    {
      dyno_onnx_write_constant (o, tensor);
      value = g_hash_table_lookup (o->values, tensor);
    }
  if (!value)
    dyno_onnx_refuse (o, "The graph of %s has a value that nothing makes", o->model->info->model);
  return value;
}

DynoOnnxForm
dyno_onnx_form (DynoOnnxWriter *o, const DynoTensor *tensor)
{
  const Value *value = find_value (o, tensor);

  return value ? value->form : DYNO_ONNX_IMAGE;
}

gboolean
dyno_onnx_is_pixel (const DynoTensor *tensor)
{
  return tensor->h == 1 && tensor->w == 1;
}

void
dyno_onnx_transpose (DynoOnnxWriter *o, const char *input, const gint64 *perm, guint n,
                     const char *output)
{
  dyno_onnx_begin (o, "Transpose", output);
  dyno_onnx_input (o, input);
  dyno_onnx_ints (o, "perm", perm, n);
  dyno_onnx_end (o, output);
}

void
dyno_onnx_reshape (DynoOnnxWriter *o, const char *input, const gint64 *shape, guint n,
                   const char *output)
{
  const gint64 count = n;
  g_autofree char *list = g_strconcat (output, "/shape", NULL);
  const char *name = dyno_onnx_unique (o, list);

  dyno_onnx_indices (o, name, &count, 1, shape, n);
  dyno_onnx_plain (o, "Reshape", output, input, name, output);
}

/* A reshape: the same values in the same order with other axes. */
static void
reshape (DynoOnnxWriter *o, const DynoTensor *x, const char *input, DynoOnnxForm form,
         const char *output)
{
  const gint64 h = x->h, w = x->w, c = x->c;
  const gint64 image[] = { 0, c, h, w }, sequence[] = { 0, c, h * w }, last[] = { 0, h, w, c };

  switch (form)
    {
    case DYNO_ONNX_ROW:
      dyno_onnx_begin (o, "Flatten", output);
      dyno_onnx_input (o, input);
      dyno_onnx_int (o, "axis", 1);
      dyno_onnx_end (o, output);
      return;
    case DYNO_ONNX_SEQUENCE:
      dyno_onnx_reshape (o, input, sequence, 3, output);
      return;
    case DYNO_ONNX_LAST:
      dyno_onnx_reshape (o, input, last, 4, output);
      return;
    case DYNO_ONNX_IMAGE:
    case DYNO_ONNX_N_FORMS:
    default:
      dyno_onnx_reshape (o, input, image, 4, output);
      return;
    }
}

/* Between channels last and channels first, the values of an image are transposed. */
const char *
dyno_onnx_value (DynoOnnxWriter *o, const DynoTensor *tensor, DynoOnnxForm form)
{
  static const char *const parts[] = { "image", "sequence", "flat", "last" };
  static const gint64 to_last[] = { 0, 2, 3, 1 }, to_first[] = { 0, 3, 1, 2 };
  Value *value = find_value (o, tensor);
  DynoOnnxForm from;
  gboolean turned;

  if (!value)
    return "";
  if (value->names[form])
    return value->names[form];
  from = value->form;
  turned = (from == DYNO_ONNX_LAST) != (form == DYNO_ONNX_LAST) && !dyno_onnx_is_pixel (tensor);
  if (turned && from != DYNO_ONNX_IMAGE && form != DYNO_ONNX_IMAGE)
    {
      dyno_onnx_value (o, tensor, DYNO_ONNX_IMAGE);
      from = DYNO_ONNX_IMAGE;
      turned = form == DYNO_ONNX_LAST;
    }
  g_autofree char *wanted = g_strconcat (value->names[value->form], "/", parts[form], NULL);
  const char *name = dyno_onnx_unique (o, wanted);
  if (turned)
    dyno_onnx_transpose (o, value->names[from], form == DYNO_ONNX_LAST ? to_last : to_first, 4,
                         name);
  else
    reshape (o, tensor, value->names[from], form, name);
  return value->names[form] = name;
}
