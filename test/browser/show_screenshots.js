// Pictures of a show at 1280 and 390 pixels: the first minute, a refusal, the room without the
// fence, no quorum, and the store down.
//
//   node show_screenshots.js FOLDER      see scripts/chat_screenshots.sh

import {join} from 'node:path';

import {end, printed, start} from './children.js';
import {Member, openBrowser} from './member.js';

const folder = process.argv[2];
const looks = [
    {name: '1280', viewport: {width: 1280, height: 800}, colorScheme: 'light'},
    {name: '390', viewport: {width: 390, height: 844}, hasTouch: true, colorScheme: 'dark'},
];

const demo = start(process.env.REDLOCK_CHAT_DEMO, ['--serve']);
const browser = await openBrowser();
try {
    await printed(demo, /(http:\S+lobby!\w+\s+){3}/, 60_000);
    await play(demo.output.match(/http:\S+lobby!\w+/g));
} finally {
    await browser.close();
    await end(demo);
}

async function open(address, look) {
    const page = await (await browser.newContext({locale: 'en-GB', ...look})).newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(address);
    const member = new Member(page, `Guest ${look.name}`, 'lobby');
    await member.join();
    return Object.assign(member, {look: look.name});
}

async function play(addresses) {
    const all = [];
    for (const [place, look] of looks.entries())
        all.push(await open(addresses[place + 1], look));
    const picture = (name) => Promise.all(all.map(({page, look}) =>
        page.screenshot({path: join(folder, `show-${name}-${look}.png`)})));
    const [wide] = all;
    const button = (name) => wide.page.getByRole('button', {name, exact: true});
    const act = async (name) => {
        await button(name).and(wide.page.locator(':enabled')).click();
    };
    const wait = (find) => Promise.all(all.map((member) => find(member).waitFor()));

    await wait(({page}) => page.locator('#messages .message').nth(3));
    await picture('first-minute');
    await act('Freeze it just before its write');
    await wait(({page}) => page.locator('.note[data-kind="refusal"]'));
    await picture('refusal');
    for (const {page} of all)
        await page.locator('#copy-toggle').evaluate((toggle) => toggle.click());
    await wait(({page}) => page.locator('#copy .damage'));
    await picture('without-fence');
    for (const {page} of all)
        await page.locator('#copy-toggle').evaluate((toggle) => toggle.click());
    await act('Cut off three');
    await wait(({notice}) => notice.getByText('Nobody is in charge.'));
    await picture('no-quorum');
    await act('Kill the message store');
    await wait(({notice}) => notice.getByText('The message store is down.'));
    await picture('store-down');
}
