/* SPDX-License-Identifier: MIT */
#include "setupstep.h"
#include <glib/gi18n.h>

static void
reason_free (gpointer data)
{
  DynoStepReason *reason = data;
  g_free (reason->text);
  g_free (reason);
}

DynoSetupStep *
dyno_setup_step_new (char *value, char *whole)
{
  DynoSetupStep *self = g_new0 (DynoSetupStep, 1);
  self->value = value;
  self->whole = whole;
  self->reasons = g_ptr_array_new_with_free_func (reason_free);
  return self;
}

void
dyno_setup_step_free (DynoSetupStep *self)
{
  if (!self)
    return;
  g_free (self->value);
  g_free (self->whole);
  g_ptr_array_unref (self->reasons);
  g_free (self);
}

void
dyno_setup_step_add (DynoSetupStep *self, DynoStepState state, const char *text, DynoStepMend mend)
{
  if (!text || !*text)
    return;
  DynoStepReason *reason = g_new0 (DynoStepReason, 1);
  reason->state = state;
  reason->text = g_strdup (text);
  reason->mend = mend;
  g_ptr_array_add (self->reasons, reason);
}

DynoStepState
dyno_setup_step_get_state (const DynoSetupStep *self)
{
  DynoStepState state = DYNO_STEP_READY;
  for (guint i = 0; i < self->reasons->len; i++)
    state = MAX (state, ((const DynoStepReason *) self->reasons->pdata[i])->state);
  return state;
}

const DynoStepReason *
dyno_setup_step_find (const DynoSetupStep *self, DynoStepState state)
{
  for (guint i = 0; i < self->reasons->len; i++)
    {
      const DynoStepReason *reason = self->reasons->pdata[i];
      if (reason->state == state)
        return reason;
    }
  return NULL;
}

static const char *
name_state (DynoStepState state)
{
  switch (state)
    {
    case DYNO_STEP_PENDING:
      return _ ("Not known yet");
    case DYNO_STEP_WARNING:
      return _ ("Please note");
    case DYNO_STEP_BLOCKED:
      return _ ("No run can begin");
    default:
      return _ ("Ready");
    }
}

char *
dyno_setup_step_describe (const DynoSetupStep *self)
{
  GString *text = g_string_new (name_state (dyno_setup_step_get_state (self)));
  for (int state = DYNO_STEP_BLOCKED; state >= DYNO_STEP_READY; state--)
    for (guint i = 0; i < self->reasons->len; i++)
      {
        const DynoStepReason *reason = self->reasons->pdata[i];
        if ((int) reason->state == state)
          g_string_append_printf (text, "\n%s", reason->text);
      }
  return g_string_free (text, FALSE);
}

gboolean
dyno_setup_step_equal (const DynoSetupStep *a, const DynoSetupStep *b)
{
  if (g_strcmp0 (a->value, b->value) != 0 || g_strcmp0 (a->whole, b->whole) != 0
      || a->reasons->len != b->reasons->len)
    return FALSE;
  for (guint i = 0; i < a->reasons->len; i++)
    {
      const DynoStepReason *x = a->reasons->pdata[i], *y = b->reasons->pdata[i];
      if (x->state != y->state || x->mend != y->mend || !g_str_equal (x->text, y->text))
        return FALSE;
    }
  return TRUE;
}
