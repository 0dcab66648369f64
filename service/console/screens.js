// Every screen by the name of its file; loaded when the first one is shown.
import * as account from "./screens/account.js";
import * as admin from "./screens/admin.js";
import * as alerts from "./screens/alerts.js";
import * as ask from "./screens/ask.js";
import * as compliance from "./screens/compliance.js";
import * as deal_settings from "./screens/deal_settings.js";
import * as deals from "./screens/deals.js";
import * as exports from "./screens/exports.js";
import * as formulas from "./screens/formulas.js";
import * as loans from "./screens/loans.js";
import * as mapping from "./screens/mapping.js";
import * as movements from "./screens/movements.js";
import * as reconciliation from "./screens/reconciliation.js";
import * as sign_in from "./screens/sign_in.js";
import * as tie_out from "./screens/tie_out.js";
import * as what_if from "./screens/what_if.js";

export const screens = {
  account, admin, alerts, ask, compliance, deal_settings, deals, exports, formulas, loans, mapping,
  movements, reconciliation, sign_in, tie_out, what_if,
};
