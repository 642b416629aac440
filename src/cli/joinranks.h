/* SPDX-License-Identifier: MIT */
/* dynoctl as one of several processes that train together, its ranks: started by mpirun or srun, or
 * by dynoctl itself for the devices of this machine.  Only rank 0 prints. */
#pragma once
#include "comm.h"
#include "event.h"
#include "job-options.h"

G_BEGIN_DECLS

/* Joins the other ranks if this process is one of several; else *comm is NULL.  FALSE: the error
 * was printed, and the process is to exit with *code. */
gboolean dyno_ranks_join (const char *command, gboolean json, DynoComm **comm, int *code);

/* Sends the last error line to the other ranks if this rank has failed, and leaves the
 * communicator.  Returns code. */
int dyno_ranks_leave (DynoComm *comm, int code);

/* Chooses the rank that prints after a failure. */
void dyno_ranks_choose_speaker (const DynoComm *comm);

/* The device numbers of --devices LIST: "0,1", or "all", which selects the devices of the best
 * device's type.  Element type guint.  Errors: G_OPTION_ERROR, those of dyno_device_list. */
GArray *dyno_ranks_parse_devices (const char *list, GError **error);

/* Chooses the device of this rank among `devices` (NULL: those that "all" selects), by the rank's
 * index on its host.  Warns where ranks share a device.  Errors: those of dyno_device_list. */
gboolean dyno_ranks_choose_device (const DynoComm *comm, const GArray *devices, int *device,
                                   GError **error);

/* Replaces this process by an mpirun of n processes with the same arguments; returns only when that
 * fails.  Errors: MODULE. */
void dyno_ranks_start (guint n, GError **error);

/* Whether all ranks have the same program, data and settings.  Errors: DIFFERS, PEER. */
gboolean dyno_ranks_compare (DynoComm *comm, const DynoCliJob *cli_job, GError **error);

/* Sets *folder on the other ranks, where it must be NULL, to the absolute path of rank 0's folder;
 * it stays NULL where rank 0 writes no files.  Errors: PEER. */
gboolean dyno_ranks_share_folder (DynoComm *comm, char **folder, GError **error);

/* Describes the checkpoint from which a run can be resumed after other ranks or a device ended it:
 * "its last checkpoint is “PATH”", or on which host rank 0, which writes the checkpoints,
 * has it; NULL: nothing was saved.  g_free. */
char *dyno_ranks_describe_checkpoint (const DynoComm *comm, const char *folder);

/* Adds the member "ranks": the identity of each rank, and how it spends its time. */
void dyno_ranks_add_json (DynoJson *json, const DynoRankReport *reports, guint n);

G_END_DECLS
