// What every screen draws with: htm's templates over Preact, its hooks and signals.
import { h, render, Fragment } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { h, render, Fragment };
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
export { signal, computed, effect, batch, useSignal, useComputed } from "../vendor/preact-signals.js";

export const html = htm.bind(h);
