/** Texts on the page with a contrast below the limit, by the formula of WCAG 2. It runs in the
    browser, so all that it needs is inside. */
export function contrastsBelow(limit) {
    const canvas = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
        .getContext('2d', {willReadFrequently: true});
    const luminance = ([r, g, b]) => [r, g, b]
        .map((part) => part / 255)
        .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);

    // A canvas paints what is behind a text, layer by layer, and then the text.
    function paint(colours) {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        return luminance(canvas.getImageData(0, 0, 1, 1).data);
    }

    function contrast(element) {
        const behind = [];
        for (let node = element; node; node = node.parentElement)
            behind.unshift(getComputedStyle(node).backgroundColor);
        const layers = ['white', ...behind];
        const [dark, bright] = [paint(layers), paint([...layers, getComputedStyle(element).color])]
            .sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    }

    return [...document.querySelectorAll('body *')]
        .filter((element) => element.checkVisibility() && [...element.childNodes].some((node) =>
            node.nodeType === Node.TEXT_NODE && node.data.trim()))
        .map((element) => [contrast(element), element])
        .filter(([value]) => value < limit)
        .map(([value, element]) => `${value.toFixed(2)} ${element.textContent.trim()}`);
}
