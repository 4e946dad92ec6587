// What people can break in a show, `chat_demo --serve`, by the page alone.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {end, eventually, printed, start} from './children.js';
import {isAccessible} from './accessibility.js';
import {Member, openBrowser} from './member.js';

const ttl = 3000;  // That of the show.

let browser;
let demo;
let addresses;

before(async () => {
    demo = start(process.env.REDLOCK_CHAT_DEMO, ['--serve']);
    browser = await openBrowser();
    await printed(demo, /(http:\S+lobby!\w+\s+){3}/, 60_000);
    addresses = demo.output.match(/http:\S+lobby!\w+/g);
});

after(async () => {
    await browser?.close();
    await end(demo);
});

/** Opens an address as it was printed. */
async function visit(address, name) {
    const context = await browser.newContext(
        {viewport: {width: 1280, height: 800}, locale: 'en-GB'});
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const member = new Member(page, name, 'lobby');
    page.on('pageerror', (error) => member.errors.push(error.message));
    await page.goto(address);
    await member.join();
    return member;
}

const action = ({page}, name) => page.getByRole('button', {name, exact: true});
const free = (member) => action(member, 'Kill the coordinator').and(
    member.page.locator(':enabled')).waitFor({timeout: 30_000});

/** Looks at the page in both colour schemes. */
async function isFine({page}, state) {
    for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({colorScheme});
        await isAccessible(page, `${state}, ${colorScheme}`);
    }
}

test('without the secret a page has no controls, and nobody else gets in', async () => {
    const [address] = addresses;
    const member = await visit(address.split('!')[0], 'Stranger');
    await member.coordinator();
    assert.ok(await member.page.locator('#break').isHidden());
    assert.ok(await member.page.locator('#guide').isHidden());

    const policy = (await fetch(address)).headers.get('content-security-policy');
    const controls = policy.match(/ws:\/\/127\.0\.0\.1:\d+/g).at(-1);
    const opens = (url) => member.page.evaluate((at) => new Promise((resolve) => {
        const socket = new WebSocket(at);
        socket.onopen = () => resolve(true);
        socket.onerror = () => resolve(false);
    }), url);
    assert.equal(await opens(`${controls}/`), false);
    assert.equal(await opens(`${controls}/${'0'.repeat(32)}`), false);
    assert.equal(await opens(`${controls}/${address.split('!')[1]}`), true);
    const foreign = await fetch(controls.replace('ws', 'http'), {
        headers: {Origin: 'http://evil.example'},
    });
    assert.equal(foreign.status, 403);
    await member.page.goto(new URL('/project.html', address).href);
    await member.page.getByRole('heading', {name: 'Redlock for C++'}).waitFor();
    await isFine(member, 'about the project');
    await member.close();
});

test('the first minute leads from one step to the next', async () => {
    const ada = await visit(addresses[0], 'Guest');
    await ada.page.getByText('1. Freeze the coordinator. Watch the bar.').waitFor();
    await ada.coordinator();
    await ada.page.getByRole('button', {name: 'Freeze', exact: true}).click();
    await ada.page.locator('#charge[data-state="silent"]').waitFor();
    await isFine(ada, 'a silent coordinator');
    await ada.page.getByText('2. Kill it.').waitFor();
    await ada.page.getByText('another server took over.').waitFor();
    await ada.page.locator('#lines').getByText(/s\d is frozen \(SIGSTOP\)/).waitFor();
    await ada.page.locator('#lines').getByText(/is in charge now, with token #/).first().waitFor();
    await isFine(ada, 'the second step');
    await ada.page.getByRole('button', {name: 'Skip'}).click();
    await ada.page.getByText('Only the fence stops a server that acts late.').waitFor();
    await ada.close();
});

test('a late write is refused before all eyes, and doubles a line without the fence', async () => {
    const ada = await visit(addresses[0], 'Guest');
    const grace = await visit(addresses[1], 'Grace');
    const both = [ada, grace];
    for (const {page} of both) {
        await page.getByRole('button', {name: 'Without the fence'}).click();
        await page.locator('#copy-count', {hasText: 'no damage yet'}).waitFor();
    }
    await Promise.all(both.map((member) => member.coordinator()));
    await free(ada);

    const began = Date.now();
    await action(ada, 'Freeze it just before its write').click();
    await Promise.all(both.flatMap(({page}) => [
        page.locator('.note[data-kind="refusal"]').waitFor(),
        page.locator('#copy .damage').waitFor(),
    ]));
    const took = Date.now() - began;
    console.log(`refused, and doubled without the fence, ${took} ms after the click`);

    assert.ok(took <= ttl + 3000, `within ${ttl + 3000} ms, it was ${took} ms`);
    for (const member of both) {
        const [text] = await member.page.locator('.note[data-kind="refusal"]').allTextContents();
        assert.match(text, new RegExp('^s\\d woke after \\d\\.\\d s and tried to write with token '
            + '#\\d+; the room has seen #\\d+: refused$'));
        const doubled = await member.page.locator('#copy .doubled').count();
        assert.equal(doubled, 2 * await member.page.locator('#copy .damage').count());
        const shown = await member.shown();
        assert.equal(new Set(shown.map(({id}) => id)).size, shown.length, 'each message once');
        await member.page.locator('#lines [data-kind="refusal"]').waitFor();
        await member.page.locator('.gaps [data-kind="refused"]').waitFor({state: 'attached'});
        await isFine(member, 'after the refusal');
        assert.deepEqual(member.errors, []);
    }

    await free(ada);
    await action(ada, 'Cut off three').click();
    await Promise.all(both.map((member) => member.notice.getByText('No quorum').waitFor()));
    await Promise.all(both.map((member) => isFine(member, 'without a quorum')));
    await free(ada);
    await action(ada, 'Kill the message store').click();
    await Promise.all(both.map((member) =>
        member.notice.getByText('The message store is down.').waitFor()));
    await Promise.all(both.map((member) => isFine(member, 'without the store')));
    await Promise.all(both.map((member) => member.page.locator('#lines')
        .getByText(/The message store is started again/).waitFor()));
    await eventually('all goes on', async () => !await ada.notice.isVisible(), 20_000);
});
