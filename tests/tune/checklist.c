/* SPDX-License-Identifier: MIT */
/* The check list: every item comes once, and in each of its states, as the facts decide. */
#include "checklist.h"
#include "diagnosis-test.h"
#include <math.h>
#include <string.h>

static const DynoCheckItem *
find (const GPtrArray *list, const char *id)
{
  for (guint i = 0; i < list->len; i++)
    if (strcmp (((const DynoCheckItem *) list->pdata[i])->id, id) == 0)
      return list->pdata[i];
  g_error ("no item %s", id);
}

typedef void (*Change) (Machine *m);

static void
healthy (Machine *m)
{
}
static void
no_settings (Machine *m)
{
  m->in.has_settings = FALSE;
}
static void
measured (Machine *m)
{
  m->in.gpu_ceiling = 7000;
  m->in.loader_ceiling = 9000;
  m->in.facts.batch_size = 64;
}
static void
generated (Machine *m)
{
  m->in.facts.generated = TRUE;
}
static void
no_device (Machine *m)
{
  *m->in.facts.device = '\0';
}
static void
fp32_with_matrix (Machine *m)
{
  m->in.facts.matrix = TRUE;
  m->in.facts.amp = FALSE;
}
static void
fp32_without (Machine *m)
{
  m->in.facts.matrix = FALSE;
  m->in.facts.amp = FALSE;
}
static void
with_amp (Machine *m)
{
  m->in.facts.matrix = m->in.facts.amp = TRUE;
}
static void
roomy (Machine *m)
{
  m->in.facts.planned_bytes = 95;
  m->in.facts.limit_bytes = 100;
}
static void
tight (Machine *m)
{
  m->in.facts.planned_bytes = 96;
  m->in.facts.limit_bytes = 100;
}
static void
unplanned (Machine *m)
{
  m->in.facts.planned_bytes = 0;
}
static void
validated (Machine *m)
{
  m->in.facts.n_train = 90;
  m->in.facts.n_validation = 10;
}
static void
not_validated (Machine *m)
{
  m->in.facts.n_train = 90;
  m->in.facts.n_validation = 0;
}
static void
not_known (Machine *m)
{
  m->in.facts.n_train = 0;
}
static void
performance (Machine *m)
{
  strcpy (m->in.facts.governor, "performance");
}
static void
powersave (Machine *m)
{
  strcpy (m->in.facts.governor, "powersave");
}
static void
no_governor (Machine *m)
{
  *m->in.facts.governor = '\0';
}
static void
unloads (Machine *m)
{
  m->in.facts.no_persistence = TRUE;
  m->in.facts.vendor_id = 0x10de;
}
static void
nvidia (Machine *m)
{
  m->in.facts.no_persistence = FALSE;
  m->in.facts.vendor_id = 0x10de;
}
static void
amd (Machine *m)
{
  m->in.facts.no_persistence = FALSE;
  m->in.facts.vendor_id = 0x1002;
}
static void
alone (Machine *m)
{
  m->in.sensors.gpu_others = 0;
}
static void
desktop (Machine *m)
{
  m->in.sensors.gpu_others = 1;
}
static void
untold (Machine *m)
{
  m->in.sensors.gpu_others = (double) NAN;
}
static void
busy (Machine *m)
{
  m->in.sensors.gpu_busy = 0.85;
}
static void
idle (Machine *m)
{
  m->in.sensors.gpu_busy = 0.84;
}
static void
no_busy (Machine *m)
{
  m->in.sensors.gpu_busy = (double) NAN;
}
static void
below_power (Machine *m)
{
  m->in.sensors.gpu_power_limit = 350;
  m->in.sensors.power_share = 0.09;
}
static void
at_power (Machine *m)
{
  m->in.sensors.gpu_power_limit = 350;
  m->in.sensors.power_share = 0.1;
}
static void
no_power (Machine *m)
{
  m->in.sensors.power_share = 0;
  m->in.sensors.gpu_power_limit = (double) NAN;
}
static void
cool (Machine *m)
{
  m->in.sensors.gpu_temperature_most = 70;
  m->in.sensors.heat_share = 0;
}
static void
hot (Machine *m)
{
  m->in.sensors.gpu_temperature_most = 92;
  m->in.sensors.heat_share = 0.1;
}
static void
no_heat (Machine *m)
{
  m->in.sensors.heat_share = 0;
  m->in.sensors.gpu_temperature_most = (double) NAN;
}
static void
slower (Machine *m)
{
  m->late_factor = 1.5;
}
static void
short_run (Machine *m)
{
  m->n = 4;
  m->n_epochs = 1;
}
static void
grows (Machine *m)
{
  m->vram_growth = (guint64) 1 << 30;
}
static void
waits (Machine *m)
{
  wait_for_data (m, 10, 3);
}
static void
finished (Machine *m)
{
  m->in.facts.state = DYNO_SESSION_FINISHED;
}
static void
stopped (Machine *m)
{
  m->in.facts.state = DYNO_SESSION_STOPPED;
}
static void
failed (Machine *m)
{
  m->in.facts.state = DYNO_SESSION_FAILED;
}
static void
running (Machine *m)
{
  m->in.facts.state = DYNO_SESSION_RUNNING;
}
static void
breaks (Machine *m)
{
  m->n_bad = 5;
}

