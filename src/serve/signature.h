/* SPDX-License-Identifier: MIT */
/* The interface of a model in the Open Inference Protocol (KServe v2): a name, one input and its
 * outputs.
 *
 * The input is called "input".  The data preparation of the run decides what it takes:
 * - A network of images of bytes: pictures (N, height, width, 3 or 1) as UINT8 of any size, which
 *   are scaled to cover the network's size and cut in the middle, as dynoctl predict does with
 *   files; or BYTES (N), each the contents of an image file.
 * - Any other network: samples as its data had them, UINT8, INT32 or FP32, before normalisation,
 *   which the network does itself; sequences may be shorter where the data's were.
 * The outputs are "probabilities" FP32 (N, classes) and "class" BYTES (N), the name of the most
 * likely class; or "probabilities" FP32 (N, labels), each label's own, and "labels" BYTES (N),
 * the names of the labels with 0.5 or more, or with their threshold in the weights or more, the
 * most probable first, with DYNO_SERVE_BETWEEN between them; or "values" FP32 (N, values) in the
 * data's units; or "mask" UINT8 (N, H, W), the class id of each pixel of the prepared picture,
 * and "shares" FP32 (N, classes), the classes' shares of these pixels. */
#pragma once
#include "jsontext.h"
#include "weightsinfo.h"

G_BEGIN_DECLS

#define DYNO_SERVE_INPUT "input"
/* The instruction for clients to get the mask of an image file as an image. */
#define DYNO_SERVE_MASK_WAY                                                                       \
  "send the image file with Accept: image/png; the answer is a PNG of the picture's size, whose " \
  "pixels that were cut off are 255"
/* Between the names of a sample's labels. */
#define DYNO_SERVE_BETWEEN "|"
#define DYNO_SERVE_VERSION "1" /* the only version of each model */

typedef enum {
  DYNO_OUTPUT_NUMBERS, /* "probabilities" or "values" */
  DYNO_OUTPUT_CLASS,   /* "class" */
  DYNO_OUTPUT_LABELS,  /* "labels" */
  DYNO_OUTPUT_RANKED,  /* "probabilities" with classification: BYTES "probability:index:label" */
  DYNO_OUTPUT_MASK,    /* "mask" */
  DYNO_OUTPUT_SHARES,  /* "shares" */
} DynoOutputKind;

typedef struct {
  const char *name;
  const DynoWeightsInfo *info;
  DynoBatchField input;            /* the network's input; images are scaled to this size */
  gsize sample_bytes;              /* of a prepared sample */
  gsize output_bytes;              /* of a sample: n_outputs floats, or a mask */
  guint32 mask_width, mask_height; /* 0: the model has no masks */
  gboolean is_image;               /* pictures and image files are accepted */
} DynoSignature;

/* name, info and input outlive the signature. */
void dyno_signature_init (DynoSignature *signature, const char *name, const DynoWeightsInfo *info,
                          const DynoBatchField *input);

/* Lists the outputs of a model, the main one first, and returns their number; RANKED is a form of
 * NUMBERS and is not listed. */
guint dyno_signature_list_outputs (const DynoSignature *signature, DynoOutputKind kinds[2]);
const char *dyno_signature_name_output (const DynoSignature *signature, DynoOutputKind kind);
/* Writes the member "labels", where the model's classes have names. */
void dyno_signature_write_labels (const DynoSignature *signature, DynoJson *json);

/* The type of an input that is not BYTES: "UINT8", "INT32", "FP32". */
const char *dyno_signature_get_datatype (const DynoSignature *signature);

/* The model's metadata as the protocol defines it. */
void dyno_signature_write (const DynoSignature *signature, DynoJson *json);

/* Whether a name is valid in a path and a label: 1 to 128 letters, digits, "_", "-" and ".", and
 * not "." or "..". */
gboolean dyno_serve_name_is_good (const char *name);

G_END_DECLS
