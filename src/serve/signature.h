/* SPDX-License-Identifier: MIT */
/* A model as its clients see it: a name, one input and its outputs, by the Open Inference Protocol
 * (KServe v2).
 *
 * The input is called "input".  The data preparation of the run decides what it takes:
 * - A network of images of bytes: pictures (N, height, width, 3 or 1) as UINT8 of any size, which
 *   are scaled to cover the network's size and cut in the middle, as dynoctl predict does with
 *   files; or BYTES (N), each the contents of an image file.
 * - Any other network: samples as its data had them, UINT8, INT32 or FP32, before normalisation,
 *   which the network does itself; sequences may be shorter where the data's were.
 * The outputs are "probabilities" FP32 (N, classes) and "class" BYTES (N), the name of the most
 * likely class, or "values" FP32 (N, values) in the data's units. */
#pragma once
#include "jsontext.h"
#include "weightsinfo.h"

G_BEGIN_DECLS

#define DYNO_SERVE_INPUT   "input"
#define DYNO_SERVE_VERSION "1" /* the only version of each model */

typedef struct {
  const char *name;
  const DynoWeightsInfo *info;
  DynoBatchField input; /* of the network; the size of images is the one that they are brought to */
  gsize sample_bytes;   /* of a prepared sample */
  gboolean is_image;    /* pictures and image files are accepted */
} DynoSignature;

/* name, info and input outlive the signature. */
void dyno_signature_init (DynoSignature *signature, const char *name, const DynoWeightsInfo *info,
                          const DynoBatchField *input);

/* "UINT8", "INT32", "FP32": of the input, where it is no BYTES. */
const char *dyno_signature_get_datatype (const DynoSignature *signature);

/* The model's metadata as the protocol has it. */
void dyno_signature_write (const DynoSignature *signature, DynoJson *json);

/* Fit for a path and a label: 1 to 128 letters, digits, "_", "-" and ".", and not "." or "..". */
gboolean dyno_serve_name_is_good (const char *name);

G_END_DECLS
