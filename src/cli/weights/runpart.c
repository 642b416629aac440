/* SPDX-License-Identifier: MIT */
/* Reproduces the division of a run's data set.  settings.ini has the seed and the fraction;
 * facts.ini has the number of samples, and a hash over them. */
#include "runpart.h"
#include "job.h"
#include "output.h"
#include "parts.h"
#include "runfacts.h"
#include "settings-sources.h"
#include "text.h"
#include <string.h>

/* The job of a run; NULL: there is no readable settings.ini. */
static DynoJob *
read_job (const char *run)
{
  g_autofree char *path = run ? g_build_filename (run, "settings.ini", NULL) : NULL;
  g_autoptr (DynoJob) job = NULL;
  DynoSettingsSources sources = { .resume = run };

  if (!path || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return NULL;
  job = dyno_job_new ();
  return dyno_settings_sources_name (&sources, job, NULL) ? g_steal_pointer (&job) : NULL;
}

void
dyno_run_part_get_params (const char *run, DynoDatasetParams *params)
{
  g_autoptr (DynoJob) job = read_job (run);
  DynoDatasetParams own = { 0 };

  if (!job)
    return;
  dyno_job_get_dataset_params (job, &own);
  params->axes = own.axes;
  params->task = own.task;
  params->sequences = own.sequences;
  params->links = own.links;
  params->group_column = own.group_column;
  params->may_lack_groups = TRUE; /* other data than the run's have none, maybe */
}

static gboolean G_GNUC_PRINTF (3, 4) refuse (GError **error, int code, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (code)
    g_set_error_literal (error, DYNO_TRAIN_ERROR, code, text);
  else
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, text);
  return FALSE;
}

/* Whether the data set can be that of the run, by the number of samples; warns if its hash
 * differs. */
static gboolean
check_data (const char *command, const char *run, const DynoDatasetInfo *data, GError **error)
{
  DynoRunFacts facts;
  guint64 n;

  if (!dyno_run_facts_read (run, &facts) || facts.n_train == 0)
    {
      dyno_error_line ("%s: warning: “%s” does not state which samples its run had: it is not "
                       "checked whether “%s” has the same",
                       command, run, data->name);
      return TRUE;
    }
  n = facts.n_train + facts.n_validation + facts.n_test;
  if (n != data->n_samples)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "“%s” has %" G_GUINT64_FORMAT " %s; the run “%s” divided %" G_GUINT64_FORMAT
                   ": its parts cannot be found again",
                   data->name, data->n_samples, dyno_plural (data->n_samples, "sample", "samples"),
                   run, n);
  if (facts.fingerprint && facts.fingerprint != data->content_hash)
    dyno_error_line ("%s: warning: “%s” is not what the run “%s” was trained on, though it "
                     "has as many samples: the parts may be others",
                     command, data->name, run);
  return TRUE;
}

/* Divides the data set into the parts of the run. */
static gboolean
divide (const char *command, const char *run, DynoDataset *dataset, const char *part,
        DynoDatasetParts *parts, GError **error)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (dataset);
  g_autoptr (DynoJob) job = NULL;

  if (!run)
    return refuse (error, 0,
                   "--part %s: “%s” has no parts of its own; with --run DIR it is divided as in "
                   "that run",
                   part, data->name);
  job = read_job (run);
  if (!job)
    return refuse (error, DYNO_TRAIN_ERROR_CHECKPOINT,
                   "--part %s: “%s” has no settings.ini that states how the run divided its data",
                   part, run);
  if (!check_data (command, run, data, error))
    return FALSE;
  if (job->settings.data_group_column && !data->groups)
    return refuse (error, DYNO_TRAIN_ERROR_DATA,
                   "“%s” has no column “%s”, by which the run “%s” divided its data (data."
                   "group_column): its parts cannot be found again",
                   data->name, g_quark_to_string (job->settings.data_group_column), run);
  dyno_settings_divide (&job->settings, dataset, parts);
  return TRUE;
}

gboolean
dyno_run_part_has_trained (const char *run, const DynoDatasetInfo *data)
{
  g_autoptr (DynoJob) job = read_job (run);
  g_autofree char *theirs = NULL, *own = NULL;
  DynoRunFacts facts;

  if (!run)
    return FALSE;
  if (dyno_run_facts_read (run, &facts) && facts.fingerprint == data->content_hash)
    return TRUE;
  if (!job || !job->data)
    return FALSE;
  theirs = g_canonicalize_filename (job->data, NULL);
  own = g_canonicalize_filename (data->location, NULL);
  return strcmp (theirs, own) == 0;
}

static gboolean
has_test_part (const char *run)
{
  DynoRunFacts facts = { 0 };

  return dyno_run_facts_read (run, &facts) && facts.n_test > 0;
}

gboolean
dyno_run_part_choose (const char *command, const char *run, DynoDataset *dataset, const char *part,
                      GArray **indices, GError **error)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (dataset);
  gboolean training = strcmp (part, "training") == 0 || strcmp (part, "train") == 0;
  gboolean test = strcmp (part, "test") == 0;
  g_auto (DynoDatasetParts) parts = { 0 };

  *indices = NULL;
  if (strcmp (part, "all") == 0)
    {
      if (dyno_run_part_has_trained (run, data))
        dyno_error_line ("%s: note: samples that trained the run may be among these; --part "
                         "%s takes only others",
                         command, has_test_part (run) ? "test" : "validation");
      return TRUE;
    }
  if (!training && !test && strcmp (part, "validation") != 0)
    return refuse (error, 0, "--part %s: it is all, training, validation or test", part);
  if (data->has_split)
    dyno_dataset_divide (dataset, &(DynoDivision){ 0 }, &parts);
  else if (!divide (command, run, dataset, part, &parts, error))
    return FALSE;
  *indices = g_array_ref (training ? parts.train : test ? parts.test : parts.validation);
  return (*indices)->len > 0
         || refuse (error, DYNO_TRAIN_ERROR_DATA, "--part %s: there is no sample in it of “%s”",
                    part, data->name);
}
