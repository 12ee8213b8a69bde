package io.borealis.push;

/** A report that a notification was shown or tapped. */
final class Receipt {
  /** {@link Wire#RECEIPT_SHOWN} or {@link Wire#RECEIPT_TAPPED}. */
  final int kind;
  final long messageId;

  Receipt(int kind, long messageId) {
    this.kind = kind;
    this.messageId = messageId;
  }
}
