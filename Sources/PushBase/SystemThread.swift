import CLinux

/// Threads of our own: the one way in which they are made. Each has a name and one closure, which it alone owns; whoever needs
/// one for work that blocks has it done by a `BackgroundWork`.
public enum SystemThread {
  /// The system has no thread left; with the errno.
  public struct Failure: Error, Equatable {
    /// The errno value.
    public let number: Int32
  }

  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Starts a thread that ends with the closure.
  public static func start(
    _ name: String, stackBytes: Int = 1 << 20, _ body: sending @escaping () -> Void
  ) throws(Failure) {
    let context = Unmanaged.passRetained(Body(body))
    let status = cl_thread_start(
      name, stackBytes,
      { if let context = $0 { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() } },
      context.toOpaque())
    guard status >= 0 else {
      context.release()
      throw Failure(number: -status)
    }
  }
}
