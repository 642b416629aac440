/* SPDX-License-Identifier: MIT */
#include "serve-test.h"
#include "image.h"
#include <string.h>

static char *classes[] = { (char *) "ant", (char *) "bee \"b\"", (char *) "cat", NULL };
static char *names[] = { (char *) "yaw", (char *) "pitch", NULL };
static char *units[] = { (char *) "degrees", (char *) "", NULL };

static DynoWeightsInfo of_classes = { .n_outputs = 3, .class_names = classes };
static DynoWeightsInfo of_labels = { .n_outputs = 3, .is_labels = TRUE, .class_names = classes };
static DynoWeightsInfo of_pixels = { .n_outputs = 3, .of_pixels = TRUE, .class_names = classes };
static DynoWeightsInfo of_values = {
  .n_outputs = 2, .is_values = TRUE, .target_names = names, .target_units = units
};

void
test_signature_image (DynoSignature *signature, guint32 channels)
{
  DynoBatchField input = { .name = "image",
                           .role = DYNO_FIELD_INPUT,
                           .element = DYNO_ELEMENT_U8,
                           .n_axes = 3,
                           .shape = { 2, 2, channels },
                           .axes = "HWC",
                           .normalisation = { .scale_255 = TRUE } };

  dyno_signature_init (signature, "zoo", &of_classes, &input);
}

void
test_signature_labels (DynoSignature *signature)
{
  DynoBatchField input = { .name = "image",
                           .role = DYNO_FIELD_INPUT,
                           .element = DYNO_ELEMENT_U8,
                           .n_axes = 3,
                           .shape = { 2, 2, 3 },
                           .axes = "HWC",
                           .normalisation = { .scale_255 = TRUE } };

  dyno_signature_init (signature, "zoo", &of_labels, &input);
}

void
test_signature_masks (DynoSignature *signature)
{
  DynoBatchField input = { .name = "image",
                           .role = DYNO_FIELD_INPUT,
                           .element = DYNO_ELEMENT_U8,
                           .n_axes = 3,
                           .shape = { 2, 3, 3 },
                           .axes = "HWC",
                           .normalisation = { .scale_255 = TRUE } };

  dyno_signature_init (signature, "road", &of_pixels, &input);
}

void
test_signature_values (DynoSignature *signature)
{
  DynoBatchField input = { .name = "values",
                           .role = DYNO_FIELD_INPUT,
                           .element = DYNO_ELEMENT_F32,
                           .n_axes = 1,
                           .shape = { 2 },
                           .axes = "C" };

  dyno_signature_init (signature, "pose", &of_values, &input);
}

void
test_signature_sequence (DynoSignature *signature)
{
  DynoBatchField input = { .name = "sequence",
                           .role = DYNO_FIELD_INPUT,
                           .element = DYNO_ELEMENT_F32,
                           .n_axes = 2,
                           .shape = { 3, 2 },
                           .axes = "TF",
                           .variable = TRUE,
                           .pad = 9 };

  dyno_signature_init (signature, "waves", &of_classes, &input);
}

void
test_signature_tokens (DynoSignature *signature)
{
  DynoBatchField input = { .name = "tokens",
                           .role = DYNO_FIELD_INPUT,
                           .element = DYNO_ELEMENT_I32,
                           .n_axes = 1,
                           .shape = { 4 },
                           .axes = "C" };

  dyno_signature_init (signature, "text", &of_classes, &input);
}

DynoInferRequest *
test_request (const DynoSignature *signature, const char *json, const void *binary,
              gsize binary_size, GError **error)
{
  gsize length = strlen (json);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  /* Exactly the size of the body, so that a sanitizer detects reads past it. */
  g_autofree guint8 *body = g_malloc (MAX (length + binary_size, 1));

  memcpy (body, json, length);
  if (binary)
    memcpy (body + length, binary, binary_size);
  return dyno_infer_request_new (signature, "application/json", binary ? (gint64) length : -1, body,
                                 length + binary_size, 4096, scratch, error);
}

GByteArray *
test_png (const guint8 *rgb, guint32 width, guint32 height, guint32 channels)
{
  GByteArray *file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  dyno_image_encode_png (rgb, width, height, channels, file, &error);
  g_assert_no_error (error);
  return file;
}
