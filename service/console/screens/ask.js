// Ask: questions in plain English, with the answer's figures linked to where they come from; insights of the month.
import { html, useState } from "../parts/html.js";
import { post } from "../api.js";
import { can, href } from "../state.js";
import { change } from "../parts/admin/list.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Field, Form, Select } from "../parts/form.js";
import { counted, moment, withoutPages, words } from "../parts/format.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";

const READERS = ["analyst", "executive", "finance", "operations"].map((value) => ({ value, label: words(value) }));
const ANGLES = 3; // other looks at one session

export default function Ask({ id }) {
  if (!id) return html`<h1>Ask</h1><${Nominated} />`;
  return html`<${DealScreen} id=${id} title="Ask">${({ month }) => (month ? html`<${Questions} key=${month.id} deal=${{ id, workbook: month.id }} ask=${(query) => chat(query, month.id)} />
    <p><a href=${href("ask")}>Insights of the month, and questions about several deals</a></p>` : html`<${Empty} title="No month yet"><p>Add a file of this deal first.</p><//>`)}<//>`;
}

async function chat(query, workbook) {
  const { id, content, metadata } = await post("ai/chat", { query, context: { workbook_id: workbook } });
  return { id, question: query, answer: content, ...metadata };
}

function Questions({ ask, deal, earlier = [] }) {
  const [answers, setAnswers] = useState([]);
  const task = useTask(async (text) => setAnswers([await ask(text), ...answers]));
  const submit = async ({ question }, form) => {
    await task.run(question);
    form.reset();
  };
  return html`${ask && html`<div class="filters question"><${Form} task=${task} action="Ask" onSubmit=${submit}><${Field} label="Your question" name="question" required maxlength="1000" error=${task.error} placeholder="What are the ten largest obligors?" /><//></div>`}
    ${[...answers, ...earlier.filter(({ id }) => !answers.some((one) => one.id === id))].map((one) => html`<article key=${one.id}><h3>${one.question}</h3><p class="answer">${one.answer}</p>
      <${Figures} data=${one.supporting_data} deal=${deal} />
      ${ask && one.suggestions.map((text) => html`<button key=${text} class="pill" onClick=${() => task.run(text)}>${text}</button> `)}
      ${one.warnings.map(({ message }) => html`<p class="muted">${message}</p>`)}</article>`)}`;
}

/** The figures of an answer or an insight, and the test and the cells that each comes from. */
function Figures({ data, deal }) {
  const overview = useData(deal || !can("compliance:read") ? null : "console/overview", undefined, { freshSeconds: 60 });
  const figures = data?.figures ?? [];
  if (figures.length === 0) return null;
  const where = ({ subject = data.subject, support, recipe }) => {
    const { id, workbook } = deal ?? overview.data?.items.find(({ name }) => subject.startsWith(name)) ?? {};
    const { test_id: test, columns = data.columns ?? {} } = support ?? recipe ?? {};
    return id && html`${test && html`<a href=${href("deals", id, "compliance", { workbook, test })}>Test</a> `}${Object.values(columns).map((cell) => cell && html`<a class="cell-link" href=${href("deals", id, "mapping", { workbook, cell: withoutPages(cell) })}><code>${cell}</code></a> `)}`;
  };
  return html`<${Table} caption="Figures" rows=${figures.map((row, at) => ({ ...row, at }))} keyOf=${({ at }) => at} columns=${[
    { key: "name", label: "Figure", className: "wraps", value: ({ name }) => words(name) }, { key: "of", label: "Of", className: "wraps", value: (row) => row.of ?? row.subject ?? data.subject },
    { key: "text", label: "Value", number: true }, { key: "where", label: "Where from", copied: false, show: where },
  ]} />`;
}

/** What is said of the workbooks that were nominated for insights. */
function Nominated() {
  const list = useData("insights/nominations");
  const history = useData("insights/questions/history");
  return html`<${Loaded} from=${list}>${(books) => html`
    ${books.length > 0 && !books[0].is_nominated && html`<p class="note">No workbook is chosen yet. ${can("workbooks:write") ? "Choose below the ones that questions and insights are about." : "An analyst of your organisation chooses the ones that questions and insights are about."}</p>`}
    <${Questions} ask=${books[0]?.is_nominated && ((question) => post("insights/ask", { question }))} earlier=${history.data} />
    <h2 class="apart">Insights</h2><details open=${!books[0]?.is_nominated}><summary>Of ${counted(books.filter((book) => book.is_nominated).length, "workbook")}</summary>
      ${books.length === 0 && html`<p>Drop a month of a deal anywhere on the page first.</p>`}
      ${books.map(({ workbook_id: id, workbook_name: name, is_nominated: on }) => html`<label class="choice" key=${id}><input type="checkbox" checked=${on} disabled=${!can("workbooks:write")}
        onChange=${() => change("PUT", `insights/nominations/${id}`, { is_nominated: !on }, `${name} is ${on ? "left out" : "chosen"}`, { is_nominated: on })} /> ${name}</label>`)}</details>
    ${books[0]?.is_nominated && html`<${Session} />`}`}<//>`;
}

function Session() {
  const current = useData("insights/sessions/current");
  const make = useTask(async (path, body) => {
    await post(`insights/${path}`, body);
    refreshData("insights/sessions");
  });
  const { data: session } = current;
  const left = ANGLES - (session?.regeneration_count ?? ANGLES);
  return html`<div class="filters"><${Form} task=${make} action="Make insights" onSubmit=${(fields) => make.run("generate", fields)}><${Select} label="For" name="stakeholder_type" options=${READERS} value=${session?.stakeholder_type} /><//>
    ${left > 0 && html`<button disabled=${make.busy} onClick=${() => make.run("regenerate", undefined)}>From another angle, ${left} left</button>`}</div>
    ${current.error?.status !== 404 && html`<${Problem} error=${current.error} />`}
    ${session && html`<p class="muted">${moment(session.created_at)}</p>${session.insights.map((one) => html`<${Insight} key=${one.id} one=${one} />`)}
      ${session.warnings.map(({ message }) => html`<p class="muted">${message}</p>`)}`}`;
}

function Insight({ one }) {
  const [open, setOpen] = useState(false);
  const whole = useData(open ? `insights/${one.id}` : null);
  return html`<details class="card" onToggle=${({ target }) => setOpen(target.open)}><summary><small class="muted">${one.category_display}</small> <strong>${one.title}</strong></summary>
    <p>${one.summary}</p><${Problem} error=${whole.error} />${whole.data && html`<p class="muted">${whole.data.methodology}</p><${Figures} data=${whole.data.supporting_data} />`}</details>`;
}
