// The script of every account page. Texts of the server become text nodes, never HTML.
import "./notice.ts";
import "./sign-in.ts";
import "./step-up.ts";
import "./account.ts";
