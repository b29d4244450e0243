#include "client_sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/text/number.h"

/* Number of rounds in which a descriptor must behave like libcurl's descriptor
 * for wake-ups: full after a wake-up, and not full after the wake-up was read.
 * A descriptor that another thread fills and drains at random would have to
 * match 40 times by chance. */
#define SOCKETS_ROUNDS     20
#define SOCKETS_CANDIDATES 256

static void sockets_add(sp_client_sockets *sockets, int fd) {
  struct stat info;
  size_t i;

  if (fstat(fd, &info) != 0)
    return;
  for (i = 0; i < SP_CLIENT_SOCKETS; i++) {
    sp_client_socket *socket = &sockets->all[i];

    if (atomic_load(&socket->fd_plus_1))
      continue;
    socket->device = info.st_dev;
    socket->inode = info.st_ino;
    atomic_store(&socket->fd_plus_1, fd + 1);
    return;
  }
}

static curl_socket_t sockets_open(void *data, curlsocktype purpose,
                                  struct curl_sockaddr *address) {
  int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);

  (void)purpose;
  if (fd >= 0)
    sockets_add(data, fd);
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static int sockets_closed(void *data, curl_socket_t fd) {
  sp_client_sockets *sockets = data;
  size_t i;

  for (i = 0; i < SP_CLIENT_SOCKETS; i++)
    if (atomic_load(&sockets->all[i].fd_plus_1) == fd + 1)
      atomic_store(&sockets->all[i].fd_plus_1, 0);
  return close(fd);
}

CURLcode sp_client_sockets_watch(sp_client_sockets *sockets, CURL *easy) {
  CURLcode code =
      curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, sockets_open);

  code = code ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets);
  code = code ? code
              : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION,
                                 sockets_closed);
  return code ? code : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets);
}

/* Has the descriptor unread input, or output that its receiver has not read? */
static bool socket_full(int fd) {
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  struct stat info;
  int unread = 0;

  if (poll(&ready, 1, 0) > 0 && ready.revents & POLLIN)
    return true;
  /* For a socket, TIOCOUTQ counts output that the other side has not read. For
   * a pipe, FIONREAD counts the data in the pipe, at both ends. */
  if (fstat(fd, &info) != 0)
    return false;
  if (S_ISSOCK(info.st_mode)) /* TIOCOUTQ has the value of SIOCOUTQ (unix(7)) */
    return ioctl(fd, TIOCOUTQ, &unread) == 0 && unread > 0;
  return S_ISFIFO(info.st_mode) && ioctl(fd, FIONREAD, &unread) == 0 &&
         unread > 0;
}

/* Keep only the descriptors of `fds` that are full, or only those that are not.
 * Returns their number. */
static size_t sockets_filter(int *fds, size_t count, bool full) {
  size_t i, kept = 0;

  for (i = 0; i < count; i++)
    if (socket_full(fds[i]) == full)
      fds[kept++] = fds[i];
  return kept;
}

/* List at most SOCKETS_CANDIDATES descriptors that are not full: those with the
 * highest numbers, because these are usually the newest ones. Returns their
 * number. */
static size_t sockets_list(int fds[SOCKETS_CANDIDATES]) {
  DIR *directory = opendir("/proc/self/fd");
  struct dirent *found;
  size_t count = 0;

  while (directory && (found = readdir(directory)) != NULL) {
    uint64_t fd;

    if (!sp_number_is(found->d_name, INT_MAX, &fd) ||
        (int)fd == dirfd(directory) || socket_full((int)fd))
      continue;
    fds[count++ % SOCKETS_CANDIDATES] = (int)fd;
  }
  if (directory)
    closedir(directory);
  return sp_min_u64(count, SOCKETS_CANDIDATES);
}

void sp_client_sockets_find(sp_client_sockets *sockets, CURLM *multi) {
  int fds[SOCKETS_CANDIDATES];
  size_t count = sockets_list(fds), i;

  for (i = 0; i < SOCKETS_ROUNDS && count; i++) {
    if (curl_multi_wakeup(multi) != CURLM_OK)
      return;
    count = sockets_filter(fds, count, true);
    curl_multi_poll(multi, NULL, 0, 0, NULL);
    count = sockets_filter(fds, count, false);
  }
  for (i = 0; i < count && count <= 2; i++)
    sockets_add(sockets, fds[i]);
}

void sp_client_sockets_close(sp_client_sockets *sockets) {
  struct stat info;
  size_t i;

  for (i = 0; i < SP_CLIENT_SOCKETS; i++) {
    sp_client_socket *socket = &sockets->all[i];
    int fd = atomic_exchange(&socket->fd_plus_1, 0) - 1;

    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == socket->device &&
        info.st_ino == socket->inode)
      close(fd);
  }
}
