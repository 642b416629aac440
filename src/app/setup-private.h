/* SPDX-License-Identifier: MIT */
/* What the three files of the setup share: setup.c (choices), setup-data.c (opening), setup-plan.c
 * (memory). */
#pragma once
#include "setup.h"
#include <gio/gio.h>

G_BEGIN_DECLS

struct _DynoSetup {
  GObject parent_instance;
  DynoJob *job;
  GPtrArray *devices;
  GError *device_error;
  guint device;
  GPtrArray *presets;
  char *preset; /* id wanted; "" chooses the card's own */
  DynoLevel level;
  gboolean by_hand; /* a preset's setting was changed since the preset was chosen */
  gboolean locked, closed;
  /* nothing was kept from an earlier sitting; and nobody named a data set */
  gboolean first_start, first_shapes;

  DynoDataset *dataset;
  GCancellable *opening;
  struct _Opening *open_data; /* of the opening under way; owned by its task */
  guint scan_timer;

  DynoJobPlan plan;
  gboolean has_plan;
  char *advice;
  guint plan_serial, plan_timer;
};

void dyno_setup_announce (DynoSetup *self, guint flags);
void dyno_setup_announce_failure (DynoSetup *self, const GError *error);
void dyno_setup_follow_preset (DynoSetup *self); /* the preset's advice into the settings */
/* forgets the opening under way; its result is dropped */
void dyno_setup_end_opening (DynoSetup *self);
void dyno_setup_plan_later (DynoSetup *self);

G_END_DECLS
