// What the site of the docs promises to its readers, at file://, where they open it first.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {posix} from 'node:path';
import {after, afterEach, before, test} from 'node:test';

import {isAccessible} from './accessibility.js';
import {eventually} from './children.js';
import {Site, pages, screens} from './made_site.js';
import {openBrowser} from './member.js';

const {desktop, phone} = screens;
const text = 'docs/configuration.html';
const code = 'docs/tutorial/1-first-lock.html';

let browser;
let site;

before(async () => {
    site = Site.make();
    browser = await openBrowser();
});

afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
});

after(async () => {
    await browser?.close();
    site?.remove();
});

const field = (page) => page.getByRole('combobox', {name: 'Search'});
const options = (page) => page.getByRole('option');
const theme = (page) => page.getByRole('button', {name: 'Colors'});
const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const light = 'rgb(255, 255, 255)';
const dark = 'rgb(13, 17, 23)';

/** Types a query, and waits until the list is that of the query. */
async function search(page, query) {
    await field(page).fill(query);
    await page.locator('#site-found', {hasText: /./}).waitFor();
    return page.locator('#site-results > a').evaluateAll((links) =>
        links.map(({href}) => href));
}

for (const [size, screen] of Object.entries(screens))
    for (const colorScheme of ['light', 'dark'])
        test(`an accessibility checker finds nothing: ${size}, ${colorScheme}`, async () => {
            for (const path of pages) {
                const page = await site.open(browser, path, {...screen, colorScheme});
                await isAccessible(page, path);
                await page.context().close();
            }
            const page = await site.open(browser, text, {...screen, colorScheme});
            await search(page, 'lock expired');
            await isAccessible(page, 'with results');
            await search(page, 'xyzzy');
            await isAccessible(page, 'without results');
            await page.keyboard.press('Escape');
            if (screen === phone) {
                await page.locator('summary').tap();
                await isAccessible(page, 'with the list of sections');
                await page.getByRole('button', {name: 'Menu'}).tap();
                await isAccessible(page, 'with the menu');
            }
        });

test('on a phone nothing is wider than the screen', async () => {
    for (const path of pages) {
        const page = await site.open(browser, path, phone);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, path);
        await page.context().close();
    }
});

// What people type, and a part of the address of a page that has the answer.
const sought = {
    'timeout': /cancellation/,
    'deadlock': /two-resources/,
    'sentinel': /which-redis/,
    'fencing': /docs\/fencing/,
    'leader election': /leadership|6-leader/,
    'cron': /leadership|command-line|recipes/,
    'renew': /extending/,
    'watchdog': /extending|threading|with_lock/,
    'TLS': /configuration/,
    'password': /configuration|operations/,
    'ACL': /configuration/,
    'cancel': /cancellation/,
    'threads': /threading/,
    'quarantine': /operations|safety/,
    'windows': /add-to-your-project/,
    'vcpkg': /add-to-your-project/,
    'FLUSHALL': /operations/,
    'retry': /configuration|config/,
    'MISCONF': /trouble/,
    'cluster': /which-redis/,
    'kubernetes': /which-redis/,
    'who holds': /operations|command-line/,
    'mutex': /1-first-lock|with_lock/,
    'unit test': /unit-testing/,
    'lock expired': /3-with-lock|extending|trouble/,
    'how can I unlock it': /release|lease/,
    'async_acqu': /client\.html#client-async_acquire$/,
    'redlock::lead_options': /lead\.html#lead_options$/,
};

test('search finds what people look for among the first five', async () => {
    const page = await site.open(browser, text);
    for (const [query, answer] of Object.entries(sought)) {
        const first = (await search(page, query)).slice(0, 5);
        assert.ok(first.some((href) => answer.test(href)), `${query}: ${first.join(' ')}`);
    }
});

test('an incomplete word and the last of several words are found as they are typed', async () => {
    const page = await site.open(browser, text);
    for (const query of ['deadl', 'see who hol'])
        assert.notEqual((await search(page, query)).length, 0, query);
});

test('search is used by keyboard alone', async () => {
    const page = await site.open(browser, text);
    await page.keyboard.press('/');
    await page.keyboard.type('sentinel');
    await options(page).first().waitFor();
    const chosen = () => page.locator('[role=option][aria-selected=true]');
    const names = await options(page).allTextContents();
    assert.equal(await chosen().textContent(), names[0]);
    assert.equal(await field(page).getAttribute('aria-expanded'), 'true');

    await page.keyboard.press('ArrowDown');
    assert.equal(await chosen().textContent(), names[1]);
    assert.equal(await field(page).getAttribute('aria-activedescendant'),
        await chosen().getAttribute('id'));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await chosen().textContent(), names[names.length - 1], 'it goes round');
    await page.keyboard.press('ArrowDown');
    const target = await chosen().getAttribute('href');
    assert.match(target, /#sentinel$/, 'the section, not just its page');
    await page.keyboard.press('Enter');
    await page.waitForURL(target);
});

test('Escape closes the list, and then leaves the field', async () => {
    const page = await site.open(browser, text);
    await search(page, 'sentinel');
    await page.keyboard.press('Escape');
    assert.equal(await options(page).count(), 0);
    assert.equal(await field(page).inputValue(), '');
    assert.ok(await field(page).evaluate((input) => input === document.activeElement));
    await page.keyboard.press('Escape');
    assert.ok(await field(page).evaluate((input) => input !== document.activeElement));
});

test('a slash in the field is a slash', async () => {
    const page = await site.open(browser, text);
    await field(page).focus();
    await page.keyboard.type('a/b');
    assert.equal(await field(page).inputValue(), 'a/b');
});

