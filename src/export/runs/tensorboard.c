/* SPDX-License-Identifier: MIT */
/* Writes a run as a TensorBoard event file: every number of every step and epoch as a scalar.
 *
 * The file is a sequence of records: length (u64, little endian), masked CRC-32C of these eight
 * bytes, an Event in protobuf's wire format, masked CRC-32C of the event.  A column of metrics.csv
 * is the tag step/<column> or epoch/<column>; a column without any number is left out.  The time of
 * an event is the run's clock: metrics.csv was last written when its last step ended.
 *
 * Source: tensorflow/core/util/event.proto, framework/summary.proto, lib/io/record_writer.h. */
#include "formats.h"
#include "intl.h"
#include "metrics.h"
#include "outfile.h"
#include "wire.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define ROWS 256 /* copied out of the log at a time */

/* Fields of the messages. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_METADATA = 9 };
enum { METADATA_PLUGIN = 1, METADATA_CLASS = 4 };
enum { PLUGIN_NAME = 1 };
#define DATA_CLASS_SCALAR 1

/* --- CRC-32C, Castagnoli's polynomial, reflected ----------------------------------------------- */

static const guint32 *
crc_table (void)
{
  static gsize done;
  static guint32 table[256];

  if (g_once_init_enter (&done))
    {
      for (guint32 i = 0; i < 256; i++)
        {
          guint32 crc = i;
          for (guint bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
          table[i] = crc;
        }
      g_once_init_leave (&done, 1);
    }
  return table;
}

static guint32
masked_crc (const guint8 *data, gsize size)
{
  const guint32 *table = crc_table ();
  guint32 crc = 0xffffffffu;

  for (gsize i = 0; i < size; i++)
    crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* --- the file ---------------------------------------------------------------------------------- */

typedef struct {
  DynoOutFile *file;
  GByteArray *event, *summary, *value; /* the event under construction */
  GByteArray *metadata;                /* metadata of every tag, written where it is first used */
} Writer;

/* Writes the event as a record and empties it.  FALSE: the file can take no more. */
static gboolean
end_event (Writer *w)
{
  guint64 size = GUINT64_TO_LE ((guint64) w->event->len);
  guint32 size_crc = GUINT32_TO_LE (masked_crc ((const guint8 *) &size, sizeof size)),
          crc = GUINT32_TO_LE (masked_crc (w->event->data, w->event->len));
  gboolean taken = dyno_out_file_append (w->file, &size, sizeof size)
                   && dyno_out_file_append (w->file, &size_crc, sizeof size_crc)
                   && dyno_out_file_append (w->file, w->event->data, w->event->len)
                   && dyno_out_file_append (w->file, &crc, sizeof crc);

  g_byte_array_set_size (w->event, 0);
  return taken;
}

static gboolean
write_version (Writer *w, double time)
{
  static const char version[] = "brain.Event:2";

  dyno_proto_double (w->event, EVENT_WALL_TIME, time);
  dyno_proto_string (w->event, EVENT_FILE_VERSION, version);
  return end_event (w);
}

/* A column in the file. */
typedef struct {
  const DynoMetricColumn *column;
  char *tag;
  gboolean used; /* the metadata are written once */
} Tag;

static void
tag_free (gpointer data)
{
  Tag *tag = data;

  g_free (tag->tag);
  g_free (tag);
}

static gboolean
write_row (Writer *w, const GPtrArray *tags, gconstpointer row, guint64 step, double time)
{
  for (guint i = 0; i < tags->len; i++)
    {
      Tag *tag = tags->pdata[i];

      dyno_proto_string (w->value, VALUE_TAG, tag->tag);
      dyno_proto_float (w->value, VALUE_SIMPLE, (float) dyno_metric_column_get (tag->column, row));
      if (!tag->used)
        dyno_proto_bytes (w->value, VALUE_METADATA, w->metadata->data, w->metadata->len);
      tag->used = TRUE;
      dyno_proto_message (w->summary, SUMMARY_VALUE, w->value);
    }
  dyno_proto_double (w->event, EVENT_WALL_TIME, time);
  dyno_proto_uint (w->event, EVENT_STEP, step);
  dyno_proto_message (w->event, EVENT_SUMMARY, w->summary);
  return end_event (w);
}

/* --- a run ------------------------------------------------------------------------------------- */

typedef struct {
  DynoMetrics *metrics;
  GArray *epochs; /* DynoEpochMetrics, all */
  guint next_epoch;
  GPtrArray *columns; /* DynoMetricColumn */
  GPtrArray *step_tags, *epoch_tags;
  double begin; /* wall time of the run's begin */
} Run;

static gboolean
has_number (Run *run, const DynoMetricColumn *column)
{
  DynoStepMetrics rows[ROWS];
  guint64 n;

  if (column->of_epoch)
    {
      for (guint i = 0; i < run->epochs->len; i++)
        if (!isnan (
                dyno_metric_column_get (column, &g_array_index (run->epochs, DynoEpochMetrics, i))))
          return TRUE;
      return FALSE;
    }
  for (guint64 first = 0; (n = dyno_metrics_copy_steps (run->metrics, first, ROWS, rows));
       first += n)
    for (guint64 i = 0; i < n; i++)
      if (!isnan (dyno_metric_column_get (column, &rows[i])))
        return TRUE;
  return FALSE;
}

static void
name_tags (Run *run)
{
  for (guint i = 0; i < run->columns->len; i++)
    {
      const DynoMetricColumn *column = run->columns->pdata[i];
      Tag *tag;

      if (!has_number (run, column))
        continue;
      tag = g_new0 (Tag, 1);
      tag->column = column;
      tag->tag = g_strconcat (column->of_epoch ? "epoch/" : "step/", column->name, NULL);
      g_ptr_array_add (column->of_epoch ? run->epoch_tags : run->step_tags, tag);
    }
}

/* The last step ended when the file was last written. */
static double
find_begin (DynoMetrics *metrics, const char *path)
{
  guint64 n = dyno_metrics_get_steps (metrics);
  DynoStepMetrics last = { 0 };
  GStatBuf status;

  if (n > 0)
    dyno_metrics_copy_steps (metrics, n - 1, 1, &last);
  if (g_stat (path, &status) != 0)
    return 0;
  return (double) status.st_mtim.tv_sec + (double) status.st_mtim.tv_nsec / 1e9 - last.seconds;
}

static gboolean
write_step (Writer *w, Run *run, const DynoStepMetrics *step)
{
  double time = run->begin + step->seconds;

  if (!write_row (w, run->step_tags, step, step->step, time))
    return FALSE;
  while (run->next_epoch < run->epochs->len)
    {
      const DynoEpochMetrics *epoch =
          &g_array_index (run->epochs, DynoEpochMetrics, run->next_epoch);

      if (epoch->step > step->step)
        break;
      run->next_epoch++;
      if (run->epoch_tags->len > 0 && !write_row (w, run->epoch_tags, epoch, epoch->step, time))
        return FALSE;
    }
  return TRUE;
}

static void
write_rows (Writer *w, Run *run)
{
  DynoStepMetrics rows[ROWS];
  guint64 n;

  if (!write_version (w, run->begin))
    return;
  for (guint64 first = 0; (n = dyno_metrics_copy_steps (run->metrics, first, ROWS, rows));
       first += n)
    for (guint64 i = 0; i < n; i++)
      if (!write_step (w, run, &rows[i]))
        return;
}

static void
run_init (Run *run, DynoMetrics *metrics, const char *path)
{
  DynoMetricTable table;
  guint64 n = dyno_metrics_get_epochs (metrics);

  dyno_metrics_get_table (metrics, &table);
  *run = (Run){ .metrics = metrics,
                .epochs = g_array_new (FALSE, TRUE, sizeof (DynoEpochMetrics)),
                .columns = dyno_metrics_list_columns (&table),
                .step_tags = g_ptr_array_new_with_free_func (tag_free),
                .epoch_tags = g_ptr_array_new_with_free_func (tag_free),
                .begin = find_begin (metrics, path) };
  g_array_set_size (run->epochs, (guint) n);
  dyno_metrics_copy_epochs (metrics, 0, n, (DynoEpochMetrics *) (gpointer) run->epochs->data);
  name_tags (run);
}

static void
run_clear (Run *run)
{
  g_array_unref (run->epochs);
  g_ptr_array_unref (run->columns);
  g_ptr_array_unref (run->step_tags);
  g_ptr_array_unref (run->epoch_tags);
}

static void
writer_init (Writer *w, DynoOutFile *file)
{
  static const char plugin_name[] = "scalars";
  g_autoptr (GByteArray) plugin = g_byte_array_new ();

  *w = (Writer){ .file = file,
                 .event = g_byte_array_new (),
                 .summary = g_byte_array_new (),
                 .value = g_byte_array_new (),
                 .metadata = g_byte_array_new () };
  dyno_proto_string (plugin, PLUGIN_NAME, plugin_name);
  dyno_proto_message (w->metadata, METADATA_PLUGIN, plugin);
  dyno_proto_uint (w->metadata, METADATA_CLASS, DATA_CLASS_SCALAR);
}

static void
writer_clear (Writer *w)
{
  g_byte_array_unref (w->event);
  g_byte_array_unref (w->summary);
  g_byte_array_unref (w->value);
  g_byte_array_unref (w->metadata);
}

static gboolean
write_file (Run *run, const char *path, GError **error)
{
  DynoOutFile *file = dyno_out_file_new (path, error);
  Writer w;

  if (!file)
    return FALSE;
  writer_init (&w, file);
  write_rows (&w, run);
  writer_clear (&w);
  return dyno_out_file_finish (file, error);
}

static gboolean
write_events (const char *folder, const char *path, GError **error)
{
  g_autofree char *metrics_path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_read (metrics_path, error);
  gboolean written;
  Run run;

  if (!metrics)
    return FALSE;
  run_init (&run, metrics, metrics_path);
  written = write_file (&run, path, error);
  run_clear (&run);
  return written;
}

/* TensorBoard reads the files whose names hold "tfevents", in the order of their times. */
static char *
name_file (void)
{
  g_autofree char *host = g_strdup (g_get_host_name ());

  for (char *c = host; *c; c++)
    if (!g_ascii_isalnum (*c) && !strchr ("-_.", *c))
      *c = '_';
  return g_strdup_printf ("events.out.tfevents.%010" G_GINT64_FORMAT ".%s.%d.0",
                          g_get_real_time () / G_USEC_PER_SEC, host, (int) getpid ());
}

const DynoRunExporter dyno_run_exporter_tensorboard = { .id = "tensorboard",
                                                        .title = N_ ("TensorBoard events"),
                                                        .extension = "tfevents",
                                                        .name_file = name_file,
                                                        .write = write_events };
