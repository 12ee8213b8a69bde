#pragma once
#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

// What a peer may make TLS do before anybody knows who it is, beyond what OpenSSL bounds itself: the groups and signatures that
// it may ask for, the size of its hello, the pieces that it comes in, and how often it may change its keys.

// Of CLinux: a negated errno on failure, and no SIGPIPE.
ssize_t cl_read(int fd, void *buffer, size_t count);
ssize_t cl_send(int fd, const void *buffer, size_t count);

enum {
  /// Bytes of a ClientHello. OpenSSL takes 128 KiB, and provides memory for them when their number is announced.
  CO_HELLO_BYTES = 8 << 10,
  /// Records before the handshake is encrypted; a few are usual.
  CO_HANDSHAKE_RECORDS = 64,
  /// Changes of a peer's keys while it is connected (RFC 8446 section 4.6.3). Each costs both sides a derivation.
  CO_KEY_UPDATES = 64,
  /// Bytes of a peer's chain of certificates.
  CO_CERTIFICATE_BYTES = 32 << 10,
  /// Certificates between a peer's and one that is trusted.
  CO_CHAIN_DEPTH = 8,
};

/// Groups whose keys cost a millisecond at most. Finite fields and P-521 cost many times as much, at the peer's choice.
static inline int co_limit_peers(SSL_CTX *context) {
  SSL_CTX_set_verify_depth(context, CO_CHAIN_DEPTH);
  SSL_CTX_set_max_cert_list(context, CO_CERTIFICATE_BYTES);
  return SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
         SSL_CTX_set1_sigalgs_list(context,
                                   "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:RSA-PSS+SHA256:RSA-PSS+SHA384:"
                                   "RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512") == 1;
}

/// The secrets of a server's session with TLS 1.3 that protect application data (RFC 8446 section 7.1): the client's, then its own.
struct co_secrets {
  uint8_t secret[2][EVP_MAX_MD_SIZE];
  uint8_t size[2];
};

/// A socket under a TLS session, and what its peer has done so far.
struct co_peer {
  SSL *ssl;
  int fd;
  /// Bytes that are left of the record and of the handshake message that are being read.
  uint32_t record_left, message_left;
  uint8_t header[5], header_count;
  uint8_t message[4], message_count;
  uint8_t records, key_updates;
  /// Of a server: what comes is looked at, since the handshake is not encrypted yet.
  uint8_t is_watched, has_changed_cipher;
  /// It did too much, and gets nothing more.
  uint8_t is_refused;
  /// Records behind the end of the handshake's own keys, that were sent and that have come.
  uint32_t written, taken;
  /// NULL if nobody will ask for them.
  struct co_secrets *secrets;
};

/// Takes bytes of handshake messages: 0 if one is too large.
static inline int co_peer_take_messages(struct co_peer *peer, const uint8_t *bytes, size_t count) {
  while (count > 0) {
    if (peer->message_left > 0) {
      size_t part = count < peer->message_left ? count : peer->message_left;
      peer->message_left -= (uint32_t)part;
      bytes += part, count -= part;
      continue;
    }
    peer->message[peer->message_count++] = *bytes++;
    count--;
    if (peer->message_count < 4) continue;
    peer->message_count = 0;
    peer->message_left = (uint32_t)peer->message[1] << 16 | (uint32_t)peer->message[2] << 8 | peer->message[3];
    if (peer->message[0] == SSL3_MT_CLIENT_HELLO && peer->message_left > CO_HELLO_BYTES) return 0;
  }
  return 1;
}

/// Takes bytes of records, before OpenSSL does: 0 if they ask for too much. What is malformed is left to OpenSSL.
static inline int co_peer_take(struct co_peer *peer, const uint8_t *bytes, size_t count) {
  if (SSL_is_init_finished(peer->ssl)) peer->is_watched = 0;
  while (count > 0 && peer->is_watched) {
    if (peer->record_left == 0) {
      peer->header[peer->header_count++] = *bytes++;
      count--;
      if (peer->header_count < 5) continue;
      peer->header_count = 0;
      peer->record_left = (uint32_t)peer->header[3] << 8 | peer->header[4];
      if (++peer->records > CO_HANDSHAKE_RECORDS) return 0;
      if (peer->header[0] == SSL3_RT_CHANGE_CIPHER_SPEC) peer->has_changed_cipher = 1;
      // With TLS 1.3 a second hello comes in the clear behind a change of ciphers, with TLS 1.2 nothing does.
      if (peer->has_changed_cipher && SSL_version(peer->ssl) == TLS1_2_VERSION) peer->is_watched = 0;
      // A hello in the form of SSL 2, which fits into one record.
      if (peer->header[0] & 0x80) peer->is_watched = 0;
      continue;
    }
    size_t part = count < peer->record_left ? count : peer->record_left;
    if (peer->header[0] == SSL3_RT_HANDSHAKE && !co_peer_take_messages(peer, bytes, part)) return 0;
    peer->record_left -= (uint32_t)part;
    bytes += part, count -= part;
  }
  return 1;
}

static inline int co_peer_read(BIO *bio, char *buffer, int capacity) {
  struct co_peer *peer = (struct co_peer *)BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  ssize_t count = peer->is_refused ? 0 : cl_read(peer->fd, buffer, (size_t)capacity);
  if (count > 0 && peer->is_watched && !co_peer_take(peer, (const uint8_t *)buffer, (size_t)count))
    peer->is_refused = 1;
  if (peer->is_refused) {
    errno = EMSGSIZE;
    return -1;
  }
  if (count < 0) {
    errno = (int)-count;
    if (errno == EAGAIN || errno == EINTR) BIO_set_retry_read(bio);
    return -1;
  }
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return (int)count;
}

