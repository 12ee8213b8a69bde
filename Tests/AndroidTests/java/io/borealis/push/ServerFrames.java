package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;

/** Writes frames of a server from what scenarios have: a type, then values and {@code name=value}. */
final class ServerFrames {
  static final String REGISTRATION_ID = "1a2b3c4d5e6f7081923";
  static final byte[] SECRET = Hex.bytes("000102030405060708090a0b0c0d0e0f");

  private final String text;
  private final String[] words;

  private ServerFrames(String text) {
    this.text = text;
    words = text.split(" ");
  }

  static byte[] of(String... frames) {
    return of(Arrays.asList(frames));
  }

  static byte[] of(List<String> frames) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (String frame : frames) {
      byte[] one = new ServerFrames(frame).bytes();
      bytes.write(one, 0, one.length);
    }
    return bytes.toByteArray();
  }

  /** The value of {@code name=value} among words. */
  static String value(String text, String name, String fallback) {
    for (String word : text.split(" ")) {
      if (word.startsWith(name + "=")) return word.substring(name.length() + 1);
    }
    return fallback;
  }

  private String value(String name, String fallback) {
    return value(text, name, fallback);
  }

  private long number(String name, long fallback) {
    String value = value(name, null);
    return value == null ? fallback : Long.parseLong(value);
  }

  private long position(int index) {
    return Long.parseUnsignedLong(words[index]);
  }

  private boolean has(String word) {
    return Arrays.asList(words).contains(word);
  }

  private byte[] bytes() {
    switch (words[0]) {
      case "hex":
        return Hex.bytes(words[1]);
      case "PONG":
        return new FrameWriter(Wire.PONG).frame();
      case "HELLO_OK":
        return new FrameWriter(Wire.HELLO_OK).u8((int) number("version", 7))
            .u64(number("time", 1_800_000_000_000L)).u32(number("max_frame", 65_536)).frame();
      case "REGISTER_OK":
        byte[] id = Hex.bytes(value("id", REGISTRATION_ID) + "0");
        return new FrameWriter(Wire.REGISTER_OK).bytes(id).bytes(SECRET).frame();
      case "LOGIN_OK":
        return new FrameWriter(Wire.LOGIN_OK).u16((int) number("heartbeat", 300))
            .u16((int) number("ack_delay", 1000)).u64(number("time",
            1_800_000_000_000L)).u32(number("pending", 0)).frame();
      case "PUSH":
        return new FrameWriter(Wire.PUSH).u64(position(1)).u8(has("offline") ? 1 : 0)
            .bytes(Wire.utf8(content()))
            .frame();
      case "FACTS_WANTED":
        return new FrameWriter(Wire.FACTS_WANTED).u16((int) position(1)).frame();
      case "RECALL":
        return new FrameWriter(Wire.RECALL).u64(position(1)).frame();
      case "RESULT":
        return result();
      case "GO_AWAY":
        return new FrameWriter(Wire.GO_AWAY).u8((int) position(1)).u32(number("retry_after", 0))
            .text(value("host", ""))
            .frame();
      case "ERROR":
        int rule = Arrays.asList("never", "back-off", "at-once").indexOf(words[2]);
        return new FrameWriter(Wire.ERROR).u16((int) position(1)).u8(rule).text("").frame();
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  private String content() {
    String showBefore = value("show_before", null);
    return "{" + (showBefore == null ? "" : "\"show_before\":" + showBefore + ",")
        + (has("inapp") ? "\"notification\":{\"alert\":\"hi\"},\"inapp_message\":true," : "")
        + "\"message\":{\"msg_content\":\"hi\"}}";
  }

  private byte[] result() {
    FrameWriter writer = new FrameWriter(Wire.RESULT).u32(position(1)).u16((int) position(2));
    String alias = value("alias", null);
    String tags = value("tags", null);
    if (alias != null) writer.text(alias);
    if (tags != null) writer.texts(tags.isEmpty() ? Arrays.<String>asList() : Arrays.asList(tags.split(",")));
    if (value("flag", null) != null) writer.u8((int) number("flag", 0));
    return writer.frame();
  }
}
