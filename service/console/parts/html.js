// What every screen draws with: htm's templates over Preact, its hooks and signals.
import { h, htm } from "../vendor/preact.js";

export * from "../vendor/preact.js";

export const html = htm.bind(h);
