package io.borealis.push;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** An operation with what it carries. */
final class Operation {
  final OperationType type;
  /** The alias, or the tag to check. */
  private final String text;
  /** The tags. */
  private final List<String> tags;
  /** The badge, the app state, or the ID of a key. */
  private final long number;
  private final ApnsToken token;
  /** The kind of an APNs token, or of a key. */
  private final int kind;
  private final byte[] key;
  private final ChannelToken channelToken;

  private Operation(Builder builder) {
    type = builder.type;
    text = builder.text;
    tags = builder.tags;
    number = builder.number;
    token = builder.token;
    kind = builder.kind;
    key = builder.key;
    channelToken = builder.channelToken;
  }

  private static final class Builder {
    final OperationType type;
    String text = "";
    List<String> tags = Collections.emptyList();
    long number;
    ApnsToken token = ApnsToken.NONE;
    int kind;
    byte[] key = new byte[0];
    ChannelToken channelToken;

    Builder(OperationType type) {
      this.type = type;
    }
  }

  /** An operation that carries nothing. */
  static Operation of(OperationType type) {
    return new Operation(new Builder(type));
  }

  /** SET_ALIAS or CHECK_TAG. */
  static Operation of(OperationType type, String text) {
    Builder builder = new Builder(type);
    builder.text = text;
    return new Operation(builder);
  }

  /** SET_TAGS, ADD_TAGS or DELETE_TAGS. */
  static Operation of(OperationType type, Collection<String> tags) {
    Builder builder = new Builder(type);
    builder.tags = Collections.unmodifiableList(new ArrayList<>(tags));
    return new Operation(builder);
  }

  /** SET_BADGE, APP_STATE (1 for the foreground) or GET_KEY. */
  static Operation of(OperationType type, long number) {
    Builder builder = new Builder(type);
    builder.number = number;
    return new Operation(builder);
  }

  static Operation setToken(ApnsToken token) {
    Builder builder = new Builder(OperationType.SET_TOKEN);
    builder.token = token;
    return new Operation(builder);
  }

  static Operation setOtherToken(int kind, String name, ApnsToken token) {
    Builder builder = new Builder(OperationType.SET_OTHER_TOKEN);
    builder.kind = kind;
    builder.text = name;
    builder.token = token;
    return new Operation(builder);
  }

  static Operation setKey(int kind, byte[] key) {
    Builder builder = new Builder(OperationType.SET_KEY);
    builder.kind = kind;
    builder.key = key.clone();
    return new Operation(builder);
  }

  static Operation setChannelToken(ChannelToken token) {
    Builder builder = new Builder(OperationType.SET_CHANNEL_TOKEN);
    builder.channelToken = token;
    return new Operation(builder);
  }

  String text() {
    return text;
  }

  List<String> tags() {
    return tags;
  }

  long number() {
    return number;
  }

  ChannelToken channelToken() {
    return channelToken;
  }

  FrameWriter write(FrameWriter writer) {
    switch (type) {
      case SET_ALIAS:
      case CHECK_TAG:
        return writer.text(text);
      case SET_TAGS:
      case ADD_TAGS:
      case DELETE_TAGS:
        return writer.texts(tags);
      case SET_BADGE:
        return writer.u32(number);
      case APP_STATE:
        return writer.u8((int) number);
      case SET_TOKEN:
        return writer.u8(token.environment).counted(token.bytes);
      case SET_OTHER_TOKEN:
        return writer.u8(kind).text(text).u8(token.environment).counted(token.bytes);
      case SET_KEY:
        return writer.u8(kind).counted(key);
      case GET_KEY:
        return writer.u64(number);
      case SET_CHANNEL_TOKEN:
        return writer.text(channelToken.channel).text(channelToken.kind).text(channelToken.name)
            .text(channelToken.service).longText(channelToken.token, Wire.MAX_CHANNEL_TOKEN);
      default:
        return writer;
    }
  }

  /** Why it does not fit its frame. */
  int refusal() {
    switch (type) {
      case SET_ALIAS:
        return ResultCode.ALIAS_TOO_LONG;
      case CHECK_TAG:
        return ResultCode.TAG_TOO_LONG;
      case SET_TAGS:
      case ADD_TAGS:
      case DELETE_TAGS:
        for (String tag : tags) {
          if (Wire.utf8(tag).length > Wire.MAX_COUNTED) return ResultCode.TAG_TOO_LONG;
        }
        return tags.size() > Wire.MAX_TAGS ? ResultCode.TOO_MANY_TAGS : ResultCode.TAGS_TOO_LONG;
      default:
        return ResultCode.REQUEST_INVALID;
    }
  }
}
