package io.borealis.push;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A device without sockets, files or clocks, which writes down what its session wants done. */
final class ScenarioDevice {
  static final ServerAddress SERVER = ServerAddress.parse("push.example.com:7900");
  private static final byte[] APP_KEY = Hex.bytes("0123456789abcdef00112233");

  /** What a restart of the process leaves. */
  private StoredState stored = new StoredState();
  private Session session;
  private final Map<Integer, String> facts = new HashMap<>();
  private boolean isDiskFull;
  private long now = 1_000_000;
  private long steady = 1_000_000;
  private List<String> done = new ArrayList<>();

  ScenarioDevice() {
    stored.fingerprint = new byte[] {1, 2, 3};
    restart();
  }

  /** A device that an earlier run registered, with {@code alias=} and {@code tags=} if they are named. */
  void register(String values) {
    stored.identity = new Identity(ServerFrames.REGISTRATION_ID, ServerFrames.SECRET);
    String alias = ServerFrames.value(values, "alias", null);
    String tags = ServerFrames.value(values, "tags", null);
    List<String> none = Collections.emptyList();
    stored.wishes = new Wishes(alias, tags == null ? none : Arrays.asList(tags.split(",")), true);
    restart();
  }

  void restart() {
    Profile profile = new Profile(APP_KEY, Platform.ANDROID.number, "", "test", 0, false);
    StoredState copy = new StoredState();
    copy.fingerprint = stored.fingerprint;
    copy.identity = stored.identity;
    copy.wishes = stored.wishes;
    copy.inHand.addAll(stored.inHand);
    for (long id : stored.handled.oldestFirst()) copy.handled.insert(id);
    session = new Session(SERVER, profile, copy, facts::get, 1);
  }

  /** What was done since the last call. */
  List<String> take() {
    List<String> taken = done;
    done = new ArrayList<>();
    return taken;
  }

  void setDiskFull(boolean isFull) {
    isDiskFull = isFull;
  }

  void connected() {
    session.setSteady(steady);
    perform(session.connected(now));
  }

  void lost() {
    perform(session.connectionEnded("gone", now));
  }

  void receive(byte[] bytes) {
    session.setSteady(steady);
    perform(session.received(bytes, 0, bytes.length, now));
  }

  /** Whether something happens without an outside event. */
  boolean hasDeadline() {
    return session.nextDeadline() != Long.MAX_VALUE;
  }

  void setReadingPaused(boolean isPaused) {
    session.setReadingPaused(isPaused, now);
  }

  /** Lets time pass, with a tick at every deadline on the way. */
  void pass(long milliseconds) {
    long end = now + milliseconds;
    while (session.nextDeadline() <= end) {
      move(Math.max(now, session.nextDeadline()) - now);
      perform(session.tick(now));
    }
    move(end - now);
  }

  private void move(long milliseconds) {
    now += milliseconds;
    steady += milliseconds;
  }

  /** The process is stopped, or the device sleeps. */
  void sleep(long milliseconds) {
    steady += milliseconds;
    perform(session.resumed(now));
  }

  /** What the app does: a verb, then its arguments; {@code x*300} is 300 times x. */
  void app(String text) {
    String[] words = text.split(" ");
    for (int index = 0; index < words.length; index++) words[index] = repeated(words[index]);
    List<String> arguments = Arrays.asList(words).subList(1, words.length);
    switch (words[0]) {
      case "start":
        perform(session.start(now));
        break;
      case "stop":
        perform(session.stop(now));
        break;
      case "network-changed":
        perform(session.networkChanged(now));
        break;
      case "handled":
        long id = Long.parseUnsignedLong(words[1]);
        noteHandled(id);
        perform(session.pushHandled(id, now));
        break;
      case "facts":
        for (String fact : arguments) {
          facts.put(Integer.parseInt(fact.split("=")[0]), fact.substring(fact.indexOf('=') + 1));
        }
        perform(session.factsChanged(now));
        break;
      case "shown":
        perform(session.report(new Receipt(Wire.RECEIPT_SHOWN, Long.parseUnsignedLong(words[1])), now));
        break;
      case "tapped":
        perform(session.report(new Receipt(Wire.RECEIPT_TAPPED, Long.parseUnsignedLong(words[1])), now));
        break;
      case "in-app-shown":
        perform(
            session.report(new Receipt(Wire.RECEIPT_IN_APP_SHOWN, Long.parseUnsignedLong(words[1])), now));
        break;
      case "in-app-tapped":
        perform(
            session.report(new Receipt(Wire.RECEIPT_IN_APP_TAPPED, Long.parseUnsignedLong(words[1])), now));
        break;
      default:
        perform(session.submit(session.nextSequence(), operation(words[0], arguments), now));
    }
  }

  private static String repeated(String word) {
    int star = word.indexOf('*');
    if (star <= 0) return word;
    return String.join("",
        Collections.nCopies(Integer.parseInt(word.substring(star + 1)), word.substring(0, star)));
  }

