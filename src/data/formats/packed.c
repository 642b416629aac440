/* SPDX-License-Identifier: MIT */
/* Writes and reads the description of a packed data set.  Numbers are written so that a float reads
 * back unchanged. */
#include "packed.h"
#include "checked.h"
#include <math.h>
#include <string.h>

#define MAX_CLASS_NAMES  40000 /* bytes of the names; a .json is read up to 64 KB */
#define MAX_SAMPLE_BYTES (G_GUINT64_CONSTANT (1) << 30)

static const char *const input_names[] = { "image", "sequence", NULL };
static const char *const input_axes[] = { "HWC", "TF", NULL };
static const char *const array_axes[] = { "NF", "NHW", "NHWC", "NCHW", "NTF", NULL };

void
dyno_packed_clear (DynoPacked *packed)
{
  g_clear_pointer (&packed->class_names, g_strfreev);
}

/* --- out -------------------------------------------------------------------------------------- */

void
dyno_packed_append_string (GString *json, const char *text)
{
  g_string_append_c (json, '"');
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      g_string_append_printf (json, "\\%c", *text);
    else if ((guchar) *text < 0x20)
      g_string_append_printf (json, "\\u%04x", (guint) *text);
    else
      g_string_append_c (json, *text);
  g_string_append_c (json, '"');
}

static void
append_number (GString *json, const char *before, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.9g", value);
  /* a reader that takes "-0" for a whole number would lose the sign */
  g_string_append_printf (json, "%s%s", before, strcmp (number, "-0") == 0 ? "-0.0" : number);
}

static void
append_class_names (const DynoDatasetInfo *info, GString *json)
{
  g_autofree char *names = info->n_classes > 0 ? g_strjoinv ("\n", info->class_names) : NULL;
  guint lines = 1;

  for (const char *at = names; at && (at = strchr (at, '\n')); at++)
    lines++;
  if (!names || lines != info->n_classes || strlen (names) > MAX_CLASS_NAMES)
    return;
  g_string_append (json, ", \"class_names\": ");
  dyno_packed_append_string (json, names);
}

void
dyno_packed_describe (const DynoDatasetInfo *info, GString *json)
{
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  const DynoNormalisation *n = &input->normalisation;

  g_string_append_printf (json, ", \"input\": \"%s %s %s%s\", \"input_shape\": [", input->name,
                          dyno_element_name (input->element), input->axes,
                          input->variable ? " variable" : "");
  for (guint i = 0; i < input->n_axes; i++)
    g_string_append_printf (json, "%s%u", i > 0 ? ", " : "", input->shape[i]);
  append_number (json, "], \"input_pad\": ", input->pad);
  g_string_append_printf (json, ", \"normalisation\": [%d, %d", n->scale_255 != FALSE,
                          n->standardise != FALSE);
  for (guint i = 0; i < 4; i++)
    append_number (json, ", ", (double) n->mean[i]);
  for (guint i = 0; i < 4; i++)
    append_number (json, ", ", (double) n->deviation[i]);
  g_string_append_printf (json, "], \"sizes\": [%u, %u, %u, %u]", info->min_width, info->max_width,
                          info->min_height, info->max_height);
  if (info->axes)
    g_string_append_printf (json, ", \"array_axes\": \"%s\"", info->axes);
  append_class_names (info, json);
}

/* --- in --------------------------------------------------------------------------------------- */

/* The static string among words that equals word; NULL: there is none. */
static const char *
find_word (const char *const *words, const char *word)
{
  for (guint i = 0; word && words[i]; i++)
    if (strcmp (words[i], word) == 0)
      return words[i];
  return NULL;
}

