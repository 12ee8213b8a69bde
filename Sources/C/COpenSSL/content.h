#pragma once
#include "shim.h"
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/modes.h>

// What the coding of contents that only a device reads needs: keys of three kinds, HKDF, and both ciphers in Galois/Counter Mode.

/// Kinds of keys, as the device protocol counts them.
enum { CO_KEY_X25519 = 1, CO_KEY_P256 = 2, CO_KEY_SM2 = 3 };

static inline const char *co_content_group(int kind) { return kind == CO_KEY_SM2 ? "SM2" : "prime256v1"; }

static inline EVP_PKEY *co_new_content_key(int kind) {
  switch (kind) {
  case CO_KEY_X25519:
    return EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
  case CO_KEY_P256:
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
  case CO_KEY_SM2:
    return EVP_PKEY_Q_keygen(NULL, NULL, "SM2");
  default:
    return NULL;
  }
}

/// A key from its bytes: a point of 32 bytes, or an uncompressed one of 65, and for a private key its scalar of 32 bytes.
static inline EVP_PKEY *co_read_content_key(int kind, const unsigned char *point, size_t count,
                                            const unsigned char *scalar) {
  if (kind == CO_KEY_X25519) {
    return scalar != NULL ? EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, scalar, 32)
                          : EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, point, count);
  }
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, kind == CO_KEY_SM2 ? "SM2" : "EC", NULL);
  OSSL_PARAM_BLD *build = NULL;
  OSSL_PARAM *parameters = NULL;
  BIGNUM *number = scalar == NULL ? NULL : BN_bin2bn(scalar, 32, NULL);
  build = OSSL_PARAM_BLD_new();
  int done = context != NULL && build != NULL && (scalar == NULL || number != NULL) &&
             OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, co_content_group(kind), 0) &&
             OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, count) &&
             (number == NULL || OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, number)) &&
             (parameters = OSSL_PARAM_BLD_to_param(build)) != NULL && EVP_PKEY_fromdata_init(context) == 1 &&
             EVP_PKEY_fromdata(context, &key, number == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, parameters) == 1;
  if (done) {
    // A point that is not on the curve, or the private key of another point, would give secrets away.
    EVP_PKEY_CTX *check = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    done = check != NULL && EVP_PKEY_public_check(check) == 1 && (number == NULL || EVP_PKEY_pairwise_check(check) == 1);
    EVP_PKEY_CTX_free(check);
  }
  if (!done) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  BN_clear_free(number);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(build);
  EVP_PKEY_CTX_free(context);
  return key;
}

/// The bytes of a key's point: how many there are, 0 on failure.
static inline size_t co_content_point(int kind, EVP_PKEY *key, unsigned char point[65]) {
  size_t count = kind == CO_KEY_X25519 ? 32 : 65;
  if (kind == CO_KEY_X25519) return EVP_PKEY_get_raw_public_key(key, point, &count) == 1 ? count : 0;
  return EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, 65, &count) == 1 ? count : 0;
}

/// The 32 bytes of a private key's scalar. 0 on failure.
static inline int co_content_scalar(int kind, EVP_PKEY *key, unsigned char scalar[32]) {
  size_t count = 32;
  if (kind == CO_KEY_X25519) return EVP_PKEY_get_raw_private_key(key, scalar, &count) == 1 && count == 32;
  BIGNUM *number = NULL;
  int done = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 && BN_bn2binpad(number, scalar, 32) == 32;
  BN_clear_free(number);
  return done;
}

/// The 32 bytes that a key and a point of the same kind have in common (X25519, or ECDH on P-256). 0 on failure, also if the point
/// is not on its curve.
static inline int co_agree(int kind, EVP_PKEY *own, const unsigned char *point, size_t size, unsigned char secret[32]) {
  size_t count = 32;
  EVP_PKEY *peer = NULL;
  int done = 0;
  if (kind == CO_KEY_X25519) {
    peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, point, size);
    done = peer != NULL;
  } else if (size == 65 && point[0] == 4) {
    // Decoding refuses a point that is not on the curve.
    peer = EVP_PKEY_new();
    done = peer != NULL && EVP_PKEY_copy_parameters(peer, own) == 1 &&
           EVP_PKEY_set1_encoded_public_key(peer, point, size) == 1;
  }
  EVP_PKEY_CTX *context = done ? EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL) : NULL;
  // The full check of the peer would be the same work again, to find out its order: all points of this curve have the same.
  done = context != NULL && EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1 &&
         EVP_PKEY_derive(context, secret, &count) == 1 && count == 32;
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_free(peer);
  return done;
}

