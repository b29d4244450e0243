/** What spans cost: by their names, and the dearest and slowest one by one. */
import type { WireSpan } from "../model/wire.ts";
import { isLeft } from "../parts/api.ts";
import { h } from "../parts/dom.ts";
import { amount, count } from "../parts/format.ts";
import { faultText } from "../shell/faults.ts";
import { nameText } from "../spans/cells.ts";
import { whyEmpty, type Asked } from "../spans/empty.ts";
import { elsewhere, measureOf, spanNameChange, spanNameQuery, type Measure } from "../spans/links.ts";
import { namesTable } from "../spans/names.ts";
import { rankedSpans } from "../spans/ranked.ts";
import { StacksPlace } from "../spans/stacks.ts";
import type { View } from "./view.ts";

const NAMES_MAX = 10_000;

interface Names {
  spans: WireSpan[];
  count: number;
  rest: number;
}

/** The name that is looked at; undefined: none was chosen. */
function chosenName(view: View): string | null | undefined {
  return view.state.parameters["noName"] ? null : view.state.parameters["spanName"];
}

export async function spans(view: View): Promise<void> {
  const { query, type, from, until } = view.state.parameters;
  const asked: Asked = { query, type, from, until };
  const answer = await view.api.get<Names>("spans", { ...asked, limit: NAMES_MAX }, view.signal);
  const measure = measureOf(view.state);

  view.element.append(h("h1", {}, "Spans"));
  if (answer.count === 0) {
    view.element.append(await withoutSpans(view, asked, answer.rest, measure));
    return;
  }
  view.element.append(summary(answer, measure), content(view, asked, answer, measure));
}

async function withoutSpans(view: View, asked: Asked, rest: number, measure: Measure): Promise<HTMLElement> {
  if (rest === 0)
    return await whyEmpty(view, asked);
  return h("div", { class: "notice empty", role: "status" },
    h("p", {}, `There are profiles here (${amount(rest, measure.unit)}), but none of their samples was taken in a span. `
      + "Add the profiler\u2019s span processor to the tracer of the application, and its spans will be here."),
    h("p", {}, h("a", { href: view.address(elsewhere({}), "explore") }, "See what is there without spans")));
}

function summary({ spans: rows, count: all, rest }: Names, { unit, name }: Measure): HTMLElement {
  const inSpans = rows.reduce((sum, { total }) => sum + total, 0);
  const ids = rows.reduce((sum, row) => sum + row.spans, 0);

  return h("p", { class: "summary" },
    `${count(ids)} spans of ${count(all)} names: ${amount(inSpans, unit)} ${name} in spans, ${amount(rest, unit)} outside of them.`,
    all > rows.length && ` The ${count(rows.length)} dearest names are listed.`);
}

function content(view: View, asked: Asked, answer: Names, measure: Measure): HTMLElement {
  const stacks = new StacksPlace(view);
  const heading = h("h2", { id: "of-name" });
  const lists = h("div", { class: "side-by-side" });
  const failed = (error: unknown): void => {
    if (!isLeft(error))
      stacks.showInstead(faultText(error));
  };

  function show(name: string | null, chosen: boolean): void {
    const ofName = { ...asked, query: spanNameQuery(asked.query ?? "", name) };

    heading.textContent = `Where ${nameText(name)} spends it`;
    stacks.ask(ofName, `spans-${(name ?? "no-name").slice(0, 60)}`).catch(failed);
    const listed = chosen ? ofName : asked;
    Promise.all([
      rankedSpans(view, { asked: listed, sort: "total", title: chosen ? `Dearest of ${nameText(name)}` : "Dearest spans", measure }),
      rankedSpans(view, { asked: listed, sort: "duration", title: chosen ? `Slowest of ${nameText(name)}` : "Slowest spans", measure }),
    ]).then((made) => { lists.replaceChildren(...made); }, (error: unknown) => {
      if (!isLeft(error))
        lists.replaceChildren(faultText(error));
    });
  }

  const chosen = chosenName(view);
  const names = namesTable(view, {
    rows: answer.spans, rest: answer.rest, measure, chosen: chosen === undefined ? answer.spans[0]!.name : chosen,
    onChoose: (name) => {
      view.note(spanNameChange(name));
      show(name, true);
    },
  });

  show(chosen === undefined ? answer.spans[0]!.name : chosen, chosen !== undefined);
  return h("div", {}, names, h("section", { "aria-labelledby": "of-name" }, heading, stacks.element), lists);
}
