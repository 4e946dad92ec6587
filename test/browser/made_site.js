// The site of the docs as scripts/site.sh makes it, and a reader who opens it at file://.

import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const script = fileURLToPath(new URL('../../scripts/site.sh', import.meta.url));

// A page of each kind: text, tables, code with pictures, names, and pictures in a table.
export const pages = [
    'index.html', 'docs/configuration.html', 'docs/tutorial/1-first-lock.html',
    'reference/client.html', 'examples/chat_room/index.html',
];
export const screens = {
    desktop: {viewport: {width: 1280, height: 800}},
    phone: {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true},
};

export class Site {
    /** Throws if what makes it is not installed. */
    static make() {
        const folder = mkdtempSync(join(tmpdir(), 'redlock-site-'));
        // With --check nothing is installed. What it finds is for the test `site`.
        const {stderr} = spawnSync(script, ['--check', '--output', folder], {encoding: 'utf8'});
        if (existsSync(join(folder, 'search.js')))
            return new Site(folder);
        rmSync(folder, {recursive: true});
        throw new Error(stderr);
    }

    constructor(folder) {
        this.folder = folder;
    }

    remove() {
        rmSync(this.folder, {recursive: true});
    }

    url(path) {
        return new URL(path, pathToFileURL(`${this.folder}/`)).href;
    }

    /** A page in a window of its own. */
    async open(browser, path, look = screens.desktop) {
        const context = await browser.newContext({locale: 'en-GB', ...look});
        const page = await context.newPage();
        page.setDefaultTimeout(10_000);
        await page.goto(this.url(path));
        return page;
    }
}
