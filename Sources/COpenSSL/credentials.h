#pragma once
#include "shim.h"
#include <openssl/ec.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>

// What reading keys, certificates and PKCS #12 files needs beyond functions that Swift can call itself.

/// An ECDSA signature with SHA-256 as two numbers of 32 bytes each, as RFC 7518 section 3.4 wants it. 0 on failure.
static inline int co_es256_sign(EVP_PKEY *key, const void *bytes, size_t count, unsigned char signature[64]) {
  unsigned char der[256];
  size_t size = sizeof der;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int done = context != NULL && EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, key, NULL) == 1 &&
             EVP_DigestSign(context, der, &size, (const unsigned char *)bytes, count) == 1;
  EVP_MD_CTX_free(context);
  if (!done) return 0;
  const unsigned char *at = der;
  ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)size);
  if (pair == NULL) return 0;
  done = BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32 &&
         BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
  ECDSA_SIG_free(pair);
  return done;
}

/// AES-256-GCM (NIST SP 800-38D) with a nonce of 12 bytes; the tag of 16 bytes follows the `count` bytes of output.
static inline int co_gcm_seal(const unsigned char key[32], const unsigned char nonce[12], const void *context,
                              size_t context_count, const void *bytes, size_t count, unsigned char *output) {
  if (context_count > INT32_MAX || count > INT32_MAX) return 0;
  int written = 0, rest = 0;
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  int done = cipher != NULL && EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, nonce) == 1 &&
             EVP_EncryptUpdate(cipher, NULL, &written, (const unsigned char *)context, (int)context_count) == 1 &&
             EVP_EncryptUpdate(cipher, output, &written, (const unsigned char *)bytes, (int)count) == 1 &&
             EVP_EncryptFinal_ex(cipher, output + written, &rest) == 1 &&
             EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, output + count) == 1;
  EVP_CIPHER_CTX_free(cipher);
  return done && (size_t)written == count && rest == 0;
}

/// Undoes `co_gcm_seal`: `count` bytes and their tag give `count` bytes. 0 if anything was changed.
static inline int co_gcm_open(const unsigned char key[32], const unsigned char nonce[12], const void *context,
                              size_t context_count, const unsigned char *bytes, size_t count,
                              unsigned char *output) {
  if (context_count > INT32_MAX || count > INT32_MAX) return 0;
  int written = 0, rest = 0;
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  int done = cipher != NULL && EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, nonce) == 1 &&
             EVP_DecryptUpdate(cipher, NULL, &written, (const unsigned char *)context, (int)context_count) == 1 &&
             EVP_DecryptUpdate(cipher, output, &written, bytes, (int)count) == 1 &&
             EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(bytes + count)) == 1 &&
             EVP_DecryptFinal_ex(cipher, output + written, &rest) == 1;
  EVP_CIPHER_CTX_free(cipher);
  return done;
}

/// Prints the first entry of a kind in a name, as UTF-8; 0 if there is none.
static inline int co_print_name_entry(BIO *bio, const X509_NAME *name, int nid) {
  int index = X509_NAME_get_index_by_NID(name, nid, -1);
  if (index < 0) return 0;
  unsigned char *text = NULL;
  int count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
  int written = count > 0 ? BIO_write(bio, text, count) : 0;
  OPENSSL_free(text);
  return written;
}

/// The value of a certificate's extension, which belongs to the certificate; -1 if there is none.
static inline long co_extension(const X509 *certificate, const char *oid, const unsigned char **bytes) {
  ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
  if (object == NULL) return -1;
  int index = X509_get_ext_by_OBJ(certificate, object, -1);
  ASN1_OBJECT_free(object);
  if (index < 0) return -1;
  const ASN1_OCTET_STRING *value = X509_EXTENSION_get_data(X509_get_ext(certificate, index));
  *bytes = ASN1_STRING_get0_data(value);
  return ASN1_STRING_length(value);
}

static inline int co_certificate_count(const STACK_OF(X509) *chain) { return chain ? sk_X509_num(chain) : 0; }

static inline X509 *co_certificate_at(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }

static inline void co_free_certificates(STACK_OF(X509) *chain) { sk_X509_pop_free(chain, X509_free); }

/// An empty PKCS #12 file whose content will be read with the providers of `context`.
static inline PKCS12 *co_new_pkcs12(OSSL_LIB_CTX *context) { return PKCS12_init_ex(NID_pkcs7_data, context, NULL); }

/// The bags in those parts of a file that are encrypted as a whole, decrypted, one DER sequence after the other; to be freed.
/// NULL if there are none. What cannot be decrypted is passed over.
static inline unsigned char *co_pkcs12_hidden(const PKCS12 *file, const char *password, size_t *size) {
  unsigned char *all = NULL;
  *size = 0;
  STACK_OF(PKCS7) *parts = PKCS12_unpack_authsafes(file);
  for (int i = 0; i < sk_PKCS7_num(parts); i++) {
    PKCS7 *part = sk_PKCS7_value(parts, i);
    if (!PKCS7_type_is_encrypted(part)) continue;
    STACK_OF(PKCS12_SAFEBAG) *bags = PKCS12_unpack_p7encdata(part, password, -1);
    unsigned char *der = NULL;
    int count = bags ? ASN1_item_i2d((const ASN1_VALUE *)bags, &der, ASN1_ITEM_rptr(PKCS12_SAFEBAGS)) : 0;
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    unsigned char *more = count > 0 ? (unsigned char *)OPENSSL_realloc(all, *size + (size_t)count) : NULL;
    if (more != NULL) {
      memcpy(more + *size, der, (size_t)count);
      all = more;
      *size += (size_t)count;
    }
    OPENSSL_free(der);
  }
  sk_PKCS7_pop_free(parts, PKCS7_free);
  return all;
}

/// Adds an extension that names the key of `issuer`, by which a chain is built (RFC 5280 section 4.2.1.1).
static inline int co_x509_add_issuer_key(X509 *certificate, X509 *issuer) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, NID_authority_key_identifier, "keyid:always");
  int added = extension != NULL && X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}

/// Adds an extension that OpenSSL does not know, with its DER value.
static inline int co_x509_add_raw_extension(X509 *certificate, const char *oid, const unsigned char *der, int count) {
  ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
  ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
  X509_EXTENSION *extension = NULL;
  if (object != NULL && value != NULL && ASN1_OCTET_STRING_set(value, der, count))
    extension = X509_EXTENSION_create_by_OBJ(NULL, object, 0, value);
  int added = extension != NULL && X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  ASN1_OCTET_STRING_free(value);
  ASN1_OBJECT_free(object);
  return added;
}
