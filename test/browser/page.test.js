// What the page promises to the person before it.

import assert from 'node:assert/strict';
import {after, afterEach, before, test} from 'node:test';

import {end, eventually} from './children.js';
import {isAccessible} from './accessibility.js';
import {Member, openBrowser} from './member.js';
import {Stage} from './stage.js';

let browser;
let stage;
let rooms = 0;

before(async () => {
    [browser, stage] = await Promise.all([openBrowser(), Stage.open()]);
});

afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
});

after(async () => {
    await browser?.close();
    await stage?.close();
});

const newRoom = () => `room-${++rooms}`;

/** Members Ada on s1 and Grace on s2, in a room of their own. */
async function two(options = {}) {
    const room = newRoom();
    return [
        await Member.join(browser, stage.server('s1'), {name: 'Ada', room, ...options}),
        await Member.join(browser, stage.server('s2'), {name: 'Grace', room}),
    ];
}

const one = (options) => Member.join(browser, stage.server('s1'), {room: newRoom(), ...options});

test('what people type is shown as text', async () => {
    const room = newRoom();
    const markup = '<img src=x onerror="document.title = \'owned\'"><script>1</script> & <b>';
    const ada = await Member.join(browser, stage.server('s1'), {name: '<i>Ada</i>', room});
    const grace = await Member.join(browser, stage.server('s2'), {name: 'Grace', room});

    await ada.say(markup);
    await ada.say('two\nlines');

    for (const member of [ada, grace]) {
        await member.sees(markup);
        await eventually('both messages', async () => await member.messages.count() === 2);
        assert.equal((await member.shown())[1].text, 'two\nlines');
        assert.equal(await member.messages.locator('img, script, b, i').count(), 0);
        assert.ok(!(await member.page.title()).includes('owned'));
        assert.deepEqual(member.errors, []);
    }
    assert.equal(await grace.page.locator('.author').first().textContent(), '<i>Ada</i>');
});

