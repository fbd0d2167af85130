/** The table of devices: what agents may do with each, why, and a choice that becomes a rule of the home. */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Device, Devices, Permissions, Verdict } from "./api";
import { style } from "./style";
import { View, valueOf } from "./view";

export const VERDICTS: readonly Verdict[] = ["allow", "ask", "pin", "deny"];
const ROWS = 50;
const MOST_ROWS = 200;
const TYPING_MS = 150;

@customElement("chatterbox-devices")
export class DevicesTable extends View {
  @property({ attribute: false }) permissions!: Permissions;
  @state() private rows: Device[] | undefined;
  @state() private total = 0;
  /** Areas with devices with which everything is allowed. */
  @state() private rooms: Devices["rooms"] = [];
  /** The devices of the areas that are unfolded. */
  @state() private readonly unfolded = new Map<string, Device[]>();
  /** What is looked for. All that fits is listed then; without it, what asks, needs the PIN or is never done. */
  private search = "";
  /** Counts the lists asked for; what arrives for an earlier one is dropped. */
  private generation = 0;

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (changed.get("permissions")) void this.attempt(() => this.refresh());
  }

  protected override async load(): Promise<void> {
    await this.list(0, ROWS);
  }

  /** Load again as many rows as there are, and what is unfolded. */
  private async refresh(): Promise<void> {
    await Promise.all([...this.unfolded.keys()].map((area) => this.unfold(area)));
    await this.list(0, Math.min(MOST_ROWS, Math.max(ROWS, this.rows?.length ?? 0)));
  }

  /** Load the devices of an area with which everything is allowed. */
  private async unfold(area: string): Promise<void> {
    const fields = { language: this.page.texts.language, verdict: "allow", area, limit: MOST_ROWS };
    const { rows } = await this.call<Devices>("permissions/devices", fields);
    this.unfolded.set(area, rows);
    this.requestUpdate();
  }

  private async list(offset: number, limit: number): Promise<void> {
    const generation = ++this.generation;
    const { total, rows, rooms } = await this.call<Devices>("permissions/devices", {
      language: this.page.texts.language,
      search: this.search,
      offset,
      limit,
    });
    if (generation !== this.generation) return;
    const allowed = this.search ? 0 : rooms.reduce((sum, { count }) => sum + count, 0);
    const listed = this.search ? rows : rows.filter(({ verdict }) => verdict !== "allow");
    [this.total, this.rooms] = [total - allowed, rooms];
    this.rows = [...(this.rows ?? []).slice(0, offset), ...listed];
  }

  private filter(search: string): void {
    this.search = search.trim();
    this.afterTyping(TYPING_MS, () => void this.attempt(() => this.list(0, ROWS)));
  }

  protected override render(): TemplateResult {
    const { rows } = this;
    return html`
      ${this.failureNote()}
      <label class="wide"
        >${this.text("permissions.search")}<input
          type="search"
          maxlength="200"
          @input=${(event: InputEvent) => this.filter(valueOf(event))}
      /></label>
      <div aria-busy=${!rows}>${rows ? this.table(rows) : nothing}</div>
      ${
        rows && rows.length < this.total
          ? html`<button @click=${() => void this.attempt(() => this.list(rows.length, ROWS))}>
              ${this.text("permissions.more", { count: this.total - rows.length })}
            </button>`
          : nothing
      }
      ${rows && !this.search ? this.folded() : nothing}
    `;
  }

  /** The devices with which everything is allowed, by area, each to be unfolded. */
  private folded(): TemplateResult {
    return html`<h3>${this.text("permissions.at_once")}</h3>
      ${repeat(
        this.rooms,
        ({ area }) => area,
        ({ area, count }) =>
          html`<details
            class="card"
            @toggle=${(event: Event) => {
              if ((event.target as HTMLDetailsElement).open) void this.attempt(() => this.unfold(area));
            }}
          >
            <summary>
              ${area || this.text("permissions.no_area")}
              <span class="quiet figure">${this.page.texts.number(count)}</span>
            </summary>
            <table>
              <tbody>
                ${(this.unfolded.get(area) ?? []).map((row) => this.row(row))}
              </tbody>
            </table>
          </details>`,
      )}`;
  }

  private verdictText(verdict: Verdict): string {
    return this.page.texts.choice("may", verdict);
  }

  private table(rows: Device[]): TemplateResult | typeof nothing {
    if (!rows.length) return this.search ? html`<p>${this.text("permissions.no_devices")}</p>` : nothing;
    return html`<table class="card">
      <thead class="quiet small">
        <tr>
          <th scope="col">${this.text("permissions.device")}</th>
          <th scope="col">${this.text("permissions.now")}</th>
          <th scope="col">${this.text("permissions.choice")}</th>
        </tr>
      </thead>
      <tbody>
        ${repeat(
          rows,
          (row) => row.entity_id,
          (row) => this.row(row, row.area),
        )}
      </tbody>
    </table>`;
  }

  private row(row: Device, area = ""): TemplateResult {
    const isHeld = row.verdict !== "allow";
    return html`<tr>
      <th scope="row">
        ${row.name}
        <div class="quiet small">
          ${[area, ...this.why(row)].filter(Boolean).map((part, at) => (at ? [" · ", part] : part))}
        </div>
      </th>
      <td><span class=${isHeld ? "mark notable" : "quiet"}>${this.verdictText(row.verdict)}</span></td>
      <td>
        <select
          aria-label="${this.text("permissions.choice")}: ${row.name}"
          ?disabled=${this.permissions.locked}
          @change=${(event: Event) => this.choose(row, event.target as HTMLSelectElement)}
        >
          <option value="" .selected=${row.chosen === null}>${this.text("permissions.as_rules_say")}</option>
          ${VERDICTS.map(
            (verdict) =>
              html`<option value=${verdict} .selected=${row.chosen === verdict}>${this.verdictText(verdict)}</option>`,
          )}
        </select>
      </td>
    </tr>`;
  }

  private why(row: Device): unknown[] {
    if (row.why === "nothing") return [];
    const reason =
      row.rule === null
        ? this.page.texts.choice("why", row.why)
        : html`<a href="/chatterbox/permissions/rules?rule=${row.rule}"
            >${this.text("permissions.rule", { number: row.rule })}</a
          >`;
    return [reason, [...row.actions, ...(row.more_actions ? ["…"] : [])].join(", ")];
  }

  /** Hand a choice to the view. Until it is taken, the row shows what holds. */
  private choose(row: Device, field: HTMLSelectElement): void {
    const verdict = field.value || null;
    field.value = row.chosen ?? "";
    this.dispatchEvent(new CustomEvent("choose", { detail: { entity_id: row.entity_id, verdict } }));
  }

  static override styles = [
    style,
    css`
      table {
        border-spacing: 0;
        width: 100%;
        padding-block: 4px;
      }
      th {
        text-align: start;
        font-weight: 400;
      }
      td,
      th {
        padding: 4px 8px 4px 0;
      }
      td {
        width: 1px;
        white-space: nowrap;
      }
      @media (max-width: 600px) {
        thead {
          position: absolute;
          clip-path: inset(50%);
        }
        table,
        tbody,
        th,
        td {
          display: block;
        }
        tbody tr {
          display: grid;
          grid-template-columns: 1fr minmax(0, auto);
          align-items: center;
          padding: 4px 0;
        }
        tbody th {
          grid-column: 1 / -1;
          padding-bottom: 0;
        }
        td {
          width: auto;
          min-width: 0;
          padding-right: 0;
        }
      }
    `,
  ];
}
