/* SPDX-License-Identifier: MIT */
/* The file is text by RFC 4180, with '.' decimals in any locale.  A line counts once its end is
 * written. */
#include "trialsfile.h"
#include "csvcell.h"
#include "csvlines.h"
#include "file.h"
#include "intl.h"
#include "preset.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (16 * 1024 * 1024)

struct _DynoTrialsFile {
  char *path, *tail; /* tail: data, model and device, which are the same in each line */
  int fd;
};

/* The last columns; "ranks" only where there are several. */
static const char *const ends[] = { "data", "model", "device", "ranks" };

static const char *const stages[] = { "today", "baseline", "preset", "search", "proof" };

/* --- writing ---------------------------------------------------------------------------------- */

/* text NULL: an empty cell. */
static void
add_field (GString *line, const char *text)
{
  dyno_csv_add_cell (line, text ? text : "");
}

static void
add_count (GString *line, guint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);

  add_field (line, text);
}

static guint
count_facts (void)
{
  guint n;

  dyno_trial_list_fields (&n);
  return n;
}

static guint
count_ends (guint ranks)
{
  return ranks > 1 ? G_N_ELEMENTS (ends) : G_N_ELEMENTS (ends) - 1;
}

static GString *
header (guint ranks)
{
  GString *line = g_string_new (NULL);
  guint n, n_facts;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  const DynoRecordField *facts = dyno_trial_list_fields (&n_facts);

  for (guint i = 0; i < n_facts; i++)
    add_field (line, facts[i].name);
  for (guint i = 0; i < n; i++)
    add_field (line, table[i].key);
  for (guint i = 0; i < count_ends (ranks); i++)
    add_field (line, ends[i]);
  return g_string_append_c (line, '\n');
}

static void
add_fact (GString *line, const DynoRecordField *f, const DynoTrial *t)
{
  switch (f->type)
    {
    case DYNO_RECORD_UINT:
      add_count (line, *DYNO_RECORD_MEMBER (t, f, const guint));
      break;
    case DYNO_RECORD_COUNT:
      add_count (line, *DYNO_RECORD_MEMBER (t, f, const guint64));
      break;
    case DYNO_RECORD_TEXT:
      add_field (line, *DYNO_RECORD_MEMBER (t, f, char *const));
      break;
    case DYNO_RECORD_OTHER:
      add_field (line,
                 strcmp (f->name, "stage") == 0 ? t->stage : dyno_trial_outcome_name (t->outcome));
      break;
    default:
      dyno_csv_add_number (line, *DYNO_RECORD_MEMBER (t, f, const double));
    }
}

static gboolean
add_trial (DynoTrialsFile *file, const DynoTrial *t, GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  guint n, n_facts;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  const DynoRecordField *facts = dyno_trial_list_fields (&n_facts);

  for (guint i = 0; i < n_facts; i++)
    add_fact (line, &facts[i], t);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&t->settings, table[i].key);

      add_field (line, value);
    }
  g_string_append_printf (line, "%s\n", file->tail);
  return dyno_csv_append_line (file->fd, line, file->path, error);
}

gboolean
dyno_trials_file_add_trial (DynoTrialsFile *file, const DynoTrial *trial, GError **error)
{
  return add_trial (file, trial, error);
}

gboolean
dyno_trials_file_add_ceiling (DynoTrialsFile *file, const DynoCeiling *c, GError **error)
{
  DynoTrial trial = { .stage = dyno_ceiling_name (c->of),
                      .settings = c->settings,
                      .outcome = c->outcome,
                      .samples_per_s = c->samples_per_s,
                      .low = c->low,
                      .high = c->high,
                      .outside_cpu = c->outside_cpu,
                      .vram_bytes = c->vram_bytes,
                      .planned_bytes = c->planned_bytes,
                      .text = c->text };

  return add_trial (file, &trial, error);
}

DynoTrialsFile *
dyno_trials_file_new (const char *path, const DynoJob *job, const char *device, gboolean append,
                      GError **error)
{
  DynoTrialsFile *file = g_new0 (DynoTrialsFile, 1);
  g_autoptr (GString) first = header (job->ranks), tail = g_string_new (" ");

  add_field (tail, job->data);
  add_field (tail, job->model);
  add_field (tail, device);
  if (job->ranks > 1)
    add_count (tail, job->ranks);
  file->path = g_strdup (path);
  file->tail = g_strdup (tail->str + 1);
  file->fd = dyno_csv_open (path, first, append, MOST_BYTES, error);
  if (file->fd >= 0)
    return file;
  dyno_trials_file_free (file);
  return NULL;
}

