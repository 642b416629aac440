/* SPDX-License-Identifier: MIT */
/* Work for the device: recorded once, submitted as often as wanted, and waited for by timeline
 * value.
 *
 * A timeline value is one of the queue's timeline semaphore; those of a queue complete in order.
 * A command may be submitted again while an earlier submission of it is still running (simultaneous
 * use); what its dispatches read and write is then ordered by the barrier that every submission
 * begins with.
 * Threads: one thread records and submits a command; different threads may work on different
 * commands. */
#pragma once
#include "buffer.h"
#include "kernel.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_QUEUE_COMPUTE,
  DYNO_QUEUE_TRANSFER, /* the same queue as COMPUTE where the device has no other */
  DYNO_QUEUE_N
} DynoQueue;

typedef struct _DynoCommand DynoCommand;
typedef struct _DynoTimer DynoTimer;

/* An empty command, open for recording.  It begins with a full barrier against everything submitted
 * before. */
DynoCommand *dyno_command_new (DynoDevice *device, DynoQueue queue, GError **error);
void dyno_command_free (DynoCommand *command); /* deferred while a submission uses it */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoCommand, dyno_command_free)

/* Recording.  The kernel's push_bytes are read from push now.  Groups are all > 0.  Dispatches
 * without a barrier between them may run at the same time.  copy and fill: multiples of 4 bytes.
 * barrier orders all before against all after (compute and transfer, reads and writes). */
void dyno_command_dispatch (DynoCommand *command, DynoKernel *kernel, const void *push,
                            guint32 groups_x, guint32 groups_y, guint32 groups_z);
void dyno_command_copy (DynoCommand *command, DynoBuffer *source, guint64 source_offset,
                        DynoBuffer *target, guint64 target_offset, guint64 size_bytes);
void dyno_command_fill (DynoCommand *command, DynoBuffer *buffer, guint64 offset,
                        guint64 size_bytes, guint32 word);
void dyno_command_barrier (DynoCommand *command);
/* After all before has finished; slot 0 is recorded first: it clears all. */
void dyno_command_timestamp (DynoCommand *command, DynoTimer *timer, guint slot);

/* Barriers that were recorded: those asked for that had work on both sides, the one that the first
 * work of each kind begins with, and the one towards the host. */
guint dyno_command_get_barriers (DynoCommand *command);

/* Makes what was written visible to the host (for mapped buffers), and closes the command. */
gboolean dyno_command_end (DynoCommand *command, GError **error);

typedef struct {
  DynoQueue queue;
  guint64 timeline_value; /* 0: nothing to wait for */
} DynoWait;

/* Submits a closed command after the given timeline values; its own in *timeline_value.
 * Errors: DEVICE_LOST, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY, FAILED. */
gboolean dyno_command_submit (DynoCommand *command, const DynoWait *waits, guint n_waits,
                              guint64 *timeline_value, GError **error);

/* The last completed timeline_value; and waiting for one.  timeout_ms: how long the device may
 * finish nothing, time without this process left out; 0: a watchdog's default (60 s on hardware, an
 * hour on software devices), after which the device counts as hanging: all that would touch it
 * fails with TIMEOUT from then on, and what it may still use is never freed.
 * Errors: DEVICE_LOST, TIMEOUT. */
guint64 dyno_queue_get_completed (DynoDevice *device, DynoQueue queue);
gboolean dyno_queue_wait (DynoDevice *device, DynoQueue queue, guint64 timeline_value,
                          guint timeout_ms, GError **error);

/* Another limit for that watchdog, where somebody waits for this device and knows how long it takes
 * for things; 0: the default.  Any thread. */
void dyno_device_set_watchdog (DynoDevice *device, guint limit_ms);

/* Timestamps of one command.  Read after its submission completed; time_us[i] is relative to slot
 * 0.  Without timestamps on the device every time reads 0. */
DynoTimer *dyno_timer_new (DynoDevice *device, guint n_slots, GError **error);
void dyno_timer_free (DynoTimer *timer);
gboolean dyno_timer_read (DynoTimer *timer, double *time_us, guint n_slots, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTimer, dyno_timer_free)

G_END_DECLS
