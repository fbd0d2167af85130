/** The view Now: the agents and how they are, questions that wait for an answer, and plans. */
import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import type { AgentNow, Now, Plan, WaitingQuestion } from "./api";
import { navigate } from "./hass";
import { View } from "./view";

@customElement("chatterbox-now")
export class NowView extends View {
  @state() private now: Now | undefined;
  /** Unix seconds, for what counts down. */
  @state() private clock = Date.now() / 1000;
  @state() private edited: Plan | undefined;
  /** What came of an answer, until the next one. */
  @state() private outcome = "";
  private ticking: number | undefined;

  protected override async load(): Promise<void> {
    const show = (now: Now) => {
      this.now = now;
      this.clock = Date.now() / 1000;
    };
    await this.subscribe<Now>("now/subscribe", show, { language: this.page.texts.language });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.ticking = setInterval(() => {
      if (this.now?.questions.length) this.clock = Date.now() / 1000;
    }, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.ticking);
  }

  protected override render(): TemplateResult {
    const { now } = this;
    return html`<div class="page" aria-busy=${!now}>
      ${this.failureNote()}
      <p role="status">${this.outcome}</p>
      ${
        now
          ? html`
              ${this.alert(
                now.guests_since !== null &&
                  this.text("now.guests", { time: this.page.texts.moment(now.guests_since) }),
              )}
              ${
                now.questions.length
                  ? html`<section>
                      <h2>${this.text("now.questions")}</h2>
                      ${this.cards(now.questions, "cards notable", (question) => this.question(question))}
                    </section>`
                  : nothing
              }
              <section>
                <h2>${this.text("now.agents")}</h2>
                ${this.alert(this.page.info.is_admin && now.unreadable.includes("usage") && this.text("error.missing"))}
                ${this.rows(now.agents, (agent) => this.agent(agent), "now.no_agents")}
                ${
                  this.page.info.is_admin && now.agents.length
                    ? html`<p><a href="/chatterbox/evaluate">${this.text("evaluate.title")}</a></p>`
                    : nothing
                }
              </section>
              <section>
                <h2>${this.text("now.plans")}</h2>
                ${
                  now.unreadable.includes("later")
                    ? this.alert(this.page.texts.reason("later_unreadable"))
                    : this.rows(now.plans, (plan) => this.plan(plan), "now.no_plans")
                }
              </section>
              ${
                this.page.info.is_admin
                  ? html`<label class="check">
                      <input type="checkbox" ?checked=${this.page.info.everyone} @change=${this.share} />
                      <span>${this.text("now.everyone")}</span>
                    </label>`
                  : nothing
              }
            `
          : nothing
      }
      ${this.edited ? this.editor(this.edited) : nothing} ${this.confirmation}
    </div>`;
  }

  /** A list that may be empty, and then says so. */
  private rows<Item extends { id: string }>(
    items: Item[],
    content: (item: Item) => TemplateResult,
    none: string,
  ): TemplateResult {
    return items.length ? this.cards(items, "row spread", content) : html`<p class="quiet">${this.text(none)}</p>`;
  }

  private async share(event: Event): Promise<void> {
    const box = event.target as HTMLInputElement;
    const done = await this.attempt(() => this.call<null>("page/share", { everyone: box.checked }));
    if (done === undefined) box.checked = !box.checked;
  }

  private agent(agent: AgentNow): TemplateResult {
    const { texts } = this.page;
    const isWell = agent.state === "ok" || agent.state === "offline";
    const parts = [texts.choice("agent", agent.state)];
    if (!isWell && agent.since_at) parts.push(this.text("now.since", { time: texts.moment(agent.since_at) }));
    if (!isWell && agent.stands_in) parts.push(this.text("now.stands_in", { name: agent.stands_in }));
    const looks = isWell ? "" : agent.stands_in ? "notable" : "bad";
    return html`<div class="wide">
        <h3 class="row"><span class="dot ${looks}"></span>${agent.name}</h3>
        <p class=${isWell ? "quiet" : ""}>${parts.join(" · ")}</p>
        ${agent.detail ? html`<p>${agent.detail}</p>` : nothing}
      </div>
      ${
        agent.turns_today === null
          ? nothing
          : html`<dl>
              ${this.figure(this.text("now.today"), texts.number(agent.turns_today))}
              ${this.figure(this.text("now.wait"), texts.duration(agent.usual_wait_ms))}
              ${this.figure(this.text("now.month"), texts.sum(agent.cost_month))}
            </dl>`
      }`;
  }

