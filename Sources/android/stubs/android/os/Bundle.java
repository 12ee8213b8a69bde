package android.os;

/** As much of Android's class as the library and its pages use. */
public final class Bundle {}
