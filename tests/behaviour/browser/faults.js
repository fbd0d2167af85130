// Returns what axe-core calls serious or critical in an element, with its words.
async (shown, source) => {
  if (!window.axe) new Function(source)();
  const { violations } = await window.axe.run(shown, { resultTypes: ["violations"] });
  return violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.flat().join(" ")}: ${node.failureSummary}`));
}
