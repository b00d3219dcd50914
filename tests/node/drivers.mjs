// Sends statements with their values through node-postgres, and prints the SQLSTATE of each that fails, by its place.
//
//   node drivers.mjs PACKAGES ADDRESS < [[statement, value], ...]
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [packages, connectionString] = process.argv.slice(2);
const { Client } = createRequire(`${packages}/package.json`)("pg");
const client = new Client({ connectionString });
await client.connect();
const failed = {};
for (const [place, [text, value]] of JSON.parse(readFileSync(0, "utf8")).entries()) {
  for (const name of [undefined, `prepared${place}`]) {
    try {
      await client.query({ name, text, values: [value] });
    } catch (error) {
      failed[place] = `${error.code}: ${error.message}`;
    }
  }
}
console.log(JSON.stringify(failed));
await client.end();
