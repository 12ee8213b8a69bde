"use strict";

// A device of Borealis in a web page: the protocol of Docs/protocol.md, versions 1 to 3, over WebSocket (its section 8). It knows
// nothing of the page around it; virtual.js shows what it does.

const BorealisDevice = (() => {
  const MAX_HANDLED = 2048;
  const MAX_KEPT = 20;
  const ANSWER_MS = 10000;
  const GOOD_SESSION_MS = 60000;
  const NEVER = 0, BACK_OFF = 1, AT_ONCE = 2;
  const RECONNECT_AFTER = { 1: AT_ONCE, 2: NEVER, 4: AT_ONCE, 6: NEVER, 7: NEVER };
  const DRAIN = 1;
  const REGISTER_ANEW = [1011, 6016];
  const NO_ANSWER = 6002;
  // From this version on an acknowledgement says how long ago the push came, in milliseconds.
  const WITH_AGES = 3;
  const UNKNOWN_AGE = 0xffffffff;
  // Below the minute after which many proxies close a silent connection.
  const HEARTBEAT_S = 50;

  // MARK: Bytes

  const utf8 = new TextEncoder();
  const strictUTF8 = new TextDecoder("utf-8", { fatal: true });

  function toHex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function fromHex(text) {
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  }

  class Reader {
    constructor(bytes) {
      this.bytes = bytes;
      this.position = 0;
    }

    take(count) {
      const end = this.position + count;
      if (end > this.bytes.length) throw new RangeError("a frame ends early");
      const part = this.bytes.subarray(this.position, end);
      this.position = end;
      return part;
    }

    rest() { return this.take(this.bytes.length - this.position); }

    number(count) { return this.take(count).reduce((value, byte) => value * 256 + byte, 0); }
  }

  // How each kind of field is written (as a list of bytes) and read. A u64 of the protocol fits a number of JavaScript.
  const FIELDS = {
    u8: integer(1), u16: integer(2), u32: integer(4), u64: integer(8),
    str8: {
      write: (text) => counted(utf8.encode(text)),
      read: (reader) => strictUTF8.decode(reader.take(reader.number(1))),
    },
    bytes8: { write: counted, read: (reader) => reader.take(reader.number(1)) },
    rest: { write: (bytes) => [...bytes], read: (reader) => reader.rest() },
    appKey: { write: (text) => [...fromHex(text)], read: (reader) => toHex(reader.take(12)) },
    registrationID: {
      write: (text) => [...fromHex(text + "0")],
      read: (reader) => toHex(reader.take(10)).slice(0, 19),
    },
    secret: { write: (text) => [...fromHex(text)], read: (reader) => toHex(reader.take(16)) },
    tags: {
      write: (tags) => [...FIELDS.u16.write(tags.length), ...tags.flatMap((tag) => FIELDS.str8.write(tag))],
      read: (reader) => Array.from({ length: reader.number(2) }, () => FIELDS.str8.read(reader)),
    },
    ids: { write: (ids) => ids.flatMap((id) => FIELDS.u64.write(id)) },
    aged: { write: (all) => all.flatMap(({ id, age }) => [...FIELDS.u64.write(id), ...FIELDS.u32.write(age)]) },
    receipts: { write: (all) => all.flatMap(({ kind, id }) => [kind, ...FIELDS.u64.write(id)]) },
  };

  function integer(count) {
    return {
      write: (value) => Array.from({ length: count }, (_, place) => Math.floor(value / 256 ** (count - 1 - place)) % 256),
      read: (reader) => reader.number(count),
    };
  }

  function counted(bytes) {
    if (bytes.length > 255) throw new RangeError("more than 255 bytes");
    return [bytes.length, ...bytes];
  }

  // MARK: Frames

  const CLIENT_FRAMES = {
    PING: [0x01], HELLO: [0x10, "rest", "u8", "u8", "str8"],
    REGISTER: [0x11, "appKey", "u8", "bytes8", "u8", "bytes8", "str8"],
    LOGIN: [0x12, "appKey", "registrationID", "secret", "u16", "u8"],
    ACK: [0x20, "ids"], ACK_AGE: [0x22, "aged"], RECEIPT: [0x21, "receipts"],
    SET_ALIAS: [0x30, "u32", "str8"], DELETE_ALIAS: [0x31, "u32"], GET_ALIAS: [0x32, "u32"],
    SET_TAGS: [0x33, "u32", "tags"], GET_TAGS: [0x37, "u32"],
    APP_STATE: [0x3b, "u32", "u8"], LOGOUT: [0x3c, "u32"],
  };

  const SERVER_FRAMES = {
    0x02: ["PONG"], 0x90: ["HELLO_OK", "u8", "u64", "u32"], 0x91: ["REGISTER_OK", "registrationID", "secret"],
    0x92: ["LOGIN_OK", "u16", "u16", "u64", "u32"], 0xa0: ["PUSH", "u64", "u8", "rest"], 0xa1: ["RECALL", "u64"],
    0xb0: ["RESULT", "u32", "u16", "rest"], 0xe0: ["GO_AWAY", "u8", "u32", "str8"],
    0xe1: ["ERROR", "u16", "u8", "str8"],
  };

  // What a RESULT with code 0 carries, by operation.
  const PAYLOADS = { GET_ALIAS: "str8", GET_TAGS: "tags" };

  function encode(name, ...values) {
    const [type, ...layout] = CLIENT_FRAMES[name];
    const body = layout.flatMap((field, index) => FIELDS[field].write(values[index]));
    const length = [];
    let left = body.length + 1;
    while (left > 127) {
      length.push(left % 128 + 128);
      left = Math.floor(left / 128);
    }
    return [...length, left, type, ...body];
  }

  // The frames of a message, which holds whole ones.
  function decode(message) {
    const reader = new Reader(message);
    const frames = [];
    while (reader.position < message.length) {
      let length = 0, shift = 1, byte;
      do {
        byte = reader.number(1);
        length += (byte & 127) * shift;
        shift *= 128;
      } while (byte > 127);
      const body = new Reader(reader.take(length));
      const [name, ...layout] = SERVER_FRAMES[body.number(1)] ?? [];
      if (!name) throw new RangeError("a frame of an unknown type");
      frames.push({ name, values: layout.map((field) => FIELDS[field].read(body)) });
      if (body.position !== length) throw new RangeError("a frame goes on after its end");
    }
    return frames;
  }

  // MARK: What outlives the page

  // Who the device is, under one key, and under another the pushes handled last and those that are shown: when there is no
  // room for pushes, the registration is not lost with them. Private windows may have no storage: then all of it lasts as
  // long as the page.
  class State {
    constructor(key) {
      this.keys = { identity: key, pushes: `${key}.pushes` };
      this.values = {};
      this.isLost = false;
      this.reload();
    }

    // Takes what is stored, which another tab may have changed; what could not be stored stays.
    reload() {
      if (this.isLost) return;
      try {
        const [identity, pushes] = Object.values(this.keys).map((key) => JSON.parse(localStorage.getItem(key)));
        this.values = { ...identity, ...pushes };
      } catch {
        // No storage, or nothing that we wrote.
      }
      this.values.handled ??= [];
      this.values.pushes ??= [];
    }

    // A null key stands for all of them.
    isStoredUnder(key) { return key === null || Object.values(this.keys).includes(key); }

    get exists() { return this.values.fingerprint !== undefined; }

    begin(platform) {
      this.values = { platform, fingerprint: toHex(crypto.getRandomValues(new Uint8Array(16))), handled: [], pushes: [] };
      this.save();
    }

    hasHandled(id) { return this.values.handled.includes(id); }

    handle(id) {
      if (!this.hasHandled(id)) this.values.handled = [...this.values.handled, id].slice(-MAX_HANDLED);
    }

    keep(push) { this.values.pushes = [...this.values.pushes, push].slice(-MAX_KEPT); }

    drop(id) { this.values.pushes = this.values.pushes.filter((push) => push.id !== id); }

    // Without room for all pushes that are shown, the newer ones are kept, for what was handled has to be known.
    save() {
      const { handled, pushes, ...identity } = this.values;
      this.isLost = !this.#store(this.keys.identity, identity);
      let kept = pushes;
      while (!this.#store(this.keys.pushes, { handled, pushes: kept }) && kept.length > 0) {
        kept = kept.slice(Math.ceil(kept.length / 2));
      }
    }

    // Whether there was room.
    #store(key, value) {
      try {
        localStorage.setItem(key, JSON.stringify(value));
        return true;
      } catch {
        return false;
      }
    }

    forget() {
      this.values = { handled: [], pushes: [] };
      try {
        for (const key of Object.values(this.keys)) localStorage.removeItem(key);
      } catch {
        // No storage.
      }
    }
  }

  // MARK: The device

  // Stays connected from `start` to `stop`. `listener` has a method for whatever happens: `state(name, detail)`,
  // `frame(isOurs, name, values)`, `registered(id)`, `push(push)`, `recalled(id)`.
  class Device {
    #socket = null;
    #ending = null;
    #timers = [];
    #reconnect = 0;
    #failures = 0;
    #sequence = 0;
    #waiting = new Map();
    #online = 0;
    #lastSent = 0;
    #pinged = 0;

    constructor(address, appKey, state, listener) {
      Object.assign(this, { address, appKey, state, listener, isForeground: true });
    }

    get isOnline() { return this.#online > 0; }

    start() {
      this.#leave();
      this.listener.state("connecting");
      const socket = new WebSocket(this.address);
      socket.binaryType = "arraybuffer";
      socket.onopen = () => this.#greet();
      socket.onmessage = (event) => this.#receive(event.data);
      socket.onclose = (event) => this.#closed(event);
      this.#socket = socket;
      this.#ending = null;
      this.#timers = [setTimeout(() => { if (!this.#online) socket.close(); }, ANSWER_MS), setInterval(() => this.#beat(), 5000)];
    }

    // Ends the connection without a word, and stays away.
    stop() {
      this.#leave();
      this.listener.state("stopped");
    }

    #leave() {
      clearTimeout(this.#reconnect);
      if (!this.#socket) return;
      this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
      this.#socket.close();
      this.#end();
    }

    // Carries out an operation; gives its code, and what the server says besides.
    operate(name, ...values) {
      if (!this.isOnline) return Promise.resolve({ code: NO_ANSWER });
      const sequence = ++this.#sequence;
      return new Promise((resolve) => {
        const timer = setTimeout(() => this.#answer(sequence, NO_ANSWER), ANSWER_MS);
        this.#waiting.set(sequence, { name, resolve, timer });
        this.#send([name, sequence, ...values]);
      });
    }

    // Tells that a notification was tapped.
    tapped(push) {
      push.tapped = true;
      // Another tab may have stored the same push meanwhile.
      for (const kept of this.state.values.pushes) kept.tapped ||= kept.id === push.id;
      this.state.save();
      if (this.isOnline) this.#send(["RECEIPT", [{ kind: 2, id: push.id }]]);
    }

    setForeground(isForeground) {
      this.isForeground = isForeground;
      return this.operate("APP_STATE", Number(isForeground));
    }

    // Sends frames in one message.
    #send(...frames) {
      if (this.#socket?.readyState !== WebSocket.OPEN) return;
      this.#socket.send(Uint8Array.from(frames.flatMap((frame) => encode(...frame))));
      this.#lastSent = Date.now();
      for (const [name, ...values] of frames) this.listener.frame(true, name, values);
    }

    #greet() {
      this.#send(["HELLO", utf8.encode("BRLS"), 1, WITH_AGES, "console/1"], this.#identify());
    }

    // The frame that follows HELLO: a LOGIN if there is a registration, else a REGISTER for one.
    #identify() {
      const { registrationID, secret, fingerprint, platform } = this.state.values;
      return registrationID
        ? ["LOGIN", this.appKey, registrationID, secret, HEARTBEAT_S, Number(this.isForeground)]
        : ["REGISTER", this.appKey, platform, fromHex(fingerprint), 0, [], "1.0"];
    }

    #receive(message) {
      const came = performance.now();
      const acknowledged = [], shown = [];
      try {
        for (const { name, values } of decode(new Uint8Array(message))) {
          this.listener.frame(false, name, values);
          this.#pinged = 0;
          if (name === "PUSH") this.#push(values, acknowledged, shown);
          else this.#handle(name, values);
        }
      } catch (error) {
        console.info("not understood:", error);
        this.#socket?.close();
        return;
      }
      if (acknowledged.length === 0) return;
      // Stored first: what is acknowledged does not come again.
      this.state.save();
      const age = Math.round(performance.now() - came);
      const frames = [this.version < WITH_AGES
        ? ["ACK", acknowledged.map(({ id }) => id)]
        : ["ACK_AGE", acknowledged.map(({ id, isNew }) => ({ id, age: isNew ? age : UNKNOWN_AGE }))]];
      if (shown.length > 0) frames.push(["RECEIPT", shown.map((id) => ({ kind: 1, id }))]);
      this.#send(...frames);
    }

    #handle(name, values) {
      switch (name) {
        case "HELLO_OK": [this.version] = values; break;
        case "REGISTER_OK": {
          const [registrationID, secret] = values;
          Object.assign(this.state.values, { registrationID, secret });
          this.state.save();
          this.listener.registered(registrationID);
          this.#send(this.#identify());
          break;
        }
        case "LOGIN_OK":
          [this.heartbeat] = values;
          this.#online = Date.now();
          this.listener.state("online");
          break;
        case "RECALL": {
          const [id] = values;
          this.state.handle(id);
          this.state.drop(id);
          this.state.save();
          this.listener.recalled(id);
          break;
        }
        case "RESULT": this.#answer(...values); break;
        case "GO_AWAY": {
          const [reason, retryAfter] = values;
          this.#ending = { reconnect: RECONNECT_AFTER[reason] ?? BACK_OFF, retryAfter, reason };
          if (reason !== DRAIN) this.#socket?.close();
          break;
        }
        case "ERROR": {
          const [code, reconnect, message] = values;
          const isVoid = REGISTER_ANEW.includes(code);
          if (isVoid) {
            delete this.state.values.registrationID;
            this.state.save();
          }
          this.#ending = { reconnect: isVoid ? AT_ONCE : reconnect, retryAfter: 0, message };
          this.#socket?.close();
          break;
        }
      }
    }

    #push([id, flags, content], acknowledged, shown) {
      const isNew = !this.state.hasHandled(id);
      if (isNew) {
        const push = { id, isOffline: (flags & 1) === 1, at: Date.now(), tapped: false, content: null };
        try {
          push.content = JSON.parse(strictUTF8.decode(content));
        } catch {
          // Not acknowledged: it was not understood.
          return;
        }
        if (push.content.override) {
          this.state.drop(Number(push.content.override));
          this.listener.recalled(Number(push.content.override));
        }
        this.state.handle(id);
        this.state.keep(push);
        this.listener.push(push);
        if (push.content.notification) shown.push(id);
      }
      acknowledged.push({ id, isNew });
    }

    #answer(sequence, code, payload) {
      const waiting = this.#waiting.get(sequence);
      if (!waiting) return;
      this.#waiting.delete(sequence);
      clearTimeout(waiting.timer);
      const kind = code === 0 ? PAYLOADS[waiting.name] : undefined;
      waiting.resolve({ code, value: kind && FIELDS[kind].read(new Reader(payload)) });
    }

    // Every few seconds: says that we are still here, and notices if the server is not.
    #beat() {
      if (!this.#online) return;
      const now = Date.now();
      if (this.#pinged && now - this.#pinged > ANSWER_MS) {
        this.#socket?.close();
      } else if (!this.#pinged && now - this.#lastSent >= this.heartbeat * 1000) {
        this.#pinged = now;
        this.#send(["PING"]);
      }
    }

    #closed(event) {
      const { reconnect = BACK_OFF, retryAfter = 0, reason, message } = this.#ending ?? {};
      const lasted = this.#online ? Date.now() - this.#online : 0;
      this.#failures = lasted >= GOOD_SESSION_MS ? 1 : this.#failures + 1;
      const isQuick = reconnect === AT_ONCE && (lasted > 0 || this.#failures === 1);
      this.#end();
      if (reconnect === NEVER) {
        this.listener.state(reason === 2 ? "replaced" : "stopped", message);
        return;
      }
      const pause = isQuick
        ? retryAfter * (1 + Math.random())
        : retryAfter + 1000 * Math.random() * Math.min(300, 2 ** this.#failures);
      this.listener.state("away", { seconds: Math.ceil(pause / 1000), code: event.code });
      this.#reconnect = setTimeout(() => this.start(), pause);
    }

    #end() {
      this.#timers.forEach(clearInterval);
      this.#socket = null;
      this.#online = this.#pinged = 0;
      for (const sequence of [...this.#waiting.keys()]) this.#answer(sequence, NO_ANSWER);
    }
  }

  return { Device, State, encode, decode };
})();
