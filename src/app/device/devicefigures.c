/* SPDX-License-Identifier: MIT */
/* The tiles are created once and then updated, so that nothing moves while numbers change. */
#include "devicefigures.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

#define MOST_IN_ROW 8

typedef struct {
  const char *title, *help;
  DynoSensor sensor; /* without its value there is no tile */
  /* The value and the words below it, which may be NULL; both g_free. */
  char *(*value) (const DynoSensorReading *reading);
  char *(*words) (const DynoSensorReading *reading);
} Figure;

struct _DynoDeviceFigures {
  GtkFlowBox parent_instance;
  GtkWidget *children[8], *values[8], *words[8];
};

G_DEFINE_FINAL_TYPE (DynoDeviceFigures, dyno_device_figures, GTK_TYPE_FLOW_BOX)

static double
get (const DynoSensorReading *reading, DynoSensor sensor)
{
  return reading->values[sensor];
}

static char *
format_share_of (const DynoSensorReading *r, DynoSensor sensor)
{
  return dyno_format_share (get (r, sensor) / 100);
}

static char *
format_bytes_of (const DynoSensorReading *r, DynoSensor sensor)
{
  return dyno_format_bytes ((guint64) CLAMP (get (r, sensor), 0, 1e18));
}

/* "of 24.0 GiB"; NULL: the total is not available. */
static char *
format_of (const DynoSensorReading *r, DynoSensor whole)
{
  if (isnan (get (r, whole)))
    return NULL;
  g_autofree char *bytes = format_bytes_of (r, whole);
  return g_strdup_printf (_ ("of %s"), bytes);
}

static char *
format_number (double value, const char *unit)
{
  g_autofree char *number = dyno_format_count ((guint64) CLAMP (value + 0.5, 0, 1e18));
  return dyno_format_isolate (g_strdup_printf ("%s %s", number, unit));
}

static char *
value_busy (const DynoSensorReading *r)
{
  return format_share_of (r, DYNO_SENSOR_GPU_BUSY);
}

static const char *
name_reason (DynoThrottle reason)
{
  switch (reason)
    {
    case DYNO_THROTTLE_POWER:
      return _ ("slowed: power limit");
    case DYNO_THROTTLE_TEMPERATURE:
      return _ ("slowed: temperature");
    case DYNO_THROTTLE_CURRENT:
      return _ ("slowed: current limit");
    case DYNO_THROTTLE_HARDWARE:
      break;
    }
  return _ ("slowed by the hardware");
}

/* The first reason why the device is throttled. */
static char *
words_busy (const DynoSensorReading *r)
{
  for (guint bit = 0; bit < 32; bit++)
    if (r->throttle_reasons & (1u << bit))
      return g_strdup (name_reason ((DynoThrottle) (1u << bit)));
  return NULL;
}

static char *
value_vram (const DynoSensorReading *r)
{
  return format_bytes_of (r, DYNO_SENSOR_VRAM_ALL);
}

static char *
words_vram (const DynoSensorReading *r)
{
  return format_of (r, DYNO_SENSOR_VRAM_TOTAL);
}

static char *
value_power (const DynoSensorReading *r)
{
  return format_number (get (r, DYNO_SENSOR_GPU_POWER), "W");
}

static char *
words_power (const DynoSensorReading *r)
{
  if (isnan (get (r, DYNO_SENSOR_GPU_POWER_LIMIT)))
    return NULL;
  g_autofree char *limit = format_number (get (r, DYNO_SENSOR_GPU_POWER_LIMIT), "W");
  return g_strdup_printf (_ ("of %s"), limit);
}

static char *
value_temperature (const DynoSensorReading *r)
{
  return format_number (get (r, DYNO_SENSOR_GPU_TEMPERATURE), "°C");
}

static char *
value_clock (const DynoSensorReading *r)
{
  return format_number (get (r, DYNO_SENSOR_GPU_CLOCK), "MHz");
}

static char *
words_clock (const DynoSensorReading *r)
{
  if (isnan (get (r, DYNO_SENSOR_GPU_MEMORY_CLOCK)))
    return NULL;
  g_autofree char *clock = format_number (get (r, DYNO_SENSOR_GPU_MEMORY_CLOCK), "MHz");
  /* Translators: a clock rate */
  return g_strdup_printf (_ ("memory %s"), clock);
}

static char *
value_cpu (const DynoSensorReading *r)
{
  return format_share_of (r, DYNO_SENSOR_CPU_BUSY);
}

