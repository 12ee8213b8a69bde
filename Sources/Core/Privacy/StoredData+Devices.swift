extension StoredData {
  private static let withApp = "the app calls `reset`, or is removed"

  /// What the libraries store on devices and in browsers, once an app has called `start` with consent.
  static let devices: [StoredDatum] = [
    StoredDatum(
      "16 random bytes, or an ID that the app passes", for: "to replace the registration after a lost answer",
      in: .records(1), until: withApp),
    StoredDatum(
      "registration ID with its password, or that there is none", for: "to log in", in: .records(2, 3),
      until: withApp),
    StoredDatum(
      "alias and tags as the app wants them", for: "to send them again to a server that lost them",
      in: .records(4), until: withApp),
    StoredDatum(
      "IDs of the latest pushes", for: "to show each push once", in: .records(5, 6, 7),
      until: "newer ones push them out, or the app is removed"),
    StoredDatum(
      "keys for encrypted contents", for: "to read what only the device may read",
      in: .records(8, 9, 10, 11),
      until: "the key is replaced and no push with it can come any more, or the app is removed"),
    StoredDatum(
      "the records above", for: "the libraries in Swift and Java",
      in: .files("borealis.state", "Borealis/APPKEY.state"), until: withApp),
    StoredDatum(
      "that pushes are stopped (facade of JPush's and Getui's calls on Android)", for: "to stay stopped",
      in: .files("borealis.stopped"), until: "pushes are resumed, or the app is removed"),
    StoredDatum(
      "registration ID, password and keys for the notification service extension (iOS, App Group)",
      for: "receipts and decryption in the extension", in: .files("Borealis/device.json"), until: withApp),
    StoredDatum(
      "IDs of notifications that the extension has shown (iOS, App Group)", for: "to show each push once",
      in: .files("Borealis/shown-ID", "Borealis/reported-ID"),
      until: "the app reads them at its next start"),
    StoredDatum(
      "registration: platform, 16 random bytes, registration ID, password, alias and tags; the console's virtual device has it under `borealis.device.APPKEY`",
      for: "to log in",
      in: .browser("borealis.APPKEY"), until: "`reset`, or the site's data is deleted"),
    StoredDatum(
      "IDs of the latest pushes, and pushes that the page shows", for: "to show each push once",
      in: .browser("borealis.APPKEY.pushes"),
      until: "newer ones push them out, `reset`, or the site's data is deleted"),
    StoredDatum(
      "keys for encrypted contents", for: "to read what only the device may read",
      in: .browser("borealis.APPKEY.keys"), until: "`reset`, or the site's data is deleted"),
    StoredDatum(
      "copy of registration and keys for the service worker", for: "receipts and decryption in the worker",
      in: .tables("facts: identity", "facts: keys"), until: "`reset`, or the site's data is deleted"),
    StoredDatum(
      "pushes that the worker has shown", for: "to show each push once, and to pass them to the page",
      in: .tables("pushes"), until: "2048 newer ones push them out, `reset`, or the site's data is deleted"),
    StoredDatum(
      "receipts that the server does not have yet", for: "to report them later", in: .tables("receipts"),
      until: "the server has them, or the site's data is deleted"),
  ]
}
