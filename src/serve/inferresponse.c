/* SPDX-License-Identifier: MIT */
#include "inferresponse.h"
#include "mask.h"
#include "maskwriter.h"
#include "predictiontable.h"
#include <string.h>

/* A response that is being written: elements are appended to the JSON, or to the bytes after it. */
typedef struct {
  const DynoSignature *signature;
  const DynoInferRequest *request;
  const guint8 *outputs; /* n x signature->output_bytes */
  DynoJson json;
  GByteArray *binary;
} Answer;

/* In binary data, elements of BYTES are preceded by their size. */
static void
put_text (Answer *a, const DynoWantedOutput *wanted, const char *text)
{
  guint32 length = GUINT32_TO_LE ((guint32) strlen (text));

  if (!wanted->binary)
    {
      dyno_json_string (&a->json, NULL, text);
      return;
    }
  g_byte_array_append (a->binary, (const guint8 *) &length, sizeof length);
  g_byte_array_append (a->binary, (const guint8 *) text, (guint) strlen (text));
}

static void
put_ranked (Answer *a, const DynoWantedOutput *wanted, const float *row)
{
  const DynoWeightsInfo *info = a->signature->info;
  g_autofree guint32 *ranked = g_new (guint32, wanted->top);
  guint n = dyno_prediction_rank (row, info->n_outputs, wanted->top, ranked);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (info, ranked[i]);
      g_autofree char *share = dyno_double_to_text ((double) row[ranked[i]]);
      g_autofree char *text = g_strdup_printf ("%s:%u:%s", share, ranked[i], name);

      put_text (a, wanted, text);
    }
}

static void
put_class (Answer *a, const DynoWantedOutput *wanted, const float *row)
{
  guint32 best = 0;
  g_autofree char *name = NULL;

  dyno_prediction_rank (row, a->signature->info->n_outputs, 1, &best);
  name = dyno_weights_info_name_class (a->signature->info, best);
  put_text (a, wanted, name);
}

static void
put_labels (Answer *a, const DynoWantedOutput *wanted, const float *row)
{
  const DynoWeightsInfo *info = a->signature->info;
  g_autoptr (GArray) chosen = dyno_prediction_choose_labels (row, info);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < chosen->len; i++)
    {
      g_autofree char *name =
          dyno_weights_info_name_class (info, g_array_index (chosen, guint32, i));
      g_string_append_printf (names, "%s%s", i > 0 ? DYNO_SERVE_BETWEEN : "", name);
    }
  put_text (a, wanted, names->str);
}

static void
put_numbers (Answer *a, const DynoWantedOutput *wanted, const float *row)
{
  gsize n = a->signature->info->n_outputs;

  if (wanted->binary)
    g_byte_array_append (a->binary, (const guint8 *) row, (guint) (n * sizeof *row));
  else
    for (gsize k = 0; k < n; k++)
      dyno_json_double (&a->json, NULL, (double) row[k]);
}

static void
put_mask (Answer *a, const DynoWantedOutput *wanted, const guint8 *mask)
{
  gsize n = a->signature->output_bytes;

  if (wanted->binary)
    g_byte_array_append (a->binary, mask, (guint) n);
  else
    for (gsize k = 0; k < n; k++)
      dyno_json_uint (&a->json, NULL, mask[k]);
}

static void
put_shares (Answer *a, const DynoWantedOutput *wanted, const guint8 *mask)
{
  gsize n_pixels = a->signature->output_bytes;
  guint32 n = a->signature->info->n_outputs;
  g_autofree guint64 *counts = dyno_mask_count_classes (mask, n_pixels, n);
  g_autofree float *shares = g_new (float, n);

  for (guint32 i = 0; i < n; i++)
    shares[i] = (float) ((double) counts[i] / (double) n_pixels);
  put_numbers (a, wanted, shares);
}

static void
put_data (Answer *a, const DynoWantedOutput *wanted)
{
  for (guint32 i = 0; i < a->request->n; i++)
    {
      const guint8 *output = a->outputs + i * a->signature->output_bytes;
      const float *row = (const float *) (gconstpointer) output;

      switch (wanted->kind)
        {
        case DYNO_OUTPUT_MASK:
          put_mask (a, wanted, output);
          break;
        case DYNO_OUTPUT_SHARES:
          put_shares (a, wanted, output);
          break;
        case DYNO_OUTPUT_CLASS:
          put_class (a, wanted, row);
          break;
        case DYNO_OUTPUT_LABELS:
          put_labels (a, wanted, row);
          break;
        case DYNO_OUTPUT_RANKED:
          put_ranked (a, wanted, row);
          break;
        case DYNO_OUTPUT_NUMBERS:
        default:
          put_numbers (a, wanted, row);
        }
    }
}

static const char *
datatype_of (DynoOutputKind kind)
{
  switch (kind)
    {
    case DYNO_OUTPUT_MASK:
      return "UINT8";
    case DYNO_OUTPUT_CLASS:
    case DYNO_OUTPUT_LABELS:
    case DYNO_OUTPUT_RANKED:
      return "BYTES";
    case DYNO_OUTPUT_NUMBERS:
    case DYNO_OUTPUT_SHARES:
    default:
      return "FP32";
    }
}

