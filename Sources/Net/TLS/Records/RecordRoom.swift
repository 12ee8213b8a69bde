import COpenSSL
import Glibc

/// What the connections of a thread have in common while they read or write a record: ciphers that get
/// another key each time, and room for records. No key and no content that was read outlasts a call.
final class RecordRoom {
  var ciphers = co_record_ciphers()
  /// Whatever is left of a record, and at least one more.
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * RecordLayer.largestRecord, alignment: 16)

  private init() {}

  deinit {
    co_end_record_ciphers(&ciphers)
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  /// Nil if the process has no keys left.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let isMade = pthread_key_create(&key) { room in
      if let room { Unmanaged<RecordRoom>.fromOpaque(room).release() }
    }
    return isMade == 0 ? key : nil
  }()

  /// That of this thread, which ends with it.
  static var ofThisThread: RecordRoom {
    guard let key else { return RecordRoom() }
    if let known = pthread_getspecific(key) {
      return Unmanaged<RecordRoom>.fromOpaque(known).takeUnretainedValue()
    }
    let room = RecordRoom()
    let retained = Unmanaged.passRetained(room)
    if pthread_setspecific(key, retained.toOpaque()) != 0 { retained.release() }
    return room
  }
}
