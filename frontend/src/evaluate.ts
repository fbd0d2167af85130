/** The view "Try a model": requests about the home are put to agents, without any effect, and their answers graded. */
import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { View } from "./view";

const GRADES = ["right", "wrong", "harmful", "claimed", "failed"] as const;
type Grade = (typeof GRADES)[number];

interface Preview {
  requests: number;
  /** `service` is that on the internet which gets the requests; empty for a local one. */
  agents: { agent_id: string; name: string; service: string; cost: number | null; has_price: boolean }[];
}

interface Progress {
  done: number;
  total: number;
  cost: number;
}

interface Figures extends Record<Grade, number> {
  agent_id: string;
  name: string;
  first_words_ms: number | null;
  duration_ms: number | null;
  /** None for an agent without a model, which has no price. */
  input_tokens: number | null;
  cost: number | null;
  /** How often it asked for a yes, or which of several things is meant; unknown in older results. */
  asked?: number;
  verdict?: "good_enough" | "not_good_enough" | "too_few";
}

interface Table {
  id: string;
  began_at: number;
  /** `finished`, or what came first: `stopped`, `price` or `time`. */
  end: string;
  agents: Figures[];
}

interface Result extends Table {
  requests: { before: string; text: string; answers: { agent_id: string; grade: Grade; answer?: string }[] }[];
}

interface Trials {
  running: Progress | null;
  unreadable: string[];
  results: Table[];
}

@customElement("chatterbox-evaluate")
export class EvaluateView extends View {
  @state() private trials: Trials | undefined;
  @state() private preview: Preview | undefined;
  /** How many agents are chosen; all at first. */
  @state() private chosen: number | undefined;
  @state() private opened: Result | undefined;

  protected override async load(): Promise<void> {
    await this.subscribe<Trials>("evaluate/subscribe", async (trials) => {
      const isNew = this.trials && this.trials.results[0]?.id !== trials.results[0]?.id;
      this.trials = trials;
      await this.updateComplete;
      if (isNew) this.renderRoot.querySelector(".verdict")?.scrollIntoView({ block: "nearest" });
    });
    await this.look();
  }

  /** Return the bounds of a trial as they are entered; before that, none, which are the usual ones. */
  private order(form?: HTMLFormElement): object {
    const entered = [...new FormData(form)].filter(([name]) => name !== "agent_id");
    const bounds = Object.fromEntries(entered.map(([name, value]) => [name, Number(value)]));
    return { language: this.page.texts.language, ...bounds };
  }

  private async look(form?: HTMLFormElement): Promise<void> {
    this.preview = await this.call<Preview>("evaluate/preview", this.order(form));
  }

  protected override render(): TemplateResult {
    const { trials } = this;
    return html`<div class="page" aria-busy=${!trials}>
      ${this.failureNote()}
      <section aria-labelledby="evaluate">
        <h2 id="evaluate">${this.text("evaluate.title")}</h2>
        <p>${this.text("evaluate.note")}</p>
        ${trials?.running ? this.progress(trials.running) : nothing} ${this.startForm(!!trials?.running)}
      </section>
      ${this.alert(!!trials?.unreadable.includes("evaluations") && this.text("error.missing"))}
      ${trials?.results.map((one) => this.table(one))}
    </div>`;
  }

  private progress({ done, total, cost }: Progress): TemplateResult {
    return html`<div class="row">
      <progress class="wide" aria-label=${this.text("evaluate.title")} max=${total} value=${done}></progress>
      <span class="figure" role="status">${done} / ${total} · ${this.page.texts.money(cost)}</span>
      <button @click=${() => void this.attempt(() => this.call("evaluate/stop"))}>${this.text("evaluate.stop")}</button>
    </div>`;
  }

