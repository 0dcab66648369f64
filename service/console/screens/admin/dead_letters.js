// Background tasks that failed for good: given back to a worker, or discarded.
import { html } from "../../parts/html.js";
import { post, remove } from "../../api.js";
import { notify, route, setQuery } from "../../state.js";
import { AdminScreen, forAdmins } from "../../parts/admin/tabs.js";
import { Paging, pageHere } from "../../parts/admin/paging.js";
import { useData, useTask } from "../../parts/data.js";
import { confirmed } from "../../parts/dialog.js";
import { Select } from "../../parts/form.js";
import { moment, words } from "../../parts/format.js";
import { Empty, Loaded, Problem } from "../../parts/problem.js";
import { Table } from "../../parts/table.js";

const PAGE = 50;
const STATUSES = [["pending_review", "Wait for review"], ["retried", "Given back"], ["resolved", "Resolved"], ["discarded", "Discarded"], ["all", "All"]];

function DeadLetters() {
  const status = route.value.query.get("status") ?? "pending_review";
  const list = useData("dlq/entries", { status: status === "all" ? null : status, limit: PAGE, offset: (pageHere() - 1) * PAGE });
  const retry = useTask(async (entry) => {
    await post(`dlq/entries/${entry.dlq_id}/retry`, undefined);
    list.reload();
    notify("good", `${entry.task_name} is given back to a worker`);
  });
  const discard = useTask(async (entry) => {
    if (!(await confirmed(`Discard ${entry.task_name}?`, "Its work is never done. Nothing brings it back.", "Discard"))) return;
    await remove(`dlq/entries/${entry.dlq_id}`);
    list.reload();
    notify("good", `${entry.task_name} is discarded`);
  });
  return html`<${AdminScreen} title="Dead letters">
    <div class="row"><${Select} label="Show" name="status" value=${status} onChange=${(value) => setQuery({ status: value, page: null }, { replace: false })}
      options=${STATUSES.map(([value, label]) => ({ value, label }))} /></div>
    <${Problem} error=${retry.error ?? discard.error} />
    <${Loaded} from=${list}>${({ items, total }) => (total === 0
      ? html`<${Empty} title="Nothing here"><p>A background task that fails for good shows here, to be tried again or discarded.</p><//>`
      : html`<${Table} caption="Dead letters" rows=${items} keyOf=${(entry) => entry.dlq_id} columns=${columns(retry.run, discard.run)} />
        <${Paging} total=${total} size=${PAGE} />`)}<//>
  <//>`;
}

function columns(retry, discard) {
  return [
    { key: "failed_at", label: "Failed", className: "moment", show: (entry) => moment(entry.failed_at) },
    { key: "task_name", label: "Task" },
    { key: "reason", label: "Why", className: "wraps", value: ({ exception }) => `${exception.type}: ${exception.message}`, show: ({ exception }) => html`<details><summary>${exception.type}: ${exception.message}</summary><pre>${exception.traceback}</pre></details>` },
    { key: "status", label: "Status", show: (entry) => words(entry.status), className: "narrow-off" },
    { key: "retry_count", label: "Retries", number: true, className: "narrow-off" },
    { key: "more", label: "", spoken: "Actions", show: (entry) => entry.status === "pending_review" && html`<span class="actions">
      <button aria-label=${`Try ${entry.task_name} again`} onClick=${() => retry(entry)}>Try again</button>
      <button class="danger" aria-label=${`Discard ${entry.task_name}`} onClick=${() => discard(entry)}>Discard</button></span>` },
  ];
}

export default forAdmins(DeadLetters);
