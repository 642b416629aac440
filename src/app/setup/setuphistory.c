/* SPDX-License-Identifier: MIT */
/* Undo and redo of the form: two stacks. */
#include "setuphistory.h"

#define MOST      200
#define MOMENT_US (800 * 1000)

struct _DynoSetupHistory {
  GPtrArray *before, *after; /* DynoSetupState, the most recent state last */
  char *key;
  gint64 last_us;
};

void
dyno_setup_state_free (DynoSetupState *state)
{
  g_free (state->model);
  g_free (state->weights);
  g_free (state->preset);
  g_free (state->devices);
  g_free (state);
}

DynoSetupHistory *
dyno_setup_history_new (void)
{
  DynoSetupHistory *self = g_new0 (DynoSetupHistory, 1);
  self->before = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_setup_state_free);
  self->after = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_setup_state_free);
  return self;
}

void
dyno_setup_history_free (DynoSetupHistory *self)
{
  g_ptr_array_unref (self->before);
  g_ptr_array_unref (self->after);
  g_free (self->key);
  g_free (self);
}

void
dyno_setup_history_add (DynoSetupHistory *self, DynoSetupState *state, const char *key,
                        gint64 now_us)
{
  gboolean same = key && g_strcmp0 (key, self->key) == 0 && now_us - self->last_us < MOMENT_US
                  && self->before->len > 0 && self->after->len == 0;
  self->last_us = now_us;
  if (same)
    {
      dyno_setup_state_free (state);
      return;
    }
  g_free (self->key);
  self->key = g_strdup (key);
  g_ptr_array_set_size (self->after, 0);
  if (self->before->len == MOST)
    g_ptr_array_remove_index (self->before, 0);
  g_ptr_array_add (self->before, state);
}

DynoSetupState *
dyno_setup_history_step (DynoSetupHistory *self, gboolean undo, DynoSetupState *now)
{
  GPtrArray *from = undo ? self->before : self->after, *to = undo ? self->after : self->before;
  g_clear_pointer (&self->key, g_free);
  if (from->len == 0)
    {
      dyno_setup_state_free (now);
      return NULL;
    }
  g_ptr_array_add (to, now);
  return g_ptr_array_steal_index (from, from->len - 1);
}

gboolean
dyno_setup_history_can (const DynoSetupHistory *self, gboolean undo)
{
  return (undo ? self->before : self->after)->len > 0;
}
