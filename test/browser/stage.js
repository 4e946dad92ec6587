// Everything that a room needs, in processes of its own: five lock nodes, the message store and
// three chat servers, on free ports.

import {mkdtempSync, rmSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

import {end, printed, run, start} from './children.js';

export const ttl = 3000;

/** A program that the build says where to find. */
function program(variable, otherwise) {
    const path = process.env[variable] ?? otherwise;
    if (!path)
        throw new Error(`${variable} must name a program`);
    return path;
}

async function freePort() {
    const socket = createServer();
    await new Promise((resolve) => socket.listen(0, '127.0.0.1', resolve));
    const {port} = socket.address();
    await new Promise((resolve) => socket.close(resolve));
    return port;
}

class Redis {
    constructor(folder, port, args) {
        Object.assign(this, {folder, port, url: `redis://127.0.0.1:${port}`});
        this.args = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...args];
    }

    async start() {
        this.child = start(program('REDLOCK_REDIS_SERVER', 'redis-server'), this.args);
        await printed(this.child, /Ready to accept connections/);
    }

    /** Deletes what it would find again, while it is down. */
    eraseData() {
        for (const name of ['appendonlydir', 'appendonly.aof'])  // Of 7.0, and of before.
            rmSync(join(this.folder, name), {recursive: true, force: true});
    }
}

/** One chat server. It comes back on the port that it had. */
class Server {
    constructor(stage, name, port) {
        Object.assign(this, {stage, name, port, url: `http://127.0.0.1:${port}`});
        this.stallFile = join(stage.folder, `stall-${name}`);
    }

    async start() {
        this.child = start(program('REDLOCK_CHAT_SERVER'), [
            '--name', this.name, '--listen', `127.0.0.1:${this.port}`, '--ttl', ttl,
            '--nodes', this.stage.nodes.map(({url}) => url).join(), '--store', this.stage.store.url,
            '--stall-before-append', this.stallFile, ...this.#peers(), ...this.stage.more,
        ]);
        await printed(this.child, /listening on/);
    }

    #peers() {
        const others = this.stage.servers.filter((server) => server !== this);
        return this.stage.peers ? ['--peers', others.map(({url}) => url).join()] : [];
    }

    kill(signal) {
        this.child.kill(signal);
    }

    async restart() {
        await end(this.child, 'SIGKILL');
        await this.start();
    }

    /** The sum of a counter over its labels. */
    async count(metric) {
        const text = await (await fetch(`${this.url}/metrics`)).text();
        const values = text.split('\n').filter((line) => line.split(/[ {]/)[0] === metric);
        return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    }
}

export class Stage {
    /** With `peers`, a page goes on at another server when its own one is lost. */
    static async open({peers = false, more = []} = {}) {
        const stage = new Stage({peers, more});
        await stage.#open().catch(async (error) => {
            await stage.close();
            throw error;
        });
        return stage;
    }

    server(name) {
        return this.servers.find((server) => server.name === name);
    }

    /** Stale writes that were refused, as the servers count them. */
    async refused() {
        const counts = await Promise.all(
            this.servers.map((server) => server.count('chat_stale_writes_refused_total')));
        return counts.reduce((sum, count) => sum + count, 0);
    }

    /** Starts the servers that a test has ended. */
    async mend() {
        await Promise.all(this.servers.map((server) => {
            const {exitCode, signalCode} = server.child;
            server.kill('SIGCONT');
            return (exitCode ?? signalCode) === null ? null : server.start();
        }));
    }

    async close() {
        const all = [...this.servers, this.store, ...this.nodes];
        await Promise.all(all.map(({child}) => child && end(child, 'SIGKILL')));
        rmSync(this.folder, {recursive: true, force: true});
    }

    constructor(options) {
        Object.assign(this, options);
        this.folder = mkdtempSync(join(tmpdir(), 'redlock-browser-'));
        this.servers = [];
        this.nodes = [];
        this.store = null;
    }

    async #open() {
        for (let i = 0; i < 5; ++i)
            this.nodes.push(new Redis(this.folder, await freePort(), ['--appendonly', 'no']));
        // The store keeps what it has over a restart.
        this.store = new Redis(this.folder, await freePort(), ['--appendonly', 'yes']);
        await Promise.all([...this.nodes, this.store].map((redis) => redis.start()));
        const nodes = this.nodes.map(({url}) => url).join();
        await run(program('REDLOCK_TOOL'), ['init', '--nodes', nodes]);
        for (const name of ['s1', 's2', 's3'])
            this.servers.push(new Server(this, name, await freePort()));
        await Promise.all(this.servers.map((server) => server.start()));
    }
}
