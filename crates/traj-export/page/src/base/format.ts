/** Numbers, durations and times in words. Times are shown in UTC. */

const GROUPED = new Intl.NumberFormat('en-US');

export function whole(value: number): string {
  return GROUPED.format(value);
}

/** A noun with its number: `1 line`, `2 lines`. */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${whole(value)} ${value === 1 ? one : many}`;
}

/** Three significant figures with a letter: 5.2k, 168k, 1.09M. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value));
  const units: [number, string][] = [[1e3, 'k'], [1e6, 'M'], [1e9, 'G']];
  let [unit, letter] = units[0];
  for (const [next, name] of units) if (value >= next * 0.9995) [unit, letter] = [next, name];
  const scaled = value / unit;
  const digits = letter === 'k' ? (scaled < 99.95 ? 1 : 0) : scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  return scaled.toFixed(digits) + letter;
}

export function bytes(value: number): string {
  if (value < 1000) return count(value, 'byte');
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e4 ? 1 : 0)} kB`;
  return `${(value / 1e6).toFixed(value < 1e7 ? 1 : 0)} MB`;
}

/** A duration: 500 ms, 12.4 s, 3m 42s, 9h 05m. Empty if it is not known. */
export function duration(millis: number): string {
  if (Number.isNaN(millis)) return '';
  if (millis < 1000) return `${Math.round(millis)} ms`;
  if (millis < 59_950) return `${(millis / 1000).toFixed(1)} s`;
  const seconds = Math.round(millis / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
  return `${Math.floor(minutes / 1440)}d ${Math.floor((minutes % 1440) / 60)}h`;
}

/** A position on the axis: 0:08, 12:20, 1:02:03. */
export function position(millis: number): string {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest.replace(/^0/, '');
}

export function clock(millis: number, withMillis = false): string {
  if (Number.isNaN(millis)) return '';
  return new Date(millis).toISOString().slice(11, withMillis ? 23 : 19);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function day(date: Date): string {
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** From and to: `1 Jun 2026, 09:30–09:42 UTC`. */
export function span(from: number, to: number): string {
  const start = new Date(from);
  const end = new Date(to);
  const minute = (date: Date) => date.toISOString().slice(11, 16);
  const left = `${day(start)}, ${minute(start)}`;
  if (day(start) === day(end)) return `${left}–${minute(end)} UTC`;
  return `${left} – ${day(end)}, ${minute(end)} UTC`;
}

export function moment(millis: number): string {
  return Number.isNaN(millis) ? 'unknown' : `${clock(millis, true)} UTC`;
}

/** Money, with more places for small amounts. */
export function money(amount: number, currency: string | null | undefined): string {
  const places = amount === 0 || amount >= 0.1 ? 2 : amount >= 0.001 ? 3 : 5;
  const text = amount >= 1000 ? whole(Math.round(amount)) : amount.toFixed(places);
  return !currency || currency === 'USD' ? `$${text}` : `${text} ${currency}`;
}

export function percent(part: number, all: number): string {
  return all > 0 ? `${Math.round((part / all) * 100)} %` : '0 %';
}
