package io.borealis.push;

import java.util.List;

/** Writes the frames of a client. */
final class ClientFrame {
  private static final byte[] MAGIC = {'B', 'R', 'L', 'S'};

  private ClientFrame() {}

  static byte[] ping() {
    return new FrameWriter(Wire.PING).frame();
  }

  static byte[] hello(int minVersion, int maxVersion, String clientName) {
    return new FrameWriter(Wire.HELLO).bytes(MAGIC).u8(minVersion).u8(maxVersion)
        .text(Wire.clipped(clientName, Wire.MAX_COUNTED)).frame();
  }

  static byte[] register(Profile profile, byte[] fingerprint) {
    FrameWriter writer = new FrameWriter(Wire.REGISTER).bytes(profile.appKey).u8(profile.platform);
    writer.counted(fingerprint).u8(profile.token.environment).counted(profile.token.bytes);
    return writer.text(Wire.clipped(profile.appVersion, Wire.MAX_COUNTED)).frame();
  }

  static byte[] login(Profile profile, Identity identity) {
    FrameWriter writer = new FrameWriter(Wire.LOGIN).bytes(profile.appKey);
    writer.bytes(identity.registrationIdBytes()).bytes(identity.secret);
    return writer.u16(profile.heartbeat).u8(profile.foreground ? 1 : 0).frame();
  }

  /** ACK of at most 512 pushes. */
  static byte[] ack(List<Long> ids) {
    FrameWriter writer = new FrameWriter(Wire.ACK);
    for (long id : ids) writer.u64(id);
    return writer.frame();
  }

  /** ACK_AGE of at most 512 pushes; ages in milliseconds, or {@link Wire#UNKNOWN_AGE}. */
  static byte[] ackAge(List<Long> ids, List<Long> ages) {
    FrameWriter writer = new FrameWriter(Wire.ACK_AGE);
    for (int index = 0; index < ids.size(); index++) writer.u64(ids.get(index)).u32(ages.get(index));
    return writer.frame();
  }

  /** RECEIPT of at most 256 entries. */
  static byte[] receipt(List<Receipt> receipts) {
    FrameWriter writer = new FrameWriter(Wire.RECEIPT);
    for (Receipt receipt : receipts) writer.u8(receipt.kind).u64(receipt.messageId);
    return writer.frame();
  }

  /** An operation; null if a text is too long for its field, or the whole for a frame. */
  static byte[] operation(long sequence, Operation operation) {
    return operation.write(new FrameWriter(operation.type.frameType).u32(sequence)).frame();
  }
}
