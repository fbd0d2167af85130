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
    accent-color: var(--primary-color);
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
  select {
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
  select {
    cursor: pointer;
  }
  button:hover {
    background: var(--secondary-background-color);
  }
  button.main,
  button[aria-pressed="true"] {
    border-color: var(--primary-color);
    box-shadow: inset 0 0 0 1px var(--primary-color);
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
    padding: 0;
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
    background: var(--card-background-color);
    border: 1px solid var(--divider-color);
    border-radius: 16px;
    margin: auto;
    padding: 24px;
    width: min(560px, calc(100vw - 32px));
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 50%);
  }
  dialog form {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 16px;
  }
  dialog form > .row {
    justify-content: flex-end;
  }
  .hidden {
    position: absolute;
    clip-path: inset(50%);
  }
`;
