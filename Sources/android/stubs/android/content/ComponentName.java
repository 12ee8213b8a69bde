package android.content;

/** As much of Android's class as the library and its pages use. */
public final class ComponentName {}
