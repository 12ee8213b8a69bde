package com.vivo.push.listener;

/** As much of the class of this name as its maker documents and the adapter calls, for tests. */
public interface IPushQueryActionListener extends IPushRequestCallback<String> {}
