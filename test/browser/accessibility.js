// Looks at a page with axe-core, as people do who cannot see it, or not well.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const axe = readFileSync(
    fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Fails with each rule that the page breaks as it is now, and where. */
export async function isAccessible(page, state) {
    await page.evaluate(axe);
    const found = await page.evaluate(async (values) => {
        const {violations} = await window.axe.run({runOnly: {type: 'tag', values}});
        return violations.flatMap(({id, help, nodes}) =>
            nodes.map((node) => `${id}: ${help}: ${node.target}`));
    }, rules);
    assert.deepEqual(found, [], state);
}
