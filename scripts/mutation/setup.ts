import { cheapHashes } from "../../test/runner/cheap-hashes.ts";

cheapHashes();
