/* SPDX-License-Identifier: MIT */
/* dyno_comm_pass_descriptors, by sockets of this host with random names, which rank 0 draws and
 * nobody else can guess.  Every rank listens before any rank connects, and all ranks have sent
 * before any rank receives, so that nobody waits for a rank that has failed. */
#include "comm-class.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAIT_MS = 5000 };

typedef struct {
  DynoComm *comm;
  guint32 secret[4];
  int listener; /* -1: none */
} Passing;

static gboolean
fail (GError **error, const char *what)
{
  g_set_error (error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_LOCAL,
               "ranks of this host cannot pass each other descriptors: %s: %s", what,
               g_strerror (errno));
  return FALSE;
}

/* An address in the abstract namespace: there is no file, and the name is gone with the socket. */
static socklen_t
name_of (const Passing *p, guint rank, struct sockaddr_un *name)
{
  *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
  g_snprintf (name->sun_path + 1, sizeof name->sun_path - 1, "dyno-%08x%08x%08x%08x-%u",
              p->secret[0], p->secret[1], p->secret[2], p->secret[3], rank);
  return (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1 + strlen (name->sun_path + 1));
}

static gboolean
start_listening (Passing *p, GError **error)
{
  struct sockaddr_un name;
  socklen_t length = name_of (p, p->comm->rank, &name);

  p->listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (p->listener < 0)
    return fail (error, "socket");
  if (bind (p->listener, (const struct sockaddr *) &name, length) < 0)
    return fail (error, "bind");
  return listen (p->listener, (int) p->comm->size) == 0 || fail (error, "listen");
}

/* A message holds the sender's rank, with the descriptor as ancillary data (Beside). */
typedef union {
  struct cmsghdr head;
  char bytes[CMSG_SPACE (sizeof (int))];
} Beside;

static gboolean
send_to (const Passing *p, guint rank, int descriptor, GError **error)
{
  struct sockaddr_un name;
  socklen_t length = name_of (p, rank, &name);
  guint32 mine = p->comm->rank;
  struct iovec data = { &mine, sizeof mine };
  Beside beside = { .bytes = { 0 } };
  struct msghdr message = { .msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = beside.bytes,
                            .msg_controllen = sizeof beside.bytes };
  struct cmsghdr *head = CMSG_FIRSTHDR (&message);
  int socket_to = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  gboolean fine;

  if (socket_to < 0)
    return fail (error, "socket");
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN (sizeof (int));
  memcpy (CMSG_DATA (head), &descriptor, sizeof descriptor);
  fine =
      (connect (socket_to, (const struct sockaddr *) &name, length) == 0 || fail (error, "connect"))
      && (sendmsg (socket_to, &message, MSG_NOSIGNAL) == sizeof mine || fail (error, "sendmsg"));
  close (socket_to);
  return fine;
}

/* Takes the descriptor out of a message; -1: it has none, or its rank is invalid or has sent one
 * already. */
static int
take (const struct msghdr *message, gssize size, guint32 rank, const DynoComm *comm,
      const int *theirs)
{
  struct cmsghdr *head = size == sizeof rank ? CMSG_FIRSTHDR (message) : NULL;
  int descriptor = -1;

  if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS
      || head->cmsg_len != CMSG_LEN (sizeof (int)))
    return -1;
  memcpy (&descriptor, CMSG_DATA (head), sizeof descriptor);
  if (rank < comm->size && rank != comm->rank && theirs[rank] < 0)
    return descriptor;
  close (descriptor);
  return -1;
}

static gboolean
receive (const Passing *p, int *theirs, GError **error)
{
  struct pollfd ready = { .fd = p->listener, .events = POLLIN };
  guint32 rank = 0;
  struct iovec data = { &rank, sizeof rank };
  Beside beside = { .bytes = { 0 } };
  struct msghdr message = { .msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = beside.bytes,
                            .msg_controllen = sizeof beside.bytes };
  struct timeval limit = { .tv_sec = WAIT_MS / 1000 };
  struct ucred other;
  socklen_t length = sizeof other;
  int from, descriptor;

  if (poll (&ready, 1, WAIT_MS) != 1)
    {
      errno = ETIMEDOUT;
      return fail (error, "poll");
    }
  from = accept4 (p->listener, NULL, NULL, SOCK_CLOEXEC);
  if (from < 0)
    return fail (error, "accept");
  setsockopt (from, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (getsockopt (from, SOL_SOCKET, SO_PEERCRED, &other, &length) < 0 || other.uid != getuid ())
    {
      close (from);
      errno = EPERM;
      return fail (error, "accept");
    }
  gssize size = recvmsg (from, &message, MSG_CMSG_CLOEXEC);
  descriptor = take (&message, size, rank, p->comm, theirs);
  close (from);
  if (descriptor < 0)
    {
      errno = EPROTO;
      return fail (error, "recvmsg");
    }
  theirs[rank] = descriptor;
  return TRUE;
}

static gboolean
exchange (Passing *p, int mine, int *theirs, GError **error)
{
  GError *problem = NULL;
  gboolean fine = start_listening (p, &problem);

  if (!dyno_comm_agree (p->comm, fine, &problem, error))
    return FALSE;
  for (guint r = 0; r < p->comm->size && fine; r++)
    fine = r == p->comm->rank || send_to (p, r, mine, &problem);
  if (!dyno_comm_agree (p->comm, fine, &problem, error))
    return FALSE;
  for (guint r = 1; r < p->comm->size && fine; r++)
    fine = receive (p, theirs, &problem);
  return dyno_comm_agree (p->comm, fine, &problem, error);
}

gboolean
dyno_comm_pass_descriptors (DynoComm *comm, int mine, int *theirs, GError **error)
{
  Passing p = { .comm = comm, .listener = -1 };
  gboolean fine;

  for (guint r = 0; r < comm->size; r++)
    theirs[r] = -1;
  for (guint i = 0; i < G_N_ELEMENTS (p.secret); i++)
    p.secret[i] = g_random_int ();
  fine = dyno_comm_broadcast (comm, p.secret, sizeof p.secret, 0, error)
         && exchange (&p, mine, theirs, error);
  if (p.listener >= 0)
    close (p.listener);
  for (guint r = 0; r < comm->size && !fine; r++)
    if (theirs[r] >= 0)
      {
        close (theirs[r]);
        theirs[r] = -1;
      }
  return fine;
}
