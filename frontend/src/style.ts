/** The looks that all views share, in Home Assistant's colours. */
import { css } from "lit";

export const style = css`
  * {
    box-sizing: border-box;
  }
  h1,
  h2,
  h3,
  p,
  ul,
  ol,
  dl,
  dd,
  pre {
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
  }
  .page > section {
    display: grid;
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
  .cards {
    display: grid;
    gap: 8px;
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
  .spread {
    justify-content: space-between;
  }
  .note {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: 8px;
    padding: 12px 16px;
    border-radius: 8px;
    border: 1px solid var(--divider-color);
    background: var(--card-background-color);
  }
  .dot {
    flex: none;
    width: 10px;
    height: 10px;
    border-radius: 5px;
    background: var(--success-color, #43a047);
  }
  .dot.bad {
    background: var(--error-color);
  }
  .dot.notable {
    background: var(--warning-color);
  }
  .note[role="alert"] {
    border-color: var(--error-color);
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
  .mark.bad {
    border-color: var(--error-color);
  }
  .mark.notable {
    border-color: var(--warning-color);
  }
  button,
  input,
  select,
  textarea {
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
  button.danger {
    border-color: var(--error-color);
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
  }
  .check input {
    flex: none;
    width: 20px;
    min-height: 20px;
    accent-color: var(--primary-color);
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
    padding: 24px;
    width: min(440px, calc(100vw - 32px));
  }
  dialog::backdrop {
    background: rgb(0 0 0 / 50%);
  }
  dialog form {
    display: grid;
    gap: 16px;
  }
  dialog .row {
    justify-content: flex-end;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;
