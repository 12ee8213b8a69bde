import CLinux

/// Starts all threads of the process. Each has a name and one closure, which it alone owns; blocking work
/// goes to a `BackgroundWork`.
public enum SystemThread {
  /// The system cannot start another thread; with the errno.
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
