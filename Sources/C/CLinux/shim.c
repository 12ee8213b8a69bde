#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// What the kernel takes of a socket's bytes before the peer has room for them: a peer that does not read costs no more than this
// and what is on its way, not a send buffer of megabytes (TCP_NOTSENT_LOWAT).
enum { UNSENT_BYTES = 32 << 10 };

static inline int result(int value) { return value < 0 ? -errno : value; }
static inline ssize_t result_size(ssize_t value) { return value < 0 ? -(ssize_t)errno : value; }

int cl_epoll_create(void) { return result(epoll_create1(EPOLL_CLOEXEC)); }

static int epoll_change(int epoll, int operation, int fd, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data = {.u64 = token}};
  return result(epoll_ctl(epoll, operation, fd, &event));
}

int cl_epoll_add(int epoll, int fd, uint32_t events, uint64_t token) {
  return epoll_change(epoll, EPOLL_CTL_ADD, fd, events, token);
}

int cl_epoll_add_eventfd(int epoll, int fd, uint64_t token) {
  return epoll_change(epoll, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, token);
}

int cl_epoll_modify(int epoll, int fd, uint32_t events, uint64_t token) {
  return epoll_change(epoll, EPOLL_CTL_MOD, fd, events, token);
}

int cl_epoll_delete(int epoll, int fd) { return epoll_change(epoll, EPOLL_CTL_DEL, fd, 0, 0); }

int cl_epoll_wait(int epoll, cl_event *events, int capacity, int64_t timeout_us) {
  struct epoll_event ready[512];
  if (capacity > 512) capacity = 512;
  int count;
  if (timeout_us < 0) {
    count = epoll_wait(epoll, ready, capacity, -1);
  } else {
    struct timespec limit = {.tv_sec = timeout_us / 1000000, .tv_nsec = (timeout_us % 1000000) * 1000};
    count = epoll_pwait2(epoll, ready, capacity, &limit, NULL);
    if (count < 0 && errno == ENOSYS) {
      count = epoll_wait(epoll, ready, capacity, (int)((timeout_us + 999) / 1000));
    }
  }
  if (count < 0) return -errno;
  for (int i = 0; i < count; i++) {
    events[i].events = ready[i].events;
    events[i].token = ready[i].data.u64;
  }
  return count;
}

int cl_eventfd(void) { return result(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

int cl_eventfd_signal(int fd) {
  uint64_t one = 1;
  return write(fd, &one, sizeof one) < 0 && errno != EAGAIN ? -errno : 0;
}

static int resolve(const char *host, uint16_t port, int flags, struct sockaddr_storage *address,
                   socklen_t *length) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
  char service[8];
  snprintf(service, sizeof service, "%u", port);
  if (getaddrinfo(host, service, &hints, &found) != 0 || found == NULL) return -EADDRNOTAVAIL;
  memcpy(address, found->ai_addr, found->ai_addrlen);
  *length = found->ai_addrlen;
  freeaddrinfo(found);
  return 0;
}

int cl_bind(const char *host, uint16_t port, int reuse_port) {
  struct sockaddr_storage address;
  socklen_t length;
  int status = resolve(host, port, AI_PASSIVE | AI_NUMERICSERV, &address, &length);
  if (status < 0) return status;
  int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets have it from the listener.
  cl_set_notsent_lowat(fd, UNSENT_BYTES);
  if (reuse_port) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (bind(fd, (struct sockaddr *)&address, length) < 0) {
    status = -errno;
    close(fd);
    return status;
  }
  return fd;
}

int cl_listen(const char *host, uint16_t port, int backlog, int reuse_port) {
  int fd = cl_bind(host, port, reuse_port);
  if (fd < 0 || listen(fd, backlog) == 0) return fd;
  int status = -errno;
  close(fd);
  return status;
}

static int port_of(const struct sockaddr_storage *address) {
  if (address->ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
  return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

int cl_local_port(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
  return port_of(&address);
}

int cl_peer_address(int fd, char *buffer, size_t capacity, uint16_t *port) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
  if (getnameinfo((struct sockaddr *)&address, length, buffer, (socklen_t)capacity, NULL, 0,
                  NI_NUMERICHOST) != 0) {
    return -EINVAL;
  }
  *port = (uint16_t)port_of(&address);
  return 0;
}

uint64_t cl_peer_network(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return 0;
  const uint64_t v4_mark = 0xffffULL << 32;
  if (address.ss_family == AF_INET) {
    return v4_mark | ntohl(((const struct sockaddr_in *)&address)->sin_addr.s_addr);
  }
  if (address.ss_family != AF_INET6) return 0;
  const uint8_t *bytes = ((const struct sockaddr_in6 *)&address)->sin6_addr.s6_addr;
  int is_mapped = IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)&address)->sin6_addr);
  uint64_t network = is_mapped ? 0xffff : 0;
  int first = is_mapped ? 12 : 0;
  for (int i = first; i < (is_mapped ? 16 : 8); i++) network = network << 8 | bytes[i];
  return network;
}

