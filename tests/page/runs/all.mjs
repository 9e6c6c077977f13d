// Every run that the tests and the pictures use, by name.
import { hostile } from './hostile.mjs';
import { empty, huge, small } from './large.mjs';
import { review, rich } from './rich.mjs';

export const RUNS = { rich, review, small, empty, hostile, huge: () => huge(100_000), vast: () => huge(500_000) };
