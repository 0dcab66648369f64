// HyperFormula as a peer: an order a line on standard input, [name, ...arguments], an answer a line, both in JSON.

const readline = require("node:readline");
const { HyperFormula } = require(process.argv[2]);

const engine = HyperFormula.buildEmpty({ licenseKey: "gpl-v3", maxRows: 1048576, useColumnIndex: false, smartRounding: false });
engine.addSheet("S");
const sheet = engine.getSheetId("S");
engine.suspendEvaluation();

const does = {
  put(column, cells) {
    engine.setCellContents({ sheet, row: 0, col: column - 1 }, cells.map((cell) => [cell]));
  },
  calculate() {
    engine.resumeEvaluation();
    engine.suspendEvaluation();
  },
  column(column, rows) {
    engine.resumeEvaluation(); // it gives no values while it is suspended
    const range = { start: { sheet, row: 0, col: column - 1 }, end: { sheet, row: rows - 1, col: column - 1 } };
    const found = engine.getRangeValues(range).map((row) => row[0]);
    engine.suspendEvaluation();
    return found;
  },
};

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [name, ...given] = JSON.parse(line);
  process.stdout.write(JSON.stringify(does[name](...given) ?? null) + "\n");
});
