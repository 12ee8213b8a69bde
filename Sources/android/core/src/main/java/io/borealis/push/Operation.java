package io.borealis.push;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An operation with what it carries, which does not change once it is made. */
final class Operation {
  final OperationType type;
  /** The alias, or the tag to check. */
  private String text = "";
  /** The tags. */
  private List<String> tags = Collections.emptyList();
  /** The badge, the app state, or the ID of a key. */
  private long number;
  private ApnsToken token = ApnsToken.NONE;
  /** The kind of an APNs token, or of a key. */
  private int kind;
  private byte[] key = {};
  private ReportedToken channelToken;
  /** Facts by their numbers. */
  private Map<Integer, String> facts = Collections.emptyMap();

  private Operation(OperationType type) {
    this.type = type;
  }

  /** An operation that carries nothing. */
  static Operation of(OperationType type) {
    return new Operation(type);
  }

  /** SET_ALIAS or CHECK_TAG. */
  static Operation of(OperationType type, String text) {
    Operation operation = new Operation(type);
    operation.text = text;
    return operation;
  }

  /** SET_TAGS, ADD_TAGS or DELETE_TAGS. */
  static Operation of(OperationType type, Collection<String> tags) {
    Operation operation = new Operation(type);
    operation.tags = Collections.unmodifiableList(new ArrayList<>(tags));
    return operation;
  }

  /** SET_BADGE, APP_STATE (1 for the foreground) or GET_KEY. */
  static Operation of(OperationType type, long number) {
    Operation operation = new Operation(type);
    operation.number = number;
    return operation;
  }

  static Operation setToken(ApnsToken token) {
    Operation operation = new Operation(OperationType.SET_TOKEN);
    operation.token = token;
    return operation;
  }

  static Operation setOtherToken(int kind, String name, ApnsToken token) {
    Operation operation = new Operation(OperationType.SET_OTHER_TOKEN);
    operation.kind = kind;
    operation.text = name;
    operation.token = token;
    return operation;
  }

  static Operation setKey(int kind, byte[] key) {
    Operation operation = new Operation(OperationType.SET_KEY);
    operation.kind = kind;
    operation.key = key.clone();
    return operation;
  }

  static Operation setChannelToken(ReportedToken token) {
    Operation operation = new Operation(OperationType.SET_CHANNEL_TOKEN);
    operation.channelToken = token;
    return operation;
  }

  static Operation setFacts(Map<Integer, String> facts) {
    Operation operation = new Operation(OperationType.SET_FACTS);
    operation.facts = new TreeMap<>(facts);
    return operation;
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

  Map<Integer, String> facts() {
    return facts;
  }

  ReportedToken channelToken() {
    return channelToken;
  }

  FrameWriter write(FrameWriter writer) {
    switch (type.frameType) {
      case Wire.SET_ALIAS:
      case Wire.CHECK_TAG:
        return writer.text(text);
      case Wire.SET_TAGS:
      case Wire.ADD_TAGS:
      case Wire.DELETE_TAGS:
        return writer.texts(tags);
      case Wire.SET_BADGE:
        return writer.u32(number);
      case Wire.APP_STATE:
        return writer.u8((int) number);
      case Wire.SET_TOKEN:
        return writer.u8(token.environment).counted(token.bytes);
      case Wire.SET_OTHER_TOKEN:
        return writer.u8(kind).text(text).u8(token.environment).counted(token.bytes);
      case Wire.SET_KEY:
        return writer.u8(kind).counted(key);
      case Wire.GET_KEY:
        return writer.u64(number);
      case Wire.SET_CHANNEL_TOKEN:
        return writer.text(channelToken.channel).text(channelToken.kind).text(channelToken.name)
            .text(channelToken.service).longText(channelToken.token, Wire.MAX_CHANNEL_TOKEN);
      case Wire.SET_FACTS:
        writer.u8(facts.size());
        for (Map.Entry<Integer, String> fact : facts.entrySet()) {
          writer.u8(fact.getKey()).text(fact.getValue());
        }
        return writer;
      default:
        return writer;
    }
  }

  /** Why it does not fit its frame. */
  int refusal() {
    switch (type.frameType) {
      case Wire.SET_ALIAS:
        return ResultCode.ALIAS_TOO_LONG;
      case Wire.CHECK_TAG:
        return ResultCode.TAG_TOO_LONG;
      case Wire.SET_TAGS:
      case Wire.ADD_TAGS:
      case Wire.DELETE_TAGS:
        for (String tag : tags) {
          if (Wire.utf8(tag).length > Wire.MAX_COUNTED) return ResultCode.TAG_TOO_LONG;
        }
        return tags.size() > Wire.MAX_TAGS ? ResultCode.TOO_MANY_TAGS : ResultCode.TAGS_TOO_LONG;
      default:
        return ResultCode.REQUEST_INVALID;
    }
  }
}
