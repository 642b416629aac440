/* SPDX-License-Identifier: MIT */
/* Reads files of /proc and /sys, which are small, up to a maximum size, and the numbers in them. */
#include "source.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

gssize
dyno_sensor_file_read (const char *path, char *buffer, gsize size)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  gsize length = 0;

  buffer[0] = '\0';
  if (fd < 0)
    return -1;
  while (length < size - 1)
    {
      gssize n = read (fd, buffer + length, size - 1 - length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && length == 0)
        {
          close (fd);
          return -1;
        }
      if (n <= 0)
        break;
      length += (gsize) n;
    }
  close (fd);
  buffer[length] = '\0';
  return (gssize) length;
}

static double
number_of (const char *text)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  return end == text || !isfinite (value) ? (double) NAN : value;
}

double
dyno_sensor_file_number (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char buffer[64];

  return dyno_sensor_file_read (path, buffer, sizeof buffer) > 0 ? number_of (buffer)
                                                                 : (double) NAN;
}

double
dyno_sensor_text_number (const char *text, const char *key)
{
  gsize length = strlen (key);

  for (const char *line = text; line; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      if (strncmp (line, key, length) == 0)
        return number_of (line + length);
    }
  return (double) NAN;
}

double
dyno_sensor_counter_rate (DynoSensorCounter *counter, double value, gint64 now_us)
{
  double rate = (double) NAN;

  if (counter->known && value >= counter->value && now_us > counter->time_us)
    rate = (value - counter->value) * 1e6 / (double) (now_us - counter->time_us);
  counter->known = isfinite (value);
  counter->value = value;
  counter->time_us = now_us;
  return rate;
}
