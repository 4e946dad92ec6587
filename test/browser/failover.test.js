// A page whose server is lost, or far away, or which is loaded again.

import assert from 'node:assert/strict';
import {createServer, connect} from 'node:net';
import {after, afterEach, before, test} from 'node:test';

import {eventually} from './children.js';
import {Member, openBrowser} from './member.js';
import {Stage} from './stage.js';

let browser;
let stage;
let rooms = 0;

before(async () => {
    [browser, stage] = await Promise.all([openBrowser(), Stage.open({
        peers: true, more: ['--rate', 10_000, '--burst', 10_000],
    })]);
});

afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await stage.mend();
});

after(async () => {
    await browser?.close();
    await stage?.close();
});

/** Says things without the page, as Mallory, and waits until all are accepted. */
async function sayRaw(server, room, messages) {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.evaluate(([name, all]) => new Promise((resolve) => {
        const socket = new WebSocket(`ws://${location.host}/ws`);
        let left = all.length;
        socket.onopen = () => {
            socket.send(JSON.stringify({type: 'join', room: name, name: 'Mallory', tail: 0}));
            for (const message of all)
                socket.send(JSON.stringify({type: 'say', ...message}));
        };
        socket.onmessage = ({data}) => {
            left -= JSON.parse(data).type === 'accepted';
            if (left === 0)
                resolve();
        };
    }), [room, messages]);
    await page.close();
}

const newRoom = () => `failover-${++rooms}`;

test('a page whose server is killed goes on at another one, and nothing is lost', async () => {
    const room = newRoom();
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada', room});
    const grace = await Member.join(browser, stage.server('s2'), {name: 'Grace', room});
    await ada.say('before');
    await grace.sees('before');

    stage.server('s1').kill('SIGKILL');
    await ada.say('meanwhile');
    await ada.page.getByText(/^Connected to s[23]$/).waitFor();
    await grace.say('from Grace');

    for (const member of [ada, grace]) {
        await member.sees('meanwhile');
        await member.sees('from Grace');
        const texts = (await member.shown()).map(({text}) => text);
        assert.equal(texts[0], 'before');
        assert.deepEqual([...texts].sort(), ['before', 'from Grace', 'meanwhile']);
        assert.deepEqual(member.errors, []);
    }
    await ada.page.getByText(/Connected to s[23] now, s1 did not answer/).waitFor();
});

test('a page whose server stands still goes on at another one', async () => {
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada', room: newRoom()});

    stage.server('s1').kill('SIGSTOP');

    await ada.page.getByText(/^Connected to s[23]$/).waitFor();
    await ada.say('goes on');
    await ada.sees('goes on');
});

/** Leads to a server, and delays what WebSockets send by so many milliseconds each way. */
async function slowRoad(server, delay) {
    const proxy = createServer((near) => {
        const far = connect(server.port, '127.0.0.1');
        let slow = false;
        const pass = (from, to) => from.on('data', (bytes) => {
            slow ||= bytes.subarray(0, 7).toString() === 'GET /ws';
            setTimeout(() => to.destroyed || to.write(bytes), slow ? delay : 0);
        });
        pass(near, far);
        pass(far, near);
        for (const [one, other] of [[near, far], [far, near]])
            one.on('close', () => other.destroy()).on('error', () => other.destroy());
    });
    await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const {port} = proxy.address();
    return {url: `http://127.0.0.1:${port}`, close: () => proxy.close()};
}

test('a connection that takes 1.5 s each way gets in', async () => {
    const road = await slowRoad(stage.server('s2'), 1500);
    const ada = await Member.open(browser, road, {name: 'Ada', room: newRoom()});
    await ada.page.getByRole('textbox', {name: 'Your name'}).fill('Ada');
    await ada.page.getByRole('button', {name: 'Join'}).click();

    await ada.field.waitFor({timeout: 30_000});
    await ada.say('from far away');
    await ada.sees('from far away', 30_000);
    road.close();
});

test('a draft is there again after a reload, and own messages are still own', async () => {
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada', room: newRoom()});
    await ada.say('mine');
    await ada.sees('mine');
    await ada.field.fill('half of a thought');

    await ada.page.reload();

    await ada.sees('mine');
    await eventually('the draft', async () => await ada.field.inputValue() === 'half of a thought');
    assert.equal(await ada.page.locator('#messages .own').count(), 1);
});

test('nobody can write as somebody else', async () => {
    const room = newRoom();
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada', room});
    await ada.say('mine');
    await ada.sees('mine');
    const [{id}] = await ada.shown();
    const forged = `${id.split('.')[0]}.${'f'.repeat(16)}`;

    await sayRaw(stage.server('s2'), room, [{id: forged, text: 'not mine'}]);

    await ada.sees('not mine');
    const line = ada.messages.filter({hasText: 'not mine'});
    assert.doesNotMatch(await line.getAttribute('class'), /own/);
    assert.equal(await line.locator('.author').textContent(), 'Mallory');
});

test('names and texts have a direction of their own', async () => {
    const room = newRoom();
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada', room});
    const other = await Member.join(browser, stage.server('s2'), {name: 'العربية', room});
    await other.say('\u202etxet desrever');
    await ada.sees('\u202etxet desrever');
    const line = ada.messages.first();

    const direction = (part) => line.locator(part).evaluate((node) => {
        const {direction: way, unicodeBidi} = getComputedStyle(node);
        return `${way} ${unicodeBidi}`;
    });
    assert.equal(await direction('.author'), 'rtl isolate');
    assert.match(await direction('.said'), /isolate/);
    const form = await Member.open(browser, stage.server('s1'), {room});
    await form.page.getByRole('textbox', {name: 'Your name'}).fill('Ada\u202e');
    await form.page.getByRole('button', {name: 'Join'}).click();
    await form.page.getByText('A name has no invisible characters').waitFor();
});

test('older messages come when somebody asks for them', async () => {
    const room = newRoom();
    const most = 1130;
    const texts = Array.from({length: most}, (_, i) => `line ${i + 1}`);
    // Through the server that Ada joins: another one would hand the room over once nobody is left
    // there, and the line that says so takes the place of a message.
    const server = stage.server('s2');
    await sayRaw(server, room, texts.map((text, i) => ({id: `w${i}`, text})));

    const ada = await Member.join(browser, server, {name: 'Ada', room});
    await ada.sees(`line ${most}`);
    const first = async () => (await ada.shown())[0].seq;
    const button = ada.page.getByRole('button', {name: 'Show older messages'});
    const before = await first();
    assert.ok(before > 101);
    await button.click();
    await eventually('a hundred more', async () => await first() === before - 100);
    await button.click();
    await eventually('all of them', async () => await first() === 1);

    await button.waitFor({state: 'hidden'});
    const shown = await ada.shown();
    assert.deepEqual(shown.map(({seq}) => seq), Array.from({length: most}, (_, i) => i + 1));
});
