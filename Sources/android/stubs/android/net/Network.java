package android.net;

/** As much of Android's class as the library and its pages use. */
public class Network {}
