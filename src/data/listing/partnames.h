/* SPDX-License-Identifier: MIT */
/* Recognises the parts of a data set by names: of folders, of shards, in a column of a list.  One
 * table of words serves all formats. */
#pragma once
#include "datapart.h"
#include <glib.h>

G_BEGIN_DECLS

/* The part that a name stands for, in upper or lower case: the name has one word for a part (train,
 * val, test and similar ones), and around it only words and numbers that are usual there: "Test",
 * "training_set", "valData", "test1", "PublicTest".  *rest (rest may be NULL): the other words in
 * lower case, joined by blanks (g_free); "" where they are usual words.  With rest, any other words
 * are accepted, as in "seg_train" and "seg_test", which are parts only where another part has the
 * same rest. */
DynoPart dyno_part_of_name (const char *name, char **rest);

/* The part of samples that are listed for one, where n samples are listed for each: where none is
 * listed for training, those of the first part train. */
DynoPart dyno_part_of_listed (const guint64 n[DYNO_PART_TEST + 1], DynoPart listed);

/* The folders of a data set's root that are its parts. */
typedef struct {
  char *train, *validation, *test; /* names; NULL: there is none */
  GPtrArray *unused;               /* names of other folders that could be a part */
} DynoPartFolders;

/* Chooses among the names of folders, in the order of their bytes: train, and val and test with the
 * same rest as train where there are any.  A test folder without a val folder validates.  can_be:
 * TRUE where a folder of this name can be a part with classes; NULL: all folders can.  Without a
 * train folder nothing is chosen. */
void dyno_part_folders_choose (DynoPartFolders *folders, const char *const *names,
                               gboolean (*can_be) (const char *name, gpointer data), gpointer data);
void dyno_part_folders_clear (DynoPartFolders *folders);
/* Adds a note on each part that is not used. */
void dyno_part_folders_note (const DynoPartFolders *folders, GPtrArray *notes);

/* The note on sub-folders of the test part that are no class, "“a”, “b”"; g_free. */
char *dyno_part_note_strangers (const char *names);

/* TRUE for a name that systems and programs leave behind and that is never data: __MACOSX,
 * Thumbs.db, desktop.ini and similar ones.  The name is added to left (an array of g_free'd names;
 * may be NULL) unless it is there already.  Names that begin with a dot are not passed to this
 * function. */
gboolean dyno_name_is_left_behind (const char *name, GPtrArray *left);
/* The note on these names, or NULL; g_free. */
char *dyno_left_behind_note (GPtrArray *left);

/* Records the sub-folders of classes.  Where all classes have the same several sub-folders, the
 * sub-folders are likely to be the classes, and the supposed classes parts. */
typedef struct {
  GHashTable *pairs, *counts;
} DynoSubfolders;

void dyno_subfolders_init (DynoSubfolders *subfolders);
void dyno_subfolders_add (DynoSubfolders *subfolders, gint32 class_id, const char *name,
                          gsize length);
/* The note that the sub-folders are likely to be the classes, or NULL; g_free. */
char *dyno_subfolders_doubt (const DynoSubfolders *subfolders, char *const *class_names,
                             guint32 n_classes);
void dyno_subfolders_clear (DynoSubfolders *subfolders);

G_END_DECLS
