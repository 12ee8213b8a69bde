#pragma once
#include "peers.h"
#include <openssl/evp.h>
#include <string.h>

// TLS 1.3 records without OpenSSL's session object: what is taken from it when its handshake is complete, and the ciphers.

/// The cipher suites of TLS 1.3 that are offered (RFC 8446 appendix B.4).
enum { CO_AES_128_GCM_SHA256 = 0, CO_AES_256_GCM_SHA384 = 1, CO_CHACHA20_POLY1305_SHA256 = 2, CO_RECORD_SUITES = 3 };

/// What records need of a handshake. Holds secrets: `co_cleanse_records`.
struct co_record_state {
  int suite;
  /// Bytes of the two secrets that follow.
  uint32_t secret_size;
  uint8_t reading[EVP_MAX_MD_SIZE], writing[EVP_MAX_MD_SIZE];
  /// Records that OpenSSL has protected by the secret for writing.
  uint32_t written;
  /// The largest content of a record that both sides have agreed on (RFC 6066 section 4).
  uint32_t largest;
};

static inline void co_cleanse_records(struct co_record_state *state) { OPENSSL_cleanse(state, sizeof *state); }

/// Takes what a server's session with TLS 1.3 goes on with, after which it must only be freed. 0 if it is to go on as it is: it has
/// another version, has agreed on a protocol, asks for certificates, or has read anything since.
static inline int co_take_records(SSL *ssl, struct co_record_state *state) {
  const unsigned char *protocol = NULL;
  unsigned protocol_size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &protocol_size);
  struct co_peer *peer = (struct co_peer *)BIO_get_data(SSL_get_rbio(ssl));
  const struct co_secrets *secrets = peer == NULL ? NULL : peer->secrets;
  if (secrets == NULL || peer->taken > 0 || secrets->size[0] == 0 || secrets->size[0] != secrets->size[1] || protocol_size > 0 ||
      SSL_version(ssl) != TLS1_3_VERSION || !SSL_is_init_finished(ssl) || SSL_has_pending(ssl) ||
      SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE)
    return 0;
  switch (SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl))) {
  case 0x1301:
    state->suite = CO_AES_128_GCM_SHA256;
    break;
  case 0x1302:
    state->suite = CO_AES_256_GCM_SHA384;
    break;
  case 0x1303:
    state->suite = CO_CHACHA20_POLY1305_SHA256;
    break;
  default:
    return 0;
  }
  if (secrets->size[0] != (state->suite == CO_AES_256_GCM_SHA384 ? 48 : 32)) return 0;
  state->secret_size = secrets->size[0];
  memcpy(state->reading, secrets->secret[0], state->secret_size);
  memcpy(state->writing, secrets->secret[1], state->secret_size);
  state->written = peer->written;
  uint8_t limit = SSL_SESSION_get_max_fragment_length(SSL_get_session(ssl));
  state->largest = limit >= 1 && limit <= 4 ? 256u << limit : SSL3_RT_MAX_PLAIN_LENGTH;
  return 1;
}

/// The ciphers of a thread, each made when it is needed first. Between two records they hold no key.
struct co_record_ciphers {
  EVP_CIPHER_CTX *contexts[CO_RECORD_SUITES];
};

static inline void co_end_record_ciphers(struct co_record_ciphers *ciphers) {
  for (int suite = 0; suite < CO_RECORD_SUITES; suite++) EVP_CIPHER_CTX_free(ciphers->contexts[suite]);
}

static inline EVP_CIPHER_CTX *co_record_cipher(struct co_record_ciphers *ciphers, int suite, const uint8_t *key,
                                               const uint8_t nonce[12], int seal) {
  EVP_CIPHER_CTX *context = ciphers->contexts[suite];
  if (context == NULL) {
    const EVP_CIPHER *cipher = suite == CO_AES_128_GCM_SHA256   ? EVP_aes_128_gcm()
                               : suite == CO_AES_256_GCM_SHA384 ? EVP_aes_256_gcm()
                                                                : EVP_chacha20_poly1305();
    context = EVP_CIPHER_CTX_new();
    if (context == NULL || EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, seal) != 1) {
      EVP_CIPHER_CTX_free(context);
      return NULL;
    }
    ciphers->contexts[suite] = context;
  }
  return EVP_CipherInit_ex(context, NULL, NULL, key, nonce, seal) == 1 ? context : NULL;
}

