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

/// A new RSA key.
static inline EVP_PKEY *co_new_rsa_key(unsigned int bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits); }

/// Begins a signature (`sign`) or a check with SHA-256: by PKCS #1 v1.5, or with `pss` by RSASSA-PSS with a salt as long as the digest.
static inline int co_rsa_begin(EVP_MD_CTX *context, EVP_PKEY *key, int sign, int pss) {
  EVP_PKEY_CTX *options = NULL;  // The context's own.
  int done = context != NULL && (sign ? EVP_DigestSignInit_ex(context, &options, "SHA256", NULL, NULL, key, NULL)
                                      : EVP_DigestVerifyInit_ex(context, &options, "SHA256", NULL, NULL, key, NULL)) == 1;
  if (!done || !pss) return done;
  return EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) > 0 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) > 0;
}

/// An RSA signature with SHA-256; gives its size, 0 on failure.
static inline size_t co_rsa_sign(EVP_PKEY *key, int pss, const void *bytes, size_t count, unsigned char *signature,
                                 size_t capacity) {
  size_t size = capacity;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int done = co_rsa_begin(context, key, 1, pss) &&
             EVP_DigestSign(context, signature, &size, (const unsigned char *)bytes, count) == 1;
  EVP_MD_CTX_free(context);
  return done ? size : 0;
}

/// Whether an RSA signature with SHA-256 is good.
static inline int co_rsa_is_valid(EVP_PKEY *key, int pss, const void *bytes, size_t count, const unsigned char *signature,
                                  size_t size) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int valid = co_rsa_begin(context, key, 0, pss) &&
              EVP_DigestVerify(context, signature, size, (const unsigned char *)bytes, count) == 1;
  EVP_MD_CTX_free(context);
  return valid;
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

// MARK: What reading costs

/// Whether a key of this algorithm is read at once. Of a DSA or DH key OpenSSL computes the public half, without a limit to its
/// size: for hours, if it was made for that.
static inline int co_is_read_at_once(int algorithm) {
  switch (algorithm) {
  case NID_rsaEncryption:
  case NID_rsassaPss:
  case NID_X9_62_id_ecPublicKey:
  case NID_ED25519:
  case NID_ED448:
    return 1;
  default:
    return 0;
  }
}

/// The algorithm of a private key, as a NID.
static inline int co_key_algorithm(const PKCS8_PRIV_KEY_INFO *info) {
  const ASN1_OBJECT *algorithm = NULL;
  return PKCS8_pkey_get0(&algorithm, NULL, NULL, NULL, info) == 1 ? OBJ_obj2nid(algorithm) : NID_undef;
}

/// Reads the first private key of a PEM text. NULL if there is none, with its algorithm as a NID in `refused` if it is one that is
/// not read at once.
static inline EVP_PKEY *co_read_private_key(BIO *text, int *refused) {
  unsigned char *der = NULL;
  char *label = NULL;
  long count = 0;
  EVP_PKEY *key = NULL;
  *refused = NID_undef;
  if (PEM_bytes_read_bio(&der, &count, &label, PEM_STRING_EVP_PKEY, text, co_no_password, NULL) != 1) return NULL;
  const unsigned char *start = der;
  // What a block holds counts, not its label.
  PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &start, count);
  start = der;
  if (info != NULL) {
    int algorithm = co_key_algorithm(info);
    if (co_is_read_at_once(algorithm)) key = EVP_PKCS82PKEY(info);
    else *refused = algorithm;
  } else if (strcmp(label, PEM_STRING_RSA) == 0) {
    key = d2i_PrivateKey(EVP_PKEY_RSA, NULL, &start, count);
  } else if (strcmp(label, PEM_STRING_ECPRIVATEKEY) == 0) {
    key = d2i_PrivateKey(EVP_PKEY_EC, NULL, &start, count);
  }
  PKCS8_PRIV_KEY_INFO_free(info);
  OPENSSL_clear_free(der, (size_t)count);
  OPENSSL_free(label);
  return key;
}

/// How far a PKCS #12 file is opened to see what it would cost.
enum co_pkcs12_depth {
  /// What shows without the password.
  CO_PKCS12_CLOSED,
  /// Also what is in parts that are encrypted as a whole.
  CO_PKCS12_PARTS,
  /// Also which keys those are that are encrypted.
  CO_PKCS12_KEYS
};