static void
by_heart (Machine *m)
{
  static const double train[] = { 2, 1, 0.5, 0.3, 0.2, 0.1 }, val[] = { 2, 1.2, 1, 1.2, 1.4, 1.6 };

  validated (m);
  m->n_epochs = G_N_ELEMENTS (train);
  memcpy (m->train_loss, train, sizeof train);
  memcpy (m->val_loss, val, sizeof val);
}

static const struct {
  const char *id;
  Change change;
  DynoItemState state;
  const char *words; /* words of its sentence */
} cases[] = {
  { "settings-recorded", healthy, DYNO_ITEM_DONE, "settings.ini" },
  { "settings-recorded", no_settings, DYNO_ITEM_OPEN, "not recorded" },
  { "batch-measured", measured, DYNO_ITEM_DONE, "64" },
  { "batch-measured", healthy, DYNO_ITEM_OPEN, "No search" },
  { "workers-measured", measured, DYNO_ITEM_DONE, "" },
  { "workers-measured", generated, DYNO_ITEM_DONE, "" },
  { "workers-measured", healthy, DYNO_ITEM_OPEN, "" },
  { "precision-chosen", with_amp, DYNO_ITEM_DONE, "AMP" },
  { "precision-chosen", fp32_without, DYNO_ITEM_DONE, "fp32" },
  { "precision-chosen", fp32_with_matrix, DYNO_ITEM_OPEN, "fp32" },
  { "precision-chosen", no_device, DYNO_ITEM_UNKNOWN, "" },
  { "memory-planned", roomy, DYNO_ITEM_DONE, "95 %" },
  { "memory-planned", tight, DYNO_ITEM_OPEN, "96 %" },
  { "memory-planned", unplanned, DYNO_ITEM_UNKNOWN, "not planned" },
  { "validation-kept", validated, DYNO_ITEM_DONE, "validation: 10" },
  { "validation-kept", not_validated, DYNO_ITEM_OPEN, "No sample" },
  { "validation-kept", not_known, DYNO_ITEM_UNKNOWN, "" },
  { "cpu-clocks", performance, DYNO_ITEM_DONE, "performance" },
  { "cpu-clocks", powersave, DYNO_ITEM_OPEN, "powersave" },
  { "cpu-clocks", no_governor, DYNO_ITEM_UNKNOWN, "unknown" },
  { "driver-loaded", amd, DYNO_ITEM_DONE, "" },
  { "driver-loaded", unloads, DYNO_ITEM_OPEN, "" },
  { "driver-loaded", nvidia, DYNO_ITEM_UNKNOWN, "" },
  { "gpu-to-itself", alone, DYNO_ITEM_DONE, "" },
  { "gpu-to-itself", desktop, DYNO_ITEM_OPEN, "device: 1" },
  { "gpu-to-itself", untold, DYNO_ITEM_UNKNOWN, "" },
  { "gpu-busy", busy, DYNO_ITEM_DONE, "85 %" },
  { "gpu-busy", idle, DYNO_ITEM_OPEN, "84 %" },
  { "gpu-busy", no_busy, DYNO_ITEM_UNKNOWN, "" },
  { "data-ahead", healthy, DYNO_ITEM_DONE, "" },
  { "data-ahead", generated, DYNO_ITEM_DONE, "" },
  { "data-ahead", waits, DYNO_ITEM_OPEN, "waits" },
  { "power-limit", below_power, DYNO_ITEM_DONE, "350 W" },
  { "power-limit", at_power, DYNO_ITEM_OPEN, "350 W" },
  { "power-limit", no_power, DYNO_ITEM_UNKNOWN, "" },
  { "temperature", cool, DYNO_ITEM_DONE, "70" },
  { "temperature", hot, DYNO_ITEM_OPEN, "92" },
  { "temperature", no_heat, DYNO_ITEM_UNKNOWN, "" },
  { "speed-steady", healthy, DYNO_ITEM_DONE, "" },
  { "speed-steady", slower, DYNO_ITEM_OPEN, "slower" },
  { "speed-steady", short_run, DYNO_ITEM_UNKNOWN, "too short" },
  { "memory-steady", healthy, DYNO_ITEM_DONE, "" },
  { "memory-steady", grows, DYNO_ITEM_OPEN, "grew" },
  { "memory-steady", short_run, DYNO_ITEM_UNKNOWN, "too short" },
  { "run-ended", finished, DYNO_ITEM_DONE, "" },
  { "run-ended", stopped, DYNO_ITEM_OPEN, "" },
  { "run-ended", failed, DYNO_ITEM_OPEN, "" },
  { "run-ended", running, DYNO_ITEM_UNKNOWN, "in progress" },
  { "learns", healthy, DYNO_ITEM_DONE, "" },
  { "learns", breaks, DYNO_ITEM_OPEN, "" },
  { "not-by-heart", validated, DYNO_ITEM_DONE, "" },
  { "not-by-heart", by_heart, DYNO_ITEM_OPEN, "rises" },
  { "not-by-heart", not_validated, DYNO_ITEM_UNKNOWN, "" },
};

