package io.borealis.jpush;

import io.borealis.push.OperationResult;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/** The result of an operation on alias, tags or the mobile number. */
public class JPushMessage {
  private String alias;
  private Set<String> tags;
  private String checkTag;
  private int errorCode;
  private boolean tagCheckStateResult;
  private boolean tagCheckOperator;
  private int sequence;
  private String mobileNumber;

  /** An empty result. */
  public JPushMessage() {}

  JPushMessage(int sequence, int errorCode) {
    this.sequence = sequence;
    this.errorCode = errorCode;
  }

  static JPushMessage ofAlias(int sequence, OperationResult result, String alias) {
    JPushMessage message = new JPushMessage(sequence, result.code());
    message.alias = alias == null ? result.alias() : alias;
    return message;
  }

  static JPushMessage ofTags(int sequence, OperationResult result, Set<String> tags) {
    JPushMessage message = new JPushMessage(sequence, result.code());
    Set<String> known = tags == null ? new LinkedHashSet<>(result.tags()) : tags;
    message.tags = Collections.unmodifiableSet(known);
    return message;
  }

  static JPushMessage ofCheck(int sequence, OperationResult result, String tag) {
    JPushMessage message = new JPushMessage(sequence, result.code());
    message.checkTag = tag;
    message.tagCheckStateResult = result.isTagSet();
    message.tagCheckOperator = true;
    return message;
  }

  static JPushMessage ofNumber(int sequence, int errorCode, String number) {
    JPushMessage message = new JPushMessage(sequence, errorCode);
    message.mobileNumber = number;
    return message;
  }

  /**
   * The alias.
   *
   * @return null if there is none
   */
  public String getAlias() {
    return alias;
  }

  /**
   * The tags that were set, or all of the device's.
   *
   * @return null after other operations
   */
  public Set<String> getTags() {
    return tags;
  }

  /**
   * The tag that was checked.
   *
   * @return null after other operations
   */
  public String getCheckTag() {
    return checkTag;
  }

  /**
   * How the operation ended.
   *
   * @return 0, or one of JPush's codes
   */
  public int getErrorCode() {
    return errorCode;
  }

  /**
   * Whether the device has the tag that was checked.
   *
   * @return false after other operations
   */
  public boolean getTagCheckStateResult() {
    return tagCheckStateResult;
  }

  /**
   * Whether a tag was checked.
   *
   * @return false after other operations
   */
  public boolean isTagCheckOperator() {
    return tagCheckOperator;
  }

  /**
   * The number that the app gave the operation.
   *
   * @return that number
   */
  public int getSequence() {
    return sequence;
  }

  /**
   * The mobile number.
   *
   * @return null after other operations
   */
  public String getMobileNumber() {
    return mobileNumber;
  }

  @Override
  public String toString() {
    return "JPushMessage{alias='" + alias + "', tags=" + tags + ", checkTag='" + checkTag + "', errorCode="
        + errorCode + ", tagCheckStateResult=" + tagCheckStateResult + ", sequence=" + sequence + "}";
  }
}