/// Takes a key away from a cipher again.
static inline int co_end_record(EVP_CIPHER_CTX *cipher, int done) {
  static const uint8_t none[32] = {0};
  if (cipher == NULL || EVP_CipherInit_ex(cipher, NULL, NULL, none, NULL, -1) != 1) done = 0;
  if (!done) ERR_clear_error();
  return done;
}

/// Writes a record (RFC 8446 section 5.2): its header, `size` bytes of content with their kind, encrypted, and the tag; `size` + 22
/// bytes. 0 on failure.
static inline int co_seal_record(struct co_record_ciphers *ciphers, int suite, const uint8_t *key, const uint8_t nonce[12],
                                 uint8_t kind, const uint8_t *content, size_t size, uint8_t *output) {
  int written = 0, rest = 0;
  size_t length = size + 17;
  uint8_t header[5] = {SSL3_RT_APPLICATION_DATA, 3, 3, (uint8_t)(length >> 8), (uint8_t)length};
  EVP_CIPHER_CTX *cipher = co_record_cipher(ciphers, suite, key, nonce, 1);
  memcpy(output, header, 5);
  int done = cipher != NULL && size <= SSL3_RT_MAX_PLAIN_LENGTH && EVP_EncryptUpdate(cipher, NULL, &written, header, 5) == 1 &&
             (size == 0 || EVP_EncryptUpdate(cipher, output + 5, &written, content, (int)size) == 1) &&
             EVP_EncryptUpdate(cipher, output + 5 + size, &written, &kind, 1) == 1 &&
             EVP_EncryptFinal_ex(cipher, output + 6 + size, &rest) == 1 && rest == 0 &&
             EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, output + 6 + size) == 1;
  return co_end_record(cipher, done);
}

/// Decrypts the `size` bytes behind a record's header in their place; the last 16 are the tag. 0 if they are not what was sealed,
/// and then nothing is left of them.
static inline int co_open_record(struct co_record_ciphers *ciphers, int suite, const uint8_t *key, const uint8_t nonce[12],
                                 uint8_t *record, size_t size) {
  if (size < 16 || size > SSL3_RT_MAX_ENCRYPTED_LENGTH) return 0;
  int written = 0, rest = 0;
  uint8_t *body = record + 5;
  EVP_CIPHER_CTX *cipher = co_record_cipher(ciphers, suite, key, nonce, 0);
  int done = cipher != NULL && EVP_DecryptUpdate(cipher, NULL, &written, record, 5) == 1 &&
             (size == 16 || EVP_DecryptUpdate(cipher, body, &written, body, (int)(size - 16)) == 1) &&
             EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, body + size - 16) == 1 &&
             EVP_DecryptFinal_ex(cipher, body + size - 16, &rest) == 1 && rest == 0;
  if (!done) OPENSSL_cleanse(body, size);
  return co_end_record(cipher, done);
}

/// HKDF-Expand-Label with an empty context (RFC 8446 section 7.1), for at most as many bytes as the hash has. 0 on failure.
static inline int co_expand_label(int suite, const uint8_t *secret, const char *label, uint8_t *output, size_t size) {
  size_t hash = suite == CO_AES_256_GCM_SHA384 ? 48 : 32, name = strlen(label), made = 0;
  uint8_t block[EVP_MAX_MD_SIZE], info[32];
  if (size > hash || name > 12) return 0;
  info[0] = 0, info[1] = (uint8_t)size, info[2] = (uint8_t)(6 + name);
  memcpy(info + 3, "tls13 ", 6);
  memcpy(info + 9, label, name);
  // The empty context, and the counter of HKDF's first block.
  info[9 + name] = 0, info[10 + name] = 1;
  int done = EVP_Q_mac(NULL, "HMAC", NULL, hash == 48 ? "SHA384" : "SHA256", NULL, secret, hash, info, 11 + name, block,
                       sizeof block, &made) != NULL &&
             made == hash;
  if (done) memcpy(output, block, size);
  if (!done) ERR_clear_error();
  OPENSSL_cleanse(block, sizeof block);
  return done;
}