  private static Operation operation(String verb, List<String> arguments) {
    switch (verb) {
      case "set-alias":
      case "check-tag":
        return Operation.of(type(verb), arguments.isEmpty() ? "" : arguments.get(0));
      case "set-tags":
      case "add-tags":
      case "delete-tags":
        return Operation.of(type(verb), arguments);
      case "add-many-tags":
        List<String> many = new ArrayList<>();
        int size = Integer.parseInt(arguments.get(1));
        for (int number = 0; number < Integer.parseInt(arguments.get(0)); number++) {
          many.add(String.format("%0" + size + "d", number));
        }
        return Operation.of(OperationType.ADD_TAGS, many);
      case "set-badge":
        return Operation.of(OperationType.SET_BADGE, Long.parseLong(arguments.get(0)));
      case "foreground":
        return Operation.of(OperationType.APP_STATE, 1);
      case "background":
        return Operation.of(OperationType.APP_STATE, 0);
      case "set-channel-token":
        String token = arguments.size() < 2 ? "" : arguments.get(1);
        return Operation.setChannelToken(new ReportedToken(arguments.get(0), "", "", "", token));
      default:
        return Operation.of(type(verb));
    }
  }

  private static OperationType type(String verb) {
    return OperationType.valueOf(verb.toUpperCase(java.util.Locale.ROOT).replace('-', '_'));
  }

  private void noteHandled(long id) {
    if (isDiskFull) return;
    stored.inHand.remove(id);
    stored.handled.insert(id);
  }

  /** What a runner does with actions: Docs/device-library.md. */
  private void perform(List<Action> actions) {
    List<Long> refused = new ArrayList<>();
    for (Action action : actions) {
      if (action instanceof Action.StoreIdentity) {
        if (isDiskFull) {
          perform(session.storageFailed(Collections.<Long>emptyList(), now));
          return;
        }
        stored.identity = ((Action.StoreIdentity) action).identity;
        done.add("store identity " + stored.identity);
      } else if (action instanceof Action.Deliver) {
        Push push = ((Action.Deliver) action).push;
        if (isDiskFull) {
          refused.add(push.messageId());
          continue;
        }
        stored.inHand.add(push.messageId());
        done.add("push " + Long.toUnsignedString(push.messageId()) + (push.isOffline() ? " offline" : "")
            + (push.isRedelivered() ? " redelivered" : "")
            + (push.isInApp() ? " in-app" : ""));
      } else {
        note(action);
      }
    }
    if (!refused.isEmpty()) perform(session.storageFailed(refused, now));
  }

  private void note(Action action) {
    if (action instanceof Action.Connect) {
      done.add("connect " + ((Action.Connect) action).server);
    } else if (action instanceof Action.Send) {
      try {
        for (String frame : ClientFrames.of(((Action.Send) action).bytes)) done.add("send " + frame);
      } catch (FrameException error) {
        throw new AssertionError(error);
      }
    } else if (action instanceof Action.Close) {
      done.add("close");
    } else if (action instanceof Action.ForgetIdentity) {
      if (!isDiskFull) stored.identity = null;
      done.add("forget identity");
    } else if (action instanceof Action.StoreWishes) {
      Wishes wishes = ((Action.StoreWishes) action).wishes;
      if (!isDiskFull) stored.wishes = wishes;
      done.add("store wishes alias=" + (wishes.alias == null ? "" : wishes.alias) + " tags="
          + String.join(",", wishes.tags) + (wishes.knownToServer ? " known" : " unknown"));
    } else if (action instanceof Action.NoteHandled) {
      noteHandled(((Action.NoteHandled) action).messageId);
      done.add("store handled " + Long.toUnsignedString(((Action.NoteHandled) action).messageId));
    } else {
      done.add(event(action));
    }
  }

  private static String event(Action action) {
    if (action instanceof Action.Registered) {
      return "registered " + ((Action.Registered) action).registrationId;
    }
    if (action instanceof Action.LoggedIn) return "logged in pending=" + ((Action.LoggedIn) action).pending;
    if (action instanceof Action.Recalled) {
      return "recalled " + Long.toUnsignedString(((Action.Recalled) action).messageId);
    }
    if (action instanceof Action.LeftToChannel) {
      return "left to channel " + Long.toUnsignedString(((Action.LeftToChannel) action).messageId);
    }
    if (action instanceof Action.Disconnected) {
      Action.Disconnected end = (Action.Disconnected) action;
      String reason = end.reason.kind().toString().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
      return "disconnected " + reason + (end.reason.code() == 0 ? "" : " " + end.reason.code())
          + " retry=" + (end.retryIn < 0 ? "never" : Long.toString(end.retryIn));
    }
    OperationResult result = ((Action.Result) action).result;
    String text = "result " + result.sequence() + " " + result.code();
    if (!result.isOk()) return text;
    switch (result.type()) {
      case GET_ALIAS:
        return text + " alias=" + (result.alias() == null ? "" : result.alias());
      case GET_TAGS:
        return text + " tags=" + String.join(",", result.tags());
      case CHECK_TAG:
        return text + " flag=" + (result.isTagSet() ? 1 : 0);
      default:
        return text;
    }
  }
}
