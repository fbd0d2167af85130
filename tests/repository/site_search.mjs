// Asks the search of the site: runs its own worker with its index, and prints the pages that each question finds, in order.
// node site_search.mjs FOLDER_OF_THE_SITE < questions.json
import { readdirSync, readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [site] = process.argv.slice(2);
const workers = `${site}/assets/javascripts/workers`;
const [worker] = readdirSync(workers).filter((name) => name.endsWith(".js"));
const index = JSON.parse(readFileSync(`${site}/search/search_index.json`, "utf8"));
const questions = JSON.parse(readFileSync(0, "utf8"));
const SETUP = 0, QUERY = 2, RESULT = 3;

let answer;
globalThis.self = globalThis;
globalThis.addEventListener = (_, listener) => (globalThis.listener = listener);
globalThis.postMessage = (message) => (answer = message);
globalThis.importScripts = () => {};
globalThis.location = new URL("file:///search.js");
runInThisContext(readFileSync(`${workers}/${worker}`, "utf8"));

const send = async (type, data) => {
  await globalThis.listener({ data: { type, data } });
  return answer;
};
await send(SETUP, { ...index, options: { suggest: false } });
const found = {};
for (const question of questions) {
  const { type, data } = await send(QUERY, question);
  if (type !== RESULT) throw new Error(`no result for ${question}`);
  found[question] = data.items.map(([page]) => page.location.split("#")[0]);
}
process.stdout.write(JSON.stringify(found));