test('a query without an answer says so', async () => {
    const page = await site.open(browser, text);
    await search(page, 'xyzzy');
    await page.getByRole('status').getByText('No page has “xyzzy”.').waitFor();
});

test('on a phone a result is tapped', async () => {
    const page = await site.open(browser, text, phone);
    await search(page, 'FLUSHALL');
    const target = await options(page).first().getAttribute('href');
    const box = await options(page).first().boundingBox();
    assert.ok(box.width > 350, `the results have the whole width, not ${box.width}`);
    await options(page).first().tap();
    await page.waitForURL(target);
});

for (const [how, script] of [
    ['by the clipboard', ''],
    ['where there is no clipboard', 'Object.defineProperty(navigator, "clipboard", {})'],
])
    test(`code is copied by keyboard, ${how}`, async () => {
        const page = await site.open(browser, code);
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.addInitScript(script);
        await page.reload();
        const box = page.locator('.code').first();
        const button = box.getByRole('button', {name: 'Copy'});
        await button.focus();
        assert.equal(await button.evaluate((it) => getComputedStyle(it).opacity), '1');
        await page.keyboard.press('Enter');
        await box.getByRole('button', {name: 'Copied'}).waitFor();

        assert.ok(await box.getByRole('button').evaluate((it) => it === document.activeElement));
        const copied = (await box.locator('code').textContent()).trimEnd();
        await field(page).focus();
        await page.keyboard.press('Control+V');
        assert.equal(await field(page).inputValue(), copied.replace(/\n/g, ' '));
        await button.waitFor();
    });

test('code that is too wide is scrolled by keyboard, and other code is no stop', async () => {
    const page = await site.open(browser, code, phone);
    await page.locator('pre[tabindex]').first().waitFor();
    const [wide, stops] = await page.locator('main pre').evaluateAll((blocks) =>
        [(it) => it.scrollWidth > it.clientWidth, (it) => it.tabIndex >= 0]
            .map((question) => blocks.map(question)));
    assert.deepEqual(stops, wide);
});

test('the pages follow each other as in the menu', () => {
    const html = (path) => readFileSync(`${site.folder}/${path}`, 'utf8');
    const menu = html('docs/index.html').match(/<nav id="menu"[\s\S]*?<\/nav>/)[0]
        .replace(/<ul class="places">[\s\S]*?<\/ul>/, '');
    const chain = ['docs/index.html', ...[...menu.matchAll(/href="([^"]+)"/g)]
        .map(([, href]) => posix.join('docs', href))];
    const step = (path, rel) => {
        const href = html(path).match(new RegExp(`rel="${rel}" href="([^"]+)"`))?.[1];
        return href && posix.join(posix.dirname(path), href);
    };

    assert.ok(chain.length > 30, 'a menu');
    assert.deepEqual(chain.map((path) => step(path, 'next')), [...chain.slice(1), undefined]);
    assert.deepEqual(chain.map((path) => step(path, 'prev')), [undefined, ...chain.slice(0, -1)]);
});

test('the section that is read is marked in the list beside the text', async () => {
    const page = await site.open(browser, text);
    const links = page.locator('.toc a');
    const marked = () => page.locator('.toc [aria-current=location]').evaluateAll((all) =>
        all.map((link) => link.hash));
    const hashes = await links.evaluateAll((all) => all.map(({hash}) => hash));
    const becomes = (hash) => eventually(`${hash} is marked`, async () =>
        `${await marked()}` === hash);

    await page.locator(`main ${hashes[2]}`).evaluate((heading) => heading.scrollIntoView());
    await becomes(hashes[2]);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await becomes(hashes[hashes.length - 1]);
    for (const at of [1, hashes.length - 2]) {
        await links.nth(at).click();
        await becomes(hashes[at]);
    }
});

test('on a phone the list of sections is folded above the text', async () => {
    const page = await site.open(browser, text, phone);
    const link = page.locator('.toc-above a').nth(3);
    assert.ok(await page.locator('.toc').isHidden());
    assert.ok(await link.isHidden());
    await page.getByText('On this page').tap();
    await link.tap();
    assert.equal(new URL(page.url()).hash, await link.evaluate(({hash}) => hash));
});

test('the colors are those of the system, or as chosen on any page before', async () => {
    const page = await site.open(browser, text, {...desktop, colorScheme: 'dark'});
    assert.equal(await paper(page), dark);
    await theme(page).click();
    assert.equal(await paper(page), light);
    await page.goto(site.url(code));
    assert.equal(await paper(page), light);
    await theme(page).getByText('Light').click();
    await theme(page).getByText('Dark').click();
    await theme(page).getByText('Auto').waitFor();
    await page.emulateMedia({colorScheme: 'light'});
    assert.equal(await paper(page), light);
});

test('a page is never painted in other colors than those that were chosen', async () => {
    const page = await site.open(browser, text, {...desktop, colorScheme: 'dark'});
    await theme(page).click();
    await page.addInitScript(() => new MutationObserver(() => {
        if (document.body)
            window.atFirst = window.atFirst ?? document.documentElement.dataset.theme;
    }).observe(document, {childList: true, subtree: true}));
    await page.reload();
    assert.equal(await page.evaluate(() => window.atFirst), 'light');
});

test('without scripts the page follows the system, and offers nothing that needs one', async () => {
    const page = await site.open(browser, text,
        {...desktop, colorScheme: 'dark', javaScriptEnabled: false});
    assert.equal(await page.locator('.scripted:visible').count(), 0);
    assert.ok(await page.getByRole('navigation', {name: 'On this page'}).first().isVisible());
    assert.equal(await paper(page), dark);
});
