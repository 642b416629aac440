/* SPDX-License-Identifier: MIT */
/* A request for inference: from the bytes of a body to prepared samples and the wanted outputs.
 *
 * The body is JSON, or JSON of header_length bytes followed by binary tensors (the protocol's
 * binary extension), or an image file.  In JSON, BYTES are texts in base64.  Pure; any thread. */
#pragma once
#include "prepare.h"

G_BEGIN_DECLS

typedef struct {
  DynoOutputKind kind;
  guint32 top; /* RANKED: classes of each sample, 1 to n_outputs */
  gboolean binary;
} DynoWantedOutput;

#define DYNO_INFER_MAX_OUTPUTS 3 /* each kind once */

typedef struct {
  char *id;         /* NULL: none */
  guint32 n;        /* samples, 1 or more */
  guint8 *samples;  /* n x signature->sample_bytes */
  gint32 *lengths;  /* n, where the input is variable, else NULL */
  gsize size_bytes; /* of all samples */
  gboolean is_file; /* the body is an image file; size of its picture as shown: */
  guint32 picture_width, picture_height;
  guint n_outputs; /* the requested outputs, 1 or more */
  DynoWantedOutput outputs[DYNO_INFER_MAX_OUTPUTS];
} DynoInferRequest;

/* most_bytes limits the prepared samples, and the numbers of the outputs.  content_type NULL: not
 * given.  header_length: of Inference-Header-Content-Length, -1: not given.  Errors: BAD_REQUEST,
 * TOO_LARGE, MEDIA_TYPE. */
DynoInferRequest *dyno_infer_request_new (const DynoSignature *signature, const char *content_type,
                                          gint64 header_length, const guint8 *body, gsize size,
                                          gsize most_bytes, GByteArray *scratch, GError **error);
void dyno_infer_request_free (DynoInferRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoInferRequest, dyno_infer_request_free)

G_END_DECLS
