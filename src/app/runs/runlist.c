/* SPDX-License-Identifier: MIT */
/* Runs of the history as the model of a list: an iterator is a row's number. */
#include "runlist.h"
#include "format.h"
#include "settingcontrol.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

#define MOST_SETTINGS 6 /* most settings in the text of a row */

struct _DynoRunList {
  GObject parent_instance;
  GPtrArray *all;  /* DynoStoredRun */
  GPtrArray *runs; /* the runs of `all` that are listed, in the list's order; borrowed */
  char *words;
  int column; /* sort column */
  GtkSortType order;
  int stamp;
};

static void tree_model_init (GtkTreeModelIface *iface);
static void sortable_init (GtkTreeSortableIface *iface);
G_DEFINE_FINAL_TYPE_WITH_CODE (DynoRunList, dyno_run_list, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_TREE_MODEL, tree_model_init)
                                   G_IMPLEMENT_INTERFACE (GTK_TYPE_TREE_SORTABLE, sortable_init))

/* --- texts ------------------------------------------------------------------------------------ */

static const DynoSettings *
get_default_settings (void)
{
  static DynoSettings settings;
  static gsize once;
  if (g_once_init_enter (&once))
    {
      dyno_settings_init (&settings);
      g_once_init_leave (&once, 1);
    }
  return &settings;
}

char *
dyno_run_list_describe_settings (const DynoSettings *settings)
{
  guint n;
  g_autofree const DynoSettingInfo **infos =
      dyno_store_compare_settings (get_default_settings (), settings, &n);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < n && i < MOST_SETTINGS; i++)
    {
      g_autofree char *value = dyno_setting_control_describe (
          infos[i], dyno_settings_get_number (settings, infos[i]->key));
      g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", _ (infos[i]->title), value);
    }
  if (n > MOST_SETTINGS)
    g_string_append (text, ", …");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
make_text (const DynoStoredRun *run, int column)
{
  switch ((DynoRunListColumn) column)
    {
    case DYNO_RUN_LIST_TITLE:
      return dyno_words_run_short (run);
    case DYNO_RUN_LIST_BEGUN:
      return dyno_format_when (run->begin_us);
    case DYNO_RUN_LIST_DATA:
      return dyno_words_data (run->data ? run->data : "");
    case DYNO_RUN_LIST_MODEL:
      return dyno_words_model (run->model);
    case DYNO_RUN_LIST_SETTINGS:
      return dyno_run_list_describe_settings (&run->settings);
    case DYNO_RUN_LIST_BEST:
      return dyno_format_best (run);
    case DYNO_RUN_LIST_RATE:
      return dyno_format_rate (run->samples_per_s);
    case DYNO_RUN_LIST_TIME:
      return dyno_format_span (isfinite (run->seconds) ? run->seconds : -1);
    case DYNO_RUN_LIST_STATE:
      return g_strdup (dyno_words_run_state (run));
    case DYNO_RUN_LIST_TAGS:
      return g_strdup (run->tags ? run->tags : "");
    case DYNO_RUN_LIST_RUN:
    case DYNO_N_RUN_LIST_COLUMNS:
    default:
      return g_strdup ("");
    }
}

gboolean
dyno_run_list_matches (const DynoStoredRun *run, const char *words)
{
  static const DynoRunListColumn columns[] = { DYNO_RUN_LIST_TITLE, DYNO_RUN_LIST_MODEL,
                                               DYNO_RUN_LIST_DATA, DYNO_RUN_LIST_STATE,
                                               DYNO_RUN_LIST_TAGS };
  g_autoptr (GString) text = g_string_new (run->model);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      g_autofree char *cell = make_text (run, columns[i]);
      g_string_append_printf (text, "\n%s", cell);
    }
  g_autofree char *folded = g_utf8_casefold (text->str, -1), *wanted = g_utf8_casefold (words, -1);
  g_auto (GStrv) each = g_strsplit (wanted, " ", -1);
  for (guint i = 0; each[i]; i++)
    if (!strstr (folded, each[i]))
      return FALSE;
  return TRUE;
}

/* --- order ------------------------------------------------------------------------------------ */

/* Unknown values come last, in both orders. */
static int
compare_numbers (double a, double b, int sign)
{
  if (isnan (a) || isnan (b))
    return isnan (a) - isnan (b);
  return sign * ((a > b) - (a < b));
}

