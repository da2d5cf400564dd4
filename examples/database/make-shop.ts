// Makes a small shop in an SQLite file: node examples/database/make-shop.ts FILE
import { DatabaseSync } from "node:sqlite";

const [, , file = "shop.db"] = process.argv;
const database = new DatabaseSync(file);
database.exec(`
  DROP TABLE IF EXISTS orders; DROP TABLE IF EXISTS customers; DROP TABLE IF EXISTS changes;
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers, item TEXT NOT NULL,
    cents INTEGER NOT NULL, paid INTEGER NOT NULL DEFAULT 0);
  INSERT INTO customers VALUES (1, 'Mira'), (2, 'Jon');
  INSERT INTO orders VALUES (1, 1, 'lamp', 4500, 1), (2, 2, 'rope', 1250, 0), (3, 1, 'bucket', 900, 0);
`);
database.close();