void
dyno_trials_file_free (DynoTrialsFile *file)
{
  if (!file)
    return;
  if (file->fd >= 0)
    close (file->fd);
  g_free (file->path);
  g_free (file->tail);
  g_free (file);
}

/* --- reading ---------------------------------------------------------------------------------- */

static double
number_at (const GPtrArray *fields, guint i)
{
  const char *text = fields->pdata[i];

  return *text ? g_ascii_strtod (text, NULL) : (double) NAN;
}

static double
rate_at (const GPtrArray *fields, guint i)
{
  double value = number_at (fields, i);

  return isfinite (value) && value > 0 ? value : 0;
}

static guint64
count_at (const GPtrArray *fields, guint i)
{
  return g_ascii_strtoull (fields->pdata[i], NULL, 10);
}

static const char *
find_stage (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (stages); i++)
    if (strcmp (stages[i], name) == 0)
      return stages[i];
  return NULL;
}

/* The number of ranks of the line; 1 where the line has none. */
static guint
ranks_of (const GPtrArray *fields)
{
  guint n;

  dyno_setting_list (&n);
  return fields->len > count_facts () + n + count_ends (1)
             ? (guint) MIN (count_at (fields, fields->len - 1), G_MAXUINT)
             : 1;
}

/* FALSE, with the error, where the line is of another job; epochs, and settings that are searched,
 * may differ. */
static gboolean
check_job (const GPtrArray *fields, const DynoJob *job, const DynoSettings *settings,
           const char *path, GError **error)
{
  guint n, data;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  const char *of = NULL;

  data = count_facts () + n;
  if (g_strcmp0 (fields->pdata[data], job->data ? job->data : "") != 0)
    of = "data";
  else if (g_strcmp0 (fields->pdata[data + 1], job->model ? job->model : "") != 0)
    of = "model";
  else if (ranks_of (fields) != MAX (job->ranks, 1))
    of = "ranks";
  for (guint i = 0; i < n && !of; i++)
    if (table[i].tunable.steps == DYNO_TUNABLE_NO && strcmp (table[i].key, "epochs") != 0
        && dyno_settings_get_number (settings, table[i].key)
               != dyno_settings_get_number (&job->settings, table[i].key))
      of = table[i].key;
  if (of)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS,
                 _ ("“%s” belongs to another search: its %s differs; start one without --resume"),
                 path, of);
  return !of;
}

static void
take (DynoTuneResult *result, const GPtrArray *fields, const DynoTrial *trial)
{
  const char *stage = fields->pdata[1];

  for (DynoCeilingOf of = DYNO_CEILING_LOADER; of <= DYNO_CEILING_EXCHANGE; of++)
    if (strcmp (stage, dyno_ceiling_name (of)) == 0)
      {
        DynoCeiling *c = g_new0 (DynoCeiling, 1);

        *c = (DynoCeiling){ .of = of,
                            .settings = trial->settings,
                            .outcome = trial->outcome,
                            .samples_per_s = trial->samples_per_s,
                            .low = trial->low,
                            .high = trial->high,
                            .outside_cpu = trial->outside_cpu,
                            .vram_bytes = trial->vram_bytes,
                            .planned_bytes = trial->planned_bytes,
                            .text = g_strdup (trial->text) };
        g_ptr_array_add (result->ceilings, c);
        return;
      }
  if (trial->stage)
    {
      DynoTrial *copy = g_new0 (DynoTrial, 1);

      dyno_trial_copy (trial, copy);
      g_ptr_array_add (result->trials, copy);
    }
}

