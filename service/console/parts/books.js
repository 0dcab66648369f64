// The newest workbooks that can be chosen, and the names of all of them.
import { useData } from "./data.js";

const NEWEST = 100;

/** What `useData` gives of the workbooks, with the `options` of a Select and the name of each. */
export function useBooks() {
  const list = useData("workbooks", { page_size: NEWEST });
  const items = list.data?.items ?? [];
  const options = items.filter(({ status }) => status === "ready").map(({ id, name }) => ({ value: id, label: name }));
  return { ...list, options, name: (id) => items.find((book) => book.id === id)?.name ?? "An earlier workbook" };
}
