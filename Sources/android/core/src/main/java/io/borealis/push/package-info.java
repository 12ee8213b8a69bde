/**
 * The device library of Borealis for Android and any other Java runtime.
 *
 * <p>{@link io.borealis.push.PushClient} keeps one install of an app connected to a Borealis server and
 * passes pushes to the app, each of them once. {@link io.borealis.push.PushConfig} says which server and app,
 * {@link io.borealis.push.PushListener} gets what happens. Nothing in this package opens a connection, reads
 * or writes a file, or starts a thread before {@link io.borealis.push.PushClient#start()}.
 *
 * <p>The library needs Java 8 or Android 5.0 (API 21) and has no dependencies.
 */
package io.borealis.push;
