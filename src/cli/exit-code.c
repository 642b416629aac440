/* SPDX-License-Identifier: MIT */
/* Maps a GError to an exit code, by the error domain of each layer. */
#include "cli.h"
#include "comm.h"
#include "exporter.h"
#include "output.h"
#include "runs-error.h"
#include "serve-error.h"
#include "session.h"
#include "base-error.h"

static DynoExitCode
from_gpu (int code)
{
  switch (code)
    {
    case DYNO_GPU_ERROR_NO_LOADER:
    case DYNO_GPU_ERROR_NO_DEVICE:
    case DYNO_GPU_ERROR_UNSUPPORTED:
      return DYNO_EXIT_NO_DEVICE;
    case DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY:
    case DYNO_GPU_ERROR_OVER_BUDGET:
    case DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY:
      return DYNO_EXIT_MEMORY;
    case DYNO_GPU_ERROR_DEVICE_LOST:
    case DYNO_GPU_ERROR_TIMEOUT:
      return DYNO_EXIT_DEVICE_LOST;
    default:
      return DYNO_EXIT_FAILURE;
    }
}

static DynoExitCode
from_train (int code)
{
  switch (code)
    {
    case DYNO_TRAIN_ERROR_SETTING:
      return DYNO_EXIT_USAGE;
    case DYNO_TRAIN_ERROR_DATA:
    case DYNO_TRAIN_ERROR_CHECKPOINT:
      return DYNO_EXIT_DATA;
    case DYNO_TRAIN_ERROR_DOES_NOT_FIT:
      return DYNO_EXIT_MEMORY;
    case DYNO_TRAIN_ERROR_DIVERGED:
      return DYNO_EXIT_DIVERGED;
    case DYNO_TRAIN_ERROR_OUTPUT:
      return DYNO_EXIT_DISK;
    default:
      return DYNO_EXIT_FAILURE;
    }
}

static DynoExitCode
from_nn (int code)
{
  switch (code)
    {
    case DYNO_NN_ERROR_MODEL:
      return DYNO_EXIT_USAGE;
    case DYNO_NN_ERROR_TOO_LARGE:
    case DYNO_NN_ERROR_NO_MEMORY:
      return DYNO_EXIT_MEMORY;
    case DYNO_NN_ERROR_SHAPE:
    case DYNO_NN_ERROR_WEIGHTS:
      return DYNO_EXIT_DATA;
    case DYNO_NN_ERROR_UNSUPPORTED:
      return DYNO_EXIT_NO_DEVICE;
    default:
      return DYNO_EXIT_FAILURE;
    }
}

static DynoExitCode
from_base (int code)
{
  switch (code)
    {
    case DYNO_BASE_ERROR_OVERFLOW:
      return DYNO_EXIT_MEMORY;
    case DYNO_BASE_ERROR_IO:
    case DYNO_BASE_ERROR_DISK:
      return DYNO_EXIT_DISK;
    case DYNO_BASE_ERROR_CORRUPT:
      return DYNO_EXIT_DATA;
    default:
      return DYNO_EXIT_FAILURE;
    }
}

static DynoExitCode
from_runs (int code)
{
  switch (code)
    {
    case DYNO_RUNS_ERROR_NOT_FOUND:
    case DYNO_RUNS_ERROR_ACTIVE:
      return DYNO_EXIT_USAGE;
    case DYNO_RUNS_ERROR_BUSY:
      return DYNO_EXIT_FAILURE;
    default:
      return DYNO_EXIT_DISK;
    }
}

DynoExitCode
dyno_exit_code (const GError *error)
{
  if (!error)
    return DYNO_EXIT_OK;
  if (error->domain == DYNO_GPU_ERROR)
    return from_gpu (error->code);
  if (error->domain == DYNO_TRAIN_ERROR)
    return from_train (error->code);
  if (error->domain == DYNO_NN_ERROR)
    return from_nn (error->code);
  if (error->domain == DYNO_BASE_ERROR)
    return from_base (error->code);
  if (error->domain == DYNO_RUNS_ERROR)
    return from_runs (error->code);
  if (error->domain == DYNO_DATA_ERROR)
    return error->code == DYNO_DATA_ERROR_OPTION      ? DYNO_EXIT_USAGE
           : error->code == DYNO_DATA_ERROR_NO_MEMORY ? DYNO_EXIT_MEMORY
                                                      : DYNO_EXIT_DATA;
  if (error->domain == DYNO_TUNE_ERROR)
    return error->code == DYNO_TUNE_ERROR_PRESET         ? DYNO_EXIT_USAGE
           : error->code == DYNO_TUNE_ERROR_TRIALS       ? DYNO_EXIT_USAGE
           : error->code == DYNO_TUNE_ERROR_DOES_NOT_FIT ? DYNO_EXIT_MEMORY
                                                         : DYNO_EXIT_FAILURE;
  if (error->domain == DYNO_COMM_ERROR)
    return error->code == DYNO_COMM_ERROR_DIFFERS   ? DYNO_EXIT_USAGE
           : error->code == DYNO_COMM_ERROR_STOPPED ? DYNO_EXIT_RESUMABLE
                                                    : DYNO_EXIT_FAILURE;
  if (error->domain == DYNO_SERVE_ERROR)
    return error->code == DYNO_SERVE_ERROR_OPTION ? DYNO_EXIT_USAGE : DYNO_EXIT_FAILURE;
  if (error->domain == DYNO_EXPORT_ERROR || error->domain == G_OPTION_ERROR)
    return DYNO_EXIT_USAGE;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return DYNO_EXIT_INTERRUPTED;
  if (error->domain == G_FILE_ERROR)
    return DYNO_EXIT_DISK;
  return DYNO_EXIT_FAILURE;
}

int
dyno_cli_fail (GError *error, gboolean json)
{
  DynoExitCode code = dyno_exit_code (error);

  if (json)
    dyno_out_error_event (error->message, code);
  dyno_error_line ("dynoctl: %s", error->message);
  g_error_free (error);
  return code;
}
