/* SPDX-License-Identifier: MIT */
/* Samples of a request, brought to the form that the network reads: the preparation of dynoctl
 * predict, on memory.
 *
 * Every size is checked before it is used or allocated.  Pure functions; any thread. */
#pragma once
#include "serve-error.h"
#include "signature.h"

G_BEGIN_DECLS

/* An image file to a sample of signature->sample_bytes at out; *picture_width and *picture_height
 * become the size of the picture as it is shown.  scratch is reused between calls; it
 * is empty afterwards where it grew large.  A picture that takes much memory is decoded while no
 * other one is.  Errors: BAD_REQUEST (no image, or broken), TOO_LARGE (past DYNO_IMAGE_MAX_*). */
gboolean dyno_prepare_file (const DynoSignature *signature, const guint8 *file, gsize size,
                            guint8 *out, guint32 *picture_width, guint32 *picture_height,
                            GByteArray *scratch, GError **error);

/* Whether samples of this shape (with N first) can be brought to the network's: n axes and their
 * sizes.  *elements becomes the number of elements of one sample as it is sent.  Errors:
 * BAD_REQUEST, TOO_LARGE; messages begin with what. */
gboolean dyno_prepare_check_shape (const DynoSignature *signature, const char *what,
                                   const gint64 *shape, guint n_axes, guint64 *elements,
                                   GError **error);

/* A sample of that shape, packed at source, to out; *length becomes its valid steps, where the
 * input is variable.  Errors: TOO_LARGE (no memory). */
gboolean dyno_prepare_sample (const DynoSignature *signature, const gint64 *shape,
                              const guint8 *source, guint8 *out, gint32 *length,
                              GByteArray *scratch, GError **error);

G_END_DECLS
