/**
 * The tokens of FCM and of phone makers' push services, obtained from their libraries if the app has them;
 * what their notifications bring to the app; and the number on the app's icon. No maker's code is included:
 * the libraries are called by name.
 */
package io.borealis.push.makers;
