/* SPDX-License-Identifier: MIT */
/* Groups of samples that belong together (data.group_column), such as those of a patient or a site,
 * and how whole groups are dealt out to the parts of a data set.
 *
 * DynoGroups is immutable; it belongs to its data set, whose facts point to it.  Any thread. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* A sample that is of a class, or has a label. */
typedef struct {
  guint32 sample, class_id;
} DynoGroupMark;

/* Groups samples with equal ids: ids has n_samples values of any kind.  Groups are numbered in the
 * order of their first samples.  marks: DynoGroupMark, by which the classes are spread evenly;
 * NULL: samples have no classes.  n_classes: all class ids are below it. */
DynoGroups *dyno_groups_new (const guint32 *ids, guint32 n_samples, const GArray *marks,
                             guint32 n_classes);
void dyno_groups_free (DynoGroups *groups);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoGroups, dyno_groups_free)

guint32 dyno_groups_get_count (const DynoGroups *groups);
/* The samples of a group. */
guint32 dyno_groups_get_size (const DynoGroups *groups, guint32 group);
/* The group of a sample. */
guint32 dyno_groups_find (const DynoGroups *groups, guint64 sample);

/* A part of the data set.  guint8. */
enum { DYNO_GROUP_TRAINS, DYNO_GROUP_VALIDATES, DYNO_GROUP_TESTS };

/* The part of each group, by the group alone: the same (groups, shares, seed) give the same parts
 * on every machine.  The test part is dealt first and depends only on its share and the seed.  No
 * part that is asked for is empty while there are groups enough; each group validates in one fold,
 * and with at least as many groups as folds no fold is empty.
 *
 * Groups are dealt out from large to small, those with samples of a rare class earlier, in an order
 * by seed among those of about the same weight.  Each goes to the part that then comes nearest to
 * its share of the samples and of each class: least is the sum over the parts of (reached share -
 * wanted share)^2 / wanted share, of the samples, and as the mean over the classes.
 * sklearn's StratifiedGroupKFold is of this kind.  (n_groups); g_free.
 */
guint8 *dyno_groups_divide (const DynoGroups *groups, const DynoDivision *division);

G_END_DECLS
