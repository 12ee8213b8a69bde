package io.borealis.push;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a JSON document (RFC 8259). Objects become unmodifiable maps in the order of their members, arrays
 * unmodifiable lists, numbers Long if they are integers that fit and Double otherwise. Duplicate keys and
 * lone surrogates are refused.
 */
final class Json {
  /** Not a JSON document, or over a limit. */
  static final class MalformedException extends StacklessException {
    private static final long serialVersionUID = 1;

    MalformedException(int at) {
      super("not JSON at character " + at);
    }
  }

  /** How many arrays and objects may be open at once. */
  private static final int MAX_DEPTH = 32;
  /** How many elements and members the whole document may have. */
  private static final int MAX_MEMBERS = 100_000;

  private final String text;
  private int at;
  private int depth;
  private int members;
  /** Where the values of the outermost object's members start and end. */
  private final Map<String, int[]> ranges = new LinkedHashMap<>();

  private Json(String text) {
    this.text = text;
  }

  /** A document that is an object, with the text that each member's value has. */
  static final class Document {
    final Map<String, Object> object;
    private final String text;
    private final Map<String, int[]> ranges;

    Document(Map<String, Object> object, String text, Map<String, int[]> ranges) {
      this.object = object;
      this.text = text;
      this.ranges = ranges;
    }

    /** The document with other values for some of its members. */
    String with(Map<String, String> values) {
      StringBuilder changed = new StringBuilder();
      int copied = 0;
      for (Map.Entry<String, int[]> member : ranges.entrySet()) {
        String value = values.get(member.getKey());
        if (value == null) continue;
        changed.append(text, copied, member.getValue()[0]).append(value);
        copied = member.getValue()[1];
      }
      return changed.append(text, copied, text.length()).toString();
    }
  }

  /** Reads a document that is an object; fails for anything else. */
  static Document document(String text) throws MalformedException {
    Json json = new Json(text);
    Object value = json.value();
    json.skipSpace();
    if (json.at != text.length()) throw json.malformed();
    Map<String, Object> object = object(value);
    if (object == null) throw new MalformedException(0);
    return new Document(object, text, json.ranges);
  }

  /** A value as an object; null if it is not one. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value instanceof Map ? (Map<String, Object>) value : null;
  }

  /** A value as a text; null if it is not one. */
  static String string(Object value) {
    return value instanceof String ? (String) value : null;
  }

  private MalformedException malformed() {
    return new MalformedException(at);
  }

  private char peek() throws MalformedException {
    skipSpace();
    if (at >= text.length()) throw malformed();
    return text.charAt(at);
  }

  private void skipSpace() {
    while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
  }

  private void expect(char character) throws MalformedException {
    if (peek() != character) throw malformed();
    at++;
  }

  private Object value() throws MalformedException {
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return string();
      case 't':
        return literal("true", Boolean.TRUE);
      case 'f':
        return literal("false", Boolean.FALSE);
      case 'n':
        return literal("null", null);
      default:
        return number();
    }
  }

  private Object literal(String word, Object value) throws MalformedException {
    if (!text.startsWith(word, at)) throw malformed();
    at += word.length();
    return value;
  }

  private void open() throws MalformedException {
    at++;
    if (++depth > MAX_DEPTH) throw malformed();
  }

  private void count() throws MalformedException {
    if (++members > MAX_MEMBERS) throw malformed();
  }

  /** Passes over a comma and returns true, or over the closing character and returns false. */
  private boolean hasMore(char closing) throws MalformedException {
    char next = peek();
    if (next != ',' && next != closing) throw malformed();
    at++;
    if (next == closing) depth--;
    return next == ',';
  }

  private Map<String, Object> object() throws MalformedException {
    open();
    Map<String, Object> object = new LinkedHashMap<>();
    if (peek() == '}') {
      at++;
      depth--;
      return Collections.unmodifiableMap(object);
    }
    do {
      count();
      if (peek() != '"') throw malformed();
      String key = string();
      if (object.containsKey(key)) throw malformed();
      expect(':');
      skipSpace();
      int start = at;
      object.put(key, value());
      if (depth == 1) ranges.put(key, new int[] {start, at});
    } while (hasMore('}'));
    return Collections.unmodifiableMap(object);
  }

  private List<Object> array() throws MalformedException {
    open();
    List<Object> array = new ArrayList<>();
    if (peek() == ']') {
      at++;
      depth--;
      return Collections.unmodifiableList(array);
    }
    do {
      count();
      array.add(value());
    } while (hasMore(']'));
    return Collections.unmodifiableList(array);
  }

  private String string() throws MalformedException {
    at++;
    StringBuilder string = new StringBuilder();
    while (true) {
      if (at >= text.length()) throw malformed();
      char character = text.charAt(at++);
      if (character == '"') break;
      if (character < ' ') throw malformed();
      string.append(character == '\\' ? escaped() : character);
    }
    for (int index = 0; index < string.length(); index++) {
      char character = string.charAt(index);
      if (!Character.isSurrogate(character)) continue;
      boolean isPair = Character.isHighSurrogate(character) && index + 1 < string.length()
          && Character.isLowSurrogate(string.charAt(index + 1));
      if (!isPair) throw malformed();
      index++;
    }
    return string.toString();
  }

  private char escaped() throws MalformedException {
    if (at >= text.length()) throw malformed();
    char character = text.charAt(at++);
    switch (character) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case '"':
      case '\\':
      case '/':
        return character;
      case 'u':
        if (text.length() - at < 4) throw malformed();
        int unit = 0;
        for (int index = 0; index < 4; index++) {
          int digit = "0123456789abcdefABCDEF".indexOf(text.charAt(at++));
          if (digit < 0) throw malformed();
          unit = unit << 4 | (digit < 16 ? digit : digit - 6);
        }
        return (char) unit;
      default:
        throw malformed();
    }
  }

  private Object number() throws MalformedException {
    int start = at;
    boolean isInteger = true;
    if (at < text.length() && text.charAt(at) == '-') at++;
    int first = at;
    digits();
    if (text.charAt(first) == '0' && at - first > 1) throw malformed();
    if (at < text.length() && text.charAt(at) == '.') {
      isInteger = false;
      at++;
      digits();
    }
    if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      isInteger = false;
      at++;
      if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) at++;
      digits();
    }
    String number = text.substring(start, at);
    if (!isInteger) return Double.parseDouble(number);
    try {
      return Long.parseLong(number);
    } catch (NumberFormatException error) {
      return Double.parseDouble(number);
    }
  }

  private void digits() throws MalformedException {
    int start = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
    if (at == start) throw malformed();
  }
}
