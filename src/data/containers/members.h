/* SPDX-License-Identifier: MIT */
/* Lists the members of a .tar or .zip archive and their positions: nothing is unpacked, and no
 * member is read.  Both formats are parsed here because the positions in the file are needed: any
 * thread can then read members in any order. */
#pragma once
#include "data-error.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  const char *name;    /* ended by 0, bytes as in the archive, without a leading "./" */
  guint64 at, stored;  /* position and bytes in the file, checked to lie within it */
  guint64 size;        /* size after inflating; equal to stored where the member is not deflated */
  gboolean deflated;   /* raw deflate */
  guint32 sum;         /* CRC-32 of the inflated bytes; 0 for members of a .tar */
  const char *refused; /* why the member cannot be used (a link, encrypted, cut off), or NULL */
} DynoMember;

typedef gboolean (*DynoMemberFunc) (const DynoMember *member, gpointer data, GError **error);

typedef enum {
  DYNO_ARCHIVE_NONE,
  DYNO_ARCHIVE_TAR,
  DYNO_ARCHIVE_ZIP,
  DYNO_ARCHIVE_OTHER, /* another format, whose members cannot be read in any order */
} DynoArchiveKind;

/* Guesses the type from the first bytes.  *other: the name of another format ("gzip"). */
DynoArchiveKind dyno_archive_guess (int fd, guint64 size, const char **other);

/* Call func for every member except folders, in the archive's order; an error of func ends the
 * walk.  shown: the file's name for messages.  A damaged header in the middle of a .tar is passed
 * as a refused member, and ends the walk.  Errors: CORRUPT, UNSUPPORTED, TOO_LARGE, READ,
 * UNREACHABLE; G_IO_ERROR_CANCELLED. */
gboolean dyno_tar_walk (int fd, guint64 size, const char *shown, DynoMemberFunc func, gpointer data,
                        GCancellable *cancellable, GError **error);
gboolean dyno_zip_walk (int fd, guint64 size, const char *shown, DynoMemberFunc func, gpointer data,
                        GCancellable *cancellable, GError **error);

/* The same for a .zip in memory, which messages do not name.  Errors: CORRUPT, UNSUPPORTED,
 * TOO_LARGE. */
gboolean dyno_zip_walk_memory (const guint8 *bytes, gsize size, DynoMemberFunc func, gpointer data,
                               GError **error);

/* Makes the header of a .tar's member (512 bytes) with this name, of at most 100 bytes, for
 * writing. */
void dyno_tar_make_header (guint8 *header, const char *name, guint64 size);

G_END_DECLS
