package android.net;

/** As much of Android as Docs/android.md uses. */
public class Network {}
