// Numbers and times as people read them.

const clock = new Intl.DateTimeFormat(undefined, {hour: 'numeric', minute: '2-digit'});
const exactClock = new Intl.DateTimeFormat(undefined, {
    hour: 'numeric', minute: '2-digit', second: '2-digit',
});
const date = new Intl.DateTimeFormat(undefined, {weekday: 'long', day: 'numeric', month: 'long'});

export const timeOfDay = (at) => clock.format(at);
export const exactTime = (at) => exactClock.format(at);
export const day = (at) => date.format(at);

export const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

/** 8 s, 3 min 12 s, 2 h 5 min. */
export function duration(milliseconds) {
    const whole = Math.max(0, Math.floor(milliseconds / 1000));
    const [h, min, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    if (h > 0)
        return `${h} h ${min} min`;
    return min > 0 ? `${min} min ${s} s` : `${s} s`;
}

/** A number that the server told, or a dash if it did not know it. */
export const known = (number) => String(number ?? '–');

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** A round trip in microseconds, or a dash if nothing was measured. */
export function roundTrip(us) {
    if (us === null || us === undefined)
        return '–';
    return `${(us / 1000).toFixed(us < 9950 ? 2 : 0)} ms`;
}