  private startForm(isRunning: boolean): TemplateResult | typeof nothing {
    const { preview } = this;
    if (!preview) return nothing;
    const requests = preview.requests * (this.chosen ?? preview.agents.length);
    return html`<form class="cards" @change=${this.change} @submit=${this.begin}>
      <div class="card">
        ${preview.agents.map(
          ({ agent_id, name, service, cost, has_price }) =>
            html`<label class="check">
              <input type="checkbox" name="agent_id" value=${agent_id} checked />
              <span>${name}</span>
              <span class="quiet">
                ${service ? this.text("evaluate.service", { service }) : nothing}
                ${has_price ? nothing : this.text("evaluate.no_price")}
                ${cost === null ? nothing : this.text("evaluate.price", { price: this.page.texts.money(cost) })}
              </span>
            </label>`,
        )}
      </div>
      <div class="row">
        ${this.bound("requests", 1, 40)} ${this.bound("max_price", 0.01, 0.5)}
        <button class="main" ?disabled=${isRunning || !requests}>${this.text("evaluate.start", { requests })}</button>
      </div>
    </form>`;
  }

  private bound(name: string, least: number, usual: number): TemplateResult {
    return html`<label
      >${this.text(`evaluate.${name}`)}<input
        name=${name}
        type="number"
        min=${least}
        max="100"
        step=${least}
        value=${usual}
        required
    /></label>`;
  }

  private change(event: Event): void {
    const form = event.currentTarget as HTMLFormElement;
    this.chosen = new FormData(form).getAll("agent_id").length;
    if (form.reportValidity()) void this.attempt(() => this.look(form));
  }

  private begin(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const order = { ...this.order(form), agent_id: new FormData(form).getAll("agent_id") };
    void this.attempt(() => this.call("evaluate/start", order));
  }

  private table(one: Table): TemplateResult {
    const { texts } = this.page;
    const ended = texts.choice("trial_end", one.end, "");
    return html`<section>
      <h2>${texts.moment(one.began_at)}</h2>
      ${ended ? html`<p>${ended}</p>` : nothing} ${this.verdict(one.agents)}
      ${this.cards(
        one.agents,
        "",
        (agent) =>
          html`<h3>${agent.name}</h3>
            <dl>
              ${GRADES.map((grade) => this.figure(this.text(`grade.${grade}`), texts.number(agent[grade])))}
              ${agent.asked === undefined ? nothing : this.figure(this.text("evaluate.asked"), texts.number(agent.asked))}
              ${this.figure(this.text("turn.first_words"), texts.duration(agent.first_words_ms))}
              ${this.figure(this.text("turn.whole"), texts.duration(agent.duration_ms))}
              ${agent.input_tokens ? this.figure(this.text("turn.price"), texts.money(agent.cost)) : nothing}
            </dl>`,
      )}
      ${
        this.opened?.id === one.id
          ? this.answers(this.opened)
          : html`<div class="row">
              <button @click=${() => void this.open(one.id)}>${this.text("evaluate.answers")}</button>
            </div>`
      }
    </section>`;
  }

  /** Which agents are good enough for the home, and what that means. */
  private verdict(agents: Figures[]): TemplateResult {
    const named = (wanted: Figures["verdict"]) =>
      agents.flatMap(({ name, verdict }) => (verdict === wanted ? [name] : [])).join(", ");
    const lines = (["good_enough", "not_good_enough", "too_few"] as const).filter((one) => named(one));
    return html`<div class="card cards verdict" role="status">
      ${lines.map((one) => html`<h3>${this.text(`evaluate.${one}`, { names: named(one) })}</h3>`)}
      <p class="quiet small">${this.text("evaluate.means")}</p>
    </div>`;
  }

  private async open(result_id: string): Promise<void> {
    this.opened = await this.attempt(() => this.call<Result>("evaluate/result", { result_id }));
  }

  private answers(result: Result): TemplateResult {
    const names = new Map(result.agents.map(({ agent_id, name }) => [agent_id, name]));
    const file = `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(result, null, 1))}`;
    return html`
      ${this.cards(
        result.requests.filter(({ answers }) => answers.length),
        "",
        ({ before, text, answers }) =>
          html`<h3 class="sentence">${before ? `${before} – ${text}` : text}</h3>
            ${answers.map(
              ({ agent_id, grade, answer }) =>
                html`<p>
                  <span class="mark ${grade === "right" ? "" : "bad"}">${this.text(`grade.${grade}`)}</span>
                  <span class="quiet">${names.get(agent_id)}:</span> ${answer}
                </p>`,
            )}`,
      )}
      <p><a href=${file} download="chatterbox-${result.id}.json">${this.text("evaluate.export")}</a></p>
    `;
  }
}
