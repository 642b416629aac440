/* SPDX-License-Identifier: MIT */
/* Names, and colours, of the classes of masks, from a text file beside them. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

#define DYNO_MASK_MAX_CLASSES 255

/* Lines of one form; blank lines and lines that begin with # do not count, nor does a first line
 * with the names of columns:
 *   name                     a class, the first is 0
 *   id name, id: name, id,name
 *   name: r,g,b::            CVAT's labelmap.txt; what follows the colour is not used
 *   r g b name               CamVid's label_colors.txt
 *   name,r,g,b               class_dict.csv */
typedef struct {
  char *file; /* name of the file, for messages; NULL: there is no file */
  /* char *, by id; an id that the file leaves out between others has its number as name */
  GPtrArray *names;
  GArray *colours; /* guint32 0xrrggbb of each name; empty: the file has no colours */
} DynoMaskNames;

void dyno_mask_names_init (DynoMaskNames *names);
void dyno_mask_names_clear (DynoMaskNames *names);

/* Reads the first file with a known name (classes.txt, labelmap.txt, ...) in one of the folders,
 * NULL at the end.  TRUE also where there is none.  Errors: CORRUPT (a line of another form, a
 * colour or an id twice), TOO_LARGE, READ. */
gboolean dyno_mask_names_find (DynoMaskNames *names, const char *const *folders, GError **error);

/* The same from text; file: name of the file that has the text. */
gboolean dyno_mask_names_parse (DynoMaskNames *names, const char *file, const char *text,
                                GError **error);

/* TRUE for a name of pixels that belong to no class, such as "void". */
gboolean dyno_mask_name_is_void (const char *name);

/* The classes of PASCAL VOC, and of Cityscapes' training ids. */
extern const char *const dyno_mask_voc_names[21 + 1];
extern const char *const dyno_mask_cityscapes_names[19 + 1];
/* The training id of a label id of Cityscapes; DYNO_MASK_IGNORED: it has none. */
guint8 dyno_mask_get_cityscapes_id (guint label_id);

G_END_DECLS