static int
compare_runs (const DynoStoredRun *a, const DynoStoredRun *b, int column, int sign)
{
  g_autofree char *one = NULL, *other = NULL;
  switch (column)
    {
    case DYNO_RUN_LIST_BEGUN:
      return sign * ((a->begin_us > b->begin_us) - (a->begin_us < b->begin_us));
    case DYNO_RUN_LIST_BEST:
      return compare_numbers (a->best_metric, b->best_metric, sign);
    case DYNO_RUN_LIST_RATE:
      return compare_numbers (a->samples_per_s, b->samples_per_s, sign);
    case DYNO_RUN_LIST_TIME:
      return compare_numbers (a->seconds, b->seconds, sign);
    case DYNO_RUN_LIST_STATE:
      return sign * ((int) a->state - (int) b->state);
    default:
      one = make_text (a, column);
      other = make_text (b, column);
      if (!*one || !*other)
        return !*one - !*other;
      return sign * g_utf8_collate (one, other);
    }
}

typedef struct {
  DynoStoredRun *run;
  guint before; /* the run's former row */
  char *key;    /* only for text columns */
} Sorted;

static int
compare_sorted (gconstpointer a, gconstpointer b, gpointer data)
{
  const DynoRunList *self = data;
  const Sorted *one = a, *other = b;
  int sign = self->order == GTK_SORT_ASCENDING ? 1 : -1, found;
  if (one->key && other->key)
    found = !*one->key || !*other->key ? !*one->key - !*other->key
                                       : sign * strcmp (one->key, other->key);
  else
    found = compare_runs (one->run, other->run, self->column, sign);
  /* Equal runs are sorted newest first. */
  return found ? found : (one->run->id < other->run->id) - (one->run->id > other->run->id);
}

static gboolean
is_text (int column)
{
  return column == DYNO_RUN_LIST_TITLE || column == DYNO_RUN_LIST_DATA
         || column == DYNO_RUN_LIST_MODEL || column == DYNO_RUN_LIST_SETTINGS
         || column == DYNO_RUN_LIST_TAGS;
}

