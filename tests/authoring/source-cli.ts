// The command line from its sources, for tests that shall not depend on what was built before.
import { main } from "../../src/cli/main.ts";

await main(process.argv.slice(2));
