/* SPDX-License-Identifier: MIT */
/* Converts samples of a request to the form that the network reads: the preparation of dynoctl
 * predict, for data in memory.
 *
 * Every size is checked before it is used or allocated.  Pure functions; any thread. */
#pragma once
#include "serve-error.h"
#include "signature.h"

G_BEGIN_DECLS

/* Converts an image file to a sample of signature->sample_bytes at out; *picture_width and
 * *picture_height are set to the size of the picture as displayed.  scratch is reused between
 * calls, and freed if it has grown large.  Only one picture that needs much memory is decoded at a
 * time.  Errors: BAD_REQUEST (no image, or broken), TOO_LARGE (past DYNO_IMAGE_MAX_*). */
gboolean dyno_prepare_file (const DynoSignature *signature, const guint8 *file, gsize size,
                            guint8 *out, guint32 *picture_width, guint32 *picture_height,
                            GByteArray *scratch, GError **error);

/* Whether samples of this shape (with N first) can be converted to the network's: checks the number
 * of axes and their sizes.  *elements is set to the number of elements of one sample as sent.
 * Errors: BAD_REQUEST, TOO_LARGE; messages begin with what. */
gboolean dyno_prepare_check_shape (const DynoSignature *signature, const char *what,
                                   const gint64 *shape, guint n_axes, guint64 *elements,
                                   GError **error);

/* Converts a sample of that shape, packed at source, into out; *length is set to its valid steps,
 * where the input is variable.  Errors: TOO_LARGE (no memory). */
gboolean dyno_prepare_sample (const DynoSignature *signature, const gint64 *shape,
                              const guint8 *source, guint8 *out, gint32 *length,
                              GByteArray *scratch, GError **error);

G_END_DECLS
