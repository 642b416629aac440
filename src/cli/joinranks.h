/* SPDX-License-Identifier: MIT */
/* dynoctl as one of several processes that train together, its ranks: started by mpirun or srun, or
 * by dynoctl itself for the devices of this machine.  Rank 0 speaks; the others print nothing. */
#pragma once
#include "comm.h"
#include "event.h"
#include "job-options.h"

G_BEGIN_DECLS

/* Joins the other ranks where this process is one of several, else *comm is NULL.  FALSE: leave
 * with *code, the error is printed. */
gboolean dyno_ranks_join (const char *command, gboolean json, DynoComm **comm, int *code);

/* Sends the other ranks the last error line where this rank has failed, and leaves.  Returns
 * code. */
int dyno_ranks_leave (DynoComm *comm, int code);

/* Chooses the rank that prints, after something went wrong. */
void dyno_ranks_choose_speaker (const DynoComm *comm);

/* The device numbers of --devices LIST: "0,1", or "all", which are the devices of the best one's
 * type.  Element type guint.  Errors: G_OPTION_ERROR, those of dyno_device_list. */
GArray *dyno_ranks_parse_devices (const char *list, GError **error);

/* The device of this rank, among `devices` (NULL: among all), by its place among the ranks of its
 * host.  Warns where ranks share a device.  Errors: those of dyno_device_list. */
gboolean dyno_ranks_choose_device (const DynoComm *comm, const GArray *devices, int *device,
                                   GError **error);

/* Replaces this process by an mpirun of n processes with the same arguments; returns only when that
 * fails.  Errors: MODULE. */
void dyno_ranks_start (guint n, GError **error);

/* Whether all ranks have the same program, data and settings.  Errors: DIFFERS, PEER. */
gboolean dyno_ranks_compare (DynoComm *comm, const DynoCliJob *cli_job, GError **error);

/* *folder of other ranks, NULL before, becomes the whole path of rank 0's folder; NULL where rank 0
 * keeps no files.  Errors: PEER. */
gboolean dyno_ranks_share_folder (DynoComm *comm, char **folder, GError **error);

/* Says from which checkpoint a run can go on that was ended by other ranks or a device: "“PATH”
 * stands as its last checkpoint", or where rank 0, the only one that writes checkpoints, kept it;
 * NULL: nothing was saved.  g_free. */
char *dyno_ranks_describe_checkpoint (const DynoComm *comm, const char *folder);

/* "ranks": the identity of each rank, and how it spends its time. */
void dyno_ranks_add_json (DynoJson *json, const DynoRankReport *reports, guint n);

G_END_DECLS
