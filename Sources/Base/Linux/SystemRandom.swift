import CLinux

/// Random bytes from the kernel (getrandom), fit for keys and secrets.
public enum SystemRandom {
  /// `count` random bytes.
  public static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      let status = cl_random(buffer.baseAddress, count)
      precondition(status == 0, "the kernel gives no random numbers")
      initialized = count
    }
  }

  /// 64 random bits.
  public static func next() -> UInt64 { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
