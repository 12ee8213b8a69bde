import BorealisBase

@testable import Core

extension AppDirectory {
  /// Takes acknowledgements of one device, which came at some moments, or now.
  func acknowledge(
    _ ids: [MessageID], by number: RegistrationNumber, at moments: [Timestamp] = []
  ) -> DeliveryChange {
    var batch = AcknowledgementBatch()
    batch.add(by: number, at: nil, newestWhileAway: MessageID(.max))
    for (index, id) in ids.enumerated() {
      let moment = index < moments.count ? moments[index] : id.time
      batch.add(Arrival(id, acknowledgedAt: moment))
    }
    return acknowledge(batch).change
  }
}
