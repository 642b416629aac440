/* SPDX-License-Identifier: MIT */
/* Earlier states of the form, for undo and redo.  Changes of one setting in quick succession, such
 * as by a spin button that is held, are one step. */
#pragma once
#include "preset.h"

G_BEGIN_DECLS

typedef struct {
  DynoSettings settings;
  char *model, *weights, *preset; /* weights: the start weights, or NULL */
  char *devices;                  /* as in DynoJob */
  guint device;
  DynoLevel level;
  gboolean by_hand, small;
} DynoSetupState;

void dyno_setup_state_free (DynoSetupState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSetupState, dyno_setup_state_free)

typedef struct _DynoSetupHistory DynoSetupHistory;

DynoSetupHistory *dyno_setup_history_new (void);
void dyno_setup_history_free (DynoSetupHistory *self);
/* Adds the state before a change, and takes it.  key: the setting that changes; NULL: several
 * change.  now_us: the time of the change by the monotonic clock. */
void dyno_setup_history_add (DynoSetupHistory *self, DynoSetupState *state, const char *key,
                             gint64 now_us);
/* Returns the previous (undo TRUE) or next state, owned by the caller; takes now, which becomes the
 * state of the reverse step.  NULL: there is no such state, and now is freed. */
DynoSetupState *dyno_setup_history_step (DynoSetupHistory *self, gboolean undo,
                                         DynoSetupState *now);
gboolean dyno_setup_history_can (const DynoSetupHistory *self, gboolean undo);

G_END_DECLS
