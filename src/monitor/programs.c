/* SPDX-License-Identifier: MIT */
/* Collects the programs that use a GPU from the sources. */
#include "source.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
dyno_sensor_programs_add (DynoSensorPrograms *programs, guint32 pid, double bytes,
                          DynoProgramAgain again)
{
  DynoSensorProgram *program = NULL;

  programs->known = TRUE;
  for (guint i = 0; i < programs->n && !program; i++)
    if (programs->list[i].pid == pid)
      program = &programs->list[i];
  if (!program)
    {
      if (programs->n == DYNO_SENSORS_MAX_PROGRAMS)
        return;
      program = &programs->list[programs->n++];
      *program = (DynoSensorProgram){ .pid = pid, .bytes = bytes };
      return;
    }
  if (isnan (program->bytes))
    program->bytes = bytes;
  else if (!isnan (bytes))
    program->bytes =
        again == DYNO_PROGRAM_SUM ? program->bytes + bytes : MAX (program->bytes, bytes);
}

/* Programs of unknown memory are last; equal ones are sorted by their ids, so that the order is
 * stable. */
static int
compare (const void *a, const void *b)
{
  const DynoSensorProgram *first = a, *second = b;
  double x = isnan (first->bytes) ? -1 : first->bytes,
         y = isnan (second->bytes) ? -1 : second->bytes;

  if (x != y)
    return x > y ? -1 : 1;
  return first->pid < second->pid ? -1 : 1;
}

void
dyno_sensor_programs_finish (DynoSensorPrograms *programs, const char *proc_root, guint32 own)
{
  for (guint i = 0; i < programs->n; i++)
    {
      DynoSensorProgram *program = &programs->list[i];
      g_autofree char *path = g_strdup_printf ("%s/%u/comm", proc_root, program->pid);

      program->own = program->pid == own;
      dyno_sensor_file_read (path, program->name, sizeof program->name);
      program->name[strcspn (program->name, "\n")] = '\0';
      if (!g_utf8_validate (program->name, -1, NULL))
        program->name[0] = '\0';
    }
  qsort (programs->list, programs->n, sizeof *programs->list, compare);
}