static inline int co_peer_write(BIO *bio, const char *bytes, int count) {
  struct co_peer *peer = (struct co_peer *)BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  ssize_t sent = cl_send(peer->fd, bytes, (size_t)count);
  if (sent >= 0) return (int)sent;
  errno = (int)-sent;
  if (errno == EAGAIN || errno == EINTR) BIO_set_retry_write(bio);
  return -1;
}

static inline long co_peer_control(BIO *bio, int command, long number, void *pointer) {
  (void)number, (void)pointer;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return command == BIO_CTRL_FLUSH;
}

static inline int co_peer_free(BIO *bio) {
  struct co_peer *peer = (struct co_peer *)BIO_get_data(bio);
  if (peer != NULL) OPENSSL_clear_free(peer->secrets, sizeof *peer->secrets);
  OPENSSL_free(peer);
  return 1;
}

/// Made once, never freed.
static inline BIO_METHOD *co_peer_method(void) {
  static BIO_METHOD *method;
  BIO_METHOD *made = __atomic_load_n(&method, __ATOMIC_ACQUIRE);
  if (made != NULL) return made;
  made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "peer");
  if (made == NULL) return NULL;
  BIO_meth_set_read(made, co_peer_read);
  BIO_meth_set_write(made, co_peer_write);
  BIO_meth_set_ctrl(made, co_peer_control);
  BIO_meth_set_destroy(made, co_peer_free);
  BIO_METHOD *none = NULL;
  if (__atomic_compare_exchange_n(&method, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  BIO_meth_free(made);
  return none;
}

/// Counts changes of keys, which OpenSSL takes without an end, and the records behind the last message of a side's handshake:
/// OpenSSL reports a record when it makes or reads it, and a message behind all its records.
static inline void co_peer_message(int writes, int version, int kind, const void *bytes, size_t count, SSL *ssl,
                                   void *context) {
  (void)version, (void)context;
  struct co_peer *peer = (struct co_peer *)BIO_get_data(SSL_get_rbio(ssl));
  if (peer == NULL || count == 0) return;
  if (kind == SSL3_RT_HEADER) *(writes ? &peer->written : &peer->taken) += 1;
  if (kind != SSL3_RT_HANDSHAKE) return;
  uint8_t message = *(const uint8_t *)bytes;
  if (message == SSL3_MT_FINISHED) *(writes ? &peer->written : &peer->taken) = 0;
  if (!writes && message == SSL3_MT_KEY_UPDATE && ++peer->key_updates >= CO_KEY_UPDATES) peer->is_refused = 1;
}

static inline int co_hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/// Keeps the two secrets of application data, of what OpenSSL writes into a key log: a name, the client's random, the secret.
static inline void co_peer_secret(const SSL *ssl, const char *line) {
  static const char *const names[2] = {"CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "};
  struct co_peer *peer = (struct co_peer *)BIO_get_data(SSL_get_rbio(ssl));
  if (peer == NULL || peer->secrets == NULL) return;
  for (int side = 0; side < 2; side++) {
    size_t name = strlen(names[side]), size = 0;
    if (strncmp(line, names[side], name) != 0) continue;
    const char *at = strchr(line + name, ' ');
    if (at == NULL) return;
    for (at++; co_hex_digit(at[0]) >= 0 && co_hex_digit(at[1]) >= 0 && size < EVP_MAX_MD_SIZE; at += 2)
      peer->secrets->secret[side][size++] = (uint8_t)(co_hex_digit(at[0]) << 4 | co_hex_digit(at[1]));
    peer->secrets->size[side] = (uint8_t)size;
  }
}

/// Overwrites what a session has kept.
static inline void co_forget_secrets(SSL *ssl) {
  struct co_peer *peer = (struct co_peer *)BIO_get_data(SSL_get_rbio(ssl));
  if (peer == NULL) return;
  OPENSSL_clear_free(peer->secrets, sizeof *peer->secrets);
  peer->secrets = NULL;
}

/// Has the sessions of a context keep the secrets that `co_take_records` gives; each asks for it by `co_set_socket`.
static inline void co_keep_secrets(SSL_CTX *context) { SSL_CTX_set_keylog_callback(context, co_peer_secret); }

/// Puts a session on a connected socket, which stays the caller's. 0 on failure.
static inline int co_set_socket(SSL *ssl, int fd, int is_server, int keeps_secrets) {
  BIO_METHOD *method = co_peer_method();
  BIO *bio = method == NULL ? NULL : BIO_new(method);
  struct co_peer *peer = bio == NULL ? NULL : (struct co_peer *)OPENSSL_zalloc(sizeof *peer);
  if (peer != NULL && keeps_secrets) peer->secrets = (struct co_secrets *)OPENSSL_zalloc(sizeof *peer->secrets);
  if (peer == NULL || (keeps_secrets && peer->secrets == NULL)) {
    OPENSSL_free(peer);
    BIO_free(bio);
    return 0;
  }
  peer->ssl = ssl;
  peer->fd = fd;
  peer->is_watched = is_server != 0;
  BIO_set_data(bio, peer);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_msg_callback(ssl, co_peer_message);
  return 1;
}
