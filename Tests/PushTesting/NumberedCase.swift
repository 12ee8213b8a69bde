/// A numbered case of Getui's report on what an iPhone gets of a push with a notification for Apple and a
/// message for the app (getui.md 6.4), whichever API sends it.
package struct NumberedCase: Sendable, CustomStringConvertible {
  /// Where the app is when the push is sent.
  package enum App: CaseIterable, Sendable {
    /// On the screen.
    case foreground
    /// Behind others, or behind the locked screen.
    case background
    /// Ended.
    case notRunning
  }

  /// How the user comes to the app after the push was sent.
  package enum Opening: Sendable {
    /// It is open.
    case none
    /// By its icon.
    case icon
    /// By tapping the notification.
    case banner
  }

  /// The report's number. Series C was sent from Getui's console, series S by its API.
  package let name: String
  /// Where the app is when the push is sent.
  package let app: App
  /// Whether the task is stopped before the app is opened.
  package let isStopped: Bool
  /// How the user opens the app.
  package let opening: Opening
  /// Whether the app gets the message, as the report has it, under strategy 1.
  package let getsMessage: Bool
  /// Whether the app gets the notification that Apple brought, as the report has it, under strategy 1.
  package let getsNotification: Bool

  private init(
    _ name: String, _ app: App, isStopped: Bool, _ opening: Opening, _ message: Bool, _ notification: Bool
  ) {
    (self.name, self.app, self.isStopped, self.opening) = (name, app, isStopped, opening)
    (getsMessage, getsNotification) = (message, notification)
  }

  /// The report's number.
  package var description: String { name }

  /// The table. A notification is tapped as it comes (`C3`) or later in the list of notifications (`C4`),
  /// which is the same to the app and the server.
  package static let all: [NumberedCase] = [
    //           name  app at sending  task                     opened by  message, notification
    NumberedCase("C1", .foreground, isStopped: false, .none, true, false),
    NumberedCase("C2", .background, isStopped: false, .icon, true, false),
    NumberedCase("C3", .background, isStopped: false, .banner, true, true),
    NumberedCase("C4", .background, isStopped: false, .banner, true, true),
    NumberedCase("C5", .background, isStopped: true, .icon, false, false),
    NumberedCase("C6", .background, isStopped: true, .banner, false, true),
    NumberedCase("C7", .background, isStopped: true, .banner, false, true),
    NumberedCase("C8", .notRunning, isStopped: false, .icon, true, false),
    NumberedCase("C9", .notRunning, isStopped: false, .banner, true, true),
    NumberedCase("C10", .notRunning, isStopped: false, .banner, true, true),
    NumberedCase("C11", .notRunning, isStopped: true, .icon, false, false),
    NumberedCase("C12", .notRunning, isStopped: true, .banner, false, true),
    NumberedCase("C13", .notRunning, isStopped: true, .banner, false, true),
    NumberedCase("S1", .foreground, isStopped: false, .none, true, false),
    NumberedCase("S2", .background, isStopped: false, .icon, true, false),
    NumberedCase("S3", .background, isStopped: false, .banner, true, true),
    NumberedCase("S4", .background, isStopped: false, .banner, true, true),
    NumberedCase("S5", .notRunning, isStopped: false, .icon, true, false),
    NumberedCase("S6", .notRunning, isStopped: false, .banner, true, true),
    NumberedCase("S7", .notRunning, isStopped: false, .banner, true, true),
  ]

  /// Getui's strategies that there are.
  package static let strategies = [1, 2, 3, 4, 6]

  /// What a push comes to.
  package struct Outcome: Sendable, Equatable {
    /// Whether Apple is given the notification.
    package let asksApple: Bool
    /// Whether the app gets the message over the direct connection.
    package let getsMessage: Bool
    /// Whether the app gets the notification that the user tapped.
    package let getsNotification: Bool
  }

  /// What the case comes to under one of Getui's strategies, if Apple takes what it is given (getui.md 6.3).
  package func outcome(strategy: Int) -> Outcome {
    let isAway = app != .foreground
    let asksApple =
      switch strategy {
      case 2, 4: true
      case 3: false
      default: isAway
      }
    let getsMessage =
      switch strategy {
      case 2: false
      // Apple has it: nothing is left for the direct connection.
      case 4 where !isAway: false
      default: !isAway || !isStopped
      }
    return Outcome(
      asksApple: asksApple, getsMessage: getsMessage,
      getsNotification: asksApple && isAway && opening == .banner)
  }
}
