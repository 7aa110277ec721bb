// One socket: it opens again after a jittered pause, says nothing while the tab is hidden, and
// tells those who listen how it stands.

const FIRST = 500;
const LONGEST = 10_000;
const ENDED = new Set([4401, 4403]);

export class Socket {
  constructor(path, { opened, message, renewed, closed }) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.url = `${scheme}//${location.host}${path}`;
    this.handlers = { opened, message, renewed, closed };
    this.tries = 0;
    this.timer = 0;
    this.refused = false;
  }

  open() {
    clearTimeout(this.timer);
    this.close();
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => socket === this.socket && this.handlers.opened());
    socket.addEventListener("message", ({ data }) => {
      if (socket !== this.socket) return;
      this.tries = 0;
      if (this.refused) this.handlers.renewed();
      this.refused = false;
      this.handlers.message(JSON.parse(data));
    });
    socket.addEventListener("close", ({ code }) => socket === this.socket && this.lost(code));
  }

  // A session that ended may have been renewed in another tab: one more try, then no more.
  lost(code) {
    this.socket = null;
    const ended = ENDED.has(code) && this.refused;
    this.refused = ENDED.has(code);
    this.tries += 1;
    this.handlers.closed(this.tries, ended);
    if (ended || document.hidden) return;
    const pause = Math.min(LONGEST, FIRST * 2 ** Math.min(this.tries - 1, 6));
    this.timer = setTimeout(() => this.open(), pause * (0.5 + Math.random()));
  }

  // It fell silent: as if it had been closed.
  drop() {
    this.close();
    this.lost();
  }

  close() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  get live() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(message) {
    if (this.live) this.socket.send(JSON.stringify({ v: 1, ...message }));
  }
}