static int ip_of(const struct sockaddr *address, uint8_t *bytes) {
  if (address->sa_family == AF_INET6) {
    memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    return 0;
  }
  if (address->sa_family != AF_INET) return -1;
  memset(bytes, 0, 10);
  memset(bytes + 10, 0xff, 2);
  memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
  return 0;
}

int cl_peer_ip(int fd, uint8_t *bytes) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return -1;
  return ip_of((const struct sockaddr *)&address, bytes);
}

int cl_own_addresses(uint8_t *bytes, int capacity) {
  struct ifaddrs *all;
  if (getifaddrs(&all) < 0) return -errno;
  int count = 0;
  for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
    uint8_t address[16];
    if (one->ifa_addr == NULL || ip_of(one->ifa_addr, address) < 0) continue;
    if (count < capacity) memcpy(bytes + 16 * count, address, 16);
    count++;
  }
  freeifaddrs(all);
  return count;
}

size_t cl_heap_bytes(void) {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

int cl_accept(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return -errno;
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

int cl_resolve(const char *host, char *addresses, int capacity) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, NULL, &hints, &found) != 0) return 0;
  int count = 0;
  for (struct addrinfo *entry = found; entry != NULL && count < capacity; entry = entry->ai_next) {
    char *text = addresses + (size_t)count * CL_ADDRESS_BYTES;
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, CL_ADDRESS_BYTES, NULL, 0, NI_NUMERICHOST) == 0) {
      count++;
    }
  }
  freeaddrinfo(found);
  return count;
}

int cl_connect(const char *host, uint16_t port) {
  struct sockaddr_storage address;
  socklen_t length;
  int status = resolve(host, port, AI_NUMERICSERV, &address, &length);
  if (status < 0) return status;
  int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  cl_set_notsent_lowat(fd, UNSENT_BYTES);
  if (connect(fd, (struct sockaddr *)&address, length) < 0 && errno != EINPROGRESS) {
    status = -errno;
    close(fd);
    return status;
  }
  return fd;
}

int cl_socket_error(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return errno;
  return error;
}

int cl_set_keepalive(int fd, int idle_seconds, int interval_seconds, int count) {
  int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) < 0) return -errno;
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
  return result(setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count));
}

int cl_set_user_timeout(int fd, unsigned milliseconds) {
  return result(setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds));
}

int cl_peer_has_left(int fd) {
  struct pollfd look = {.fd = fd, .events = POLLRDHUP};
  return poll(&look, 1, 0) > 0;
}

int cl_set_buffer_sizes(int fd, int send_bytes, int receive_bytes) {
  if (send_bytes > 0 && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes) < 0) {
    return -errno;
  }
  if (receive_bytes > 0 &&
      setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes) < 0) {
    return -errno;
  }
  return 0;
}

int cl_set_notsent_lowat(int fd, int bytes) {
  return result(setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes));
}

ssize_t cl_read(int fd, void *buffer, size_t count) { return result_size(read(fd, buffer, count)); }

ssize_t cl_peek(int fd, void *buffer, size_t count) {
  return result_size(recv(fd, buffer, count, MSG_PEEK | MSG_DONTWAIT));
}

ssize_t cl_send(int fd, const void *buffer, size_t count) {
  return result_size(send(fd, buffer, count, MSG_NOSIGNAL));
}

ssize_t cl_send_descriptors(int fd, const void *buffer, size_t count, const int *descriptors, int descriptor_count) {
  if (descriptor_count < 0 || descriptor_count > CL_MOST_DESCRIPTORS) return -EINVAL;
  union {
    char bytes[CMSG_SPACE(CL_MOST_DESCRIPTORS * sizeof(int))];
    struct cmsghdr alignment;
  } control;
  struct iovec part = {.iov_base = (void *)buffer, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor_count > 0) {
    size_t size = (size_t)descriptor_count * sizeof(int);
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), descriptors, size);
  }
  return result_size(sendmsg(fd, &message, MSG_NOSIGNAL));
}

ssize_t cl_receive_descriptors(int fd, void *buffer, size_t count, int *descriptors, int *descriptor_count) {
  union {
    char bytes[CMSG_SPACE(CL_MOST_DESCRIPTORS * sizeof(int))];
    struct cmsghdr alignment;
  } control;
  struct iovec part = {.iov_base = buffer, .iov_len = count};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  *descriptor_count = 0;
  ssize_t received = result_size(recvmsg(fd, &message, MSG_CMSG_CLOEXEC));
  if (received < 0) return received;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int found = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < found && *descriptor_count < CL_MOST_DESCRIPTORS; i++) {
      memcpy(&descriptors[*descriptor_count], CMSG_DATA(header) + (size_t)i * sizeof(int), sizeof(int));
      *descriptor_count += 1;
    }
  }
  // Some were lost, as where no more may be open.
  if (message.msg_flags & MSG_CTRUNC) return -EMFILE;
  return received;
}

