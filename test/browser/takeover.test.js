// Members talk while coordinators die and stand still. Each browser shows everything once, in the
// same order.
//
// REDLOCK_TEST_LONG=1 gives it full size: 300 messages of each member, three coordinators killed.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {eventually, pause} from './children.js';
import {Member, openBrowser} from './member.js';
import {Stage, ttl} from './stage.js';

const long = process.env.REDLOCK_TEST_LONG === '1';
const messages = long ? 300 : 60;
const kills = long ? 3 : 1;
const pace = 60;
const mostTakeOver = ttl + 1000;

let browser;
let stage;

before(async () => {
    [browser, stage] = await Promise.all([openBrowser(), Stage.open()]);
});

after(async () => {
    await browser?.close();
    await stage?.close();
});

async function talk(member) {
    for (let i = 1; i <= messages; ++i) {
        await member.say(`${member.name} ${i}`);
        await pause(pace);
    }
}

/**
 * Does something to the coordinator, and measures until another one is in charge. The token of
 * that one is the time of its acquisition in microseconds, so a browser on a busy machine, which
 * shows it late, is not taken for a late coordinator.
 */
async function disturb(what, coordinator, witness, action) {
    const {length: before} = await witness.takeOvers();
    const began = Date.now();
    action(coordinator);
    await eventually(`a coordinator after ${what}`,
        async () => (await witness.takeOvers()).length > before, 3 * mostTakeOver);
    const seen = Date.now() - began;
    const line = (await witness.takeOvers()).at(-1);
    const took = Math.round(await witness.lastFence() / 1000 - began);
    console.log(`${what} ${coordinator.name}, replaced after ${took} ms, seen after ${seen} ms: `
        + line);
    assert.ok(took <= mostTakeOver, `take-over within ${mostTakeOver} ms, it was ${took} ms`);
}

/** The coordinator, its member, and the member that stays connected meanwhile. */
async function roles(members) {
    await Promise.all(members.map((member) => member.connected()));
    const name = await members[0].coordinator();
    const witness = members.find((member) => member.server.name !== name);
    return [stage.server(name), members.find((member) => member !== witness), witness];
}

async function killCoordinator(members) {
    const [coordinator, hit, witness] = await roles(members);
    await disturb('killed', coordinator, witness, (server) => server.kill('SIGKILL'));
    await hit.connected('lost');
    await coordinator.restart();
    await hit.connected();
}

async function pauseCoordinator(members) {
    const [coordinator, hit, witness] = await roles(members);
    const until = Date.now() + 3 * ttl;
    await disturb('stopped', coordinator, witness, (server) => server.kill('SIGSTOP'));
    await hit.connected('lost');
    await pause(until - Date.now());
    coordinator.kill('SIGCONT');
    await hit.connected();
}

test(`two browsers show ${2 * messages} messages once and in one order`, async () => {
    const members = [];
    for (const [name, place] of [['Ada', 's1'], ['Grace', 's2']]) {
        const server = stage.server(place);
        members.push(Object.assign(await Member.join(browser, server, {name}), {server}));
    }

    const talking = Promise.all(members.map(talk));
    for (let i = 0; i < kills; ++i)
        await killCoordinator(members);
    await pauseCoordinator(members);
    await talking;

    const seqs = Array.from({length: 2 * messages}, (_, i) => i + 1);
    for (const member of members) {
        await eventually(`all messages at ${member.name}`,
            async () => await member.messages.count() >= 2 * messages, 30_000);
        const shown = await member.shown();
        assert.deepEqual(shown.map(({seq}) => seq), seqs, 'sequence numbers without a gap');
        assert.equal(new Set(shown.map(({id}) => id)).size, shown.length, 'each message once');
        assert.equal(await member.pending.count(), 0, 'nothing waits any more');
        for (const {name} of members)
            assert.deepEqual(
                shown.map(({text}) => text).filter((text) => text.startsWith(name)),
                Array.from({length: messages}, (_, i) => `${name} ${i + 1}`),
                `all that ${name} said, in the order of saying`);
        assert.deepEqual(member.errors, []);
    }
    assert.deepEqual(await members[0].shown(), await members[1].shown(), 'the same in both');
    console.log(`${2 * messages} messages, stale writes refused: ${await stage.refused()}`);
});