  private question(question: WaitingQuestion): TemplateResult {
    const { texts } = this.page;
    const left = Math.max(0, Math.round(question.expires_at - this.clock));
    const from = [question.agent, question.person, question.place].filter(Boolean).join(" · ");
    return html`
      <div class="row spread">
        <h3>${question.text}</h3>
        <span class="figure quiet" role="timer">${this.text("now.left", { time: texts.countdown(left) })}</span>
      </div>
      <p class="quiet">
        ${question.words ? html`<q>${question.words}</q> · ` : nothing}${from}
        ${
          question.turn_id
            ? html`· <a href="/chatterbox/turns/${encodeURIComponent(question.turn_id)}">${this.text("now.turn")}</a>`
            : nothing
        }
      </p>
      ${question.calls.length > 1 ? question.calls.map((call) => html`<p class="sentence">${call.sentence}</p>`) : nothing}
      <form class="row" @submit=${(event: SubmitEvent) => this.answer(event, question)}>
        ${
          question.may_answer === null
            ? html`
                ${
                  question.needs_pin
                    ? html`<label
                        >${this.text("now.pin")}<input
                          name="pin"
                          type="password"
                          inputmode="numeric"
                          autocomplete="off"
                          required
                          size="8"
                        />${this.fieldError(question.id)}</label
                      >`
                    : nothing
                }
                <button class="main" value="yes">${this.text("now.yes")}</button>
              `
            : nothing
        }
        <button value="no" formnovalidate>${this.text("now.no")}</button>
        ${
          question.may_answer === null
            ? nothing
            : html`<span class="quiet wide"
                >${texts.reason(question.may_answer) ?? this.text(`now.${question.who}`)}</span
              >`
        }
      </form>
    `;
  }

  private answer(event: SubmitEvent, question: WaitingQuestion): void {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const approved = (event.submitter as HTMLButtonElement | null)?.value !== "no";
    const pin = String(new FormData(form).get("pin") ?? "");
    form.reset();
    void this.attempt(
      async () => {
        const fields = { question_id: question.id, approved, ...(approved && pin ? { password: pin } : {}) };
        this.outcome = (await this.call<{ speech: string }>("question/answer", fields)).speech;
      },
      approved && pin ? question.id : "",
    );
  }

  private plan(plan: Plan): TemplateResult {
    const { texts } = this.page;
    const when = [plan.due_at === null ? "" : texts.moment(plan.due_at), plan.condition ?? "", plan.repeats].filter(
      Boolean,
    );
    const from = [plan.agent, plan.person, plan.place].filter(Boolean).join(" · ");
    return html`
      <div class="wide">
        <h3 class="sentence">${plan.text}</h3>
        <p class="quiet">${[texts.choice("plan", plan.kind), ...when].join(" · ")}<br />${from}</p>
      </div>
      ${
        plan.can_cancel
          ? html`<div class="row">
              ${
                plan.can_change || plan.can_rename
                  ? html`<button
                      aria-label="${this.text("now.edit")}: ${plan.text}"
                      @click=${() => (this.edited = plan)}
                    >
                      ${this.text("now.edit")}
                    </button>`
                  : nothing
              }
              ${
                plan.can_automate
                  ? html`<button
                      aria-label="${this.text("now.automate")}: ${plan.text}"
                      @click=${() => void this.automate(plan)}
                    >
                      ${this.text("now.automate")}
                    </button>`
                  : nothing
              }
              <button aria-label="${this.text("now.cancel")}: ${plan.text}" @click=${() => void this.cancel(plan)}>
                ${this.text("now.cancel")}
              </button>
            </div>`
          : nothing
      }
    `;
  }

  private async cancel(plan: Plan): Promise<void> {
    if (await this.confirm(this.text("now.cancel_question", { plan: plan.text }), this.text("now.cancel"))) {
      await this.attempt(() => this.call("plan/cancel", { plan_id: plan.id }));
    }
  }

  /** Have Home Assistant keep a routine as an automation, and open its editor. */
  private async automate(plan: Plan): Promise<void> {
    const question = this.text("now.automate_question", { plan: plan.text });
    if (!(await this.confirm(question, this.text("now.automate")))) return;
    await this.attempt(async () => {
      const config = await this.call<object>("plan/automation", { plan_id: plan.id });
      const id = `${Date.now()}`; // as Home Assistant's editor names a new one
      await this.page.hass.callApi("POST", `config/automation/config/${id}`, config);
      await this.call("plan/cancel", { plan_id: plan.id });
      navigate(`/config/automation/edit/${id}`);
    });
  }

  private editor(plan: Plan): TemplateResult {
    const { texts } = this.page;
    return this.dialog(
      plan.text,
      html`${
        plan.can_rename
          ? html`<label
              >${this.text("now.text")}<input name="text" required maxlength="200" .value=${plan.text}
            /></label>`
          : nothing
      }
      ${
        plan.can_change && plan.due_at !== null
          ? html`<label
              >${this.text("now.due")}<input
                name="due"
                type="datetime-local"
                required
                .value=${texts.fieldOf(plan.due_at)}
            /></label>`
          : nothing
      }
      ${this.fieldError("plan")}`,
      html`<button class="main" value="save">${this.text("page.save")}</button>`,
      () => (this.edited = undefined),
      (event) => void this.change(event, plan),
    );
  }

  private async change(event: SubmitEvent, plan: Plan): Promise<void> {
    if ((event.submitter as HTMLButtonElement | null)?.value !== "save") return;
    event.preventDefault(); // it stays open until the change is made
    const entered = new FormData(event.target as HTMLFormElement);
    const [text, due] = [entered.get("text"), entered.get("due")];
    const { texts } = this.page;
    const fields = {
      ...(text !== null && text !== plan.text ? { text } : {}),
      ...(due !== null && due !== texts.fieldOf(plan.due_at ?? 0) ? { due_at: texts.ofField(String(due)) } : {}),
    };
    const change = () => this.call<Plan>("plan/change", { plan_id: plan.id, ...fields });
    if (!Object.keys(fields).length || (await this.attempt(change, "plan"))) this.edited = undefined;
  }
}
