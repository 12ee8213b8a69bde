package io.borealis.push.facade;

import java.util.Map;

/** Writes values as the JSON that apps expect in a text. */
public final class JsonText {
  private JsonText() {}

  /**
   * A value as JSON.
   *
   * @param value what a push has: String, Number, Boolean, null, List or Map
   * @return its text
   */
  public static String of(Object value) {
    StringBuilder text = new StringBuilder();
    write(value, text);
    return text.toString();
  }

  private static void write(Object value, StringBuilder text) {
    if (value instanceof String) {
      string((String) value, text);
    } else if (value instanceof Map) {
      String separator = "{";
      for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
        string((String) member.getKey(), text.append(separator));
        write(member.getValue(), text.append(':'));
        separator = ",";
      }
      text.append(separator.equals("{") ? "{}" : "}");
    } else if (value instanceof Iterable) {
      String separator = "[";
      for (Object element : (Iterable<?>) value) {
        write(element, text.append(separator));
        separator = ",";
      }
      text.append(separator.equals("[") ? "[]" : "]");
    } else {
      text.append(value);
    }
  }

  private static void string(String string, StringBuilder text) {
    text.append('"');
    for (int index = 0; index < string.length(); index++) {
      char character = string.charAt(index);
      if (character == '"' || character == '\\') text.append('\\').append(character);
      else if (character < ' ') text.append(String.format("\\u%04x", (int) character));
      else text.append(character);
    }
    text.append('"');
  }
}