/* Sorts the runs; returns the former row of each; g_free. */
static int *
sort (DynoRunList *self)
{
  guint n = self->runs->len;
  g_autofree Sorted *rows = g_new0 (Sorted, MAX (n, 1));
  int *before = g_new (int, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    {
      rows[i].run = self->runs->pdata[i];
      rows[i].before = i;
      if (is_text (self->column))
        {
          g_autofree char *text = make_text (rows[i].run, self->column);
          rows[i].key = g_utf8_collate_key (text, -1);
        }
    }
  g_qsort_with_data (rows, (int) n, sizeof *rows, compare_sorted, self);
  for (guint i = 0; i < n; i++)
    {
      self->runs->pdata[i] = rows[i].run;
      before[i] = (int) rows[i].before;
      g_free (rows[i].key);
    }
  return before;
}

static void
fill (DynoRunList *self)
{
  g_ptr_array_set_size (self->runs, 0);
  for (guint i = 0; i < self->all->len; i++)
    if (!*self->words || dyno_run_list_matches (self->all->pdata[i], self->words))
      g_ptr_array_add (self->runs, self->all->pdata[i]);
  self->stamp++;
  g_free (sort (self));
}

void
dyno_run_list_set_runs (DynoRunList *self, GPtrArray *runs)
{
  g_ptr_array_set_size (self->runs, 0);
  g_clear_pointer (&self->all, g_ptr_array_unref);
  self->all = runs;
  fill (self);
}

void
dyno_run_list_set_words (DynoRunList *self, const char *words)
{
  g_free (self->words);
  self->words = g_strdup (words);
  fill (self);
}

guint
dyno_run_list_get_n_runs (DynoRunList *self)
{
  return self->all->len;
}

guint
dyno_run_list_get_length (DynoRunList *self)
{
  return self->runs->len;
}

const DynoStoredRun *
dyno_run_list_get (DynoRunList *self, guint row)
{
  return row < self->runs->len ? self->runs->pdata[row] : NULL;
}

/* --- GtkTreeModel ----------------------------------------------------------------------------- */

static gboolean
set_iter (DynoRunList *self, GtkTreeIter *iter, int row)
{
  if (row < 0 || row >= (int) self->runs->len)
    {
      iter->stamp = 0;
      return FALSE;
    }
  iter->stamp = self->stamp;
  iter->user_data = GINT_TO_POINTER (row);
  return TRUE;
}

static int
get_row (GtkTreeIter *iter)
{
  return GPOINTER_TO_INT (iter->user_data);
}

static GtkTreeModelFlags
get_flags (GtkTreeModel *model)
{
  return GTK_TREE_MODEL_LIST_ONLY;
}

static int
get_n_columns (GtkTreeModel *model)
{
  return DYNO_N_RUN_LIST_COLUMNS;
}

static GType
get_column_type (GtkTreeModel *model, int column)
{
  return column == DYNO_RUN_LIST_RUN ? G_TYPE_POINTER : G_TYPE_STRING;
}

static gboolean
get_iter (GtkTreeModel *model, GtkTreeIter *iter, GtkTreePath *path)
{
  return gtk_tree_path_get_depth (path) == 1
         && set_iter (DYNO_RUN_LIST (model), iter, gtk_tree_path_get_indices (path)[0]);
}

static GtkTreePath *
get_path (GtkTreeModel *model, GtkTreeIter *iter)
{
  return gtk_tree_path_new_from_indices (get_row (iter), -1);
}

static void
get_value (GtkTreeModel *model, GtkTreeIter *iter, int column, GValue *value)
{
  const DynoStoredRun *run = dyno_run_list_get (DYNO_RUN_LIST (model), (guint) get_row (iter));
  g_value_init (value, get_column_type (model, column));
  if (column == DYNO_RUN_LIST_RUN)
    g_value_set_pointer (value, (gpointer) run);
  else if (run)
    g_value_take_string (value, make_text (run, column));
}

static gboolean
iter_next (GtkTreeModel *model, GtkTreeIter *iter)
{
  return set_iter (DYNO_RUN_LIST (model), iter, get_row (iter) + 1);
}

static gboolean
iter_previous (GtkTreeModel *model, GtkTreeIter *iter)
{
  return set_iter (DYNO_RUN_LIST (model), iter, get_row (iter) - 1);
}

static gboolean
iter_nth_child (GtkTreeModel *model, GtkTreeIter *iter, GtkTreeIter *parent, int n)
{
  return !parent && set_iter (DYNO_RUN_LIST (model), iter, n);
}

static gboolean
iter_children (GtkTreeModel *model, GtkTreeIter *iter, GtkTreeIter *parent)
{
  return iter_nth_child (model, iter, parent, 0);
}

static gboolean
iter_has_child (GtkTreeModel *model, GtkTreeIter *iter)
{
  return FALSE;
}

static int
iter_n_children (GtkTreeModel *model, GtkTreeIter *iter)
{
  return iter ? 0 : (int) DYNO_RUN_LIST (model)->runs->len;
}

static gboolean
iter_parent (GtkTreeModel *model, GtkTreeIter *iter, GtkTreeIter *child)
{
  return FALSE;
}

static void
tree_model_init (GtkTreeModelIface *iface)
{
  iface->get_flags = get_flags;
  iface->get_n_columns = get_n_columns;
  iface->get_column_type = get_column_type;
  iface->get_iter = get_iter;
  iface->get_path = get_path;
  iface->get_value = get_value;
  iface->iter_next = iter_next;
  iface->iter_previous = iter_previous;
  iface->iter_children = iter_children;
  iface->iter_has_child = iter_has_child;
  iface->iter_n_children = iter_n_children;
  iface->iter_nth_child = iter_nth_child;
  iface->iter_parent = iter_parent;
}

/* --- GtkTreeSortable -------------------------------------------------------------------------- */

static gboolean
get_sort_column_id (GtkTreeSortable *sortable, int *column, GtkSortType *order)
{
  const DynoRunList *self = DYNO_RUN_LIST (sortable);
  if (column)
    *column = self->column;
  if (order)
    *order = self->order;
  return TRUE;
}

static void
set_sort_column_id (GtkTreeSortable *sortable, int column, GtkSortType order)
{
  DynoRunList *self = DYNO_RUN_LIST (sortable);
  if (column < 0 || (self->column == column && self->order == order))
    return;
  self->column = column;
  self->order = order;
  gtk_tree_sortable_sort_column_changed (sortable);
  g_autofree int *before = sort (self);
  g_autoptr (GtkTreePath) root = gtk_tree_path_new ();
  if (self->runs->len > 0)
    gtk_tree_model_rows_reordered_with_length (GTK_TREE_MODEL (self), root, NULL, before,
                                               (int) self->runs->len);
}

static gboolean
has_default_sort_func (GtkTreeSortable *sortable)
{
  return FALSE;
}

static void
sortable_init (GtkTreeSortableIface *iface)
{
  iface->get_sort_column_id = get_sort_column_id;
  iface->set_sort_column_id = set_sort_column_id;
  iface->has_default_sort_func = has_default_sort_func;
}

/* --- life ------------------------------------------------------------------------------------- */

DynoRunList *
dyno_run_list_new (void)
{
  return g_object_new (DYNO_TYPE_RUN_LIST, NULL);
}

static void
dyno_run_list_finalize (GObject *object)
{
  DynoRunList *self = DYNO_RUN_LIST (object);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  g_clear_pointer (&self->all, g_ptr_array_unref);
  g_clear_pointer (&self->words, g_free);
  G_OBJECT_CLASS (dyno_run_list_parent_class)->finalize (object);
}

static void
dyno_run_list_class_init (DynoRunListClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_run_list_finalize;
}

static void
dyno_run_list_init (DynoRunList *self)
{
  self->all = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  self->runs = g_ptr_array_new ();
  self->words = g_strdup ("");
  self->column = DYNO_RUN_LIST_BEGUN;
  self->order = GTK_SORT_DESCENDING;
  self->stamp = 1;
}
