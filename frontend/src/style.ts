/** The looks that all views share, in Home Assistant's colours. */
import { css } from "lit";

export const style = css`
  * {
    box-sizing: border-box;
    margin: 0;
  }
  h2 {
    font-size: 18px;
    font-weight: 500;
  }
  h3 {
    font-size: 14px;
    font-weight: 500;
  }
  a {
    color: inherit;
    text-decoration-color: var(--primary-color);
    text-underline-offset: 3px;
  }
  ul,
  ol {
    padding: 0;
    list-style: none;
  }
  .page {
    max-width: 1040px;
    margin: 0 auto;
    padding: 16px;
    display: grid;
    gap: 24px;
    accent-color: color-mix(in srgb, var(--primary-color) 70%, black);
  }
  [role="status"]:empty:not(.hidden) {
    display: none;
  }
  .page > section,
  .cards {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 8px;
    min-width: 0;
  }
  .card {
    background: var(--card-background-color);
    border: 1px solid var(--divider-color);
    border-radius: var(--ha-card-border-radius, 12px);
    padding: 12px 16px;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .sentence::first-letter {
    text-transform: uppercase;
  }
  .quiet {
    color: var(--secondary-text-color);
  }
  .small {
    font-size: 12px;
  }
  .figure {
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
  }
  .row:has(> label) {
    align-items: end;
  }
  .spread {
    justify-content: space-between;
  }
  .wide {
    flex: 1 1 240px;
    min-width: 0;
  }
  dl {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 24px;
  }
  .dot {
    border: 5px solid var(--success-color, #43a047);
    border-radius: 5px;
  }
  .mark {
    display: inline-block;
    padding: 1px 8px;
    border-radius: 10px;
    border: 1px solid var(--divider-color);
    font-size: 12px;
    line-height: 18px;
    color: var(--primary-text-color);
  }
  button,
  input,
  select,
  .tabs a {
    font: inherit;
    color: var(--primary-text-color);
    background: var(--card-background-color);
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 8px;
    min-height: 40px;
    padding: 0 12px;
    max-width: 100%;
  }
  button,
  .tabs a {
    border-radius: var(--ha-border-radius-pill, 9999px);
    padding: 0 16px;
    font-weight: 500;
  }
  button,
  select {
    cursor: pointer;
  }
  button:hover {
    background: var(--secondary-background-color);
  }
  button[aria-pressed="true"],
  .tabs a[aria-current="page"] {
    border-color: var(--primary-color);
    box-shadow: inset 0 0 0 1px var(--primary-color);
  }
  button.main {
    color: white;
    background: color-mix(in srgb, var(--primary-color) 70%, black);
    border-color: transparent;
  }
  button.main.bad {
    background: color-mix(in srgb, var(--error-color) 75%, black);
  }
  .error {
    color: color-mix(in srgb, var(--error-color) 75%, var(--primary-text-color));
  }
  .icon {
    width: 24px;
    height: 24px;
    vertical-align: middle;
    fill: currentColor;
  }
  .tabs a {
    display: flex;
    align-items: center;
    text-decoration: none;
  }
  .bad,
  [role="alert"] {
    border-color: var(--error-color);
  }
  .notable {
    border-color: var(--warning-color);
  }
  .sign {
    width: 40px;
    padding: 0;
  }
  .bare {
    border: none;
    color: inherit;
    background: none;
  }
  button:disabled {
    opacity: 0.6;
    cursor: default;
  }
  label {
    display: inline-grid;
    gap: 4px;
    font-size: 12px;
    color: var(--secondary-text-color);
  }
  label > * {
    font-size: 14px;
  }
  .check {
    display: flex;
    align-items: center;
    gap: 12px;
    min-height: 32px;
    color: var(--primary-text-color);
  }
  .check input {
    flex: none;
    width: 20px;
    min-height: 20px;
  }
  :focus-visible {
    outline: 2px solid var(--primary-color);
    outline-offset: 2px;
  }
  details > summary {
    cursor: pointer;
    padding: 4px 0;
  }
  pre {
    font-family: var(--ha-font-family-code, monospace);
    font-size: 12px;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    padding: 8px;
    border-radius: 8px;
    background: var(--secondary-background-color);
  }
  dialog {
    color: var(--primary-text-color);
    background: var(--ha-dialog-surface-background, var(--card-background-color));
    border: none;
    border-radius: var(--ha-dialog-border-radius, 24px);
    box-shadow: 0 16px 32px -6px rgb(0 0 0 / 20%);
    margin: auto;
    padding: 12px 24px 16px;
    width: min(580px, calc(100vw - 32px));
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 32%);
  }
  dialog form {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 16px;
  }
  dialog .title {
    flex-wrap: nowrap;
    margin-inline-start: -12px;
  }
  dialog .buttons {
    justify-content: flex-end;
  }
  dialog :is(input:not([type="checkbox"]), select) {
    min-height: 48px;
    border: none;
    border-bottom: 1px solid var(--ha-color-border-neutral-loud, var(--secondary-text-color));
    border-radius: 4px 4px 0 0;
    background: var(--ha-color-form-background, var(--secondary-background-color));
  }
  @media (max-width: 450px) {
    dialog:has(label) {
      width: 100vw;
      max-width: none;
      height: 100dvh;
      max-height: none;
      border-radius: 0;
    }
  }
  .hidden {
    position: absolute;
    clip-path: inset(50%);
  }
`;
