// A WebSocket that comes back by itself, to the next server if it knows several.

const shortest = 250;
const longest = 8000;
// The server says something every 500 ms. One that is silent for so long is stopped or cut off,
// even if TCP does not know it yet.
const silence = 2500;
// Until it has taken us in, the same may be a slow connection: each round of attempts waits longer.
const longestSilence = 20_000;

/** Calls `onOpen` on each new connection, `onFrame` with each object that came, and `onChange` with
    ('connecting' | 'open' | 'waiting', milliseconds to wait, close code). */
export class Connection {
    constructor(url, {onOpen, onFrame, onChange}) {
        Object.assign(this, {urls: [url], onOpen, onFrame, onChange});
        this.current = 0;
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
        this.isSettled = true;
    }

    /** Other servers that will do. */
    alsoTry(urls) {
        this.urls = [...new Set([...this.urls, ...urls])];
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
        const socket = this.socket = new WebSocket(this.urls[this.current]);
        const patience = Math.min(longestSilence, silence * 2 ** this.#round());
        this.isSettled = false;
        this.heard = performance.now();
        this.watch = setInterval(() => {
            if (performance.now() - this.heard > (this.isSettled ? silence : patience))
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

    // How often all servers have been tried.
    #round() {
        return Math.floor(this.attempts / this.urls.length);
    }

    // Jitter keeps the members of a dead server from coming back all at once.
    #lose(code) {
        this.#drop();
        if (this.closed)
            return;
        const limit = Math.min(longest, shortest * 2 ** this.#round());
        ++this.attempts;
        this.current = (this.current + 1) % this.urls.length;
        const wait = Math.round(limit / 2 + Math.random() * limit / 2);
        this.wakeUp = setTimeout(() => this.#connect(), wait);
        this.onChange('waiting', wait, code);
    }

    #connectIfWaiting() {
        if (this.wakeUp)
            this.#connect();
    }
}
