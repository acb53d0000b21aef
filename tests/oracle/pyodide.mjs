// pyodide.mjs - CPython 3.14 as the reference of compare.py.
//
//     node pyodide.mjs FOLDER < list-of-paths
//
// FOLDER is node_modules/pyodide. Writes the frames that astdump.c describes;
// the tree is made by canon.py, which is loaded as source.
import { readFileSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Node would print the source line, which is one of a megabyte.
process.on("uncaughtException", (error) => {
  console.error(`pyodide.mjs: ${error.message}`);
  process.exit(1);
});

const folder = resolve(process.argv[2]);
const here = dirname(fileURLToPath(import.meta.url));
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: folder });

python.FS.writeFile("/canon.py", readFileSync(`${here}/canon.py`, "utf8"));
const frame = python.runPython(`
import sys, warnings
sys.path.insert(0, "/")
warnings.simplefilter("ignore")
sys.setrecursionlimit(3000)
import canon

def frame(data):
    tree = canon.parse(data.to_bytes())
    if isinstance(tree, str):
        return "fault", tree.encode("utf-8", "replace")
    return "ok", canon.dump(tree)

frame
`);

// A pipe takes what it has room for.
function write(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const paths = readFileSync(0, "utf8").split("\n").filter(Boolean);
for (const path of paths) {
  const result = frame(new Uint8Array(readFileSync(path)));
  const [status, content] = [result.get(0), result.get(1)];
  const bytes = content.toJs();
  write(Buffer.from(`${status} ${bytes.length} ${path}\n`));
  write(bytes);
  content.destroy();
  result.destroy();
}
