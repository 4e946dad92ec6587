// A WebSocket that comes back by itself.

const shortest = 250;
const longest = 8000;
// The server says something every 500 ms. One that is silent for so long is stopped or cut off,
// even if TCP does not know it yet.
const silence = 2500;

/** Calls `onOpen` on each new connection, `onFrame` with each object that came, and `onChange` with
    ('connecting' | 'open' | 'waiting', milliseconds to wait, close code). */
export class Connection {
    constructor(url, {onOpen, onFrame, onChange}) {
        Object.assign(this, {url, onOpen, onFrame, onChange});
        this.attempts = 0;
        this.socket = null;
        this.tryNow = () => this.#connectIfWaiting();
        window.addEventListener('online', this.tryNow);
        this.#connect();
    }

    /** False if there is no connection that could take it. */
    send(frame) {
        if (this.socket?.readyState !== WebSocket.OPEN)
            return false;
        this.socket.send(JSON.stringify(frame));
        return true;
    }

    /** Call it when the server has taken us in: the next failure is the first again. */
    settled() {
        this.attempts = 0;
    }

    close() {
        this.closed = true;
        window.removeEventListener('online', this.tryNow);
        this.#drop();
        clearTimeout(this.wakeUp);
    }

    #connect() {
        clearTimeout(this.wakeUp);
        this.wakeUp = null;
        this.onChange('connecting');
        const socket = this.socket = new WebSocket(this.url);
        this.heard = performance.now();
        this.watch = setInterval(() => {
            if (performance.now() - this.heard > silence)
                this.#lose(0);
        }, 500);
        socket.onopen = () => {
            this.heard = performance.now();
            this.onChange('open');
            this.onOpen();
        };
        socket.onmessage = ({data}) => {
            this.heard = performance.now();
            this.onFrame(JSON.parse(data));
        };
        socket.onclose = ({code}) => this.#lose(code);
    }

    #drop() {
        clearInterval(this.watch);
        const socket = this.socket;
        this.socket = null;
        if (socket) {
            socket.onopen = socket.onmessage = socket.onclose = null;
            socket.close();
        }
    }

    // Jitter keeps the members of a dead server from coming back all at once.
    #lose(code) {
        this.#drop();
        if (this.closed)
            return;
        const limit = Math.min(longest, shortest * 2 ** this.attempts++);
        const wait = Math.round(limit / 2 + Math.random() * limit / 2);
        this.wakeUp = setTimeout(() => this.#connect(), wait);
        this.onChange('waiting', wait, code);
    }

    #connectIfWaiting() {
        if (this.wakeUp)
            this.#connect();
    }
}
