/** The table of devices: what agents may do with each, why, and a choice that becomes a rule of the home. */
import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Device, Devices, Permissions, Verdict } from "./api";
import { style } from "./style";
import { View, valueOf } from "./view";

export const VERDICTS: readonly Verdict[] = ["allow", "ask", "pin", "deny"];
const ROWS = 50;
const TYPING_MS = 150;

@customElement("chatterbox-devices")
export class DevicesTable extends View {
  @property({ attribute: false }) permissions!: Permissions;
  @state() private rows: Device[] | undefined;
  @state() private total = 0;
  private search = "";
  private verdict = "";
  /** Counts the lists asked for; what arrives for an earlier one is dropped. */
  private generation = 0;

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (changed.get("permissions")) void this.attempt(() => this.refresh());
  }

  protected override async load(): Promise<void> {
    await this.list(0, ROWS);
  }

  /** Load again as many rows as there are. */
  private async refresh(): Promise<void> {
    await this.list(0, Math.min(200, Math.max(ROWS, this.rows?.length ?? 0)));
  }

  private async list(offset: number, limit: number): Promise<void> {
    const generation = ++this.generation;
    const { total, rows } = await this.call<Devices>("permissions/devices", {
      language: this.page.texts.language,
      search: this.search,
      offset,
      limit,
      ...(this.verdict ? { verdict: this.verdict } : {}),
    });
    if (generation !== this.generation) return;
    [this.total, this.rows] = [total, [...(this.rows ?? []).slice(0, offset), ...rows]];
  }

  private filter(search: string, verdict: string, wait = 0): void {
    [this.search, this.verdict] = [search, verdict];
    this.afterTyping(wait, () => void this.attempt(() => this.list(0, ROWS)));
  }

  protected override render(): TemplateResult {
    const { rows } = this;
    return html`
      ${this.failureNote()}
      <div class="row">
        <label class="wide"
          >${this.text("permissions.search")}<input
            type="search"
            maxlength="200"
            @input=${(event: InputEvent) => this.filter(valueOf(event), this.verdict, TYPING_MS)}
        /></label>
        <label
          >${this.text("permissions.now")}<select @change=${(event: Event) => this.filter(this.search, valueOf(event))}>
            <option value="">${this.text("permissions.any")}</option>
            ${VERDICTS.map((verdict) => html`<option value=${verdict}>${this.verdictText(verdict)}</option>`)}
          </select></label
        >
      </div>
      <div aria-busy=${!rows}>${rows ? this.table(rows) : nothing}</div>
      ${
        rows && rows.length < this.total
          ? html`<button @click=${() => void this.attempt(() => this.list(rows.length, ROWS))}>
              ${this.text("permissions.more", { count: this.total - rows.length })}
            </button>`
          : nothing
      }
    `;
  }

  private verdictText(verdict: Verdict): string {
    return this.page.texts.choice("may", verdict);
  }

  private table(rows: Device[]): TemplateResult {
    if (!rows.length) return html`<p>${this.text("permissions.no_devices")}</p>`;
    const areas = new Map<string, Device[]>();
    for (const row of rows) areas.set(row.area, [...(areas.get(row.area) ?? []), row]);
    return html`<table class="card">
      <thead class="quiet small">
        <tr>
          <th scope="col">${this.text("permissions.device")}</th>
          <th scope="col">${this.text("permissions.now")}</th>
          <th scope="col">${this.text("permissions.choice")}</th>
        </tr>
      </thead>
      ${[...areas].map(
        ([area, those]) =>
          html`<tbody>
            <tr class="area">
              <th scope="rowgroup" colspan="3">${area || this.text("permissions.no_area")}</th>
            </tr>
            ${repeat(
              those,
              (row) => row.entity_id,
              (row) => this.row(row),
            )}
          </tbody>`,
      )}
    </table>`;
  }

  private row(row: Device): TemplateResult {
    const isHeld = row.verdict !== "allow";
    return html`<tr>
      <th scope="row">
        ${row.name}
        <div class="quiet small">${this.why(row)}</div>
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

  private why(row: Device): string {
    if (row.why === "nothing") return "";
    const reason =
      row.rule === null ? this.page.texts.choice("why", row.why) : this.text("permissions.rule", { number: row.rule });
    const actions = [...row.actions, ...(row.more_actions ? ["…"] : [])].join(", ");
    return [reason, actions].filter(Boolean).join(" · ");
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
      .area th {
        padding-top: 16px;
        font-weight: 500;
        border-bottom: 1px solid var(--divider-color);
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
