#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/rand.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <string.h>

// Macros, variadic functions and casts of OpenSSL that Swift's importer does not carry.

/// SHA-256 by the low-level functions: the one-shot SHA256() of OpenSSL 3.0 fetches the algorithm by name at
/// each call, which costs several times the digest of a short input.
static inline int co_sha256(const void *bytes, size_t count, unsigned char digest[32]) {
  SHA256_CTX context;
  int done = SHA256_Init(&context) && SHA256_Update(&context, bytes, count) && SHA256_Final(digest, &context);
  OPENSSL_cleanse(&context, sizeof context);
  return done;
}

/// MD5, which nothing here relies on: a peer's format asks for it.
static inline int co_md5(const void *bytes, size_t count, unsigned char digest[16]) {
  unsigned int written = 0;
  return EVP_Digest(bytes, count, digest, &written, EVP_md5(), NULL) == 1 && written == 16;
}

static inline int co_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count,
                                 unsigned char digest[32]) {
  unsigned int written = 0;
  static const unsigned char none[1] = {0};
  if (key_count > INT32_MAX) return 0;
  return HMAC(EVP_sha256(), key_count ? key : none, (int)key_count, count ? (const unsigned char *)bytes : none,
              count, digest, &written) != NULL && written == 32;
}

static inline EVP_PKEY *co_new_p256_key(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }

/// The bytes that a memory BIO holds; they belong to the BIO.
static inline size_t co_bio_bytes(BIO *bio, const char **bytes) {
  char *at = NULL;
  long count = BIO_get_mem_data(bio, &at);
  *bytes = at;
  return count > 0 ? (size_t)count : 0;
}

static inline int co_x509_add_extension(X509 *certificate, int nid, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
  if (extension == NULL) return 0;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}

/// Seconds from 1970 to a time of a certificate; 0 on failure.
static inline int co_asn1_time_seconds(const ASN1_TIME *time, int64_t *seconds) {
  int days = 0, rest = 0;
  ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
  int done = epoch != NULL && ASN1_TIME_diff(&days, &rest, epoch, time);
  ASN1_TIME_free(epoch);
  *seconds = (int64_t)days * 86400 + rest;
  return done;
}

/// Prints a name as RFC 2253 says, but leaves UTF-8 readable. -1 on failure.
static inline int co_print_name(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

enum { CO_MBSTRING_UTF8 = MBSTRING_UTF8 };

#include <errno.h>
#include <openssl/core_names.h>

/// An encrypted key is refused instead of asking for its password at the terminal.
static inline int co_no_password(char *buffer, int size, int writing, void *data) {
  (void)buffer, (void)size, (void)writing, (void)data;
  return -1;
}

#include "peers.h"

static inline SSL_CTX *co_new_tls_context(int server) {
  SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_default_passwd_cb(context, co_no_password);
  // Forward secrecy and authenticated encryption only (RFC 9325 section 4.2).
  if (!SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) ||
      !SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!PSK") || !co_limit_peers(context) ||
      (server && !SSL_CTX_set_num_tickets(context, 1)) ||
      (server && !SSL_CTX_set_session_id_context(context, (const unsigned char *)"borealis", 8))) {
    SSL_CTX_free(context);
    return NULL;
  }
  return context;
}

static inline int co_set_max_version_12(SSL_CTX *context) {
  return (int)SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
}

static inline int co_set_min_version_13(SSL_CTX *context) {
  return (int)SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
}

typedef int (*co_ticket_callback)(SSL *, unsigned char *, unsigned char *, EVP_CIPHER_CTX *, EVP_MAC_CTX *, int);

static inline void co_set_ticket_callback(SSL_CTX *context, co_ticket_callback callback) {
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, callback);
}

/// Sets up AES-256-CBC and HMAC-SHA-256 for one ticket (RFC 5077 section 4).
static inline int co_ticket_ciphers(EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, const unsigned char *aes_key,
                                    const unsigned char *mac_key, const unsigned char *iv, int encrypt) {
  char digest[] = "SHA256";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)mac_key, 32),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, parameters) &&
         EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, aes_key, iv, encrypt);
}

/// Client: offers protocols, each with its length in front (RFC 7301). 0 on success.
static inline int co_offer_protocols(SSL_CTX *context, const unsigned char *list, size_t count) {
  return SSL_CTX_set_alpn_protos(context, list, (unsigned)count);
}

static inline int co_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int co_is_end_of_pem(unsigned long code) {
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

static inline int co_is_key_mismatch(unsigned long code) {
  return ERR_GET_LIB(code) == ERR_LIB_X509 && (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH ||
                                               ERR_GET_REASON(code) == X509_R_KEY_TYPE_MISMATCH);
}

/// Name for SNI and certificate check; an address is checked but never sent (RFC 6066 section 3).
static inline int co_set_peer_name(SSL *ssl, const char *name) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name)) return 1;
  ERR_clear_error();
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, name) && (int)SSL_set_tlsext_host_name(ssl, (void *)name);
}

/// Lets every further read from a session find its end.
static inline void co_finish_reading(SSL *ssl) {
  SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

// The three calls below give SSL_ERROR_NONE or another SSL_ERROR code, and errno as the call left it.

static inline int co_ssl_outcome(SSL *ssl, int result, int *error_number) {
  int left = errno;
  int outcome = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl, result);
  *error_number = left;
  return outcome;
}

static inline int co_ssl_handshake(SSL *ssl, int *error_number) {
  ERR_clear_error();
  errno = 0;
  return co_ssl_outcome(ssl, SSL_do_handshake(ssl), error_number);
}

static inline int co_ssl_read(SSL *ssl, void *buffer, size_t capacity, size_t *count, int *error_number) {
  ERR_clear_error();
  errno = 0;
  return co_ssl_outcome(ssl, SSL_read_ex(ssl, buffer, capacity, count), error_number);
}

static inline int co_ssl_write(SSL *ssl, const void *bytes, size_t size, size_t *count, int *error_number) {
  ERR_clear_error();
  errno = 0;
  return co_ssl_outcome(ssl, SSL_write_ex(ssl, bytes, size, count), error_number);
}
