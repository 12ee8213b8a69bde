#pragma once
// The macro that checks types of options cannot see through the functions below.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// libcurl's functions with variable arguments, which Swift's importer does not carry: one for each type.

static inline CURLcode cc_set_text(CURL *easy, CURLoption option, const char *text) {
  return curl_easy_setopt(easy, option, text);
}

static inline CURLcode cc_set_number(CURL *easy, CURLoption option, long number) {
  return curl_easy_setopt(easy, option, number);
}

static inline CURLcode cc_set_fields(CURL *easy, struct curl_slist *fields) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
}

/// Where to connect instead of the hosts of URLs: `HOST:PORT:CONNECT-TO-HOST:CONNECT-TO-PORT` each.
static inline CURLcode cc_set_targets(CURL *easy, struct curl_slist *targets) {
  return curl_easy_setopt(easy, CURLOPT_CONNECT_TO, targets);
}

/// Copies the body.
static inline CURLcode cc_set_body(CURL *easy, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

/// Called with pieces of the answer's body; another number than `size * count` ends the transfer.
typedef size_t (*cc_write_function)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode cc_set_write(CURL *easy, cc_write_function function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_WRITEDATA, context) : code;
}

/// Called for pieces of what is sent: puts up to `size * count` bytes into the room and gives their number, 0 at the end.
typedef size_t (*cc_read_function)(char *room, size_t size, size_t count, void *context);

static inline CURLcode cc_set_read(CURL *easy, cc_read_function function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, function);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_READDATA, context) : code;
}

/// Told what both sides say: `CURLINFO_HEADER_OUT` is a command, `CURLINFO_HEADER_IN` a line of an answer. Gives 0.
typedef int (*cc_debug_function)(CURL *easy, curl_infotype kind, char *bytes, size_t count, void *context);

/// The function is called until the handle's cleanup has ended.
static inline CURLcode cc_set_debug(CURL *easy, cc_debug_function function, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L) : code;
}

/// Whom a mail is for.
static inline CURLcode cc_set_recipients(CURL *easy, struct curl_slist *recipients) {
  return curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, recipients);
}

/// Where the reason of a failure is put: `CURL_ERROR_SIZE` bytes that outlive the handle.
static inline CURLcode cc_set_error_room(CURL *easy, char *room) {
  return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, room);
}

/// Says whether a connection to an address may be made: not 0 for yes. The address has 4 or 16 bytes.
typedef int (*cc_address_function)(void *context, const unsigned char *address, size_t count);

/// What `cc_open_socket` asks; lives as long as the transfer.
typedef struct {
  cc_address_function allows;
  void *context;
} cc_guard;

/// Opens the socket only if the guard allows the very address that it is then connected to.
static inline curl_socket_t cc_open_socket(void *guard, curlsocktype purpose, struct curl_sockaddr *address) {
  const cc_guard *asked = guard;
  // libcurl keeps more room behind this than its type says.
  const unsigned char *stored = (const unsigned char *)address + offsetof(struct curl_sockaddr, addr);
  unsigned char bytes[16];
  size_t count = 0;
  (void)purpose;
  if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
    struct sockaddr_in known;
    memcpy(&known, stored, sizeof known);
    memcpy(bytes, &known.sin_addr, count = 4);
  } else if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
    struct sockaddr_in6 known;
    memcpy(&known, stored, sizeof known);
    memcpy(bytes, &known.sin6_addr, count = 16);
  }
  if (count == 0 || !asked->allows(asked->context, bytes, count)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline CURLcode cc_set_guard(CURL *easy, cc_guard *guard) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, cc_open_socket);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, guard) : code;
}

static inline long cc_status(CURL *easy) {
  long status = 0;
  return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/// The status with which a proxy answered the request for a tunnel, 0 if it did not.
static inline long cc_tunnel_status(CURL *easy) {
  long status = 0;
  return curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK ? status : 0;
}

/// Bytes of the request that were sent, without its body.
static inline long cc_request_bytes(CURL *easy) {
  long count = 0;
  return curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &count) == CURLE_OK ? count : 0;
}

/// Seconds of the answer's `Retry-After`, which may be written as a date; 0 without one.
static inline long cc_retry_after(CURL *easy) {
  curl_off_t seconds = 0;
  return curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK ? (long)seconds : 0;
}

/// The value of the first field of a name in the answer, which the next use of the handle frees; NULL without one.
static inline const char *cc_field(CURL *easy, const char *name) {
  struct curl_header *field = NULL;
  return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &field) == CURLHE_OK ? field->value : NULL;
}

static inline CURLMcode cc_multi_set_number(CURLM *multi, CURLMoption option, long number) {
  return curl_multi_setopt(multi, option, number);
}

/// The next transfer that is over and how it ended; NULL if there is none.
static inline CURL *cc_multi_next(CURLM *multi, CURLcode *result) {
  int left = 0;
  const CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left)) != NULL) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
