import Storage

/// Seals the secrets of people's one-time passwords before they are stored, and opens them. Both give nil
/// when the key for that cannot be read.
package struct PersonSecrets: Sendable {
  let seal: @Sendable ([UInt8], PersonID, _ keysInUse: Set<String>) -> [UInt8]?
  let open: @Sendable ([UInt8], PersonID) -> [UInt8]?

  /// Puts both ways together. `seal` may make a key when none is in use yet, as its last argument says.
  package init(
    seal: @escaping @Sendable ([UInt8], PersonID, _ keysInUse: Set<String>) -> [UInt8]?,
    open: @escaping @Sendable ([UInt8], PersonID) -> [UInt8]?
  ) {
    self.seal = seal
    self.open = open
  }
}