test('inline scripts and foreign addresses are forbidden', async () => {
    const policy = (await fetch(stage.server('s1').url)).headers.get('content-security-policy');

    assert.match(policy, /default-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
});

test('a name and a room that the server would refuse are refused at the form', async () => {
    const ada = await Member.open(browser, stage.server('s1'), {name: 'x'.repeat(33)});
    const name = ada.page.getByRole('textbox', {name: 'Your name'});
    const room = ada.page.getByRole('textbox', {name: 'Room'});
    await name.fill('x'.repeat(33));
    await room.fill('Not a room');
    await room.press('Enter');

    await ada.page.getByText('A name has up to 32 characters, this one has 33.').waitFor();
    await ada.page.getByText('A room has lowercase letters').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    assert.ok(await ada.page.locator('#inside').isHidden());
});

test('a text that is too long is counted and not sent', async () => {
    const ada = await one();
    await ada.field.fill('x'.repeat(1990));
    await ada.page.getByText('10 characters left.').waitFor();
    await ada.field.fill('😀'.repeat(2001));
    await ada.field.press('Enter');
    await ada.page.getByText('1 of 2001 characters too many').waitFor();
    assert.equal(await ada.messages.count() + await ada.pending.count(), 0);

    await ada.say('😀'.repeat(2000));
    await ada.sees('😀'.repeat(2000));
});

test('everything can be done with the keyboard, and the focus is seen', async () => {
    const ada = await Member.open(browser, stage.server('s1'), {name: 'Ada', room: newRoom()});
    const {page} = ada;
    const focused = () => page.evaluate(() => {
        const {outlineStyle, outlineWidth} = getComputedStyle(document.activeElement);
        return {id: document.activeElement.id, seen: `${outlineStyle} ${outlineWidth}`};
    });
    const tabTo = async (id) => {
        for (let presses = 0; (await focused()).id !== id; ++presses) {
            assert.ok(presses < 10, `the focus reaches #${id}`);
            await page.keyboard.press('Tab');
        }
        assert.equal((await focused()).seen, 'solid 2px');
    };

    await tabTo('name');
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await ada.field.waitFor();
    await tabTo('text');
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await eventually('the message', async () => (await ada.shown())[0]?.text === 'one\ntwo');
    await tabTo('log');
    await tabTo('leave');
    await page.keyboard.press('Enter');
    await page.getByRole('button', {name: 'Join'}).waitFor();
    assert.equal((await focused()).id, 'name');
});

test('who joins sees what was said before, and a reload changes nothing', async () => {
    const [ada, grace] = await two();
    for (let i = 1; i <= 5; ++i)
        await ada.say(`said ${i}`);
    await grace.sees('said 5');
    const late = await Member.join(browser, stage.server('s3'), {name: 'Late', room: ada.room});
    await late.sees('said 5');
    assert.deepEqual(await late.shown(), await grace.shown());

    await ada.page.reload();
    await ada.sees('said 5');
    assert.deepEqual(await ada.shown(), await grace.shown());
    assert.equal(await ada.page.locator('#messages .own').count(), 5, 'own ones are still own');
    assert.equal(await grace.page.locator('#messages .own').count(), 0);
});

test('the page asks for what it can show, and later for all that it missed', async () => {
    const ada = await Member.open(browser, stage.server('s1'), {room: newRoom()});
    const joins = [];
    ada.page.on('websocket', (socket) => socket.on('framesent', ({payload}) => {
        const {type, after, tail} = JSON.parse(payload);
        if (type === 'join')
            joins.push({after, tail});
    }));
    await ada.page.reload();
    await ada.join();
    await ada.say('one');
    await ada.sees('one');
    await stage.server('s1').restart();
    await eventually('another join', () => joins.length > 1);

    assert.deepEqual(joins[0], {after: undefined, tail: 1000});
    assert.deepEqual(joins.at(-1), {after: 1, tail: undefined});
});

test('what comes while somebody reads above is counted and marked', async () => {
    const [ada, grace] = await two();
    for (let i = 1; i <= 30; ++i)
        await ada.say(`line ${i}`);
    await grace.sees('line 30');
    await grace.page.locator('#log').evaluate((log) => log.scrollTo(0, 0));

    await ada.say('unread 1');
    await ada.say('unread 2');

    const button = grace.page.getByRole('button', {name: '2 new messages'});
    await button.waitFor();
    assert.equal(await grace.page.locator('#log').evaluate((log) => log.scrollTop), 0);
    assert.ok((await grace.page.title()).startsWith('(2)'));
    await button.click();
    await grace.page.locator('.note.new').waitFor();
    await button.waitFor({state: 'hidden'});
    assert.ok(!(await grace.page.title()).startsWith('('));
});

test('a lost connection is shown, and what is said meanwhile is sent afterwards', async () => {
    const [ada, grace] = await two();
    await ada.say('before');
    await grace.sees('before');

    stage.server('s1').kill('SIGKILL');
    await ada.connected('lost');
    await ada.notice.getByText('Disconnected. What you write is kept and sent later.').waitFor();
    await ada.say('meanwhile 1');
    await ada.say('meanwhile 2');
    assert.equal(await ada.pending.count(), 2);
    await stage.server('s1').restart();

    await ada.connected();
    await ada.notice.waitFor({state: 'hidden'});
    for (const member of [ada, grace]) {
        await member.sees('meanwhile 2');
        assert.deepEqual((await member.shown()).map(({text}) => text),
            ['before', 'meanwhile 1', 'meanwhile 2']);
    }
    assert.equal(await ada.pending.count(), 0);
});

test('what was under way to a server that died is sent again', async () => {
    const [ada, grace] = await two();
    await ada.say('before');
    await ada.sees('before');

    stage.server('s1').kill('SIGSTOP');
    await ada.say('under way');
    assert.equal(await ada.pending.getAttribute('data-state'), 'sent');
    await stage.server('s1').restart();

    for (const member of [ada, grace]) {
        await member.sees('under way');
        assert.deepEqual((await member.shown()).map(({text}) => text), ['before', 'under way']);
    }
});

test('what a server took late, and got again, appears once', async () => {
    const [ada, grace] = await two();
    await ada.say('before');
    await ada.sees('before');

    stage.server('s1').kill('SIGSTOP');
    await ada.say('taken late');
    await ada.connected('lost');
    await ada.say('after');
    await grace.say('from Grace');
    stage.server('s1').kill('SIGCONT');

    for (const member of [ada, grace]) {
        await member.sees('after');
        await member.sees('from Grace');
        const said = (await member.shown()).map(({text}) => text);
        assert.deepEqual(said.filter((text) => text !== 'from Grace'),
            ['before', 'taken late', 'after']);
    }
});

test('a store that is away is shown, and nothing is lost', async () => {
    const [ada, grace] = await two();
    await ada.say('before');
    await grace.sees('before');

    await end(stage.store.child, 'SIGKILL');
    await ada.notice.getByText('The message store is down.').waitFor();
    await ada.page.locator('#store[data-state="down"]').waitFor();
    await ada.page.locator('#members', {hasText: /^– members$/}).waitFor();
    await ada.page.locator('#refused', {hasText: /^–$/}).waitFor();
    await ada.say('meanwhile');
    await stage.store.start();

    await ada.notice.waitFor({state: 'hidden'});
    for (const member of [ada, grace]) {
        await member.sees('meanwhile');
        assert.deepEqual((await member.shown()).map(({text}) => text), ['before', 'meanwhile']);
    }
});

test('a store that comes back empty is told of, and the room begins anew for all', async () => {
    const [ada, grace] = await two();
    await ada.say('before');
    await grace.sees('before');

    await end(stage.store.child, 'SIGKILL');
    stage.store.eraseData();
    await stage.store.start();
    for (const member of [ada, grace])
        await member.page.getByText('The message store lost what was said.').waitFor();
    await ada.say('anew');

    for (const member of [ada, grace]) {
        await member.sees('anew');
        assert.deepEqual((await member.shown()).map(({seq, text}) => `${seq} ${text}`), ['1 anew']);
    }
    assert.equal(await ada.page.getByText('The message store lost what was said.').count(), 1);
});

test('the panel shows the coordinator, its lease and every node', async () => {
    const [ada, grace] = await two();
    const name = await ada.coordinator();
    assert.equal(await grace.coordinator(), name);
    await ada.page.getByText('5 of 5 ready, 3 are a quorum').waitFor();
    const token = await ada.page.locator('#token').textContent();
    assert.match(token, /^token #\d+$/);
    assert.equal(await grace.page.locator('#token').textContent(), token);
    await ada.page.locator('#token').click();
    await ada.page.locator('#token', {hasText: /^token \d{10,}$/}).waitFor();

    const left = () => ada.page.getByRole('meter').getAttribute('aria-valuenow').then(Number);
    const seen = new Set();
    await eventually('a lease that runs down and is extended', async () => {
        seen.add(await left());
        return Math.min(...seen) < 2.3 && Math.max(...seen) > 2.5;
    });
    await ada.page.locator('#extensions', {hasText: /^[2-9] times/}).waitFor();

    await end(stage.nodes[4].child, 'SIGKILL');
    await ada.page.getByRole('row', {name: `${stage.nodes[4].port} down`}).waitFor();
    await ada.page.getByText('4 of 5 ready').waitFor();
    await stage.nodes[4].start();
});

test('a coordinator that leaves is followed at once, and both are in the timeline', async () => {
    const [ada, grace] = await two();
    const name = await ada.coordinator();
    const [leaver, stayer] = name === 's1' ? [ada, grace] : [grace, ada];

    await leaver.page.getByRole('button', {name: 'Leave'}).click();

    await eventually('a take-over', async () => (await stayer.takeOvers()).length > 0, 2000);
    const next = name === 's1' ? 's2' : 's1';
    await eventually(`${next} in the panel`, async () => await stayer.coordinator() === next);
    const rows = stayer.page.locator('#terms tr');
    assert.match(await rows.nth(0).textContent(), new RegExp(`^${next}`));
    assert.match(await rows.nth(1).textContent(), new RegExp(`^${name}`));
    await stayer.page.locator('.track span').nth(1).waitFor();
});

test('on a phone the panel opens and closes, and nothing is cut off', async () => {
    const ada = await one({viewport: {width: 390, height: 844}});
    const {page} = ada;
    for (let i = 1; i <= 20; ++i)
        await ada.say(`line ${i}`);
    await ada.sees('line 20');
    const toggle = page.getByRole('button', {name: 'Details'});
    const nodes = page.getByRole('table', {name: 'Lock nodes'});
    const newest = ada.messages.last();
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);

    assert.ok(await nodes.isHidden());
    assert.equal(await width(), 390);
    await toggle.press('Enter');
    await nodes.waitFor();
    assert.equal(await toggle.getAttribute('aria-expanded'), 'true');
    assert.equal(await width(), 390);
    await newest.evaluate(inSight);
    await toggle.press('Enter');
    await nodes.waitFor({state: 'hidden'});
    await page.getByRole('button', {name: 'Send'}).waitFor();
});

for (const [width, height] of [[320, 256], [568, 320], [844, 390]])
    test(`at ${width} by ${height} messages, field and panel can be reached`, async () => {
        const ada = await one({viewport: {width, height}});
        const {page} = ada;
        for (let i = 1; i <= 20; ++i)
            await ada.say(`line ${i}`);
        await ada.sees('line 20');
        const toggle = page.getByRole('button', {name: 'Details'});
        if (await toggle.isVisible())
            await toggle.press('Enter');
        const heights = await page.evaluate(() => Object.fromEntries(['log', 'composer', 'nodes']
            .map((id) => [id, document.getElementById(id).getBoundingClientRect().height])));

        assert.ok(heights.log >= 100, `the messages have ${heights.log} pixels`);
        for (const part of [ada.messages.last(), ada.field, page.locator('#nodes tr').last()]) {
            await part.scrollIntoViewIfNeeded();
            await part.evaluate(inSight);
        }
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    });

// Runs in the browser.
function inSight(line) {
    return new Promise((resolve) => new IntersectionObserver(([{isIntersecting}]) =>
        isIntersecting && resolve()).observe(line));
}

test('who asked for less motion gets none', async () => {
    const ada = await one({reducedMotion: 'reduce'});
    await ada.coordinator();
    await ada.say('still');
    await ada.sees('still');
    assert.equal(await ada.page.evaluate(() => document.getAnimations().length), 0);
});

for (const colorScheme of ['light', 'dark'])
    test(`an accessibility checker finds nothing, ${colorScheme}`, async () => {
        const outside = await Member.open(browser, stage.server('s1'), {colorScheme});
        await isAccessible(outside.page, 'outside');

        const [ada, grace] = await two({colorScheme});
        await ada.say('from Ada');
        await grace.say('from Grace');
        await ada.sees('from Grace');
        await ada.coordinator();
        await isAccessible(ada.page, 'in the room');

        stage.server('s1').kill('SIGKILL');
        await ada.connected('lost');
        await ada.say('waits');
        await isAccessible(ada.page, 'without a connection');
        await stage.server('s1').restart();
    });