/// Enciphers or deciphers by SM2 (GM/T 0003.4), in the ASN.1 form of GM/T 0009. `count` is first the room in `output`.
static inline int co_sm2(EVP_PKEY *key, int encrypt, const unsigned char *input, size_t size, unsigned char *output,
                         size_t *count) {
  size_t needed = 0;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  int done = 0;
  if (context != NULL && encrypt) {
    done = EVP_PKEY_encrypt_init(context) == 1 && EVP_PKEY_encrypt(context, NULL, &needed, input, size) == 1 &&
           needed <= *count && EVP_PKEY_encrypt(context, output, count, input, size) == 1;
  } else if (context != NULL) {
    done = EVP_PKEY_decrypt_init(context) == 1 && EVP_PKEY_decrypt(context, NULL, &needed, input, size) == 1 &&
           needed <= *count && EVP_PKEY_decrypt(context, output, count, input, size) == 1;
  }
  EVP_PKEY_CTX_free(context);
  return done;
}

/// HKDF (RFC 5869), extraction and expansion, with SHA-256 or SM3.
static inline int co_hkdf(int national, const unsigned char *salt, size_t salt_count, const unsigned char *secret,
                          size_t secret_count, const unsigned char *info, size_t info_count, unsigned char *output,
                          size_t count) {
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)(national ? "SM3" : "SHA256"), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_count),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count),
      OSSL_PARAM_construct_end(),
  };
  int done = context != NULL && EVP_KDF_derive(context, output, count, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return done;
}

/// One block of SM4 (GM/T 0002), as OpenSSL's GCM wants it.
static inline void co_sm4_block(const unsigned char input[16], unsigned char output[16], const void *cipher) {
  int written = 0;
  EVP_EncryptUpdate((EVP_CIPHER_CTX *)cipher, output, &written, input, 16);
}

/// SM4-GCM (RFC 8998). OpenSSL has the mode as a cipher only since 3.1; its parts are there in all of 3. When sealing the tag
/// follows the output, when opening it follows the input.
static inline int co_sm4_gcm(int seal, const unsigned char key[16], const unsigned char nonce[12], const void *context,
                             size_t context_count, const unsigned char *bytes, size_t count, unsigned char *output) {
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  GCM128_CONTEXT *gcm = NULL;
  int done = cipher != NULL && EVP_EncryptInit_ex(cipher, EVP_sm4_ecb(), NULL, key, NULL) == 1 &&
             EVP_CIPHER_CTX_set_padding(cipher, 0) == 1 && (gcm = CRYPTO_gcm128_new(cipher, co_sm4_block)) != NULL;
  if (done) {
    CRYPTO_gcm128_setiv(gcm, nonce, 12);
    done = context_count == 0 || CRYPTO_gcm128_aad(gcm, (const unsigned char *)context, context_count) == 0;
    if (done && seal) {
      done = CRYPTO_gcm128_encrypt(gcm, bytes, output, count) == 0;
      CRYPTO_gcm128_tag(gcm, output + count, 16);
    } else if (done) {
      done = CRYPTO_gcm128_decrypt(gcm, bytes, output, count) == 0 && CRYPTO_gcm128_finish(gcm, bytes + count, 16) == 0;
      if (!done) OPENSSL_cleanse(output, count);
    }
  }
  CRYPTO_gcm128_release(gcm);
  EVP_CIPHER_CTX_free(cipher);
  return done;
}

/// AES-128-GCM, in the same way.
static inline int co_aes128_gcm(int seal, const unsigned char key[16], const unsigned char nonce[12],
                                const unsigned char *bytes, size_t count, unsigned char *output) {
  if (count > INT32_MAX) return 0;
  int written = 0, rest = 0;
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  int done = cipher != NULL && EVP_CipherInit_ex(cipher, EVP_aes_128_gcm(), NULL, key, nonce, seal) == 1 &&
             EVP_CipherUpdate(cipher, output, &written, bytes, (int)count) == 1;
  if (done && !seal) done = EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, (void *)(bytes + count)) == 1;
  done = done && EVP_CipherFinal_ex(cipher, output + written, &rest) == 1;
  if (done && seal) done = EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, output + count) == 1;
  if (!done) OPENSSL_cleanse(output, count);
  EVP_CIPHER_CTX_free(cipher);
  return done;
}

/// The 32 bytes of SM3 (GM/T 0004).
static inline int co_sm3(const void *bytes, size_t count, unsigned char digest[32]) {
  unsigned int size = 32;
  return EVP_Digest(bytes, count, digest, &size, EVP_sm3(), NULL) == 1 && size == 32;
}
