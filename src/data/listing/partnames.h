/* SPDX-License-Identifier: MIT */
/* The parts of a data set by their names: of folders, of shards, in a column of a list.  One table
 * of words serves all formats. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_PART_NONE, /* the name is of no part */
  DYNO_PART_TRAIN,
  DYNO_PART_VALIDATION,
  DYNO_PART_TEST,
} DynoPart;

/* The part that a name says, in any case: one word for a part (train, val, test and their like),
 * and around it only words and numbers that are usual there: "Test", "training_set", "valData",
 * "test1", "PublicTest".  rest, which may be NULL: the other words in lower case, joined by blanks
 * (g_free); with it, any other words may stand around, as of "seg_train" and "seg_test", which are
 * parts only as far as another part has the same rest.  "" for usual words. */
DynoPart dyno_part_of_name (const char *name, char **rest);

/* The folders of a data set's root that are its parts. */
typedef struct {
  char *train, *validation; /* names; NULL: there is none */
  GPtrArray *unused;        /* names of others that could be a part */
} DynoPartFolders;

/* Chooses among the names of folders, in the order of their bytes: train, and of val and test the
 * first, of the same rest as train where there is one.  can_be: whether a folder of this name can
 * be a part of classes; NULL: all can.  Without a train folder nothing is chosen. */
void dyno_part_folders_choose (DynoPartFolders *folders, const char *const *names,
                               gboolean (*can_be) (const char *name, gpointer data), gpointer data);
void dyno_part_folders_clear (DynoPartFolders *folders);
/* Adds a note on each part that is not used. */
void dyno_part_folders_note (const DynoPartFolders *folders, GPtrArray *notes);

/* Whether a name is one that systems and programs leave behind, never data: __MACOSX, Thumbs.db,
 * desktop.ini and their like, which are added to left, an array of g_free'd names, once each; NULL:
 * they are not.  Names that begin with a dot are not asked for. */
gboolean dyno_name_is_left_behind (const char *name, GPtrArray *left);
/* The note on them, or NULL; g_free. */
char *dyno_left_behind_note (GPtrArray *left);

/* Sub-folders of classes.  Where all classes have the same several ones, it is likely that those are
 * the classes, and that what was taken for classes are parts. */
typedef struct {
  GHashTable *pairs, *counts;
} DynoSubfolders;

void dyno_subfolders_init (DynoSubfolders *subfolders);
void dyno_subfolders_add (DynoSubfolders *subfolders, gint32 class_id, const char *name,
                          gsize length);
/* The note on it, or NULL; g_free. */
char *dyno_subfolders_doubt (const DynoSubfolders *subfolders, char *const *class_names,
                             guint32 n_classes);
void dyno_subfolders_clear (DynoSubfolders *subfolders);

G_END_DECLS
