// What the demo prints for people to open.

import {after, before, test} from 'node:test';

import {end, printed, start} from './children.js';
import {openBrowser} from './member.js';

const storyTakes = 60_000;

let browser;
let demo;

before(async () => {
    demo = start(process.env.REDLOCK_CHAT_DEMO, ['--serve']);
    browser = await openBrowser();
});

after(async () => {
    await browser?.close();
    await end(demo);
});

test('an address that the demo prints leads to its room, wherever one was before', async () => {
    const [address] = await printed(demo, /http:\S+lobby/, storyTakes);
    const page = await browser.newPage();
    await page.addInitScript(() =>
        sessionStorage.setItem('visit', JSON.stringify({name: 'Ada', room: 'elsewhere'})));

    await page.goto(address);

    await page.locator('#room-title', {hasText: /^lobby$/}).waitFor({timeout: 15_000});
});
