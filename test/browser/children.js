// Processes that end with the test, however it ends.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';

const running = new Set();

process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => process.exit(1));

/** Starts a program. It dies with this process even if that is killed. */
export function start(program, args, options = {}) {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args],
        {stdio: ['ignore', 'pipe', 'pipe'], ...options});
    running.add(child);
    child.on('exit', () => running.delete(child));
    child.on('error', (error) => { throw error; });
    child.output = '';
    for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on('line', (line) => { child.output += `${line}\n`; });
    return child;
}

/** Waits until the child has printed a match, and returns that. */
export async function printed(child, pattern, withinMs = 10_000) {
    const deadline = Date.now() + withinMs;
    for (;;) {
        const match = pattern.exec(child.output);
        if (match)
            return match;
        if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
            throw new Error(`${child.spawnargs.join(' ')} printed no ${pattern}:\n${child.output}`);
        await pause(10);
    }
}

/** Ends a child, and waits until it has ended. */
export async function end(child, signal = 'SIGTERM') {
    if (child.exitCode !== null || child.signalCode !== null)
        return;
    const ended = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT');  // One that is stopped takes no other signal than SIGKILL.
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
}

/** Runs a program to its end; throws unless it succeeds. */
export async function run(program, args) {
    const child = start(program, args);
    const [code] = await once(child, 'close');
    if (code !== 0)
        throw new Error(`${program} failed:\n${child.output}`);
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `condition` holds, at most for so long. */
export async function eventually(what, condition, withinMs = 10_000) {
    const deadline = Date.now() + withinMs;
    while (!await condition()) {
        if (Date.now() > deadline)
            throw new Error(`not within ${withinMs} ms: ${what}`);
        await pause(20);
    }
}
