package io.borealis.push;

/** A report that a notification or an in-app message was shown or tapped. */
final class Receipt {
  /** {@link Wire#RECEIPT_SHOWN} or another kind. */
  final int kind;
  final long messageId;

  Receipt(int kind, long messageId) {
    this.kind = kind;
    this.messageId = messageId;
  }

  /** The version of the protocol that has it. */
  int version() {
    return kind < Wire.RECEIPT_IN_APP_SHOWN ? 1 : 7;
  }
}
