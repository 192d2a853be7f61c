import { cheapHashes } from "../../scripts/gate/cheap-hashes.ts";

cheapHashes();
