import COpenSSL

/// OpenSSL as a whole.
package enum CryptoLibrary {
  /// Has OpenSSL keep what it has until the process is gone. Else it frees everything as soon as the process
  /// exits, whatever other threads still do with it, and what it keeps for a thread that ends after that is
  /// lost (OPENSSL_init_crypto(3)). Call it before anything uses OpenSSL.
  package static func keepUntilExit() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
