// A member of a room: a person at a browser. It uses the page as a person does, by what is written
// on it.

import {existsSync} from 'node:fs';

import {chromium} from 'playwright-core';

export async function openBrowser() {
    const places = [process.env.REDLOCK_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
    return chromium.launch({
        executablePath: places.find((place) => place && existsSync(place)),
        // Its sandbox does not work for root, as tests in containers run.
        args: process.getuid() === 0 ? ['--no-sandbox'] : [],
    });
}

export class Member {
    /** Opens the page of a server in a window of its own. */
    static async open(browser, server, {name = 'Ada', room = 'lobby', ...context} = {}) {
        const page = await (await browser.newContext({
            viewport: {width: 1280, height: 800}, locale: 'en-GB', ...context,
        })).newPage();
        page.setDefaultTimeout(15_000);
        const member = new Member(page, name, room);
        page.on('pageerror', (error) => member.errors.push(error.message));
        await page.goto(`${server.url}/#${room}`);
        return member;
    }

    static async join(browser, server, options) {
        const member = await Member.open(browser, server, options);
        await member.join();
        return member;
    }

    constructor(page, name, room) {
        Object.assign(this, {page, name, room, errors: []});
        this.field = page.getByRole('textbox', {name: 'Message'});
        this.messages = page.locator('#messages .message');
        this.pending = page.locator('#pending .message');
        this.notice = page.locator('#notice');
        this.connection = page.locator('#connection');
    }

    async join() {
        await this.page.getByRole('textbox', {name: 'Your name'}).fill(this.name);
        await this.page.getByRole('button', {name: 'Join'}).click();
        await this.field.waitFor();
    }

    async say(text) {
        await this.field.fill(text);
        await this.field.press('Enter');
    }

    /** Everything that the room shows, in the order on the page. */
    async shown() {
        return this.messages.evaluateAll((lines) => lines.map((line) => ({
            seq: Number(line.dataset.seq), id: line.dataset.id,
            text: line.querySelector('.said').textContent,
        })));
    }

    /** Waits until a message is in the room. */
    async sees(text, timeout = 15_000) {
        await this.messages.locator('.said').getByText(text, {exact: true}).first()
            .waitFor({timeout});
    }

    /** The name of the coordinator that the panel shows, once there is one. */
    async coordinator() {
        const held = this.page.locator('#charge[data-state="held"] #coordinator');
        await held.waitFor();
        return held.textContent();
    }

    /** What the log says of new coordinators, oldest first. */
    async takeOvers() {
        return this.page.locator('.note', {hasText: 'Coordinator is now'}).allTextContents();
    }

    /** The token of the coordinator that the log told of last. */
    async lastFence() {
        const note = this.page.locator('.note[data-fence]').last();
        return Number(await note.getAttribute('data-fence'));
    }

    /** Waits until the connection is as told: open, lost. */
    async connected(state = 'open', timeout = 20_000) {
        await this.page.locator(`#connection[data-state="${state}"]`).waitFor({timeout});
    }

    async close() {
        await this.page.context().close();
    }
}
