package io.borealis.push;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads the frames of a client as a server does, and writes them as Docs/device-library.md has them in
 * scenarios.
 */
final class ClientFrames {
  /** What stands before the ID in a list, by the kind of a receipt; 0 in others. */
  private static final String[] KINDS = {" ", " shown=", " tapped=", " inAppShown=", " inAppTapped="};

  private ClientFrames() {}

  /** The frames in some bytes, which have to be complete. */
  static List<String> of(byte[] bytes) throws FrameException {
    FrameBuffer buffer = new FrameBuffer();
    buffer.append(bytes, 0, bytes.length);
    List<String> frames = new ArrayList<>();
    int size = 0;
    while (buffer.next()) {
      BodyReader body = buffer.body();
      int length = body.remaining() + 1;
      size += length + (length < 128 ? 1 : length < 16_384 ? 2 : 3);
      frames.add(decode(buffer.type(), body));
    }
    if (size != bytes.length) throw new FrameException("a frame is not complete");
    return frames;
  }

  static String decode(int type, BodyReader body) throws FrameException {
    String frame = text(type, body);
    body.finish();
    return frame;
  }

  private static String text(int type, BodyReader body) throws FrameException {
    switch (type) {
      case Wire.PING:
        return "PING";
      case Wire.HELLO:
        if (body.u32() != 0x42524C53L) throw new FrameException("not the protocol");
        int least = body.u8();
        int most = body.u8();
        body.text();
        if (least == 0 || least > most) throw new FrameException("versions");
        return "HELLO " + least + "-" + most;
      case Wire.REGISTER:
        return register(body);
      case Wire.LOGIN:
        body.bytes(12);
        String id = Identity.registrationId(body.bytes(10));
        body.bytes(Wire.SECRET_BYTES);
        int heartbeat = body.u16();
        return "LOGIN " + id + " " + appState(body.u8()) + " heartbeat=" + heartbeat;
      case Wire.ACK:
      case Wire.ACK_AGE:
      case Wire.RECEIPT:
        return list(type, body);
      default:
        return operation(type, body);
    }
  }

  private static String register(BodyReader body) throws FrameException {
    body.bytes(12);
    int platform = body.u8();
    if (platform < 1 || platform > 4) throw new FrameException("platform");
    byte[] fingerprint = body.counted();
    if (fingerprint.length < 1 || fingerprint.length > Wire.MAX_FINGERPRINT) {
      throw new FrameException("fingerprint");
    }
    token(body, 100);
    storable(body.text());
    return "REGISTER " + new String[] {"ios", "android", "hmos", "quickapp"}[platform - 1];
  }

  private static String token(BodyReader body, int most) throws FrameException {
    int environment = body.u8();
    byte[] token = body.counted();
    if (environment > 2 || token.length > most) throw new FrameException("token");
    return environment + ":" + Hex.of(token);
  }

  private static String storable(String text) throws FrameException {
    if (text.indexOf(0) >= 0) throw new FrameException("U+0000");
    return text;
  }

  private static String appState(int state) throws FrameException {
    if (state > 1) throw new FrameException("app state");
    return state == 1 ? "foreground" : "background";
  }

  private static String list(int type, BodyReader body) throws FrameException {
    int entry = type == Wire.ACK ? 8 : type == Wire.ACK_AGE ? 12 : 9;
    int most = type == Wire.RECEIPT ? Wire.RECEIPTS_PER_FRAME : Wire.ACKS_PER_FRAME;
    int count = body.remaining() / entry;
    if (body.remaining() % entry != 0 || count < 1 || count > most) throw new FrameException("count");
    StringBuilder text =
        new StringBuilder(type == Wire.ACK ? "ACK" : type == Wire.ACK_AGE ? "ACK_AGE" : "RECEIPT");
    for (int index = 0; index < count; index++) {
      int kind = type == Wire.RECEIPT ? body.u8() : 0;
      if (type == Wire.RECEIPT && (kind < 1 || kind > 4)) throw new FrameException("kind");
      text.append(KINDS[kind]).append(Long.toUnsignedString(body.u64()));
      if (type != Wire.ACK_AGE) continue;
      long age = body.u32();
      text.append(":").append(age == Wire.UNKNOWN_AGE ? "unknown" : Long.toString(age));
    }
    return text.toString();
  }

  private static String operation(int type, BodyReader body) throws FrameException {
    for (OperationType operation : OperationType.values()) {
      if (operation.frameType != type) continue;
      String text = operation + " " + body.u32();
      String arguments = arguments(operation, body);
      return arguments.isEmpty() ? text : text + " " + arguments;
    }
    throw new FrameException("type");
  }

  private static String facts(BodyReader body) throws FrameException {
    Map<Integer, String> facts = new TreeMap<>();
    int count = body.u8();
    for (int index = 0; index < count; index++) {
      int number = body.u8();
      if (number < 1 || number > 9) throw new FrameException("fact");
      facts.put(number, storable(body.text()));
    }
    if (count == 0 || facts.size() != count) throw new FrameException("count of facts");
    return facts.toString().replaceAll("[{} ]", "");
  }

  private static String arguments(OperationType operation, BodyReader body) throws FrameException {
    switch (operation) {
      case SET_ALIAS:
      case CHECK_TAG:
        return body.text();
      case SET_TAGS:
      case ADD_TAGS:
      case DELETE_TAGS:
        return String.join(",", body.texts());
      case SET_BADGE:
        return Long.toString(body.u32());
      case SET_TOKEN:
        return token(body, 100);
      case APP_STATE:
        return appState(body.u8());
      case SET_OTHER_TOKEN:
        int kind = body.u8();
        String name = storable(body.text());
        if (kind < 2 || kind > 4 || name.isEmpty() != (kind == 2)) throw new FrameException("kind or name");
        return kind + " " + name + " " + token(body, 255);
      case SET_KEY:
        int keyKind = body.u8();
        byte[] key = body.counted();
        int size = keyKind == 1 ? 48 : 81;
        if (keyKind < 1 || keyKind > 3 || key.length != 0 && key.length != size) {
          throw new FrameException("key");
        }
        return keyKind + " " + Hex.of(key);
      case GET_KEY:
        return Hex.of(body.u64());
      case SET_CHANNEL_TOKEN:
        String[] fields = {body.text(), body.text(), storable(body.text()), body.text()};
        int count = body.u16();
        if (count > Wire.MAX_CHANNEL_TOKEN) throw new FrameException("token");
        return String.join("/", fields) + " " + body.text(count);
      case SET_FACTS:
        return facts(body);
      default:
        return "";
    }
  }
}
