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
