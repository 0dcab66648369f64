"""The console: the page that analysts work in, without a build step.

Preact, hooks, signals and htm draw, uPlot charts, virtual-core scrolls; `vendor/` has them (`make vendor`). `app.js`
maps addresses to screens, `api.js` speaks to `/api/v1` alone, `state.js` has what screens share. `screens/` has a
file for each screen, `parts/` what several need.

`file_actions.Console` joins our modules into two files (`join_actions`), minifies and hashes all, and serves them
under `/console/<hash>/` for a year. Sixty small modules would take 139 kB of gzip; so it is 114, and a test holds it
under 120. The policy allows `'self'` alone, nothing inline, and Trusted Types. The access token lives in a tab's
memory.
"""
