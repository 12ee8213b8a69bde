extension StoredData {
  /// What is stored of people who use the console, and of developers.
  static let consoleUsers: [StoredDatum] = [
    StoredDatum(
      "person: name, email address, language, digest of the password, second factor, identity at the company's identity provider",
      for: "to log in",
      in: .columns(
        "person",
        "id email name password totp totp_step language is_operator created_at disabled is_proven incident_mail oidc_issuer oidc_subject"
      ),
      .columns("recovery_code", "person_id code_hash"), until: "an operator deletes the database"),
    StoredDatum(
      "roles in accounts", for: "rights", in: .columns("membership", "person_id account_id role from_claim"),
      until: "the person is removed from the account"),
    StoredDatum(
      "invitation by email", for: "to add a person to an account",
      in: .columns(
        "invitation",
        "id token_hash account_id role email invited_by created_at expires_at mail_state mail_at mail_note"),
      until: "it is used, withdrawn, or expired"),
    StoredDatum(
      "link to reset a password", for: "to set a new one",
      in: .columns("password_reset", "token_hash person_id created_at expires_at replaced"),
      until: "it is used or expired"),
    StoredDatum(
      "session: when, from which address, with which browser", for: "to stay logged in, and to show sessions",
      in: .columns("console_session", "id token_hash person_id created_at seen_at address agent"),
      until: "the person logs out, or it expires"),
    StoredDatum(
      "audit log: who did what, when, from which address", for: "to show who changed what",
      in: .columns("audit", "id at account_id subject_app person_id who action address"),
      until: "400 days are over"),
    StoredDatum(
      "log of requests: calls of the APIs by an app's servers, with their address, without contents, registration IDs and aliases",
      for: "to find calls that were refused",
      in: .columns(
        "api_request",
        "app_id kind seq first_at last_at count method route status code message address key_id"),
      until: "7 days are over; `--request-log` turns it off"),
    StoredDatum(
      "mail that waits or was sent", for: "reminders of expiring credentials, and mail about incidents",
      in: .columns(
        "mail", "id credential_id recipient subject body created_at state attempts next_at error done_at"),
      until: "90 days after it was sent"),
    StoredDatum(
      "session and known browser",
      for: "to stay logged in; to recognize a browser while others guess passwords",
      in: .browser("borealis_session", "borealis_browser"), until: "the session ends; a year is over"),
    StoredDatum(
      "a login with the identity provider that is under way", for: "to take its answer in this browser only",
      in: .browser("borealis_signon"), until: "it ends, or after ten minutes"),
    StoredDatum(
      "message for the next page, and what was typed into a form", for: "to lose no input",
      in: .browser("borealis_notice", "borealis.form", "borealis.push"),
      until: "the next page shows it, or the tab is closed"),
    StoredDatum(
      "address of the person to whom a mail could not be sent", for: "to find faults of mail",
      in: [.log("the log: `to` and `subject` of mails")], until: "whoever collects the log deletes it"),
  ]
}