/* Exactly n numbers with blanks between them. */
static gboolean
take_numbers (const char *text, guint n, double *numbers)
{
  g_auto (GStrv) parts = text ? g_strsplit (text, " ", (gint) n + 1) : NULL;

  if (!parts || g_strv_length (parts) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      char *end;
      numbers[i] = g_ascii_strtod (parts[i], &end);
      if (end == parts[i] || *end != '\0' || !isfinite (numbers[i]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
take_shape (DynoBatchField *input, const char *text)
{
  double numbers[DYNO_SCHEMA_MAX_AXES];
  guint64 bytes = dyno_element_size (input->element);

  input->n_axes = (guint) strlen (input->axes);
  if (!take_numbers (text, input->n_axes, numbers))
    return FALSE;
  for (guint i = 0; i < input->n_axes; i++)
    {
      if (numbers[i] < 1 || numbers[i] > MAX_SAMPLE_BYTES || numbers[i] != floor (numbers[i])
          || !dyno_size_mul (bytes, (guint64) numbers[i], &bytes) || bytes > MAX_SAMPLE_BYTES)
        return FALSE;
      input->shape[i] = (guint32) numbers[i];
    }
  return TRUE;
}

static gboolean
take_normalisation (DynoNormalisation *n, const char *text)
{
  double numbers[10];

  if (!take_numbers (text, G_N_ELEMENTS (numbers), numbers))
    return FALSE;
  n->scale_255 = numbers[0] != 0;
  n->standardise = numbers[1] != 0;
  for (guint i = 0; i < 4; i++)
    {
      n->mean[i] = (float) numbers[2 + i];
      n->deviation[i] = (float) numbers[6 + i];
      if (!isfinite (n->mean[i]) || !isfinite (n->deviation[i])
          || (n->standardise && !(n->deviation[i] > 0)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
take_sizes (DynoPacked *packed, const char *text)
{
  guint32 *const sizes[] = { &packed->min_width, &packed->max_width, &packed->min_height,
                             &packed->max_height };
  double numbers[G_N_ELEMENTS (sizes)];

  if (!take_numbers (text, G_N_ELEMENTS (sizes), numbers) || numbers[0] > numbers[1]
      || numbers[2] > numbers[3])
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      if (numbers[i] < 0 || numbers[i] > MAX_SAMPLE_BYTES)
        return FALSE;
      *sizes[i] = (guint32) numbers[i];
    }
  return TRUE;
}

void
dyno_packed_take (DynoPacked *packed, GHashTable *members)
{
  const char *input = g_hash_table_lookup (members, "input"),
             *names = g_hash_table_lookup (members, "class_names");
  g_auto (GStrv) words = input ? g_strsplit (input, " ", 5) : NULL;
  guint n = words ? g_strv_length (words) : 0;
  DynoBatchField *field = &packed->input;
  double pad;

  if (names && !packed->class_names)
    packed->class_names = g_strsplit (names, "\n", -1);
  if (packed->known || n < 3 || n > 4)
    return;
  *field = (DynoBatchField){ .role = DYNO_FIELD_INPUT, .variable = n == 4 };
  field->name = find_word (input_names, words[0]);
  field->element = strcmp (words[1], dyno_element_name (DYNO_ELEMENT_U8)) == 0 ? DYNO_ELEMENT_U8
                                                                               : DYNO_ELEMENT_F32;
  if (!field->name || strcmp (words[1], dyno_element_name (field->element)) != 0
      || !find_word (input_axes, words[2]) || (n == 4 && strcmp (words[3], "variable") != 0)
      || !take_numbers (g_hash_table_lookup (members, "input_pad"), 1, &pad))
    return;
  g_strlcpy (field->axes, words[2], sizeof field->axes);
  field->pad = pad;
  packed->axes = find_word (array_axes, g_hash_table_lookup (members, "array_axes"));
  packed->known =
      take_shape (field, g_hash_table_lookup (members, "input_shape"))
      && take_normalisation (&field->normalisation, g_hash_table_lookup (members, "normalisation"))
      && take_sizes (packed, g_hash_table_lookup (members, "sizes"));
}

void
dyno_packed_apply_to_images (const DynoPacked *packed, DynoDatasetInfo *info)
{
  int at = dyno_schema_find_index (&info->schema, DYNO_FIELD_INPUT);
  DynoBatchField *input = &info->schema.fields[at];
  guint32 channels = dyno_field_axis (&packed->input, 'C');

  if (!packed->known || packed->input.element != DYNO_ELEMENT_U8 || packed->input.n_axes != 3
      || (channels != 1 && channels != 3))
    return;
  input->normalisation = packed->input.normalisation;
  input->shape[2] = channels;
  info->grey = channels == 1;
}