static char *
words_cpu (const DynoSensorReading *r)
{
  if (isnan (get (r, DYNO_SENSOR_CPU_OWN)))
    return NULL;
  g_autofree char *share = format_share_of (r, DYNO_SENSOR_CPU_OWN);
  /* Translators: a share of the processor */
  return g_strdup_printf (_ ("Dyno %s"), share);
}

static char *
value_ram (const DynoSensorReading *r)
{
  return format_bytes_of (r, DYNO_SENSOR_RAM_USED);
}

static char *
words_ram (const DynoSensorReading *r)
{
  return format_of (r, DYNO_SENSOR_RAM_TOTAL);
}

static char *
value_disk (const DynoSensorReading *r)
{
  g_autofree char *bytes = format_bytes_of (r, DYNO_SENSOR_DISK_READ_PER_S);
  /* Translators: bytes per second */
  return g_strdup_printf (_ ("%s/s"), bytes);
}

static char *
words_disk (const DynoSensorReading *r)
{
  return g_strdup (_ ("by Dyno"));
}

static const Figure figures[] = {
  { N_ ("Load"), N_ ("Share of the last second in which the device worked"), DYNO_SENSOR_GPU_BUSY,
    value_busy, words_busy },
  { N_ ("Device memory"), N_ ("Of all programs"), DYNO_SENSOR_VRAM_ALL, value_vram, words_vram },
  { N_ ("Power"), N_ ("The power that the device draws, and its limit"), DYNO_SENSOR_GPU_POWER,
    value_power, words_power },
  { N_ ("Temperature"), N_ ("Of the device"), DYNO_SENSOR_GPU_TEMPERATURE, value_temperature,
    NULL },
  { N_ ("Clock"), N_ ("Of the device's cores, and of its memory"), DYNO_SENSOR_GPU_CLOCK,
    value_clock, words_clock },
  { N_ ("Processor"), N_ ("Of all cores, by all programs"), DYNO_SENSOR_CPU_BUSY, value_cpu,
    words_cpu },
  { N_ ("Machine memory"), N_ ("Memory that programs cannot get any more"), DYNO_SENSOR_RAM_USED,
    value_ram, words_ram },
  { N_ ("Reading"), N_ ("From disks, without what was still in memory"),
    DYNO_SENSOR_DISK_READ_PER_S, value_disk, words_disk },
};
G_STATIC_ASSERT (G_N_ELEMENTS (figures) == G_N_ELEMENTS (((DynoDeviceFigures *) NULL)->children));

void
dyno_device_figures_show (DynoDeviceFigures *self, const DynoSensorReading *reading)
{
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      const Figure *figure = &figures[i];
      gboolean there = reading && !isnan (get (reading, figure->sensor));
      gtk_widget_set_visible (self->children[i], there);
      if (!there)
        continue;
      g_autofree char *value = figure->value (reading),
                      *words = figure->words ? figure->words (reading) : NULL;
      gtk_label_set_text (GTK_LABEL (self->values[i]), value);
      gtk_label_set_text (GTK_LABEL (self->words[i]), words ? words : "");
    }
}

static void
dyno_device_figures_class_init (DynoDeviceFiguresClass *class)
{
}

static GtkWidget *
new_label (GtkWidget *box, const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  dyno_widget_add_class (label, class, TRUE);
  gtk_container_add (GTK_CONTAINER (box), label);
  return label;
}

static void
dyno_device_figures_init (DynoDeviceFigures *self)
{
  GtkFlowBox *flow = GTK_FLOW_BOX (self);
  gtk_flow_box_set_selection_mode (flow, GTK_SELECTION_NONE);
  gtk_flow_box_set_homogeneous (flow, TRUE);
  gtk_flow_box_set_max_children_per_line (flow, MOST_IN_ROW);
  dyno_widget_add_class (GTK_WIDGET (self), "stats", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      GtkWidget *tile = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0),
                *child = self->children[i] = gtk_flow_box_child_new ();
      dyno_widget_add_class (tile, "stat", TRUE);
      dyno_widget_add_class (tile, "one-row", TRUE);
      gtk_widget_set_tooltip_text (tile, _ (figures[i].help));
      new_label (tile, _ (figures[i].title), "stat-title");
      self->values[i] = new_label (tile, "", "stat-value");
      self->words[i] = new_label (tile, "", "stat-unit");
      gtk_container_add (GTK_CONTAINER (child), tile);
      gtk_widget_set_can_focus (child, FALSE);
      gtk_widget_show_all (tile);
      gtk_container_add (GTK_CONTAINER (self), child);
    }
}