/// What a PKCS #12 file would cost.
struct co_pkcs12_cost {
  /// Rounds of key derivation, INT64_MAX for too many to say; so it is for a derivation whose cost is not known.
  int64_t rounds;
  /// The algorithm of a key that is not read at once, as a NID; NID_undef if there is none.
  int slow_key;
};

static inline int64_t co_add_rounds(int64_t one, int64_t other) {
  return one > INT64_MAX - other ? INT64_MAX : one + other;
}

static inline int64_t co_number_of_rounds(const ASN1_INTEGER *number) {
  int64_t rounds = 0;
  return ASN1_INTEGER_get_int64(&rounds, number) == 1 && rounds >= 0 ? rounds : INT64_MAX;
}

/// The rounds of PBES2 and PBMAC1 (RFC 8018), both of which name a derivation first. Others than PBKDF2 cost something else.
static inline int64_t co_rounds_of_scheme(const X509_ALGOR *algorithm) {
  int64_t rounds = INT64_MAX;
  PBE2PARAM *scheme = (PBE2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter);
  if (scheme != NULL && OBJ_obj2nid(scheme->keyfunc->algorithm) == NID_id_pbkdf2) {
    PBKDF2PARAM *derivation =
        (PBKDF2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), scheme->keyfunc->parameter);
    if (derivation != NULL) rounds = co_number_of_rounds(derivation->iter);
    PBKDF2PARAM_free(derivation);
  }
  PBE2PARAM_free(scheme);
  return rounds;
}

/// The rounds of an encryption under a password, by the structures that OpenSSL itself reads.
static inline int64_t co_rounds_of_encryption(const X509_ALGOR *algorithm) {
  if (algorithm == NULL) return INT64_MAX;
  switch (OBJ_obj2nid(algorithm->algorithm)) {
  case NID_pbes2:
    return co_rounds_of_scheme(algorithm);
  case NID_pbe_WithSHA1And128BitRC4:
  case NID_pbe_WithSHA1And40BitRC4:
  case NID_pbe_WithSHA1And3_Key_TripleDES_CBC:
  case NID_pbe_WithSHA1And2_Key_TripleDES_CBC:
  case NID_pbe_WithSHA1And128BitRC2_CBC:
  case NID_pbe_WithSHA1And40BitRC2_CBC:
  case NID_pbeWithMD2AndDES_CBC:
  case NID_pbeWithMD5AndDES_CBC:
  case NID_pbeWithSHA1AndDES_CBC:
  case NID_pbeWithMD2AndRC2_CBC:
  case NID_pbeWithMD5AndRC2_CBC:
  case NID_pbeWithSHA1AndRC2_CBC: {
    PBEPARAM *derivation = (PBEPARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm->parameter);
    int64_t rounds = derivation == NULL ? INT64_MAX : co_number_of_rounds(derivation->iter);
    PBEPARAM_free(derivation);
    return rounds;
  }
  default:
    return INT64_MAX;
  }
}

static inline int64_t co_rounds_of_checksum(const PKCS12 *file) {
  const X509_ALGOR *algorithm = NULL;
  const ASN1_INTEGER *rounds = NULL;
  PKCS12_get0_mac(NULL, &algorithm, NULL, &rounds, file);
  if (algorithm == NULL) return 0;
  if (OBJ_obj2nid(algorithm->algorithm) == NID_pbmac1) return co_rounds_of_scheme(algorithm);
  return rounds == NULL ? 1 : co_number_of_rounds(rounds);
}

static inline void co_cost_of_key(struct co_pkcs12_cost *cost, const PKCS8_PRIV_KEY_INFO *info) {
  if (info == NULL) return;
  int algorithm = co_key_algorithm(info);
  if (!co_is_read_at_once(algorithm)) cost->slow_key = algorithm;
}

