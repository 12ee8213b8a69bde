package android.os;

/** As much of Android's interface as the library and its pages use. */
public interface IBinder {}