static GPtrArray *
list_of (Change change)
{
  g_autoptr (DynoDiagnosis) d = NULL;
  Machine m;

  machine_init (&m);
  change (&m);
  d = diagnose (&m);
  return dyno_checklist_new (&m.in, d);
}

static void
test_states (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) list = list_of (cases[i].change);
      const DynoCheckItem *item = find (list, cases[i].id);

      if (item->state != cases[i].state || !strstr (item->text, cases[i].words))
        g_error ("case %u: %s is %s: “%s”", i, item->id, dyno_item_state_name (item->state),
                 item->text);
    }
}

/* Each item comes once, sorted by list, and has a next step exactly if it is not done. */
static void
test_items_are_whole (void)
{
  const Change changes[] = { healthy, measured, by_heart, untold, no_device };

  for (guint k = 0; k < G_N_ELEMENTS (changes); k++)
    {
      g_autoptr (GPtrArray) list = list_of (changes[k]);
      DynoCheck check = DYNO_CHECK_BEFORE;

      for (guint i = 0; i < list->len; i++)
        {
          const DynoCheckItem *item = list->pdata[i];
          gboolean covered = FALSE;

          g_assert_cmpint (item->check, >=, check);
          check = item->check;
          g_assert_true (find (list, item->id) == item);
          g_assert_cmpint (item->next == NULL, ==, item->state == DYNO_ITEM_DONE);
          g_assert_true (*item->text && !strchr (item->text, '{') && !strchr (item->text, '?'));
          for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
            covered = covered || strcmp (cases[c].id, item->id) == 0;
          g_assert_true (covered);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/checklist/states-follow-from-facts", test_states);
  g_test_add_func ("/tune/checklist/items-are-whole", test_items_are_whole);
  return g_test_run ();
}
