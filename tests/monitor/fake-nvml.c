/* SPDX-License-Identifier: MIT */
/* A stub of NVML.  OLD: an older driver's names and missing functions; BARE: a library of that name
 * without the functions. */
#include "fake-nvml.h"
#include <string.h>
#include <unistd.h>

#define EXPORT        __attribute__ ((visibility ("default")))
#define NOT_FOUND     6
#define TOO_SMALL     7
#define VERSION       25
#define GET(member)   __atomic_load_n (&fake_nvml.member, __ATOMIC_SEQ_CST)
#define COUNT(member) (void) __atomic_add_fetch (&fake_nvml.member, 1, __ATOMIC_SEQ_CST)

EXPORT FakeNvml fake_nvml;

#ifndef BARE

static void
hang_in (int where)
{
  while (GET (hang) == where)
    usleep (1000);
}

EXPORT int nvmlInit_v2 (void);
EXPORT int nvmlShutdown (void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2 (const char *pci, void **device);
EXPORT int nvmlDeviceGetUtilizationRates (void *device, unsigned int *answer);
EXPORT int nvmlDeviceGetTemperature (void *device, int what, unsigned int *answer);
EXPORT int nvmlDeviceGetClockInfo (void *device, int what, unsigned int *answer);
EXPORT int nvmlDeviceGetPowerUsage (void *device, unsigned int *answer);
EXPORT int nvmlDeviceGetMemoryInfo (void *device, unsigned long long *answer);
EXPORT int nvmlDeviceGetMemoryInfo_v2 (void *device, void *answer);
EXPORT int nvmlDeviceGetEnforcedPowerLimit (void *device, unsigned int *answer);
EXPORT int nvmlDeviceGetCurrentClocksEventReasons (void *device, unsigned long long *answer);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons (void *device, unsigned long long *answer);

typedef struct {
  unsigned int pid;
  unsigned long long bytes;
  unsigned int gpu_instance, compute_instance;
} Process;

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3 (void *device, unsigned int *n, Process *rows);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v2 (void *device, unsigned int *n, Process *rows);
EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3 (void *device, unsigned int *n, Process *rows);

int
nvmlInit_v2 (void)
{
  COUNT (inits);
  hang_in (FAKE_HANG_INIT);
  return GET (init_error);
}

int
nvmlShutdown (void)
{
  hang_in (FAKE_HANG_SHUTDOWN);
  COUNT (shutdowns);
  return 0;
}

int
nvmlDeviceGetHandleByPciBusId_v2 (const char *pci, void **device)
{
  if (strcmp (pci, "0000:65:00.0") != 0)
    return NOT_FOUND;
  *device = &fake_nvml;
  return 0;
}

static int
answer_for (void *device)
{
  return device == &fake_nvml ? GET (error) : NOT_FOUND;
}

int
nvmlDeviceGetUtilizationRates (void *device, unsigned int *answer)
{
  COUNT (reads);
  hang_in (FAKE_HANG_READ);
  if (answer_for (device) == 0)
    {
      answer[0] = 87;
      answer[1] = 41;
    }
  return answer_for (device);
}

static int
give (void *device, unsigned int *answer, unsigned int value)
{
  if (answer_for (device) == 0)
    *answer = value;
  return answer_for (device);
}

int
nvmlDeviceGetTemperature (void *device, int what, unsigned int *answer)
{
  return what == 0 ? give (device, answer, 71) : 2;
}

int
nvmlDeviceGetClockInfo (void *device, int what, unsigned int *answer)
{
  return give (device, answer, what == 0 ? 1980 : what == 2 ? 2619 : 1);
}

int
nvmlDeviceGetPowerUsage (void *device, unsigned int *answer)
{
  return give (device, answer, 349500);
}

int
nvmlDeviceGetMemoryInfo (void *device, unsigned long long *answer)
{
  const unsigned long long memory[] = { 80000000000ULL, 60000000000ULL, 20000000000ULL };

  if (answer_for (device) == 0)
    memcpy (answer, memory, sizeof memory);
  return answer_for (device);
}

#ifndef OLD
int
nvmlDeviceGetMemoryInfo_v2 (void *device, void *answer)
{
  struct {
    unsigned int version;
    unsigned long long total, reserved, free, used;
  } memory = { 0x02000028, 80000000000ULL, 1000000000ULL, 60000000000ULL, 19000000000ULL };

  if (answer_for (device) != 0)
    return answer_for (device);
  if (GET (no_reserved) || memcmp (answer, &memory.version, sizeof memory.version) != 0)
    return VERSION;
  memcpy (answer, &memory, sizeof memory);
  return 0;
}
#endif

#ifdef OLD
int
nvmlDeviceGetCurrentClocksThrottleReasons (void *device, unsigned long long *answer)
#else
int
nvmlDeviceGetEnforcedPowerLimit (void *device, unsigned int *answer)
{
  return give (device, answer, 700000);
}

int
nvmlDeviceGetCurrentClocksEventReasons (void *device, unsigned long long *answer)
#endif
{
  if (answer_for (device) == 0)
    *answer = GET (reasons);
  return answer_for (device);
}

/* Lists the computing processes. */
static int
list (void *device, unsigned int *n, Process *rows)
{
  const Process all[] = { { GET (lists_own) ? (unsigned int) getpid () : 4000000001u, 5000000000ULL,
                            0, 0 },
                          { 1, 1000, 0, 0 },
                          { 4000000002u, ~0ULL, 0, 0 } };
  unsigned int room = *n;

  *n = 3;
  if (answer_for (device) != 0)
    return answer_for (device);
  if (room < 3)
    return TOO_SMALL;
  memcpy (rows, all, sizeof all);
  return 0;
}

#ifdef OLD
int
nvmlDeviceGetComputeRunningProcesses_v2 (void *device, unsigned int *n, Process *rows)
{
  return list (device, n, rows);
}
#else
int
nvmlDeviceGetComputeRunningProcesses_v3 (void *device, unsigned int *n, Process *rows)
{
  return list (device, n, rows);
}

/* One of the computing processes is a graphics process as well. */
int
nvmlDeviceGetGraphicsRunningProcesses_v3 (void *device, unsigned int *n, Process *rows)
{
  if (answer_for (device) != 0)
    return answer_for (device);
  *n = 1;
  rows[0] = (Process){ 1, 2000, 0, 0 };
  return 0;
}
#endif
#endif