int cl_close(int fd) { return result(close(fd)); }
int cl_shutdown_write(int fd) { return result(shutdown(fd, SHUT_WR)); }

int cl_reset_on_close(int fd) {
  struct linger reset = {.l_onoff = 1, .l_linger = 0};
  return result(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
}

uint64_t cl_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cl_boottime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t cl_wall_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int cl_set_zone(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return -errno;
  char magic[4];
  int is_zone = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "TZif", 4) == 0;
  fclose(file);
  if (!is_zone) return -EINVAL;
  char value[512];
  // A colon: a file, and not a rule in POSIX's notation.
  int length = snprintf(value, sizeof value, ":%s", path);
  if (length < 0 || (size_t)length >= sizeof value) return -ENAMETOOLONG;
  if (setenv("TZ", value, 1) < 0) return -errno;
  tzset();
  return 0;
}

int64_t cl_utc_offset(int64_t second) {
  time_t time = (time_t)second;
  struct tm local;
  return localtime_r(&time, &local) == NULL ? 0 : (int64_t)local.tm_gmtoff;
}

int cl_random(void *buffer, size_t count) {
  uint8_t *at = buffer;
  while (count > 0) {
    ssize_t got = getrandom(at, count, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return -errno;
    }
    at += got;
    count -= (size_t)got;
  }
  return 0;
}

typedef struct {
  void (*body)(void *);
  void *context;
  char name[16];
} thread_start;

static void *thread_main(void *argument) {
  thread_start start = *(thread_start *)argument;
  free(argument);
  pthread_setname_np(pthread_self(), start.name);
  start.body(start.context);
  return NULL;
}

int cl_thread_start(const char *name, size_t stack_bytes, void (*body)(void *), void *context) {
  thread_start *start = malloc(sizeof *start);
  if (start == NULL) return -ENOMEM;
  start->body = body;
  start->context = context;
  snprintf(start->name, sizeof start->name, "%s", name);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes > 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  int status = pthread_create(&thread, &attributes, thread_main, start);
  pthread_attr_destroy(&attributes);
  if (status != 0) free(start);
  return -status;
}

void cl_thread_yield_to_others(int nice) { (void)setpriority(PRIO_PROCESS, (id_t)gettid(), nice); }

int cl_cpu_count(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) < 0) return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}

int cl_set_nofile_limit(uint64_t wanted, uint64_t *granted) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  }
  *granted = limit.rlim_cur;
  return 0;
}

int cl_signal_fd(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  int status = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (status != 0) return -status;
  signal(SIGPIPE, SIG_IGN);
  return result(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

int cl_resize_fd(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  int status = pthread_sigmask(SIG_BLOCK, &set, NULL);
  return status != 0 ? -status : result(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

int cl_signal_next(int fd) {
  struct signalfd_siginfo info;
  ssize_t got = read(fd, &info, sizeof info);
  return got == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

static int lock_far_byte(int fd, int command, short type, struct flock *lock) {
  *lock = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};
  return result(fcntl(fd, command, lock));
}

int cl_lock_file(int fd) {
  struct flock lock;
  return lock_far_byte(fd, F_OFD_SETLK, F_WRLCK, &lock);
}

int cl_unlock_file(int fd) {
  struct flock lock;
  return lock_far_byte(fd, F_OFD_SETLK, F_UNLCK, &lock);
}

int cl_is_file_locked(int fd) {
  struct flock lock;
  int status = lock_far_byte(fd, F_OFD_GETLK, F_WRLCK, &lock);
  return status < 0 ? status : lock.l_type != F_UNLCK;
}

int cl_die_with_parent(void) { return result(prctl(PR_SET_PDEATHSIG, SIGKILL)); }

void cl_save_address_space(void) {
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
}

void cl_return_memory(void) { malloc_trim(0); }

static uint64_t group_limit(void) {
  char path[512] = "", line[512], *end;
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return UINT64_MAX;
  // Of version 2, which has one line: "0::/system.slice/borealis.service".
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "0::/", 4) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(path, sizeof path, "/sys/fs/cgroup%.400s/memory.max", line + 3);
  }
  fclose(file);
  file = fopen(path, "re");
  if (file == NULL) return UINT64_MAX;
  int found = fgets(line, sizeof line, file) != NULL;
  fclose(file);
  uint64_t limit = found ? strtoull(line, &end, 10) : 0;
  // "max" is no limit.
  return found && end != line ? limit : UINT64_MAX;
}

uint64_t cl_memory_limit(void) {
  uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), group = group_limit();
  if (group < limit) limit = group;
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < limit) limit = space.rlim_cur;
  return limit;
}

int64_t cl_resident_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return -errno;
  long total = 0, resident = 0;
  int found = fscanf(file, "%ld %ld", &total, &resident);
  fclose(file);
  return found == 2 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : -EIO;
}