/* FALSE: the outcome is not valid.  The stage of a ceiling, or of a race, is NULL. */
static gboolean
read_fact (const GPtrArray *fields, guint i, const DynoRecordField *f, DynoTrial *t)
{
  char *text = fields->pdata[i];

  switch (f->type)
    {
    case DYNO_RECORD_UINT:
      *DYNO_RECORD_MEMBER (t, f, guint) = (guint) count_at (fields, i);
      break;
    case DYNO_RECORD_COUNT:
      *DYNO_RECORD_MEMBER (t, f, guint64) = count_at (fields, i);
      break;
    case DYNO_RECORD_TEXT:
      *DYNO_RECORD_MEMBER (t, f, char *) = *text ? text : NULL;
      break;
    case DYNO_RECORD_OTHER:
      if (strcmp (f->name, "outcome") == 0)
        return dyno_trial_outcome_find (text, &t->outcome);
      t->stage = find_stage (text);
      break;
    case DYNO_RECORD_NUMBER:
      *DYNO_RECORD_MEMBER (t, f, double) = number_at (fields, i);
      break;
    default:
      *DYNO_RECORD_MEMBER (t, f, double) = rate_at (fields, i);
    }
  return TRUE;
}

/* FALSE: the line is not valid.  The fields own the trial's text. */
static gboolean
read_trial (const GPtrArray *fields, const DynoJob *job, DynoTrial *t)
{
  guint n, n_facts;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  const DynoRecordField *facts = dyno_trial_list_fields (&n_facts);

  *t = (DynoTrial){ .settings = job->settings };
  for (guint i = 0; i < n_facts; i++)
    if (!read_fact (fields, i, &facts[i], t))
      return FALSE;
  for (guint i = 0; i < n; i++)
    if (!dyno_settings_set (&t->settings, table[i].key, fields->pdata[n_facts + i], NULL))
      return FALSE;
  return t->outcome != DYNO_TRIAL_OK || t->samples_per_s > 0;
}

/* The file's text; *at: the position after its header.  NULL: the file cannot be read, or is no
 * trials file. */
static char *
open_trials (const char *path, const char **at, GError **error)
{
  g_autoptr (GString) one = header (1), several = header (2);
  const GString *first = one;
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;

  text = dyno_csv_read (path, MOST_BYTES, &problem);
  if (text && g_str_has_prefix (text, several->str))
    first = several;
  if (!text || !g_str_has_prefix (text, first->str))
    {
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS,
                   _ ("No search can be resumed from “%s”: %s"), path,
                   problem ? problem->message : _ ("it was not written by this version of Dyno"));
      return NULL;
    }
  *at = text + first->len;
  return g_steal_pointer (&text);
}

/* The next line that can be read; NULL: there is none. */
static GPtrArray *
next_trial (const char **at, const DynoJob *job, DynoTrial *trial)
{
  guint n;

  dyno_setting_list (&n);
  while (TRUE)
    {
      g_autoptr (GPtrArray) fields = dyno_csv_next_line (at);

      if (!fields
          || ((fields->len == count_facts () + n + count_ends (1)
               || fields->len == count_facts () + n + count_ends (2))
              && read_trial (fields, job, trial)))
        return g_steal_pointer (&fields);
    }
}

DynoTuneResult *
dyno_trials_file_read (const char *path, const DynoJob *job, GError **error)
{
  g_autoptr (DynoTuneResult) result = dyno_tune_result_new (job);
  const char *at;
  g_autofree char *text = open_trials (path, &at, error);

  while (text)
    {
      DynoTrial trial;
      g_autoptr (GPtrArray) fields = next_trial (&at, job, &trial);

      if (!fields)
        return g_steal_pointer (&result);
      if (!check_job (fields, job, &trial.settings, path, error))
        return NULL;
      take (result, fields, &trial);
    }
  return NULL;
}

DynoJob *
dyno_trials_file_read_job (const char *path, GError **error)
{
  const char *at;
  g_autofree char *text = open_trials (path, &at, error);
  g_autoptr (DynoJob) job = dyno_job_new ();
  gboolean found = FALSE, present = FALSE;
  guint n;

  dyno_setting_list (&n);
  while (text && !present)
    {
      DynoTrial trial;
      g_autoptr (GPtrArray) fields = next_trial (&at, job, &trial);

      if (!fields)
        break;
      present = g_strcmp0 (trial.stage, "today") == 0;
      if (found && !present)
        continue;
      job->settings = trial.settings;
      g_free (job->data);
      job->data = g_strdup (fields->pdata[count_facts () + n]);
      g_free (job->model);
      job->model = g_strdup (fields->pdata[count_facts () + n + 1]);
      job->ranks = ranks_of (fields);
      found = TRUE;
    }
  if (found)
    return g_steal_pointer (&job);
  if (text)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS,
                 _ ("No search can be resumed from “%s”: %s"), path, _ ("it contains no trial"));
  return NULL;
}
