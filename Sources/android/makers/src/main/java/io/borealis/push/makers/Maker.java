package io.borealis.push.makers;

import android.content.Context;
import android.os.Build;
import io.borealis.push.android.Borealis;
import io.borealis.push.android.ChannelToken;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Locale;

/** The token of a service whose library is called by name. */
abstract class Maker implements ChannelToken {
  /** How often a library that does not call back is asked for its token: after one second, two, four ... */
  private static final int POLLS = 7;

  private final String channel;
  private final String mainClass;

  /** The class that the service's library has. */
  Maker(String channel, String mainClass) {
    this.channel = channel;
    this.mainClass = mainClass;
  }

  @Override
  public String channel() {
    return channel;
  }

  boolean isInApp() {
    return has(mainClass);
  }

  static boolean has(String className) {
    try {
      Class.forName(className, false, Maker.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError error) {
      return false;
    }
  }

  /** Whether the phone is by one of these makers, in lower case. */
  static boolean isBy(String... makers) {
    String maker = Build.MANUFACTURER.toLowerCase(Locale.ROOT);
    for (String one : makers) if (maker.equals(one)) return true;
    return false;
  }

  /** Calls a static method with a signature. */
  static Object call(String className, String method, Class<?>[] types, Object... arguments)
      throws Exception {
    return call(Class.forName(className), null, method, types, arguments);
  }

  /** Calls a method of a class with a signature. */
  static Object call(Class<?> type, Object target, String method, Class<?>[] types, Object... arguments)
      throws Exception {
    Method found = type.getMethod(method, types);
    try {
      return found.invoke(target, arguments);
    } catch (InvocationTargetException error) {
      if (error.getCause() instanceof Exception) throw (Exception) error.getCause();
      throw error;
    }
  }

  static Class<?>[] types(Class<?>... types) {
    return types;
  }

  /** What a library's callback interface calls. */
  interface Callback {
    void called(String method, Object[] arguments) throws Exception;
  }

  /** An object of a library's interface. */
  static Object listener(Class<?> type, Callback callback) {
    InvocationHandler handler = (self, method, arguments) -> {
      switch (method.getName()) {
        case "equals":
          return self == arguments[0];
        case "hashCode":
          return System.identityHashCode(self);
        case "toString":
          return "Borealis";
        default:
          callback.called(method.getName(), arguments == null ? new Object[0] : arguments);
          return null;
      }
    };
    return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
  }

  /**
   * A number of the manifest. Numbers alone lose digits there, so they have two letters and a hyphen in
   * front.
   */
  static String number(Context context, String name) {
    String value = Borealis.metaData(context, name);
    return value.matches("[A-Z]{2}-.*") ? value.substring(3) : value;
  }

  /** Asks for a token until there is one, or for two minutes. */
  static void poll(Source source, Receiver receiver) throws Exception {
    String token = source.token();
    for (int poll = 0; poll < POLLS && (token == null || token.isEmpty()); poll++) {
      Thread.sleep(1000L << poll);
      token = source.token();
    }
    receiver.onToken(token);
  }

  /** What has a token at some time. */
  interface Source {
    String token() throws Exception;
  }
}
