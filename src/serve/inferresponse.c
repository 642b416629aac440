/* SPDX-License-Identifier: MIT */
#include "inferresponse.h"
#include "predictiontable.h"
#include <string.h>

/* One output on its way: elements go to the JSON, or to the bytes after it. */
typedef struct {
  const DynoSignature *signature;
  const DynoInferRequest *request;
  const float *outputs;
  DynoJson json;
  GByteArray *binary;
} Answer;

/* Elements of BYTES have their size before them in binary data. */
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
put_data (Answer *a, const DynoWantedOutput *wanted)
{
  gsize width = a->signature->info->n_outputs;

  for (guint32 i = 0; i < a->request->n; i++)
    {
      const float *row = a->outputs + i * width;

      if (wanted->kind == DYNO_OUTPUT_CLASS)
        put_class (a, wanted, row);
      else if (wanted->kind == DYNO_OUTPUT_RANKED)
        put_ranked (a, wanted, row);
      else if (wanted->binary)
        g_byte_array_append (a->binary, (const guint8 *) row, (guint) (width * sizeof *row));
      else
        for (gsize k = 0; k < width; k++)
          dyno_json_double (&a->json, NULL, (double) row[k]);
    }
}

static void
put_output (Answer *a, const DynoWantedOutput *wanted)
{
  const DynoWeightsInfo *info = a->signature->info;
  gboolean numbers = wanted->kind == DYNO_OUTPUT_NUMBERS;
  guint before = a->binary->len;

  dyno_json_begin_object (&a->json, NULL);
  dyno_json_string (&a->json, "name",
                    wanted->kind == DYNO_OUTPUT_CLASS ? "class"
                    : info->is_values                 ? "values"
                                                      : "probabilities");
  dyno_json_string (&a->json, "datatype", numbers ? "FP32" : "BYTES");
  dyno_json_begin_array (&a->json, "shape");
  dyno_json_uint (&a->json, NULL, a->request->n);
  if (wanted->kind != DYNO_OUTPUT_CLASS)
    dyno_json_uint (&a->json, NULL, numbers ? info->n_outputs : wanted->top);
  dyno_json_end_array (&a->json);
  if (!wanted->binary)
    dyno_json_begin_array (&a->json, "data");
  put_data (a, wanted);
  if (!wanted->binary)
    dyno_json_end_array (&a->json);
  else
    {
      dyno_json_begin_object (&a->json, "parameters");
      dyno_json_uint (&a->json, "binary_data_size", a->binary->len - before);
      dyno_json_end_object (&a->json);
    }
  dyno_json_end_object (&a->json);
}

GBytes *
dyno_infer_response_new (const DynoSignature *signature, const DynoInferRequest *request,
                         const float *outputs, gint64 *header_length)
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
