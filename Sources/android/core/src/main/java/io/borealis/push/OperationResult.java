package io.borealis.push;

import java.util.Collections;
import java.util.List;

/** How an operation ended. */
public final class OperationResult {
  private final long sequence;
  private final OperationType type;
  private final int code;
  private final String alias;
  private final List<String> tags;
  private final boolean tagSet;
  private final byte[] key;

  private OperationResult(long sequence, OperationType type, int code, String alias, List<String> tags,
      boolean tagSet, byte[] key) {
    this.sequence = sequence;
    this.type = type;
    this.code = code;
    this.alias = alias;
    this.tags = tags;
    this.tagSet = tagSet;
    this.key = key;
  }

  static OperationResult of(long sequence, OperationType type, int code) {
    return new OperationResult(sequence, type, code, null, Collections.<String>emptyList(), false, null);
  }

  /** Reads what a RESULT has for an operation; it fails unless the bytes fit this operation. */
  static OperationResult decode(long sequence, OperationType type, int code, byte[] payload)
      throws FrameException {
    BodyReader body = new BodyReader(payload, 0, payload.length);
    String alias = null;
    List<String> tags = Collections.emptyList();
    boolean tagSet = false;
    byte[] key = null;
    if (code == ResultCode.OK) {
      switch (type.frameType) {
        case Wire.GET_ALIAS:
          alias = body.text();
          if (alias.isEmpty()) alias = null;
          break;
        case Wire.GET_TAGS:
          tags = Collections.unmodifiableList(body.texts());
          break;
        case Wire.CHECK_TAG:
          int flag = body.u8();
          if (flag > 1) throw new FrameException("a flag that is neither 0 nor 1");
          tagSet = flag == 1;
          break;
        case Wire.GET_KEY:
          key = body.counted();
          break;
        default:
          break;
      }
    }
    body.finish();
    return new OperationResult(sequence, type, code, alias, tags, tagSet, key);
  }

  /**
   * The number of the operation, from 1 in each run of the client; 0 if the client was not started.
   * Operations with which the library itself sets alias and tags again after a new registration have numbers
   * as well.
   */
  public long sequence() {
    return sequence;
  }

  /** Which operation it was. */
  public OperationType type() {
    return type;
  }

  /** One of {@link ResultCode}, or a number of a newer server. */
  public int code() {
    return code;
  }

  /** Whether the operation succeeded. */
  public boolean isOk() {
    return code == ResultCode.OK;
  }

  /** The result of {@link PushClient#getAlias}; null if there is no alias. */
  @Nullable
  public String alias() {
    return alias;
  }

  /** The result of {@link PushClient#getTags}, in no particular order; otherwise empty. */
  public List<String> tags() {
    return tags;
  }

  /** The result of {@link PushClient#checkTag}: whether the device has the tag. */
  public boolean isTagSet() {
    return tagSet;
  }

  /** The result of GET_KEY: a key, encrypted for this device. */
  byte[] key() {
    return key;
  }

  @Override
  public String toString() {
    return type + " " + code;
  }
}
