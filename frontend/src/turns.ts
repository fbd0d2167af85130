/** The view Conversations: a row for each turn, newest first; only the rows that can be seen are in the page. */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { repeat } from "lit/directives/repeat.js";
import type { Named, TurnKind, TurnList, TurnRow } from "./api";
import { navigate } from "./hass";
import { markOf } from "./marks";
import { style } from "./style";
import { View, valueOf } from "./view";

const FILTERS = ["words", "person_id", "device_id", "agent", "from", "to"] as const;
/** What the list looks for; `from` and `to` are days, such as 2026-11-29. */
type TurnFilter = Partial<Record<(typeof FILTERS)[number], string>> & { marks?: TurnKind[] };

const KINDS: readonly TurnKind[] = ["failed", "slow", "asked"];
const FIRST_PAGE = 50;
const NEXT_PAGE = 200;
/** Rows above and below what can be seen. */
const MARGIN = 8;
const TYPING_MS = 100;
/** The width up to which a row has three lines, as in the styles. */
const NARROW = 720;

@customElement("chatterbox-turns")
export class TurnsView extends View {
  @state() private rows: TurnRow[] = [];
  @state() private total: number | undefined;
  @state() private unreachable: string[] = [];
  @state() private top = 0;
  @state() private height = 0;
  @state() private rowHeight = 64;
  /** Whether the filters are shown where there is little room. */
  @state() private isOpen = false;
  @query(".scroller") private scroller!: HTMLElement;
  private next: string | null = null;
  private filter: TurnFilter = {};
  /** Counts the lists asked for; what arrives for an earlier one is dropped. */
  private generation = 0;
  private isLoadingMore = false;
  private readonly resizes = new ResizeObserver(() => {
    this.height = this.scroller.clientHeight;
    this.rowHeight = this.scroller.clientWidth > NARROW ? 64 : 112;
  });

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("page")) this.filter = filterOf(new URLSearchParams(location.search));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resizes.disconnect();
  }

  protected override async load(): Promise<void> {
    this.resizes.observe(this.scroller);
    await Promise.all([
      this.loadFirst(),
      this.subscribe("turns/subscribe", () => void this.attempt(() => this.loadNew())),
    ]);
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (changed.has("top") || changed.has("height") || changed.has("rows")) void this.attempt(() => this.loadMore());
  }

  private async list(fields: object): Promise<TurnList> {
    const { from, to, ...others } = this.filter;
    const { texts } = this.page;
    const days = {
      ...(from ? { since_at: texts.ofField(`${from}T00:00`) } : {}),
      ...(to ? { until_at: texts.ofField(`${to}T23:59`) + 60 } : {}),
    };
    const list = await this.call<TurnList>("turns/list", { language: texts.language, ...others, ...days, ...fields });
    this.unreachable = list.unreachable;
    return list;
  }

  private async loadFirst(): Promise<void> {
    const generation = ++this.generation;
    const { turns, next, total } = await this.list({ limit: FIRST_PAGE });
    if (generation !== this.generation) return;
    [this.rows, this.next, this.total] = [turns, next, total ?? turns.length];
    this.scroller.scrollTop = this.top = 0;
  }

  /** Load until there are rows for all that can be seen. */
  private async loadMore(): Promise<void> {
    if (this.isLoadingMore) return;
    this.isLoadingMore = true;
    try {
      while (this.next !== null && this.lastVisible >= this.rows.length) {
        const generation = this.generation;
        const { turns, next } = await this.list({ limit: NEXT_PAGE, cursor: this.next });
        if (generation === this.generation) [this.rows, this.next] = [[...this.rows, ...turns], next];
      }
    } finally {
      this.isLoadingMore = false;
    }
  }

  /** Put turns that have been stored since above the others, which stay where they are on the screen. */
  private async loadNew(): Promise<void> {
    const generation = this.generation;
    const { turns, next, total } = await this.list({ limit: FIRST_PAGE });
    if (generation !== this.generation) return;
    const known = new Set(this.rows.map((row) => row.id));
    const fresh = turns.filter((turn) => !known.has(turn.id));
    if (fresh.length === turns.length)
      [this.rows, this.next] = [turns, next]; // too many to tell what is between
    else this.rows = [...fresh, ...this.rows];
    this.total = total ?? this.rows.length;
    if (this.scroller.scrollTop > 0) {
      await this.updateComplete;
      this.scroller.scrollTop += fresh.length * this.rowHeight;
    }
  }

  private get firstVisible(): number {
    return Math.max(0, Math.floor(this.top / this.rowHeight) - MARGIN);
  }

  private get lastVisible(): number {
    const last = Math.ceil((this.top + this.height) / this.rowHeight) + MARGIN;
    return Math.min(last, (this.total ?? 0) - 1);
  }

  private choose(change: TurnFilter): void {
    const chosen = Object.entries({ ...this.filter, ...change }).filter(([, value]) => value?.length);
    this.filter = Object.fromEntries(chosen) as TurnFilter;
    const search = new URLSearchParams(chosen.map(([key, value]): [string, string] => [key, String(value)])).toString();
    navigate(`/chatterbox/turns${search ? `?${search}` : ""}`, true);
    this.requestUpdate();
    void this.attempt(() => this.loadFirst());
  }

  protected override render(): TemplateResult {
    const { info, texts } = this.page;
    const { filter, total } = this;
    const chosen = Object.keys(filter).filter((key) => key !== "words").length;
    const isFiltered = Object.keys(filter).length > 0;
    return html`
      <search class="row">
        <input
          type="search"
          maxlength="200"
          aria-label=${this.text("turns.search")}
          placeholder=${this.text("turns.search")}
          .value=${filter.words ?? ""}
          @input=${this.type}
        />
        <button class="more" aria-expanded=${this.isOpen} @click=${() => (this.isOpen = !this.isOpen)}>
          ${this.text("turns.filter")}${chosen ? html` (${chosen})` : nothing}
        </button>
        <div class="row filters" ?data-open=${this.isOpen}>
          ${this.select("person_id", "turns.person", info.people)}
          ${this.select("device_id", "turns.place", info.places)} ${this.select("agent", "turns.agent", info.agents)}
          ${this.day("from")} ${this.day("to")}
          ${KINDS.map((kind) => {
            const isOn = !!filter.marks?.includes(kind);
            const marks = isOn ? filter.marks?.filter((one) => one !== kind) : [...(filter.marks ?? []), kind];
            return html`<button aria-pressed=${isOn} @click=${() => this.choose({ marks: marks ?? [] })}>
              ${this.text(`turns.${kind}`)}
            </button>`;
          })}
        </div>
        <span class="quiet figure" role="status"
          >${total === undefined ? "" : this.text("turns.total", { count: texts.number(total) })}</span
        >
      </search>
      ${this.failureNote()}
      ${this.alert(this.unreachable.length > 0 && this.text("turns.unreachable", { names: this.unreachable.join(", ") }))}
      ${
        total === 0
          ? html`<p class="page quiet">
              ${this.text(isFiltered ? "turns.none_found" : info.keeps_history ? "turns.none" : "turns.not_stored")}
            </p>`
          : nothing
      }
      <div
        class="scroller"
        tabindex="0"
        role="region"
        aria-label=${this.text("page.turns")}
        aria-busy=${total === undefined}
        @scroll=${() => (this.top = this.scroller.scrollTop)}
        @keydown=${this.move}
      >
        <div class="rows" role="list" style="height: ${(total ?? 0) * this.rowHeight}px">${this.visible()}</div>
      </div>
    `;
  }

  private visible(): unknown {
    const [first, last] = [this.firstVisible, this.lastVisible];
    const indices = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
    return repeat(
      indices,
      (index) => this.rows[index]?.id ?? index,
      (index) => {
        const row = this.rows[index];
        return guard([row, index, this.rowHeight, this.total], () => this.row(index, row));
      },
    );
  }

  private row(index: number, row: TurnRow | undefined): TemplateResult {
    const place = `height: ${this.rowHeight}px; transform: translateY(${index * this.rowHeight}px)`;
    if (!row) return html`<div class="turn" style=${place} aria-hidden="true"></div>`;
    const { texts } = this.page;
    const isToday = texts.day(row.at) === texts.day(Date.now() / 1000);
    return html`<div
      class="turn"
      role="listitem"
      style=${place}
      aria-setsize=${this.total ?? -1}
      aria-posinset=${index + 1}
    >
      <div class="when figure">
        ${texts.time(row.at)}${isToday ? nothing : html`<div class="quiet small">${texts.day(row.at)}</div>`}
      </div>
      <div class="who">
        <div class="line">${row.person ?? row.caller ?? this.text("turns.nobody")}</div>
        <div class="quiet small line">${row.place ?? row.agent}</div>
      </div>
      <div class="words">
        <a class="line" href="/chatterbox/turns/${encodeURIComponent(row.id)}" data-index=${index}
          >${row.words || this.text("turns.no_words")}</a
        >
        <div class="quiet line">${row.answer}</div>
      </div>
      <div class="row marks">${row.marks.map((mark) => markOf(mark, texts))}</div>
      <div class="seconds figure quiet">${texts.duration(row.duration_ms)}</div>
    </div>`;
  }

  private select(field: "person_id" | "device_id" | "agent", label: string, choices: Named[]): unknown {
    if (choices.length < 2) return nothing;
    const chosen = this.filter[field] ?? "";
    return html`<select
      aria-label=${this.text(label)}
      @change=${(event: Event) => this.choose({ [field]: valueOf(event) })}
    >
      <option value="" ?selected=${!chosen}>${this.text(`${label}_any`)}</option>
      ${choices.map(({ id, name }) => html`<option value=${id} ?selected=${id === chosen}>${name}</option>`)}
    </select>`;
  }

  private day(field: "from" | "to"): TemplateResult {
    return html`<label class="row"
      >${this.text(`turns.${field}`)}<input
        type="date"
        .value=${this.filter[field] ?? ""}
        @change=${(event: Event) => this.choose({ [field]: valueOf(event) })}
    /></label>`;
  }

  private type(event: Event): void {
    const words = valueOf(event).trim();
    this.afterTyping(TYPING_MS, () => this.choose({ words }));
  }

  /** Move from row to row by the arrow keys. */
  private async move(event: KeyboardEvent): Promise<void> {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const index = (event.target as HTMLElement).dataset["index"];
    if (!step || index === undefined) return;
    event.preventDefault();
    const wanted = Number(index) + step;
    const [above, below] = [wanted * this.rowHeight, (wanted + 1) * this.rowHeight];
    if (above < this.scroller.scrollTop) this.scroller.scrollTop = above;
    if (below > this.scroller.scrollTop + this.height) this.scroller.scrollTop = below - this.height;
    this.top = this.scroller.scrollTop;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(`a[data-index="${wanted}"]`)?.focus({ preventScroll: true });
  }

  static override styles = [
    style,
    css`
      :host {
        display: flex;
        flex-direction: column;
        overflow: hidden !important;
      }
      search {
        padding: 12px 16px;
        border-bottom: 1px solid var(--divider-color);
        background: var(--card-background-color);
      }
      input[type="search"] {
        flex: 1 1 180px;
        max-width: 320px;
      }
      select {
        max-width: 180px;
      }
      .more {
        display: none;
      }
      search > span {
        margin-inline-start: auto;
      }
      [role="alert"] {
        margin: 8px 16px;
      }
      .scroller {
        position: relative;
        flex: 1;
        min-height: 0;
        overflow-y: auto;
        container-type: inline-size;
        background: var(--card-background-color);
      }
      .turn {
        position: absolute;
        inset: 0 0 auto;
        display: grid;
        grid-template-columns: 72px 116px minmax(0, 1fr) minmax(0, 28%) 64px;
        gap: 12px;
        align-items: center;
        padding: 0 16px;
        border-bottom: 1px solid var(--divider-color);
      }
      .turn[role]:hover {
        background: var(--secondary-background-color);
      }
      .line,
      .mark {
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 1;
        overflow: hidden;
        overflow-wrap: anywhere;
      }
      .words a {
        font-weight: 500;
        text-decoration: none;
      }
      .words a::after {
        content: "";
        position: absolute;
        inset: 0;
      }
      .words a:focus-visible {
        outline: none;
      }
      .words a:focus-visible::after {
        outline: 2px solid var(--primary-color);
        outline-offset: -2px;
      }
      .marks {
        gap: 4px;
        max-height: 48px;
        overflow: hidden;
      }
      .seconds {
        text-align: end;
      }
      @media (max-width: 720px) {
        .more {
          display: block;
        }
        .filters:not([data-open]) {
          display: none;
        }
      }
      @container (max-width: 720px) {
        .turn {
          grid-template-columns: auto minmax(0, 1fr) auto;
          grid-template-rows: 20px auto 22px;
          align-content: center;
          gap: 2px 8px;
        }
        .when,
        .who {
          display: flex;
          gap: 6px;
          align-items: baseline;
        }
        .words,
        .marks {
          grid-column: 1 / -1;
        }
        .marks {
          max-height: 22px;
        }
        .seconds {
          grid-area: 1 / 3;
        }
      }
    `,
  ];
}

function filterOf(search: URLSearchParams): TurnFilter {
  const filter: TurnFilter = {};
  for (const field of FILTERS) {
    const value = search.get(field);
    if (value) filter[field] = value;
  }
  const marks = KINDS.filter((kind) => search.get("marks")?.split(",").includes(kind));
  if (marks.length) filter.marks = marks;
  return filter;
}
