// Who sends requests: clients, users and what they do, in a table or in all.

import { dataTable, el } from "./dom.js";
import { number } from "./format.js";

const percent = (part) => `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;
const bounded = ({ share, low, high }) =>
  high - low < 0.01 ? percent(share) : `${percent(low)} to ${percent(high)}`;

export const callers = (answer, redraw) => el("div", {},
  dataTable("callers", [
    { title: "Client", text: (row) => row.client },
    { title: "Operation", text: (row) => row.operation },
    { title: "Share", num: true, text: bounded, sort: (row) => row.share },
    { title: "Requests/s", num: true, text: (row) => number(row.requests / answer.seconds),
      sort: (row) => row.requests },
    { title: "Table", text: (row) => row.table },
    { title: "User", text: (row) => row.user ?? "" },
    { title: "Over", text: (row) => row.protocol },
  ], answer.callers, "No client sent requests in the last 30 seconds.", redraw),
  answer.unlisted > 0 && el("p", { class: "note" },
    `${number(answer.unlisted)} more requests are of callers that are not known.`));
