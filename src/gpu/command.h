/* SPDX-License-Identifier: MIT */
/* Commands: work for the device that is recorded once, submitted any number of times, and waited
 * for by timeline value.
 *
 * A timeline value is a value of the queue's timeline semaphore; the values of a queue complete in
 * order.
 * A command may be submitted again while an earlier submission of it is still running (simultaneous
 * use); the barrier at the beginning of every submission then orders the reads and writes of its
 * dispatches.
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
 * barrier orders all commands before it against all commands after it (compute and transfer, reads
 * and writes). */
void dyno_command_dispatch (DynoCommand *command, DynoKernel *kernel, const void *push,
                            guint32 groups_x, guint32 groups_y, guint32 groups_z);
void dyno_command_copy (DynoCommand *command, DynoBuffer *source, guint64 source_offset,
                        DynoBuffer *target, guint64 target_offset, guint64 size_bytes);
void dyno_command_fill (DynoCommand *command, DynoBuffer *buffer, guint64 offset,
                        guint64 size_bytes, guint32 word);
void dyno_command_barrier (DynoCommand *command);
/* Writes a timestamp when all earlier commands have finished.  Slot 0 must be recorded first, since
 * it clears all slots.  A queue only for transfers records nothing. */
void dyno_command_timestamp (DynoCommand *command, DynoTimer *timer, guint slot);

/* The number of recorded barriers: the requested ones that have work on both sides, the one before
 * the first work of each kind, and the one towards the host. */
guint dyno_command_get_barriers (DynoCommand *command);

/* Makes the command's writes visible to the host (for mapped buffers), and closes the command. */
gboolean dyno_command_end (DynoCommand *command, GError **error);

typedef struct {
  DynoQueue queue;
  guint64 timeline_value; /* 0: nothing to wait for */
} DynoWait;

/* Submits a closed command after the given timeline values; stores its own value in
 * *timeline_value.  Errors: DEVICE_LOST, TIMEOUT, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY,
 * FAILED. */
gboolean dyno_command_submit (DynoCommand *command, const DynoWait *waits, guint n_waits,
                              guint64 *timeline_value, GError **error);

/* The last completed timeline value; and a wait for a timeline value.  timeout_ms: the time for
 * which the device may finish nothing, not counting time in which this process is stopped; 0: a
 * watchdog's default (60 s on hardware, an hour on software devices), after which the device counts
 * as hanging: all calls that would touch it fail with TIMEOUT from then on, and resources that it
 * may still use are never freed.
 * Errors: DEVICE_LOST, TIMEOUT. */
guint64 dyno_queue_get_completed (DynoDevice *device, DynoQueue queue);
gboolean dyno_queue_wait (DynoDevice *device, DynoQueue queue, guint64 timeline_value,
                          guint timeout_ms, GError **error);

/* Sets another limit for that watchdog, for a caller that knows how long this device takes; 0: the
 * default.  Any thread. */
void dyno_device_set_watchdog (DynoDevice *device, guint limit_ms);

/* Timestamps of one command.  They are read after its submission has completed; time_us[i] is
 * relative to slot 0.  On a device without timestamps every time is 0. */
DynoTimer *dyno_timer_new (DynoDevice *device, guint n_slots, GError **error);
void dyno_timer_free (DynoTimer *timer);
gboolean dyno_timer_read (DynoTimer *timer, double *time_us, guint n_slots, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTimer, dyno_timer_free)

G_END_DECLS
