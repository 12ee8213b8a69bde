/**
 * The device library of Borealis in the shape of JPush's, so that an app moves by changing its imports and
 * its manifest: Docs/android-from-jpush.md. The names follow JPush's public documents; no code is JPush's.
 */
package io.borealis.jpush;