static inline void co_cost_of_bags(struct co_pkcs12_cost *cost, const STACK_OF(PKCS12_SAFEBAG) *bags,
                                   const char *password, enum co_pkcs12_depth depth, int levels) {
  for (int i = 0; i < sk_PKCS12_SAFEBAG_num(bags); i++) {
    const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, i);
    switch (PKCS12_SAFEBAG_get_nid(bag)) {
    case NID_keyBag:
      co_cost_of_key(cost, PKCS12_SAFEBAG_get0_p8inf(bag));
      break;
    case NID_pkcs8ShroudedKeyBag: {
      const X509_SIG *key = PKCS12_SAFEBAG_get0_pkcs8(bag);
      const X509_ALGOR *algorithm = NULL;
      if (key != NULL) X509_SIG_get0(key, &algorithm, NULL);
      cost->rounds = co_add_rounds(cost->rounds, co_rounds_of_encryption(algorithm));
      if (key == NULL || depth < CO_PKCS12_KEYS) break;
      PKCS8_PRIV_KEY_INFO *info = PKCS12_decrypt_skey(bag, password, -1);
      co_cost_of_key(cost, info);
      PKCS8_PRIV_KEY_INFO_free(info);
      break;
    }
    case NID_safeContentsBag:
      if (levels == 0) cost->rounds = INT64_MAX;
      else co_cost_of_bags(cost, PKCS12_SAFEBAG_get0_safes(bag), password, depth, levels - 1);
      break;
    }
  }
}

/// What a PKCS #12 file would cost, as far as it shows when the file is opened so far with its password. OpenSSL reads the
/// file with the same functions, so what these cannot read costs nothing later.
static inline struct co_pkcs12_cost co_pkcs12_cost(const PKCS12 *file, const char *password,
                                                   enum co_pkcs12_depth depth) {
  struct co_pkcs12_cost cost = {co_rounds_of_checksum(file), NID_undef};
  STACK_OF(PKCS7) *parts = PKCS12_unpack_authsafes(file);
  for (int i = 0; i < sk_PKCS7_num(parts); i++) {
    PKCS7 *part = sk_PKCS7_value(parts, i);
    STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
    if (PKCS7_type_is_data(part) && part->d.data != NULL) {
      bags = PKCS12_unpack_p7data(part);
    } else if (PKCS7_type_is_encrypted(part) && part->d.encrypted != NULL) {
      cost.rounds = co_add_rounds(cost.rounds, co_rounds_of_encryption(part->d.encrypted->enc_data->algorithm));
      if (depth >= CO_PKCS12_PARTS) bags = PKCS12_unpack_p7encdata(part, password, -1);
    }
    co_cost_of_bags(&cost, bags, password, depth, 32);
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
  }
  sk_PKCS7_pop_free(parts, PKCS7_free);
  ERR_clear_error();
  return cost;
}

/// The name of an algorithm.
static inline const char *co_algorithm_name(int algorithm) {
  const char *name = OBJ_nid2ln(algorithm);
  return name == NULL || algorithm == NID_undef ? "unknown" : name;
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

/// Adds an extension by its OID and its DER value.
static inline int co_x509_add_raw_extension(X509 *certificate, const char *oid, int is_critical, const unsigned char *der,
                                            int count) {
  ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
  ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
  X509_EXTENSION *extension = NULL;
  if (object != NULL && value != NULL && ASN1_OCTET_STRING_set(value, der, count))
    extension = X509_EXTENSION_create_by_OBJ(NULL, object, is_critical, value);
  int added = extension != NULL && X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  ASN1_OCTET_STRING_free(value);
  ASN1_OBJECT_free(object);
  return added;
}

/// A request for a certificate without a subject and with alternative names, in OpenSSL's own notation, signed with the key that it
/// is for (RFC 2986). NULL on failure.
static inline X509_REQ *co_new_request(EVP_PKEY *key, const char *names) {
  X509_REQ *request = X509_REQ_new();
  STACK_OF(X509_EXTENSION) *extensions = sk_X509_EXTENSION_new_null();
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, NULL, NULL, request, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, NID_subject_alt_name, names);
  int done = request != NULL && extensions != NULL && extension != NULL &&
             sk_X509_EXTENSION_push(extensions, extension) > 0 && X509_REQ_set_version(request, 0) &&
             X509_REQ_set_pubkey(request, key) && X509_REQ_add_extensions(request, extensions) &&
             X509_REQ_sign(request, key, EVP_sha256()) > 0;
  sk_X509_EXTENSION_free(extensions);
  X509_EXTENSION_free(extension);
  if (done) return request;
  X509_REQ_free(request);
  return NULL;
}
