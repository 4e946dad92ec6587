// Pictures of the site, to look at after a change of its style.
//
//   node site_screenshots.js SITE FOLDER      see scripts/site.sh --pictures

import {mkdirSync} from 'node:fs';
import {join, resolve} from 'node:path';

import {Site, pages, screens} from './made_site.js';
import {openBrowser} from './member.js';

const [from, folder] = process.argv.slice(2);
const site = new Site(resolve(from));
mkdirSync(folder, {recursive: true});
const browser = await openBrowser();
try {
    for (const [size, screen] of Object.entries(screens))
        for (const colorScheme of ['light', 'dark'])
            await takeAll(`${size}-${colorScheme}`, {...screen, colorScheme});
} finally {
    await browser.close();
}

async function takeAll(look, options) {
    for (const path of pages) {
        const page = await site.open(browser, path, options);
        await take(page, `${path.replace(/\W+/g, '-').replace(/-html$/, '')}-${look}`);
        await page.context().close();
    }
    const page = await site.open(browser, 'docs/index.html', options);
    await page.getByRole('combobox').fill('lock expired');
    await page.getByRole('option').first().waitFor();
    await take(page, `search-${look}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    if (options.isMobile) {
        await page.getByRole('button', {name: 'Menu'}).tap();
        await take(page, `menu-${look}`);
    }
    await page.goto(site.url('docs/safety.html'));
    if (options.isMobile)
        await page.locator('summary').tap();
    else
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
    await page.waitForTimeout(300);  // Until the observer of the sections has run.
    await take(page, `contents-${look}`);
    await page.context().close();
}

async function take(page, name) {
    await page.screenshot({path: join(folder, `${name}.png`)});
}
