/* SPDX-License-Identifier: MIT */
/* A COCO file of annotations (cocodataset.org, format “object detection”): its images, its
 * categories, and the place of each annotation's area in the file.  The file stays open; an area is
 * read when it is drawn, in any thread. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

typedef struct {
  gint64 id;
  char *name;            /* file_name */
  guint32 width, height; /* 0: not given */
} DynoCocoImage;

typedef struct {
  gint64 id;
  char *name;
} DynoCocoCategory;

typedef struct {
  gint64 image_id, category_id;
  guint64 at, length; /* place and bytes of the area's text in the file */
  gboolean crowd;     /* the area covers a crowd of objects */
} DynoCocoAnnotation;

typedef struct {
  int fd;
  char *path;
  GArray *images, *categories; /* DynoCocoImage, DynoCocoCategory */
  /* DynoCocoAnnotation, in the file's order: those with an area, and those that have only a box */
  GArray *annotations, *boxes;
} DynoCocoFile;

/* Errors: those of dyno_datafile_read; CORRUPT (no JSON, or no COCO file; the message has the
 * position). */
DynoCocoFile *dyno_coco_file_open (const char *path, GError **error);
void dyno_coco_file_free (DynoCocoFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoCocoFile, dyno_coco_file_free)

/* Draws an annotation's area, polygons or runs, into ids (height, width).  Errors: CORRUPT, READ,
 * UNREACHABLE. */
gboolean dyno_coco_file_draw (const DynoCocoFile *file, const DynoCocoAnnotation *annotation,
                              guint32 width, guint32 height, guint8 id, guint8 *ids,
                              GError **error);

G_END_DECLS
