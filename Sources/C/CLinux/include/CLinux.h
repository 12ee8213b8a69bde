// Linux system calls and macros that Swift's Glibc module does not carry.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One readiness report of `cl_epoll_wait`: event bits and the caller's 64-bit token.
typedef struct {
  uint32_t events;
  uint64_t token;
} cl_event;

enum {
  CL_IN = 0x001,
  CL_OUT = 0x004,
  CL_ERR = 0x008,
  CL_HUP = 0x010,
  CL_RDHUP = 0x2000,
};

// What connections ask of the kernel. A program may bring functions of its own under these names (tests do: a kernel that says what
// a script wants), which the linker takes instead; that costs nothing where there are none.
#define CL_REPLACEABLE __attribute__((weak))

// Every function returns a value >= 0, or a negated errno, so that no Swift code runs between the
// call and the reading of errno.

int cl_epoll_create(void);
int cl_epoll_add(int epoll, int fd, uint32_t events, uint64_t token);
/// Watches an eventfd: each signal is reported once, and nobody has to read it.
int cl_epoll_add_eventfd(int epoll, int fd, uint64_t token);
int cl_epoll_modify(int epoll, int fd, uint32_t events, uint64_t token);
int cl_epoll_delete(int epoll, int fd);
/// Waits up to `timeout_us` microseconds (-1: forever). At most 512 events a call. -EINTR says that a signal, or the end
/// of a stop, came instead, and that nothing was looked at.
int cl_epoll_wait(int epoll, cl_event *events, int capacity, int64_t timeout_us);

int cl_eventfd(void);
int cl_eventfd_signal(int fd);

/// Binds a non-blocking socket to an address without listening; the rest as `cl_listen`.
int cl_bind(const char *host, uint16_t port, int reuse_port);

/// Bytes that malloc has given out, of this process.
size_t cl_heap_bytes(void);

/// Opens a non-blocking listening socket; `port` 0 lets the kernel choose. With `reuse_port` several
/// sockets may share the address and the kernel spreads connections over them.
int cl_listen(const char *host, uint16_t port, int backlog, int reuse_port);
/// Port that a socket is bound to, or a negated errno.
int cl_local_port(int fd);
/// Textual address of the peer, NUL-terminated.
int cl_peer_address(int fd, char *buffer, size_t capacity, uint16_t *port);
/// The peer's network as 64 bits: an IPv4 address after ff:ff, or the first half of an IPv6 address, which is what
/// one household or host is given. 0 when there is no peer.
uint64_t cl_peer_network(int fd);
/// The peer's address in 16 bytes, IPv4 in its mapped form; 0, or -1 for a peer without one.
int cl_peer_ip(int fd, uint8_t *bytes);
/// Writes the addresses of this machine's interfaces, 16 bytes each, IPv4 in its mapped form; tells how many there are,
/// which may be more than fit, or a negated errno.
int cl_own_addresses(uint8_t *bytes, int capacity);
/// Accepts a connection: non-blocking, close-on-exec, TCP_NODELAY.
int cl_accept(int listener);
/// Numeric addresses of a host name, best first, each NUL-terminated in `CL_ADDRESS_BYTES` bytes. Blocks. Returns
/// how many, 0 when there is none.
int cl_resolve(const char *host, char *addresses, int capacity);
enum { CL_ADDRESS_BYTES = 64 };
/// Starts a non-blocking connect; returns the socket even while the connect is in progress.
int cl_connect(const char *host, uint16_t port);
/// The pending error of a socket as a positive errno, 0 if none. It is told once.
CL_REPLACEABLE int cl_socket_error(int fd);
int cl_set_user_timeout(int fd, unsigned milliseconds);
/// Whether the peer has closed its side or the connection is broken, also while something is left to be read.
int cl_peer_has_left(int fd);
int cl_set_keepalive(int fd, int idle_seconds, int interval_seconds, int count);
int cl_set_buffer_sizes(int fd, int send_bytes, int receive_bytes);
int cl_set_notsent_lowat(int fd, int bytes);

CL_REPLACEABLE ssize_t cl_read(int fd, void *buffer, size_t count);
/// Reads what has come without taking it.
ssize_t cl_peek(int fd, void *buffer, size_t count);
/// Sends without raising SIGPIPE.
CL_REPLACEABLE ssize_t cl_send(int fd, const void *buffer, size_t count);
/// Sends bytes over a Unix socket, and descriptors with the first of them. Descriptors have all left when one byte has.
ssize_t cl_send_descriptors(int fd, const void *buffer, size_t count, const int *descriptors, int descriptor_count);
/// Reads bytes from a Unix socket, and up to `CL_MOST_DESCRIPTORS` descriptors that came with them; these are closed in programs
/// that this process starts.
ssize_t cl_receive_descriptors(int fd, void *buffer, size_t count, int *descriptors, int *descriptor_count);
/// What Linux takes in one message, rounded down.
enum { CL_MOST_DESCRIPTORS = 250 };
CL_REPLACEABLE int cl_close(int fd);
CL_REPLACEABLE int cl_shutdown_write(int fd);
/// Lets the close of a socket reset its connection.
int cl_reset_on_close(int fd);

uint64_t cl_monotonic_ns(void);
/// CLOCK_BOOTTIME: as the monotonic clock, but it goes on while the machine is suspended.
uint64_t cl_boottime_ns(void);
int64_t cl_wall_ms(void);
/// Makes a zone file (tzfile(5)) the zone of the process, once, before its threads start; an error if it is none.
int cl_set_zone(const char *path);
/// Seconds by which the zone of the process is ahead of UTC at a Unix time.
int64_t cl_utc_offset(int64_t second);
int cl_random(void *buffer, size_t count);

/// Starts a thread with the given stack size; `body` runs once with `context`.
int cl_thread_start(const char *name, size_t stack_bytes, void (*body)(void *), void *context);
/// Lets the calling thread yield to others: nice(2), for this thread alone.
void cl_thread_yield_to_others(int nice);
int cl_cpu_count(void);
/// CPUs this process may use, after affinity.
int cl_set_nofile_limit(uint64_t wanted, uint64_t *granted);
/// Blocks SIGTERM, SIGINT, SIGHUP in all later threads and returns a signalfd for them; SIGPIPE is ignored.
int cl_signal_fd(void);
/// Blocks SIGWINCH in all later threads and returns a signalfd for it: the terminal has another size.
int cl_resize_fd(void);
/// The number of the next signal from a signalfd, 0 when there is none.
int cl_signal_next(int fd);
/// Locks a file, opened for writing, against all that ask the same: 0, or a negated errno, EAGAIN if another holds the
/// lock. It belongs to the open file, so that it ends with the process, and covers one byte far behind all content, apart
/// from the locks of others such as SQLite.
int cl_lock_file(int fd);
/// Gives that lock back.
int cl_unlock_file(int fd);
/// Whether another open file holds that lock: 0, 1, or a negated errno.
int cl_is_file_locked(int fd);
/// Lets the kernel kill this process when the thread that started it ends.
int cl_die_with_parent(void);
/// Where the address space is bounded (RLIMIT_AS), lets all threads allocate from one place: each of its own reserves 64 MiB. To be
/// called before there are threads.
void cl_save_address_space(void);
/// Gives memory that was freed back to the system, as far as whole pages are free.
void cl_return_memory(void);
/// The limit of the address space (RLIMIT_AS), of the control group or of the machine, whichever is least, in bytes.
uint64_t cl_memory_limit(void);
/// User-space resident bytes of this process (VmRSS), from /proc/self/statm.
int64_t cl_resident_bytes(void);
