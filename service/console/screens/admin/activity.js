// What happened in the organisation, the newest first.
import { html } from "../../parts/html.js";
import { AdminScreen, forAdmins } from "../../parts/admin/tabs.js";
import { Paging, pageHere } from "../../parts/admin/paging.js";
import { useData } from "../../parts/data.js";
import { moment } from "../../parts/format.js";
import { Empty, Loaded } from "../../parts/problem.js";
import { Table } from "../../parts/table.js";

const PAGE = 50;
const COLUMNS = [
  { key: "created_at", label: "When", className: "moment", show: (item) => moment(item.created_at) },
  { key: "description", label: "What", className: "wraps", show: (item) => html`<span class=${item.status === "failed" ? "fail" : ""}>${item.description}</span>` },
];

function Activity() {
  const list = useData("activity", { limit: PAGE, offset: (pageHere() - 1) * PAGE });
  return html`<${AdminScreen} title="Activity"><${Loaded} from=${list}>${({ items, total }) => (total === 0
    ? html`<${Empty} title="Nothing happened yet"><p>Files, runs, changes and sign-ins show here.</p><//>`
    : html`<${Table} caption="Activity" rows=${items} columns=${COLUMNS} /><${Paging} total=${total} size=${PAGE} />`)}<//><//>`;
}

export default forAdmins(Activity);