static void
put_shape (Answer *a, const DynoWantedOutput *wanted)
{
  const DynoSignature *s = a->signature;

  dyno_json_begin_array (&a->json, "shape");
  dyno_json_uint (&a->json, NULL, a->request->n);
  if (wanted->kind == DYNO_OUTPUT_MASK)
    {
      dyno_json_uint (&a->json, NULL, s->mask_height);
      dyno_json_uint (&a->json, NULL, s->mask_width);
    }
  else if (wanted->kind == DYNO_OUTPUT_RANKED)
    dyno_json_uint (&a->json, NULL, wanted->top);
  else if (wanted->kind != DYNO_OUTPUT_CLASS && wanted->kind != DYNO_OUTPUT_LABELS)
    dyno_json_uint (&a->json, NULL, s->info->n_outputs);
  dyno_json_end_array (&a->json);
}

/* Adds the names of the classes to their shares, and, for an image file, the instruction to get its
 * mask. */
static void
put_parameters (Answer *a, const DynoWantedOutput *wanted, guint binary_bytes)
{
  gboolean labelled = wanted->kind == DYNO_OUTPUT_SHARES;

  if (!wanted->binary && !labelled)
    return;
  dyno_json_begin_object (&a->json, "parameters");
  if (wanted->binary)
    dyno_json_uint (&a->json, "binary_data_size", binary_bytes);
  if (labelled)
    dyno_signature_write_labels (a->signature, &a->json);
  if (labelled && a->request->is_file)
    dyno_json_string (&a->json, "mask", DYNO_SERVE_MASK_WAY);
  dyno_json_end_object (&a->json);
}

static void
put_output (Answer *a, const DynoWantedOutput *wanted)
{
  guint before = a->binary->len;

  dyno_json_begin_object (&a->json, NULL);
  dyno_json_string (&a->json, "name", dyno_signature_name_output (a->signature, wanted->kind));
  dyno_json_string (&a->json, "datatype", datatype_of (wanted->kind));
  put_shape (a, wanted);
  if (!wanted->binary)
    dyno_json_begin_array (&a->json, "data");
  put_data (a, wanted);
  if (!wanted->binary)
    dyno_json_end_array (&a->json);
  put_parameters (a, wanted, a->binary->len - before);
  dyno_json_end_object (&a->json);
}

GBytes *
dyno_infer_response_new (const DynoSignature *signature, const DynoInferRequest *request,
                         gconstpointer outputs, gint64 *header_length)
{
  Answer a = {
    .signature = signature, .request = request, .outputs = outputs, .binary = g_byte_array_new ()
  };
  char *text;
  gsize length;

  dyno_json_init (&a.json, 0);
  dyno_json_begin_object (&a.json, NULL);
  dyno_json_string (&a.json, "model_name", signature->name);
  dyno_json_string (&a.json, "model_version", DYNO_SERVE_VERSION);
  if (request->id)
    dyno_json_string (&a.json, "id", request->id);
  dyno_json_begin_array (&a.json, "outputs");
  for (guint i = 0; i < request->n_outputs; i++)
    put_output (&a, &request->outputs[i]);
  dyno_json_end_array (&a.json);
  dyno_json_end_object (&a.json);
  length = a.json.text->len;
  text = dyno_json_steal (&a.json);
  dyno_json_clear (&a.json);
  *header_length = a.binary->len > 0 ? (gint64) length : -1;
  if (a.binary->len == 0)
    {
      g_byte_array_unref (a.binary);
      return g_bytes_new_take (text, length);
    }
  g_byte_array_prepend (a.binary, (const guint8 *) text, (guint) length);
  g_free (text);
  return g_byte_array_free_to_bytes (a.binary);
}

guint64
dyno_infer_response_png_bytes (const DynoInferRequest *request)
{
  return 2 * (guint64) request->picture_width * request->picture_height;
}

GBytes *
dyno_infer_response_new_png (const DynoSignature *s, const DynoInferRequest *request,
                             gconstpointer mask, GError **error)
{
  guint32 width = request->picture_width, height = request->picture_height;
  g_autofree guint8 *ids = g_try_malloc_n (width, height);
  g_autoptr (GError) problem = NULL;
  GBytes *png = NULL;

  if (ids)
    {
      dyno_mask_restore (mask, s->mask_width, s->mask_height, width, height, ids);
      png = dyno_image_encode_mask_png (ids, width, height, &problem);
    }
  if (!png)
    dyno_serve_refuse (error, DYNO_SERVE_ERROR_TOO_LARGE, "there is no memory for the mask");
  return png;
}

char *
dyno_serve_error_text (const char *text)
{
  DynoJson json;
  char *line;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "error", text);
  dyno_json_end_object (&json);
  line = dyno_json_steal (&json);
  dyno_json_clear (&json);
  return line;
}
